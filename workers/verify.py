"""Verify: `registry verify`, or `python -m workers.verify`. Reads only; the service may run meanwhile."""

from __future__ import annotations

import dataclasses
import sys
import uuid
from collections.abc import Iterator
from typing import Any

import click
import orjson
from sqlalchemy import Connection, and_, select, tuple_

from registry.errors import Fault, Invalid, NotFound, RegistryError
from registry.logs import configure_logs
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import derivations, grids, projects, revisions
from registry.storage.tables import statistics as documents
from workers.verify_checks import Difference, of_answers, of_grids, of_revision, of_scopes

AT_ONCE = 20
CHECK_FAILED = 3

Place = tuple[uuid.UUID, int]


@dataclasses.dataclass
class Tally:
    """What was done so far."""

    revisions: int = 0
    differences: list[Difference] = dataclasses.field(default_factory=list)
    place: Place | None = None


def verify(
    database: Database, settings: Settings, project: str | None, after: Place | None, most: int | None
) -> Iterator[Tally]:
    """Compare page by page; the tally after each. The last has no `place` when nothing is left."""
    tally = Tally(place=after)
    with database.snapshot() as connection:
        project_id = None if project is None else _project(connection, project)
    while True:
        limit = AT_ONCE if most is None else min(AT_ONCE, most - tally.revisions)
        with database.snapshot() as connection:
            rows = connection.execute(_page(project_id, tally.place, limit)).all() if limit else []
        for row in rows:
            tally.differences += of_revision(row)
            tally.revisions += 1
            tally.place = row.grid_id, row.number
        if len(rows) < limit or not limit:
            break
        yield tally
    if limit:  # not cut short
        tally.place = None
        with database.snapshot() as connection:
            tally.differences += of_grids(connection, project_id)
            tally.differences += of_scopes(connection, project_id)
        tally.differences += of_answers(database, settings, project_id)
    yield tally


def _project(connection: Connection, slug: str) -> uuid.UUID:
    live = select(projects.c.id).where(projects.c.slug == slug, projects.c.deleted_at.is_(None))
    found: uuid.UUID | None = connection.scalar(live)
    if found is None:
        raise NotFound(f'There is no project "{slug}".')
    return found


def _page(project_id: uuid.UUID | None, after: Place | None, limit: int) -> Any:
    key = tuple_(revisions.c.grid_id, revisions.c.number)
    same = and_(documents.c.grid_id == revisions.c.grid_id, documents.c.revision == revisions.c.number)
    promised = and_(derivations.c.grid_id == revisions.c.grid_id, derivations.c.revision == revisions.c.number)
    query = (
        select(
            revisions,
            grids.c.project_id,
            grids.c.revision.label("current"),
            derivations.c.state,
            documents.c.document,
            documents.c.methods_version,
        )
        .join(grids, grids.c.id == revisions.c.grid_id)
        .outerjoin(derivations, promised)
        .outerjoin(documents, same)
        .order_by(revisions.c.grid_id, revisions.c.number)
        .limit(limit)
    )
    if project_id is not None:
        query = query.where(grids.c.project_id == project_id)
    return query if after is None else query.where(key > tuple_(*after))


def read_place(text: str) -> Place:
    """A place as it was printed: `<grid>:<revision>`."""
    grid, _, number = text.partition(":")
    try:
        return uuid.UUID(grid), int(number)
    except ValueError:
        raise Invalid([Fault("/after", "is not a place that an earlier run named, <grid>:<revision>")]) from None


@click.command()
@click.option("--project")
@click.option("--most", type=click.IntRange(1))
@click.option("--after")
@click.option("--json", "as_json", is_flag=True)
def main(project: str | None, most: int | None, after: str | None, as_json: bool) -> None:
    """The process behind `registry verify`."""
    settings = Settings.from_environment()
    configure_logs(settings.log_level)
    database = Database(settings, name="verify", statement_timeout=settings.worker_statement_timeout)
    tally = Tally()
    try:
        for tally in verify(database, settings, project, None if after is None else read_place(after), most):
            click.echo(f"\r{tally.revisions} revisions, {len(tally.differences)} differences", nl=False, err=True)
    except RegistryError as error:
        click.echo(f"Error: {error.detail}", err=True)
        sys.exit(1)
    click.echo(err=True)
    tell(tally, as_json)
    sys.exit(CHECK_FAILED if tally.differences else 0)


def tell(tally: Tally, as_json: bool) -> None:
    """What was found, on standard output."""
    place = None if tally.place is None else f"{tally.place[0]}:{tally.place[1]}"
    if as_json:
        found = [dataclasses.asdict(one) for one in tally.differences]
        click.echo(orjson.dumps({"revisions": tally.revisions, "differences": found, "next": place}))
        return
    for one in tally.differences:
        where = f"project {one.project_id}" if one.grid is None else f"grid {one.grid} revision {one.revision}"
        click.echo(f"{one.check}: {where}: {one.detail}")
    if place is not None:
        click.echo(f"Go on with --after {place}")
    elif not tally.differences:
        click.echo("Everything is as the stored revisions say.")


if __name__ == "__main__":
    main()
