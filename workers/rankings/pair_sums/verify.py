"""Verify pair sums: compute those of a scope from nothing and compare them with the stored ones."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from registry.query import Query
from registry.storage.tables import grids, pair_sum_scopes, pair_sums
from workers.rankings.pair_sums.delta import BenchmarkChange, read_inputs, sums_delta
from workers.rankings.pair_sums.update import (
    ScopeDelta,
    accumulate,
    grids_of,
    is_of_old_sums,
    scope_of,
    stored_sums,
    widened,
)
from workers.scope import alias_map, names_of
from workers.statistics.pair_sums import canonical, empty

_NAMED = 5
"""Pairs with wrong sums that are named; the others are counted."""


def check_sums(connection: Connection, project_id: uuid.UUID, query: Query) -> list[str]:
    """Differences between the stored sums of a scope and its grids, a sentence each.

    Compares every integer; `connection` must see one snapshot. There are none for a scope without sums, or with sums
    that are to be computed again.
    """
    scope = connection.execute(select(pair_sum_scopes).where(*scope_of(project_id, query))).one_or_none()
    if scope is None or not scope.is_complete or is_of_old_sums(scope):
        return []
    expected = _recomputed(connection, scope)
    where = f'experiment "{scope.experiment}", metric "{scope.metric}"'
    return [f"{where}: {one}" for one in _of_scope(scope, expected) + _of_names(connection, scope, expected)]


def _benchmarks(connection: Connection, scope: Any, aliases: Mapping[tuple[str, str], str]) -> list[str]:
    found = connection.execute(select(grids.c.benchmark).where(*grids_of(scope, aliases)).distinct())
    return sorted({aliases.get(("benchmark", row.benchmark), row.benchmark) for row in found})


def _recomputed(connection: Connection, scope: Any) -> ScopeDelta:
    aliases, total = alias_map(connection, scope.project_id), ScopeDelta()
    for benchmark in _benchmarks(connection, scope, aliases):
        names = names_of(aliases, "benchmark", benchmark)
        change = BenchmarkChange([], [], read_inputs(connection, scope, aliases, names))
        accumulate(total, sums_delta(change, scope.exponent or 0), change)
    return total


def _of_scope(scope: Any, total: ScopeDelta) -> list[str]:
    expected = {"grids": total.grids, "slots": total.slots, "compared": total.compared, "kinds": dict(total.kinds)}
    expected["checksum"] = uuid.UUID(int=total.checksum % (1 << 128))
    return [
        f"{name} is {getattr(scope, name)}, counted again {value}"
        for name, value in expected.items()
        if getattr(scope, name) != value
    ]


def _of_names(connection: Connection, scope: Any, total: ScopeDelta) -> list[str]:
    names = list(total.places)
    rows = {row.name: row for row in connection.execute(select(pair_sums).where(pair_sums.c.scope_id == scope.id))}
    wrong = [
        f'"{name}" has {row.cells} cells too many'
        for name, row in rows.items()
        if name not in total.places and row.cells
    ]
    wrong += [
        f'"{name}" has {rows[name].cells if name in rows else 0} cells, counted again {total.cells[name]}'
        for name in names
        if name not in rows or rows[name].cells != total.cells[name]
    ]
    if not names or not all(name in rows for name in names):
        return wrong
    places = [rows[name].position for name in names]
    stored = np.stack([stored_sums(rows[name].sums, max(places) + 1)[:, places] for name in names], axis=1)
    expected = np.stack([widened(total.sums.get(name, empty(0)), len(names)) for name in names], axis=1)
    differs = np.any(canonical(stored) != canonical(expected), axis=0)
    pairs = [f'"{names[i]}" and "{names[j]}"' for i, j in np.argwhere(np.triu(differs)).tolist()]
    if pairs:
        more = f" and {len(pairs) - _NAMED} more" if len(pairs) > _NAMED else ""
        wrong.append(f"other sums when counted again: {', '.join(pairs[:_NAMED])}{more}")
    return wrong
