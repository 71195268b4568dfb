"""Find grids for lists, pages and exports: filters that repeat for OR, any order, keyset pages."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, Select, Text, and_, cast, func, literal_column, or_, select

from registry.errors import Invalid
from registry.grids.slices import Slice, kept_positions, slice_faults
from registry.operations.search import KINDS, grids_with
from registry.operations.stored_grids import (
    CELLS,
    Deleted,
    GridSummary,
    StoredGrid,
    grid_summaries,
    grid_summary,
    grids_of_coordinator,
    stored_grid,
    tombstone,
    with_revisions,
)
from registry.storage.keys import grids_at, in_shards
from registry.storage.rows import axis_of
from registry.storage.tables import aliases, grids, revisions

SORTS = ("updated_at", "created_at", "experiment", "benchmark", "model", "variant", "metric", "cell_count")
Key = str | int | datetime
"""What a list is sorted by: a name, a number of cells, or an instant."""
_ALIASED = ("experiment", "benchmark", "model", "variant")
FILTERED = (*_ALIASED, "metric")
"""Kinds of names that filters take."""


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
    ids: Sequence[uuid.UUID] = ()
    """Whole ids, joined by OR."""
    words: Sequence[str] = ()
    """Each is in a name or a label of the grid."""
    deleted: Deleted = "exclude"
    at: Slice = ()
    """Only grids that have a level of it on each of its axes."""


@dataclass(frozen=True, slots=True)
class Page:
    sort: str = "-updated_at"
    after: tuple[Key, uuid.UUID] | None = None
    """The sort key and the id of the last grid of the page before."""
    limit: int = 100


def find_grids(connection: Connection, project_id: uuid.UUID, filters: Filters, page: Page) -> list[GridSummary]:
    """One page of the project's grids, without their cells; one more than `limit` when there is a next page."""
    return [grid_summary(row) for row in _page(connection, project_id, filters, page)]


def find_whole_grids(connection: Connection, project_id: uuid.UUID, filters: Filters, page: Page) -> list[StoredGrid]:
    """Like `find_grids`, with the cells of each, for pages that show them."""
    return [stored_grid(row) for row in _page(connection, project_id, filters, page, CELLS)]


def find_grids_then(connection: Connection, project_id: uuid.UUID, filters: Filters, as_of: str) -> Sequence[Any]:
    """The id, model and revision of the grids that there were at an instant and still are, in the order of their
    models. `filters` are of names."""
    there = grids_at(project_id, as_of)
    query = select(there.c.id, there.c.model, there.c.revision).join(grids, grids.c.id == there.c.id)
    given = (*conditions(connection, project_id, filters, there), *tombstone("exclude"))
    return connection.execute(query.where(*given).order_by(there.c.model, there.c.id)).all()


def _page(
    connection: Connection, project_id: uuid.UUID, filters: Filters, page: Page, cells: Sequence[str] = ()
) -> Sequence[Any]:
    here, given = grids.c.project_id == project_id, conditions(connection, project_id, filters)
    found = grid_summaries(deleted=filters.deleted).add_columns(*(revisions.c[name] for name in cells)).where(here)
    query = found.where(*given)
    if filters.at:
        query = query.where(_has_levels(connection, query, filters.at))
    if page.sort.removeprefix("-") != "cell_count" and not (filters.at or filters.labels or filters.words):
        # The page is chosen before anything else is read of its grids: the planner would rather join all of them.
        chosen = _limited(select(grids.c.id).where(here, *tombstone(filters.deleted), *given), page)
        if in_shards(connection):  # else the node of the project is sent all its grids and jobs
            query = grids_of_coordinator(deleted=filters.deleted).where(here, grids.c.id.in_(chosen))
            return with_revisions(connection, connection.execute(_limited(query, page)).all(), cells)
        query = found.where(grids.c.id.in_(chosen))
    return connection.execute(_limited(query, page)).all()


