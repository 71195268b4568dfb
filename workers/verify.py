"""`registry verify`: compute results again, every one or a sample, and compare. Only reads: the service may run."""

from __future__ import annotations

import dataclasses
import secrets
import sys
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import click
import orjson
from sqlalchemy import Connection, select, tuple_

from registry.errors import Fault, Invalid, NotFound, RegistryError
from registry.logs import configure_logs
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.keys import of_grid, of_revision
from registry.storage.statistics_jobs import job_state
from registry.storage.tables import cached_results, derivations, grids, pair_sum_scopes, projects, revisions
from registry.storage.tables import statistics as documents
from workers.statistics import METHODS_VERSION
from workers.verify_checks import (
    SERVED,
    Difference,
    check_events,
    check_grids,
    check_items,
    check_result,
    check_results,
    check_revision,
    check_scope,
    check_scopes,
)
from workers.verify_sample import GRIDS_OF_SUMS, DrawOptions, Sample, draw_grids, draw_results, draw_scopes

AT_ONCE = 20
CHECK_FAILED = 3
_LONGEST_STATEMENT = 600.0
"""Seconds, where statements of workers have less: whole tables are counted here."""
_SEEDS = 1 << 32

Position = tuple[uuid.UUID, int]


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of `registry verify`."""

    project: str | None = None
    most: int | None = None
    after: str | None = None
    as_json: bool = False
    sample: int | None = None
    seed: int | None = None


@dataclasses.dataclass
class Tally:
    """Progress and findings so far."""

    revisions: int = 0
    differences: list[Difference] = dataclasses.field(default_factory=list)
    position: Position | None = None
    old_statistics: int = 0
    """Grids whose statistics are by other methods than this release's, and were not compared."""
    sample: Sample | None = None


def verify(
    database: Database, settings: Settings, project: str | None, after: Position | None, most: int | None
) -> Iterator[Tally]:
    """Compare page by page, yielding the tally after each. The last one has no `position` when nothing is left."""
    tally = Tally(position=after)
    with database.snapshot() as connection:
        project_id = None if project is None else _project(connection, project)
    while True:
        limit = AT_ONCE if most is None else min(AT_ONCE, most - tally.revisions)
        with database.snapshot() as connection:
            rows = connection.execute(_page(project_id, tally.position, limit)).all() if limit else []
        for row in rows:
            tally.differences += check_revision(row)
            tally.revisions += 1
            tally.old_statistics += row.number == row.current and row.methods_version not in (None, METHODS_VERSION)
            tally.position = row.grid_id, row.number
        if len(rows) < limit or not limit:
            break
        yield tally
    if limit:  # not cut short
        tally.position = None
        with database.snapshot() as connection:
            tally.differences += check_grids(connection, project_id)
            tally.differences += check_events(connection, project_id)
            tally.differences += check_items(connection, project_id)
            tally.differences += check_scopes(connection, project_id)
        tally.differences += check_results(database, settings, project_id)
    yield tally


def verify_sample(database: Database, settings: Settings, by: DrawOptions) -> Iterator[Tally]:
    """Compare what is stored of grids that are drawn at random, and as many answers and sets of pair sums; yield the
    tally after each few."""
    with database.snapshot() as connection:
        project_id = None if by.project is None else _project(connection, by.project)
        of_grids = draw_grids(connection, project_id, by.size, by.seed)
        of_results = draw_results(connection, project_id, by.size, by.seed)
        of_scopes = draw_scopes(connection, project_id, by.size, by.seed)
    sample = Sample.of(by, of_grids.total, of_results.total, of_scopes.total)
    tally = Tally(sample=sample)
    ids = sorted(of_grids.ids)
    for first in range(0, len(ids), AT_ONCE):
        _check_drawn_grids(database, ids[first : first + AT_ONCE], tally, sample)
        yield tally
    for result_id in of_results.ids:
        _check_drawn_result(database, settings, result_id, tally, sample)
        yield tally
    room = by.size * GRIDS_OF_SUMS
    for scope_id in of_scopes.ids:
        room -= _check_drawn_scope(database, scope_id, room, tally, sample)
        yield tally
    with database.snapshot() as connection:
        tally.differences += check_events(connection, project_id)
    yield tally


def _check_drawn_grids(database: Database, ids: Sequence[uuid.UUID], tally: Tally, sample: Sample) -> None:
    """Check every revision of some grids, how they are numbered, and the outcomes of their items."""
    found: list[Difference] = []
    for row in _revisions_of(database, ids):
        found += check_revision(row)
        tally.revisions += 1
        sample.statistics += row.number == row.current and row.methods_version == METHODS_VERSION
    with database.snapshot() as connection:
        held = set(connection.scalars(select(grids.c.id).where(grids.c.id.in_(ids))))
        found += check_grids(connection, None, ids)
        found += check_items(connection, None, ids)
    tally.differences += found
    differing = {one.grid for one in found}
    for grid_id in ids:
        if grid_id in held | differing:
            sample.grids.add(grid_id in differing)
        else:
            sample.grids.drop()  # purged since it was drawn


def _revisions_of(database: Database, ids: Sequence[uuid.UUID]) -> Iterator[Any]:
    position: Position | None = None
    while True:
        with database.snapshot() as connection:
            rows = connection.execute(_page(None, position, AT_ONCE).where(grids.c.id.in_(ids))).all()
        yield from rows
        if len(rows) < AT_ONCE:
            return
        position = rows[-1].grid_id, rows[-1].number


