"""`registry verify`: compute results again, every one or a sample, and compare. Only reads: the service may run."""

import dataclasses
import secrets
import sys
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import click
import orjson
from sqlalchemy import ColumnElement, Connection, select, tuple_

from registry.errors import NotFound, RegistryError
from registry.logs import configure_logs
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.keys import of_grid, of_revision
from registry.storage.statistics_jobs import job_state
from registry.storage.tables import cached_results, derivations, grids, pair_sum_scopes, projects, revisions
from registry.storage.tables import statistics as documents
from workers.statistics import METHODS_VERSION
from workers.verify_checks import (
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
from workers.verify_sample import DrawOptions, Sample

AT_ONCE = 20
CHECK_FAILED = 3
_LONGEST_STATEMENT = 600.0
"""Seconds, where statements of workers have less: whole tables are counted here."""
_SEEDS = 1 << 32


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of `registry verify`."""

    project: str | None = None
    as_json: bool = False
    sample: int | None = None
    seed: int | None = None


@dataclasses.dataclass
class Tally:
    """Progress and findings so far."""

    revisions: int = 0
    differences: list[Difference] = dataclasses.field(default_factory=list)
    old_statistics: int = 0
    """Grids whose statistics are by other methods than this release's, and were not compared."""
    sample: Sample | None = None


def verify(database: Database, settings: Settings, project: str | None) -> Iterator[Tally]:
    """Compare everything, yielding the tally after each revision."""
    tally = Tally()
    with database.snapshot() as connection:
        project_id = None if project is None else _project(connection, project)
    for row in _revisions(database, *([] if project_id is None else [grids.c.project_id == project_id])):
        tally.differences += check_revision(row)
        tally.revisions += 1
        tally.old_statistics += row.number == row.current and row.methods_version not in (None, METHODS_VERSION)
        yield tally
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
        sample = Sample.drawn(connection, project_id, by)
    tally = Tally(sample=sample)
    ids = sorted(sample.grids.ids)
    for first in range(0, len(ids), AT_ONCE):
        _check_drawn_grids(database, ids[first : first + AT_ONCE], tally, sample)
        yield tally
    for result_id in sample.results.ids:
        with database.reading() as connection:
            mine = connection.scalar(select(cached_results.c.project_id).where(cached_results.c.id == result_id))
        found = None if mine is None else check_result(database, settings, mine, result_id)
        if found is not None:
            sample.results.add(bool(found))
            tally.differences += found
        yield tally
    for scope_id in sample.sums.ids:
        with database.snapshot() as connection:
            scope = connection.execute(select(pair_sum_scopes).where(pair_sum_scopes.c.id == scope_id)).one_or_none()
            odd = list(check_scope(connection, scope)) if scope is not None and scope.is_complete else None
        if odd is not None:
            sample.sums.add(bool(odd))
            tally.differences += odd
        yield tally
    with database.snapshot() as connection:
        tally.differences += check_events(connection, project_id)
    yield tally


def _check_drawn_grids(database: Database, ids: Sequence[uuid.UUID], tally: Tally, sample: Sample) -> None:
    """Check every revision of some grids, how they are numbered, and the outcomes of their items."""
    found: list[Difference] = []
    for row in _revisions(database, grids.c.id.in_(ids)):
        found += check_revision(row)
        tally.revisions += 1
        sample.statistics += row.number == row.current and row.methods_version == METHODS_VERSION
    with database.snapshot() as connection:
        held = set(connection.scalars(select(grids.c.id).where(grids.c.id.in_(ids))))
        found += check_grids(connection, None, ids)
        found += check_items(connection, None, ids)
    tally.differences += found
    differing = {one.grid for one in found}
    for grid_id in held | (differing & {*ids}):  # without those that were purged since
        sample.grids.add(grid_id in differing)


def _revisions(database: Database, *which: ColumnElement[bool]) -> Iterator[Any]:
    """The revisions of these grids with their statistics, read page by page."""
    key = tuple_(revisions.c.grid_id, revisions.c.number)
    names = (grids.c.revision.label("current"), job_state.label("state"), documents.c.document)
    statement = (
        select(revisions, *names, documents.c.methods_version)
        .join(grids, of_grid(revisions))
        .outerjoin(derivations, of_revision(derivations))
        .outerjoin(documents, of_revision(documents))
        .where(*which)
        .order_by(revisions.c.grid_id, revisions.c.number)
        .limit(AT_ONCE)
    )
    page = statement
    while True:
        with database.snapshot() as connection:
            rows = connection.execute(page).all()
        yield from rows
        if len(rows) < AT_ONCE:
            return
        page = statement.where(key > tuple_(rows[-1].grid_id, rows[-1].number))


def _project(connection: Connection, slug: str) -> uuid.UUID:
    live = select(projects.c.id).where(projects.c.slug == slug, projects.c.deleted_at.is_(None))
    found: uuid.UUID | None = connection.scalar(live)
    if found is None:
        raise NotFound(f'There is no project "{slug}".')
    return found


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
    return verify(database, settings, options.project)


def print_tally(tally: Tally, as_json: bool) -> None:
    if as_json:
        found = [dataclasses.asdict(one) for one in tally.differences]
        sample = {} if tally.sample is None else {"sample": tally.sample.shown()}
        told = {"revisions": tally.revisions, "differences": found}
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
    elif not tally.differences:
        click.echo("Everything is as the stored revisions say.")


if __name__ == "__main__":
    main(*sys.argv[1:])
