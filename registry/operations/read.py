"""Read a grid, its revisions and its statistics, by one statement each; in shards by two, the node's for its own."""

import itertools
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Text,
    and_,
    any_,
    bindparam,
    case,
    func,
    literal,
    literal_column,
    select,
)

from registry.errors import NotFound
from registry.grids.grid import Cell, Grid
from registry.operations.stored_grids import (
    CELLS,
    grid_summaries,
    grids_of_coordinator,
    stored_grid,
    stored_grids,
    with_revisions,
)
from registry.storage.keys import from_shards, in_shard_of, in_shards, of_current, of_grid, of_revision
from registry.storage.rows import MEMBERS, level_document
from registry.storage.statements import Prepared
from registry.storage.statistics_jobs import job_state
from registry.storage.tables import derivations, grids, projects, revisions, statistics, tokens

_GRID = grids.c.id == bindparam("grid_id")
_CURRENT = Prepared("grid", stored_grids().where(_GRID), {"grid_id": "uuid"})
_AT_REVISION = Prepared(
    "revision", stored_grids(bindparam("revision")).where(_GRID), {"grid_id": "uuid", "revision": "int"}
)
_SUMMARY = grid_summaries(bindparam("revision")).where(_GRID)
_OWNER = (
    select(grids.c.project_id, projects.c.visibility, projects.c.slug.label("project"), grids.c.revision)
    .join(projects, and_(projects.c.id == grids.c.project_id, projects.c.deleted_at.is_(None)))
    .where(_GRID)
)


_JOB = (
    select(
        grids.c.id,
        grids.c.revision,
        grids.c.project_id,
        projects.c.slug.label("project"),
        projects.c.visibility,
        job_state.label("state"),
        derivations.c.reason,
        func.coalesce(derivations.c.attempts, literal_column("0")).label("attempts"),
    )
    .join(projects, and_(projects.c.id == grids.c.project_id, projects.c.deleted_at.is_(None)))
    .outerjoin(derivations, of_current(derivations))
    .where(grids.c.deleted_at.is_(None))
)


def _computed(known: Sequence[str] | None) -> tuple[ColumnElement[Any], ...]:
    """What was computed; the document is left out when its etag is among the `known` ones, by default a parameter."""
    etags = bindparam("known", known, type_=ARRAY(Text))
    document = case((statistics.c.etag == any_(etags), None), else_=statistics.c.document)
    return statistics.c.etag, statistics.c.methods_version, document.label("document")


_STATISTICS = Prepared(
    "statistics",
    _JOB.outerjoin(statistics, of_current(statistics)).add_columns(*_computed(None)).where(_GRID),
    {"grid_id": "uuid", "known": "text[]"},
)


def find_grid(connection: Connection, grid_id: uuid.UUID, revision: int | None = None) -> Any:
    """Row of a grid at its current or at the given revision, None if there is none."""
    if in_shards(connection):
        return _of_shard(connection, grid_id, revision, CELLS)
    statement = _CURRENT if revision is None else _AT_REVISION
    return statement.one_or_none(connection, {"grid_id": str(grid_id), "revision": revision})


def find_summary(connection: Connection, grid_id: uuid.UUID, revision: int) -> Any:
    """Row of a grid at a revision, without its cells; None if there is none."""
    if in_shards(connection):
        return _of_shard(connection, grid_id, revision)
    return connection.execute(_SUMMARY, {"grid_id": grid_id, "revision": revision}).one_or_none()


def _of_shard(connection: Connection, grid_id: uuid.UUID, revision: int | None, cells: Sequence[str] = ()) -> Any:
    query = grids_of_coordinator(None if revision is None else literal(revision)).where(grids.c.id == grid_id)
    return next(iter(with_revisions(connection, connection.execute(query).all(), cells)), None)


def find_owner(connection: Connection, grid_id: uuid.UUID, *, deleted: bool = False) -> Any:
    """Project of a grid, as far as `authorize` needs it, and the grid's current revision; None if there is no grid.

    `deleted`: also of a grid with a tombstone.
    """
    statement = _OWNER if deleted else _OWNER.where(grids.c.deleted_at.is_(None))
    return connection.execute(statement, {"grid_id": grid_id}).one_or_none()


def find_statistics(connection: Connection, grid_id: uuid.UUID, known: Sequence[str] = ()) -> Any:
    """Derivation of a grid's current revision, with its document if that is ready; None if there is no grid.

    The document is left out when its etag is among the `known` ones.
    """
    if in_shards(connection):
        return next(iter(find_statistics_of(connection, [grid_id], known).values()), None)
    return _STATISTICS.one_or_none(connection, {"grid_id": str(grid_id), "known": list(known)})


