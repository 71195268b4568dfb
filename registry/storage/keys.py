"""Joins by the key of the tables that grow with the grids: project, grid and number of the revision.

Where these tables are in partitions, the project says in which one. A join without it would search all of them. Where
they are in shards, that does not suffice for a grid's id: a statement about one is told its project too.

The grids of a project as they were at an instant. A grid was there if it had a revision then and its last deletion
until then was followed by a revision or a restoration. The audit log has every deletion and every restoration, and
nothing is removed from it.
"""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from types import SimpleNamespace
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from sqlalchemy import (
    ColumnElement,
    Connection,
    DateTime,
    Engine,
    Table,
    Uuid,
    and_,
    bindparam,
    select,
    text,
    true,
    tuple_,
)

from registry.storage.tables import grids, revisions

_COLUMNS = ("id", "project_id", "experiment", "benchmark", "model", "variant", "metric")

GRIDS_THEN = f"""
    SELECT {", ".join(f"grids.{name}" for name in _COLUMNS)}, last.number AS revision,
        greatest(last.created_at, acts.restored_at) AS updated_at, CAST(NULL AS timestamptz) AS deleted_at
    FROM grids
    CROSS JOIN LATERAL (
        SELECT number, created_at FROM stored_revisions
        WHERE project_id = :project AND grid_id = grids.id AND created_at <= :as_of ORDER BY number DESC LIMIT 1
    ) AS last
    LEFT JOIN (
        SELECT subject, max(at) FILTER (WHERE action = 'grid.deleted') AS deleted_at,
            max(at) FILTER (WHERE action = 'grid.restored') AS restored_at
        FROM audit_log
        WHERE project_id = :project AND action IN ('grid.deleted', 'grid.restored') AND at <= :as_of
        GROUP BY subject
    ) AS acts ON acts.subject = CAST(grids.id AS text)
    WHERE grids.project_id = :project AND greatest(last.created_at, acts.restored_at) >= coalesce(
        greatest(acts.deleted_at, CASE WHEN grids.deleted_at <= :as_of THEN grids.deleted_at END), '-infinity')
"""  # noqa: S608 (a constant)
"""A statement of the parameters `project` and `as_of`: columns of `grids`, of those that were there at that instant;
`revision` is the one that was current, and nothing that was done later shows."""


class _HasColumns(Protocol):
    @property
    def c(self) -> Any: ...


def key_of(table: Table) -> list[ColumnElement[Any]]:
    """The project and the primary key of a table that has its rows by project."""
    return [table.c.project_id, *table.primary_key.columns]


def of_grid(table: _HasColumns, there: _HasColumns = grids) -> ColumnElement[bool]:
    """Condition that a row belongs to a row of `grids`, or of what stands in its place, at any of its revisions."""
    return and_(table.c.project_id == there.c.project_id, table.c.grid_id == there.c.id)


def of_current(table: _HasColumns, there: _HasColumns = grids) -> ColumnElement[bool]:
    """Condition that a row belongs to the current revision of a row of `grids`, or of what stands in its place."""
    return and_(of_grid(table, there), _number(table) == there.c.revision)


def of_revision(table: _HasColumns) -> ColumnElement[bool]:
    """Condition that a row belongs to a row of `revisions`."""
    return and_(
        table.c.project_id == revisions.c.project_id,
        table.c.grid_id == revisions.c.grid_id,
        _number(table) == revisions.c.number,
    )


def among(keys: Iterable[tuple[Any, int]]) -> tuple[ColumnElement[bool], ...]:
    """Conditions for some rows of `revisions`, by grid and number, where `grids` is joined by `of_grid`."""
    wanted = list(keys)
    return grids.c.id.in_({grid for grid, _ in wanted}), tuple_(revisions.c.grid_id, revisions.c.number).in_(wanted)


def in_projects(table: _HasColumns, projects: Iterable[Any], keys: Iterable[tuple[Any, int]]) -> ColumnElement[bool]:
    """Condition for some rows of a table, by grid and number, all of them of these projects."""
    key = tuple_(table.c.grid_id, _number(table))
    return and_(table.c.project_id.in_(set(projects)), key.in_(list(keys)))


def from_shards(
    connection: Connection, rows: Sequence[Any], table: Table, columns: Sequence[Any], *, missing: bool = False
) -> list[Any]:
    """Rows of the coordinator's tables, each with what a table in shards has at its project, `id` and `number`; a row
    of which it has nothing is left out, or has None if it may be `missing`.

    Joined in one statement, the node of the project would be sent each of the coordinator's tables first.
    """
    if not rows:
        return []
    keys = [(row.id, row.number) for row in rows]
    query = select(table.c.grid_id, _number(table).label("number"), *columns)
    held = connection.execute(query.where(in_projects(table, (row.project_id for row in rows), keys)))
    found = {(one.grid_id, one.number): one._mapping for one in held}
    nothing = {column.key: None for column in columns} if missing else None
    pairs = [(row._mapping, found.get(key, nothing)) for row, key in zip(rows, keys, strict=True)]
    return [SimpleNamespace(**{**other, **row}) for row, other in pairs if other is not None]


def _number(table: _HasColumns) -> Any:
    return table.c.number if "number" in table.c else table.c.revision


_SHARDED: WeakKeyDictionary[Engine, bool] = WeakKeyDictionary()


def in_shards(connection: Connection) -> bool:
    """Whether the tables are on the nodes of a cluster (`migrations/citus.py`), which no process sees happen."""
    if connection.engine not in _SHARDED:
        setting = text("SELECT current_setting('citus.enable_unsafe_triggers', true) = 'on'")
        _SHARDED[connection.engine] = bool(connection.scalar(setting))
    return _SHARDED[connection.engine]


def commit_together(connection: Connection) -> None:
    """Let the node of a revision prepare its part before the coordinator commits. Otherwise the node commits first, and
    if the coordinator died in between, nobody could ever take the number of that revision.

    Citus does so where it copies to a table in shards, even no rows, which asks no node."""
    if in_shards(connection):
        nothing = "SELECT id, revision, 1, project_id FROM grids WHERE false"
        connection.execute(text(f"INSERT INTO item_continuations (grid_id, revision, since, project_id) {nothing}"))


def in_shard_of(connection: Connection, grid_id: uuid.UUID) -> ColumnElement[bool]:
    """Condition that a grid is of its project, by which one shard is asked instead of all; none without shards."""
    if not in_shards(connection):
        return true()
    project = connection.scalar(select(grids.c.project_id).where(grids.c.id == grid_id))
    return grids.c.project_id == (project or grid_id)  # no project's, if there is no such grid


def instant_of(as_of: str) -> datetime | None:
    """The instant of a selection; None for now."""
    return datetime.fromisoformat(as_of) if as_of else None


def grids_at(project_id: uuid.UUID, as_of: str) -> Any:
    """Table to read in place of `grids`: the table itself for "", else the same columns as they were."""
    if not as_of:
        return grids
    then = text(GRIDS_THEN).bindparams(
        bindparam("project", project_id, Uuid), bindparam("as_of", instant_of(as_of), DateTime(timezone=True))
    )
    columns = (*_COLUMNS, "revision", "updated_at", "deleted_at")
    return then.columns(*(grids.c[name] for name in columns)).subquery("grids_then")
