"""Joins by the key of the tables that grow with the grids: project, grid and number of the revision.

Where these tables are in partitions, the project says in which one. A join without it would search all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Table, and_, tuple_

from registry.storage.tables import grids, revisions


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


def _number(table: _HasColumns) -> Any:
    return table.c.number if "number" in table.c else table.c.revision
