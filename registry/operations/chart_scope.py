"""What there is to draw in a scope: which names have how many cells, along which axes, and with which labels."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Select, func, select

from registry.grids.grid import Axis
from registry.grids.slices import kept_levels
from registry.operations.aliases import joined_names
from registry.operations.find import Filters, conditions
from registry.operations.query_names import axes_by_benchmark, axes_in
from registry.query import Query
from registry.selection import KINDS
from registry.storage.keys import grids_at, of_current
from registry.storage.tables import revisions


def cells_by_name(connection: Connection, project_id: uuid.UUID, query: Query, by: str) -> Mapping[str, int]:
    """The measured cells of each name of a kind in the scope, derived grids aside; aliases are replaced."""
    there = grids_at(project_id, query.as_of)
    found = _scope(select(there.c[by], func.sum(revisions.c.cell_count)), connection, project_id, query, there)
    rows = connection.execute(found.where(revisions.c.derived.is_(None)).group_by(there.c[by])).all()
    joined, totals = joined_names(connection, project_id), dict[str, int]()
    for name, cells in rows:
        own = joined.get((by, name), name)
        totals[own] = totals.get(own, 0) + int(cells)
    return totals


def most_cells_first(cells: Mapping[str, int]) -> list[str]:
    """The names, those with the most cells first."""
    return sorted(cells, key=lambda name: (-cells[name], name))


def axes_of_scope(connection: Connection, project_id: uuid.UUID, query: Query) -> Sequence[Axis]:
    """The different axes of the grids in the scope, at the levels that the members of a suite have; one name may come
    with several sets of levels."""
    there = grids_at(project_id, query.as_of)
    here = _conditions(connection, project_id, query, there)
    if not query.slices:
        return axes_in(connection, here, there)
    own, joined = dict(query.slices), joined_names(connection, project_id)
    return [
        replace(axis, levels=tuple(axis.levels[place] for place in places))
        for benchmark, axes in axes_by_benchmark(connection, here, joined, there).items()
        for axis in axes
        if (places := kept_levels(axis.levels, dict(own.get(benchmark, ())).get(axis.name, ())))
    ]


def label_texts(
    connection: Connection, project_id: uuid.UUID, query: Query, by: str, key: str
) -> Mapping[str, Sequence[str]]:
    """What the grids of each name of a kind have as this label; aliases are replaced."""
    text, there = revisions.c.labels[key].astext, grids_at(project_id, query.as_of)
    rows = connection.execute(_scope(select(there.c[by], text).distinct(), connection, project_id, query, there)).all()
    joined, found = joined_names(connection, project_id), dict[str, list[str]]()
    for name, label in rows:
        if label is not None:
            found.setdefault(joined.get((by, name), name), []).append(label)
    return found


def size_of(connection: Connection, project_id: uuid.UUID, query: Query) -> int:
    """The number of cells in the scope of a query without aliases."""
    cells = select(func.coalesce(func.sum(revisions.c.cell_count), 0))
    there = grids_at(project_id, query.as_of)
    return int(connection.execute(_scope(cells, connection, project_id, query, there)).scalar_one())


def filters_of(query: Query) -> Filters:
    """The names of a query."""
    return Filters([query.experiment], **{kind: getattr(query, kind) for kind in KINDS}, metric=[query.metric])


def _scope(
    statement: Select[Any], connection: Connection, project_id: uuid.UUID, query: Query, there: Any
) -> Select[Any]:
    joined = statement.select_from(there).join(revisions, of_current(revisions, there))
    return joined.where(*_conditions(connection, project_id, query, there))


def _conditions(connection: Connection, project_id: uuid.UUID, query: Query, there: Any) -> list[Any]:
    here = (there.c.project_id == project_id, there.c.deleted_at.is_(None))
    return [*here, *conditions(connection, project_id, filters_of(query), there)]
