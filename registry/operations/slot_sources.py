"""Read the grids that a chart is drawn from: few names, all their cells, and the names that there is no room for."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Select, func, select

from registry.charts.slots import KINDS, Source
from registry.errors import Fault, Invalid
from registry.grids.protocol import Rules
from registry.grids.slices import sliced
from registry.operations.cached_results import resolve
from registry.operations.find import Filters, Page, conditions, find_whole_grids, with_aliases
from registry.operations.query_names import check_names
from registry.operations.stored_grids import StoredGrid
from registry.query import Query
from registry.results.inputs import DerivedGrid
from registry.storage.keys import of_current
from registry.storage.protocol_rules import rules_of
from registry.storage.tables import aliases, grids, revisions

MOST_CELLS = 100_000
"""Cells that one quantity of a chart is computed from: 0.4 seconds of a web process."""
_MOST_GRIDS = 20_000


@dataclass(frozen=True, slots=True)
class Sources:
    """Measured grids, oldest update first and cut to the slice; the names shown and those left out; derived grids."""

    query: Query
    grids: Sequence[Source]
    shown: Sequence[str]
    not_shown: Sequence[str]
    derived: Sequence[DerivedGrid]
    rules: Rules
    """What the experiment declares of protocols."""


def read_sources(
    connection: Connection, project_id: uuid.UUID, query: Query, by: str, most: int, shown: Sequence[str] | None = None
) -> Sources:
    """The grids of the scope whose names of the kind `by` are shown: these, else as many as `most` of those with the
    most cells, as far as `MOST_CELLS` reach. Where `by` is an axis, the grids of all names.

    `NotFound` for an experiment or metric that is not there; `Invalid` for other names that are not, for more names
    than `most`, and for more than `MOST_CELLS` cells.
    """
    query = resolve(connection, project_id, query)
    check_names(connection, project_id, query, with_aliases(connection, project_id, "experiment", [query.experiment]))
    joined = _aliases(connection, project_id)
    scope, chosen, rest = query, list(shown or ()), list[str]()
    if by in KINDS and shown is None:
        named = len(getattr(query, by))
        if named > most:
            raise Invalid([Fault(f"/{by}", f"at most {most} are drawn at once, and {named} are named")])
        cells = _by_cells(connection, project_id, _filters(query), by, joined)
        ordered = sorted(cells, key=lambda name: (-cells[name], name))
        fitting = most if named else min(most, _fitting([cells[name] for name in ordered]))
        chosen, rest = sorted(ordered[:fitting]), sorted(ordered[fitting:])
    if by in KINDS and chosen:
        narrowed: dict[str, Any] = {by: tuple(chosen)}
        scope = replace(query, **narrowed)
    _check_size(connection, project_id, scope)
    found = find_whole_grids(connection, project_id, _filters(scope), Page("updated_at", None, _MOST_GRIDS))
    meant = sorted(((one, _named(one, joined)) for one in found), key=lambda one: tuple(one[1].values()))
    derived = [DerivedGrid(str(one.id), at["benchmark"], at["model"]) for one, at in meant if one.grid.derived]
    cut = [
        Source(str(one.id), one.revision, one.digest, at, grid)
        for one, at in meant
        if not one.grid.derived and (grid := sliced(one.grid, query.at)) is not None
    ]
    return Sources(query, cut, chosen, rest, derived, rules_of(connection, project_id, query.experiment))


def _filters(query: Query) -> Filters:
    return Filters([query.experiment], query.benchmark, query.model, query.variant, [query.metric])


def _fitting(cells: Sequence[int]) -> int:
    """How many of the names fit, one at least."""
    return max(1, sum(total <= MOST_CELLS for total in itertools.accumulate(cells)))


def _aliases(connection: Connection, project_id: uuid.UUID) -> Mapping[tuple[str, str], str]:
    named = select(aliases.c.kind, aliases.c.alias, aliases.c.name).where(aliases.c.project_id == project_id)
    return {(row.kind, row.alias): row.name for row in connection.execute(named)}


def _named(one: StoredGrid, joined: Mapping[tuple[str, str], str]) -> dict[str, str]:
    return {kind: joined.get((kind, name), name) for kind in KINDS for name in [getattr(one.names, kind)]}


def _by_cells(
    connection: Connection, project_id: uuid.UUID, filters: Filters, by: str, joined: Mapping[tuple[str, str], str]
) -> dict[str, int]:
    """The measured cells of each name of a kind."""
    query = _scope(select(grids.c[by], func.sum(revisions.c.cell_count)), connection, project_id, filters)
    totals = dict[str, int]()
    for name, cells in connection.execute(query.where(revisions.c.derived.is_(None)).group_by(grids.c[by])):
        own = joined.get((by, name), name)
        totals[own] = totals.get(own, 0) + int(cells)
    return totals


def size_of(connection: Connection, project_id: uuid.UUID, query: Query) -> tuple[int, int]:
    """Numbers of grids and of cells in the scope of a query without aliases."""
    sizes = select(func.count(), func.coalesce(func.sum(revisions.c.cell_count), 0))
    count, cells = connection.execute(_scope(sizes, connection, project_id, _filters(query))).one()
    return int(count), int(cells)


def _check_size(connection: Connection, project_id: uuid.UUID, query: Query) -> None:
    count, cells = size_of(connection, project_id, query)
    if cells > MOST_CELLS or count > _MOST_GRIDS:
        told = f"these are {cells:,} cells of {count:,} grids; a chart is drawn from at most {MOST_CELLS:,} cells"
        raise Invalid([Fault("", f"{told} of {_MOST_GRIDS:,} grids. Name fewer models, variants or benchmarks")])


def _scope(statement: Select[Any], connection: Connection, project_id: uuid.UUID, filters: Filters) -> Select[Any]:
    current = of_current(revisions)
    here = (grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
    joined = statement.select_from(grids).join(revisions, current)
    return joined.where(*here, *conditions(connection, project_id, filters))
