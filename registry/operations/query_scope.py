"""What the grids of a query hold, before it is computed: names, axes and labels for the charts of `api/lines.py`, and
the number of cells for the limits of baselines."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Select, func, select

from registry.grids.grid import Axis
from registry.grids.slices import kept_levels
from registry.operations.find_grids import Filters, conditions, with_aliases
from registry.operations.names import joined_names
from registry.operations.query_names import axes_by_benchmark, axes_in
from registry.query import Query
from registry.selection import KINDS
from registry.storage.keys import grids_at, of_current
from registry.storage.tables import grids, revisions


def cells_by_name(connection: Connection, project_id: uuid.UUID, query: Query, by: str) -> Mapping[str, int]:
    """The measured cells of each name of a kind in the scope, derived grids aside; aliases are replaced."""
    there = grids_at(project_id, query.as_of)
    found = _inside(select(there.c[by], func.sum(revisions.c.cell_count)), connection, project_id, query, there)
    rows = connection.execute(found.where(revisions.c.derived.is_(None)).group_by(there.c[by])).all()
    joined, totals = joined_names(connection, project_id), dict[str, int]()
    for name, cells in rows:
        own = joined.get((by, name), name)
        totals[own] = totals.get(own, 0) + int(cells)
    return totals


def first_published(connection: Connection, project_id: uuid.UUID, experiment: str, by: str) -> list[str]:
    """The names of a kind in an experiment, in the order in which grids of them were first published; aliases are
    replaced. A newcomer is the last, and a deleted grid keeps its name's place."""
    same = with_aliases(connection, project_id, "experiment", [experiment])
    query = select(grids.c[by]).where(grids.c.project_id == project_id, grids.c.experiment.in_(same))
    names = connection.scalars(query.group_by(grids.c[by]).order_by(func.min(grids.c.created_at), grids.c[by]))
    joined = joined_names(connection, project_id)
    return list(dict.fromkeys(joined.get((by, name), name) for name in names))


def most_cells_first(cells: Mapping[str, int]) -> list[str]:
    """The names, those with the most cells first."""
    return sorted(cells, key=lambda name: (-cells[name], name))


def axes_of_scope(connection: Connection, project_id: uuid.UUID, query: Query) -> Sequence[Axis]:
    """The different axes of the grids in the scope, at the levels that the members of a suite have; one name may come
    with several sets of levels."""
    there = grids_at(project_id, query.as_of)
    here = _within(connection, project_id, query, there)
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
    rows = connection.execute(_inside(select(there.c[by], text).distinct(), connection, project_id, query, there)).all()
    joined, found = joined_names(connection, project_id), dict[str, list[str]]()
    for name, label in rows:
        if label is not None:
            found.setdefault(joined.get((by, name), name), []).append(label)
    return found


def size_of(connection: Connection, project_id: uuid.UUID, query: Query) -> int:
    """The number of cells in the scope of a query without aliases."""
    cells = select(func.coalesce(func.sum(revisions.c.cell_count), 0))
    there = grids_at(project_id, query.as_of)
    return int(connection.execute(_inside(cells, connection, project_id, query, there)).scalar_one())


def filters_of(query: Query) -> Filters:
    """The names of a query."""
    return Filters([query.experiment], **{kind: getattr(query, kind) for kind in KINDS}, metric=[query.metric])


def _inside(
    statement: Select[Any], connection: Connection, project_id: uuid.UUID, query: Query, there: Any
) -> Select[Any]:
    joined = statement.select_from(there).join(revisions, of_current(revisions, there))
    return joined.where(*_within(connection, project_id, query, there))


def _within(connection: Connection, project_id: uuid.UUID, query: Query, there: Any) -> list[Any]:
    here = (there.c.project_id == project_id, there.c.deleted_at.is_(None))
    return [*here, *conditions(connection, project_id, filters_of(query), there)]