def find_statistics_of(
    connection: Connection, grid_ids: Sequence[uuid.UUID], known: Sequence[str] = ()
) -> dict[uuid.UUID, Any]:
    """Derivations of the current revisions of grids of one project, by the grids' ids, each with its document if that
    is ready and not `known`; a grid that is not there has none."""
    query, computed = _JOB.where(grids.c.id.in_(grid_ids)), _computed(list(known))
    if in_shards(connection):
        jobs = connection.execute(query.add_columns(grids.c.revision.label("number"))).all()
        rows = from_shards(connection, jobs, statistics, computed, missing=True)
    else:
        whole = query.outerjoin(statistics, of_current(statistics)).add_columns(*computed)
        rows = list(connection.execute(whole))
    return {row.id: row for row in rows}


def list_revisions(connection: Connection, grid_id: uuid.UUID, after: int, limit: int) -> list[Any]:
    """Revisions numbered above `after`, in order: number, digest, count of cells, labels, state, instant."""
    told = (revisions.c[name] for name in ("number", "digest", "cell_count", "labels", "source", "created_at"))
    query = (
        select(*told, job_state.label("state"))
        .outerjoin(derivations, of_revision(derivations))
        .join(grids, of_grid(revisions))
        .where(grids.c.id == grid_id, in_shard_of(connection, grid_id), revisions.c.number > after)
        .order_by(revisions.c.number)
        .limit(limit)
    )
    return list(connection.execute(query).all())


def names_of_publishers(connection: Connection, grid_id: uuid.UUID, listed: Sequence[int]) -> dict[int, str]:
    """Names of the tokens that posted these revisions, by revision number; revisions without a token are left out."""
    query = (
        select(revisions.c.number, tokens.c.name)
        .join(tokens, tokens.c.id == revisions.c.token_id)
        .join(grids, of_grid(revisions))
        .where(grids.c.id == grid_id, in_shard_of(connection, grid_id), revisions.c.number.in_(listed))
    )
    return {row.number: row.name for row in connection.execute(query)}


@dataclass(frozen=True, slots=True)
class Difference:
    """Changes from revision `a` to `b`: cells by coordinate, as levels are sent."""

    a: int
    b: int
    added: list[tuple[dict[str, Any], Cell]]
    removed: list[tuple[dict[str, Any], Cell]]
    changed: list[tuple[dict[str, Any], Cell, Cell]]
    metric_changed: bool
    axes_changed: bool
    labels_changed: bool
    members_changed: frozenset[str]
    """Those of `questions`, `design_effect`, `derived` and `protocol` that differ."""


def compare_revisions(connection: Connection, grid_id: uuid.UUID, a: int, b: int) -> Difference:
    """Difference between two revisions of a grid; `NotFound` when one does not exist."""
    found = {number: find_grid(connection, grid_id, number) for number in (a, b)}
    if None in found.values():
        raise NotFound("The grid has no such revision.")
    before, after = stored_grid(found[a]).grid, stored_grid(found[b]).grid
    old, new = _by_coordinate(before), _by_coordinate(after)
    alike = {axis.name for axis in before.axes} == {axis.name for axis in after.axes}
    common = [(old[at], new[at]) for at in new if at in old] if alike else []
    return Difference(
        a=a,
        b=b,
        added=[placed(after, i) for at, i in new.items() if not alike or at not in old],
        removed=[placed(before, i) for at, i in old.items() if not alike or at not in new],
        changed=[
            (at, placed(before, i)[1], cell)
            for i, j in common
            if _content(before, i) != _content(after, j)
            for at, cell in [placed(after, j)]
        ],
        metric_changed=before.metric != after.metric,
        axes_changed=before.axes != after.axes,
        labels_changed=before.labels != after.labels,
        members_changed=frozenset(name for name in MEMBERS if _text(before, name) != _text(after, name)),
    )


def _text(grid: Grid, member: str) -> bytes:
    """A member as JSON, in which true is not 1."""
    return orjson.dumps(grid.members.get(member), option=orjson.OPT_SORT_KEYS)


def _by_coordinate(grid: Grid) -> dict[tuple[str, ...], int]:
    order = sorted(range(len(grid.axes)), key=lambda i: grid.axes[i].name)
    labels = itertools.product(*([level.label for level in axis.levels] for axis in grid.axes))
    return {
        tuple([at[i] for i in order]): index
        for index, (at, value) in enumerate(zip(labels, grid.values, strict=True))
        if value is not None
    }


def placed(grid: Grid, index: int) -> tuple[dict[str, Any], Cell]:
    """A measured cell, with its coordinate as levels are sent."""
    cell = cast(Cell, grid.cell(index))
    at = {axis.name: level_document(axis.levels[place]) for axis, place in zip(grid.axes, cell.at, strict=True)}
    return at, cell


def _content(grid: Grid, index: int) -> list[Any]:
    given = (grid.values, grid.trials, grid.stderr, grid.repeats, grid.sd)
    return [one[index] if isinstance(one, tuple) else one for one in given]