def _check_drawn_result(
    database: Database, settings: Settings, result_id: uuid.UUID, tally: Tally, sample: Sample
) -> None:
    with database.reading() as connection:
        project_id = connection.scalar(select(cached_results.c.project_id).where(cached_results.c.id == result_id))
        found = None if project_id is None else check_result(database, settings, project_id, result_id)
        if found is not None:
            sample.results.add(bool(found))
            tally.differences += found
        elif connection.scalar(select(cached_results.c.id).where(cached_results.c.id == result_id, *SERVED)):
            sample.results.not_compared += 1
        else:
            sample.results.drop()


def _check_drawn_scope(database: Database, scope_id: uuid.UUID, room: int, tally: Tally, sample: Sample) -> int:
    """Check the pair sums of a scope that has no more than `room` grids; return how many were read."""
    with database.snapshot() as connection:
        scope = connection.execute(select(pair_sum_scopes).where(pair_sum_scopes.c.id == scope_id)).one_or_none()
        if scope is None or not scope.is_complete:
            sample.sums.drop()
            return 0
        if scope.grids > room:
            sample.sums.not_compared += 1
            return 0
        found = list(check_scope(connection, scope))
    sample.sums.add(bool(found))
    tally.differences += found
    return int(scope.grids)


def _project(connection: Connection, slug: str) -> uuid.UUID:
    live = select(projects.c.id).where(projects.c.slug == slug, projects.c.deleted_at.is_(None))
    found: uuid.UUID | None = connection.scalar(live)
    if found is None:
        raise NotFound(f'There is no project "{slug}".')
    return found


def _page(project_id: uuid.UUID | None, after: Position | None, limit: int) -> Any:
    key = tuple_(revisions.c.grid_id, revisions.c.number)
    same = of_revision(documents)
    job = of_revision(derivations)
    statement = (
        select(
            revisions,
            grids.c.revision.label("current"),
            job_state.label("state"),
            documents.c.document,
            documents.c.methods_version,
        )
        .join(grids, of_grid(revisions))
        .outerjoin(derivations, job)
        .outerjoin(documents, same)
        .order_by(revisions.c.grid_id, revisions.c.number)
        .limit(limit)
    )
    if project_id is not None:
        statement = statement.where(grids.c.project_id == project_id)
    return statement if after is None else statement.where(key > tuple_(*after))


def parse_position(text: str) -> Position:
    """Position in the form in which it was printed, `<grid>:<revision>`."""
    grid, _, number = text.partition(":")
    try:
        return uuid.UUID(grid), int(number)
    except ValueError:
        raise Invalid([Fault("/after", "is not a place that an earlier run named, <grid>:<revision>")]) from None


def main(given: str = "{}") -> None:
    """Process behind `registry verify`, whose options come as one JSON object."""
    options = Options(**orjson.loads(given))
    settings = Settings.from_environment()
    configure_logs(settings.log_level)
    longest = max(settings.worker_statement_timeout, _LONGEST_STATEMENT)
    database = Database(settings, name="verify", statement_timeout=longest)
    tally = Tally()
    try:
        for tally in _chosen(database, settings, options):
            click.echo(f"\r{tally.revisions} revisions, {len(tally.differences)} differences", nl=False, err=True)
    except RegistryError as error:
        click.echo(f"Error: {error.detail}", err=True)
        sys.exit(1)
    click.echo(err=True)
    print_tally(tally, options.as_json)
    sys.exit(CHECK_FAILED if tally.differences else 0)


def _chosen(database: Database, settings: Settings, options: Options) -> Iterator[Tally]:
    if options.sample is not None:
        seed = secrets.randbelow(_SEEDS) if options.seed is None else options.seed
        by = DrawOptions(options.sample, seed, options.project)
        click.echo(f"Drawing: {by}", err=True)
        return verify_sample(database, settings, by)
    after = None if options.after is None else parse_position(options.after)
    return verify(database, settings, options.project, after, options.most)


def print_tally(tally: Tally, as_json: bool) -> None:
    position = None if tally.position is None else f"{tally.position[0]}:{tally.position[1]}"
    if as_json:
        found = [dataclasses.asdict(one) for one in tally.differences]
        sample = {} if tally.sample is None else {"sample": tally.sample.shown()}
        told = {"revisions": tally.revisions, "differences": found, "next": position}
        click.echo(orjson.dumps(told | {"old_statistics": tally.old_statistics} | sample))
        return
    for one in tally.differences:
        where = f"project {one.project_id}" if one.grid is None else f"grid {one.grid} revision {one.revision}"
        click.echo(f"{one.check}: {where}: {one.detail}")
    if tally.old_statistics:
        grids_ = "1 grid" if tally.old_statistics == 1 else f"{tally.old_statistics:,} grids"
        click.echo(f"The statistics of {grids_} were not compared: other methods computed them.")
    if tally.sample is not None:
        click.echo("\n".join(tally.sample.sentences()))
    elif position is not None:
        click.echo(f"Go on with --after {position}")
    elif not tally.differences:
        click.echo("Everything is as the stored revisions say.")


if __name__ == "__main__":
    main(*sys.argv[1:])
