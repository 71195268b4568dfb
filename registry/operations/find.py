"""Find grids: filters that repeat for OR, any order, keyset pages."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, literal_column, or_, select

from registry.operations.stored_grids import (
    Deleted,
    GridSummary,
    StoredGrid,
    grid_summaries,
    grid_summary,
    stored_grid,
    stored_grids,
)
from registry.storage.tables import aliases, grids, revisions

SORTS = ("updated_at", "created_at", "experiment", "benchmark", "model", "variant", "metric")
_ALIASED = ("experiment", "benchmark", "model", "variant")


@dataclass(frozen=True)
class Filters:
    """Filters; an empty list filters nothing. The texts of one name or label are joined by OR, all else by AND."""

    experiment: Sequence[str] = ()
    benchmark: Sequence[str] = ()
    model: Sequence[str] = ()
    variant: Sequence[str] = ()
    metric: Sequence[str] = ()
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    updated_since: datetime | None = None
    id: str = ""
    """An id or its first characters."""
    deleted: Deleted = "exclude"


@dataclass(frozen=True, slots=True)
class Page:
    sort: str = "-updated_at"
    after: tuple[str | datetime, uuid.UUID] | None = None
    """The sort key and the id of the last grid of the page before."""
    limit: int = 100


def find_grids(connection: Connection, project_id: uuid.UUID, filters: Filters, page: Page) -> list[GridSummary]:
    """One page of the project's grids, without their cells; one more than `limit` when there is a next page."""
    return [grid_summary(row) for row in connection.execute(_paged(connection, project_id, filters, page))]


def find_whole_grids(connection: Connection, project_id: uuid.UUID, filters: Filters, page: Page) -> list[StoredGrid]:
    """Like `find_grids`, with the cells of each, for pages that show them."""
    statement = _paged(connection, project_id, filters, page, stored_grids())
    return [stored_grid(row) for row in connection.execute(statement)]


def _paged(
    connection: Connection, project_id: uuid.UUID, filters: Filters, page: Page, statement: Select[Any] | None = None
) -> Select[Any]:
    found = grid_summaries(deleted=filters.deleted) if statement is None else statement
    query = found.where(grids.c.project_id == project_id, *conditions(connection, project_id, filters))
    column, descending = grids.c[page.sort.removeprefix("-")], page.sort.startswith("-")
    if page.after is not None:
        key, last = page.after
        beyond = column < key if descending else column > key
        further = grids.c.id < last if descending else grids.c.id > last
        query = query.where(or_(beyond, and_(column == key, further)))
    order = (column.desc(), grids.c.id.desc()) if descending else (column, grids.c.id)
    return query.order_by(*order).limit(page.limit + 1)


def sort_key(stored: GridSummary | StoredGrid, sort: str) -> str | datetime:
    """Cursor values of the last grid of a page."""
    name = sort.removeprefix("-")
    key: str | datetime = getattr(stored.names, name) if name in SORTS[2:] else getattr(stored, name)
    return key


def conditions(connection: Connection, project_id: uuid.UUID, filters: Filters) -> list[ColumnElement[bool]]:
    """Filters as conditions on `grids` and `revisions`."""
    found: list[ColumnElement[bool]] = []
    if filters.id:
        found.append(grids.c.id.between(*ids_with_prefix(filters.id)))
    for kind in (*_ALIASED, "metric"):
        wanted = list(getattr(filters, kind))
        if wanted:
            joined = with_aliases(connection, project_id, kind, wanted) if kind in _ALIASED else wanted
            found.append(grids.c[kind].in_(joined))
    if filters.updated_since is not None:
        found.append(grids.c.updated_at >= filters.updated_since)
    if filters.labels:
        for name, texts in filters.labels.items():
            found.append(or_(*(revisions.c.labels.contains({name: text}) for text in texts)))
        found.append(revisions.c.labels != literal_column("'{}'::jsonb"))  # as the partial index says
    return found


def ids_with_prefix(text: str) -> tuple[uuid.UUID, uuid.UUID]:
    """First and last id that begin with these hexadecimal digits; dashes are ignored."""
    digits = text.replace("-", "")[:32]
    return uuid.UUID(digits.ljust(32, "0")), uuid.UUID(digits.ljust(32, "f"))


def with_aliases(connection: Connection, project_id: uuid.UUID, kind: str, wanted: Sequence[str]) -> list[str]:
    """The wanted names and every name that an alias joins to them."""
    of_kind = select(aliases.c.alias, aliases.c.name).where(aliases.c.project_id == project_id, aliases.c.kind == kind)
    rows = connection.execute(of_kind.where(or_(aliases.c.alias.in_(wanted), aliases.c.name.in_(wanted)))).all()
    targets = {row.name for row in rows} | set(wanted)
    rows = connection.execute(of_kind.where(aliases.c.name.in_(targets))).all()
    return sorted(targets | {row.alias for row in rows})
