"""`registry verify`: compute every result again and compare. Only reads, so the service may run meanwhile."""

from __future__ import annotations

import dataclasses
import sys
import uuid
from collections.abc import Iterator
from typing import Any

import click
import orjson
from sqlalchemy import Connection, select, tuple_

from registry.errors import Fault, Invalid, NotFound, RegistryError
from registry.logs import configure_logs
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.job_states import job_state
from registry.storage.keys import of_grid, of_revision
from registry.storage.tables import derivations, grids, projects, revisions
from registry.storage.tables import statistics as documents
from workers.verify_checks import (
    Difference,
    check_events,
    check_grids,
    check_items,
    check_results,
    check_revision,
    check_scopes,
)

AT_ONCE = 20
CHECK_FAILED = 3

Position = tuple[uuid.UUID, int]


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of `registry verify`."""

    project: str | None = None
    most: int | None = None
    after: str | None = None
    as_json: bool = False


@dataclasses.dataclass
class Tally:
    """Progress and findings so far."""

    revisions: int = 0
    differences: list[Difference] = dataclasses.field(default_factory=list)
    position: Position | None = None


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
    database = Database(settings, name="verify", statement_timeout=settings.worker_statement_timeout)
    tally = Tally()
    try:
        after = None if options.after is None else parse_position(options.after)
        for tally in verify(database, settings, options.project, after, options.most):
            click.echo(f"\r{tally.revisions} revisions, {len(tally.differences)} differences", nl=False, err=True)
    except RegistryError as error:
        click.echo(f"Error: {error.detail}", err=True)
        sys.exit(1)
    click.echo(err=True)
    print_tally(tally, options.as_json)
    sys.exit(CHECK_FAILED if tally.differences else 0)


def print_tally(tally: Tally, as_json: bool) -> None:
    """Print the findings on standard output."""
    position = None if tally.position is None else f"{tally.position[0]}:{tally.position[1]}"
    if as_json:
        found = [dataclasses.asdict(one) for one in tally.differences]
        click.echo(orjson.dumps({"revisions": tally.revisions, "differences": found, "next": position}))
        return
    for one in tally.differences:
        where = f"project {one.project_id}" if one.grid is None else f"grid {one.grid} revision {one.revision}"
        click.echo(f"{one.check}: {where}: {one.detail}")
    if position is not None:
        click.echo(f"Go on with --after {position}")
    elif not tally.differences:
        click.echo("Everything is as the stored revisions say.")


if __name__ == "__main__":
    main(*sys.argv[1:])
