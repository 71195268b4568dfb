"""Check the names in a query: names without any grid in its scope are refused before anything is computed."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, select, text

from registry.errors import Fault, Invalid, NotFound
from registry.grids.grid import Axis
from registry.grids.slices import Slice, kept_positions, pointer_to, slice_faults
from registry.query import Query, RankingQuery
from registry.storage.rows import axis_of
from registry.storage.tables import aliases, grids, revisions

_FILTERS = ("benchmark", "model", "variant")
_MOST_SHOWN = 12
"""Existing names that an error message lists."""


def check_names(connection: Connection, project_id: uuid.UUID, query: Query, experiments: Sequence[str]) -> None:
    """Raise `NotFound` when no grid of these experiments has the metric, and `Invalid` for each other name of the query
    that none of those grids has. The query is one without aliases."""
    scope = [
        grids.c.project_id == project_id,
        grids.c.experiment.in_(experiments),
        grids.c.metric == query.metric,
        grids.c.deleted_at.is_(None),
    ]
    known = _known(connection, project_id, scope)
    if not known:
        raise NotFound(f'No grid of experiment "{query.experiment}" has the metric "{query.metric}".')
    suite = query.suite if isinstance(query, RankingQuery) else ""
    faults = [
        Fault(f"/{kind}", _not_found(kind, wanted, {names[place] for names in known}))
        for place, kind in enumerate(_FILTERS)
        for wanted in getattr(query, kind)
        if wanted not in {names[place] for names in known} and not (suite and kind == "benchmark")
    ]
    if suite and not any(names[0] in query.benchmark for names in known):
        faults.append(Fault("/suite", f'no grid of this experiment is of a benchmark of the suite "{suite}"'))
    by = query.by if isinstance(query, RankingQuery) else ""
    if isinstance(query, RankingQuery) and query.pairs_of and by in _FILTERS:
        there = {names[_FILTERS.index(by)] for names in known}
        faults += [] if query.pairs_of in there else [Fault("/pairs_of", _not_found(by, query.pairs_of, there))]
    if by.startswith("axis:"):
        axes = _axes(connection, scope)
        if by.removeprefix("axis:") not in axes:
            faults.append(Fault("/by", _not_found("axis", by.removeprefix("axis:"), axes)))
    if query.at:
        faults += slice_faults(_axes_with_levels(connection, scope), query.at, "no grid of this experiment")
    if not faults and not any(_matches(query, names) for names in known):
        faults = [Fault("", "no grid of this experiment has all of these names at once")]
    if faults:
        raise Invalid(faults)


def check_slice_of_grid(
    connection: Connection, grid_id: uuid.UUID, revision: int, wanted: Slice, whose: str = "the grid"
) -> None:
    """Raise `Invalid` when a revision has no such axis or none of its levels; the messages list what there is."""
    here = (revisions.c.grid_id == grid_id, revisions.c.number == revision)
    documents = connection.scalars(select(revisions.c.axes).where(*here)).one()
    axes = [axis_of(document) for document in documents]
    faults = slice_faults(axes, wanted, whose)
    if not faults and kept_positions({axis.name: axis.levels for axis in axes}, wanted) is None:
        faults = [Fault(pointer_to(wanted[0][0]), f"{whose} has no level that fulfils all of it")]
    if faults:
        raise Invalid(faults)


def check_slice_of_grids(connection: Connection, conditions: Sequence[ColumnElement[bool]], wanted: Slice) -> None:
    """Raise `Invalid` when no grid that fulfils these conditions has such an axis, or such a level."""
    faults = slice_faults(_axes_with_levels(connection, conditions), wanted, "no grid")
    if faults:
        raise Invalid(faults)


def no_axis(wanted: str, axes: Collection[str]) -> str:
    """Error message for the name of an axis that a grid does not have."""
    return f'the grid has no axis "{wanted}"; {known_names_text(axes)}'


def _known(connection: Connection, project_id: uuid.UUID, scope: Sequence[ColumnElement[bool]]) -> set[tuple[str, ...]]:
    """Combinations of benchmark, model and variant in a scope, with aliases replaced by the names behind them."""
    rows = connection.execute(select(*(grids.c[kind] for kind in _FILTERS)).where(*scope).distinct())
    statement = select(aliases.c.kind, aliases.c.alias, aliases.c.name).where(aliases.c.project_id == project_id)
    found = [tuple(row) for row in rows]
    joined = {(row.kind, row.alias): row.name for row in connection.execute(statement)}
    return {tuple(joined.get(pair, pair[1]) for pair in zip(_FILTERS, names, strict=True)) for names in found}


def _axes(connection: Connection, scope: Sequence[ColumnElement[bool]]) -> set[str]:
    current = and_(revisions.c.grid_id == grids.c.id, revisions.c.number == grids.c.revision)
    names: Any = func.jsonb_path_query(revisions.c.axes, text("'$[*].name'")).op("#>>")(text("'{}'"))
    return set(connection.scalars(select(names).select_from(grids).join(revisions, current).where(*scope).distinct()))


def _axes_with_levels(connection: Connection, scope: Sequence[ColumnElement[bool]]) -> list[Axis]:
    """The different axes of all grids in a scope."""
    current = and_(revisions.c.grid_id == grids.c.id, revisions.c.number == grids.c.revision)
    axes: Any = func.jsonb_array_elements(revisions.c.axes)
    query = select(axes).select_from(grids).join(revisions, current).where(*scope).distinct()
    return [axis_of(document) for document in connection.scalars(query)]


def _matches(query: Query, names: tuple[str, ...]) -> bool:
    wanted_names = (getattr(query, kind) for kind in _FILTERS)
    return all(not wanted or name in wanted for wanted, name in zip(wanted_names, names, strict=True))


def _not_found(kind: str, wanted: str, there: Collection[str]) -> str:
    several = "; repeat the parameter for several" if "," in wanted else ""
    return f'no grid of this experiment has the {kind} "{wanted}"; {known_names_text(there)}{several}'


def known_names_text(names: Collection[str]) -> str:
    """End of a sentence: the first of the existing names, and how many more there are."""
    shown = sorted(filter(None, names))[:_MOST_SHOWN]
    if not shown:
        return "there is none"
    more = len([name for name in names if name]) - len(shown)
    return f"there {'is' if len(shown) == 1 else 'are'} {', '.join(shown)}" + (f" and {more} more" if more else "")