def _limited(query: Select[Any], page: Page) -> Select[Any]:
    name, descending = page.sort.removeprefix("-"), page.sort.startswith("-")
    others: dict[str, Any] = {"cell_count": revisions.c.cell_count, "called": CALLED}
    column: ColumnElement[Any] = others[name] if name in others else grids.c[name]
    query = with_called(query) if name == "called" else query
    if page.after is not None:
        key, last = page.after
        beyond = column < key if descending else column > key
        further = grids.c.id < last if descending else grids.c.id > last
        query = query.where(or_(beyond, and_(column == key, further)))
    order = (column.desc(), grids.c.id.desc()) if descending else (column, grids.c.id)
    return query.order_by(*order).limit(page.limit + 1)


CALLED: Any = func.coalesce(aliases.c.name, grids.c.model)
"""The model of a row of `grids`, by the name that an alias stands for: the sort `called` of pages."""


def with_called(query: Select[Any]) -> Select[Any]:
    """A query of `grids` that may use `CALLED`. The alias is joined: Citus sorts by no subquery of another table."""
    same = (aliases.c.project_id == grids.c.project_id, aliases.c.kind == "model", aliases.c.alias == grids.c.model)
    return query.outerjoin(aliases, and_(*same))


def _has_levels(connection: Connection, query: Select[Any], wanted: Slice) -> ColumnElement[bool]:
    """Condition for the grids of a query that have something of a slice; `Invalid` when none of them has such an axis,
    or such a level."""
    written = cast(revisions.c.axes, Text)
    texts = connection.scalars(query.with_only_columns(written).distinct())
    found = {text: [axis_of(document) for document in orjson.loads(text)] for text in texts}
    faults = slice_faults(chain.from_iterable(found.values()), wanted, "no grid")
    if faults:
        raise Invalid(faults)
    named = {text: {axis.name: axis.levels for axis in axes} for text, axes in found.items()}
    return written.in_([text for text, axes in named.items() if kept_positions(axes, wanted) is not None])


def sort_key(stored: GridSummary | StoredGrid, sort: str) -> Key:
    """Cursor values of the last grid of a page."""
    name = sort.removeprefix("-")
    if name == "updated_at":
        return stored.changed_at or stored.updated_at
    key: Key = getattr(stored.names if name in KINDS else stored, name)
    return key


def conditions(
    connection: Connection, project_id: uuid.UUID, filters: Filters, there: Any = grids
) -> list[ColumnElement[bool]]:
    """Filters as conditions on `grids` and `revisions`. `there`: what stands in the place of `grids`, of the names."""
    found: list[ColumnElement[bool]] = []
    if filters.id:
        found.append(grids.c.id.between(*ids_with_prefix(filters.id)))
    if filters.ids:
        found.append(grids.c.id.in_(filters.ids))
    for kind in FILTERED:
        wanted = list(getattr(filters, kind))
        if wanted:
            joined = with_aliases(connection, project_id, kind, wanted) if kind in _ALIASED else wanted
            found.append(there.c[kind].in_(joined))
    if filters.updated_since is not None:
        found.append(grids.c.updated_at >= filters.updated_since)
    if filters.labels:
        for name, texts in filters.labels.items():
            found.append(or_(*(revisions.c.labels.contains({name: text}) for text in texts)))
        found.append(revisions.c.labels != literal_column("'{}'::jsonb"))  # as the partial index says
    return [*found, *grids_with(connection, project_id, filters.words)]


def ids_with_prefix(text: str) -> tuple[uuid.UUID, uuid.UUID]:
    """First and last id that begin with these hexadecimal digits; dashes are ignored."""
    digits = text.replace("-", "")[:32]
    return uuid.UUID(digits.ljust(32, "0")), uuid.UUID(digits.ljust(32, "f"))


def with_aliases(connection: Connection, project_id: uuid.UUID, kind: str, wanted: Sequence[str]) -> list[str]:
    """The wanted names and every name that an alias joins to them."""
    mine = (aliases.c.project_id == project_id, aliases.c.kind == kind)
    meant = select(aliases.c.name).where(*mine, aliases.c.alias.in_(wanted))
    joined = or_(aliases.c.name.in_(wanted), aliases.c.name.in_(meant))
    rows = connection.execute(select(aliases.c.alias, aliases.c.name).where(*mine, joined)).all()
    return sorted({*wanted, *(row.name for row in rows), *(row.alias for row in rows)})
