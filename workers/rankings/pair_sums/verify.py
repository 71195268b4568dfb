"""Recount: the sums of a scope made from nothing and compared with those that changes were added to."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import numpy as np
from sqlalchemy import Connection, select, update

from registry.query import Query
from registry.storage.database import Database
from registry.storage.tables import grids, scopes, tallies
from workers.rankings.pair_sums.delta import changed
from workers.rankings.pair_sums.read import Taken, as_counted
from workers.rankings.pair_sums.update import Work, grids_of, is_of_old_sums, note, of_question, table_of, widened
from workers.scope import alias_map, experiment_names, names_of
from workers.statistics.pair_sums import canonical, empty

_NAMED = 5
"""Pairs with wrong sums that are named; the rest is counted."""


def recount(connection: Connection, project_id: uuid.UUID, question: Query) -> list[str]:
    """What is wrong with the sums of a scope, a sentence each; the connection must see one snapshot.

    Compares every integer. A scope that keeps no sums, or whose sums wait to be counted anew, has nothing wrong.
    """
    scope = connection.execute(select(scopes).where(*of_question(project_id, question))).one_or_none()
    if scope is None or not scope.whole or is_of_old_sums(scope):
        return []
    again = _counted_again(connection, scope)
    where = f'experiment "{scope.experiment}", metric "{scope.metric}"'
    return [f"{where}: {one}" for one in _of_scope(scope, again) + _of_names(connection, scope, again)]


def repair(database: Database, project_id: uuid.UUID, question: Query) -> None:
    """Have the sums of a scope counted anew when they are next needed."""
    with database.transaction() as connection:
        connection.execute(update(scopes).where(*of_question(project_id, question)).values(whole=False))


def _benchmarks(connection: Connection, scope: Any, aliases: Mapping[tuple[str, str], str]) -> list[str]:
    found = connection.execute(select(grids.c.benchmark).where(*grids_of(scope, aliases)).distinct())
    return sorted({aliases.get(("benchmark", row.benchmark), row.benchmark) for row in found})


def _counted_again(connection: Connection, scope: Any) -> Work:
    aliases, work = alias_map(connection, scope.project_id), Work()
    for benchmark in _benchmarks(connection, scope, aliases):
        names = names_of(aliases, "benchmark", benchmark)
        experiments = experiment_names(aliases, scope.experiment)
        taken = Taken([], [], as_counted(connection, scope, experiments, names))
        note(work, changed(taken, aliases, scope.exponent or 0), taken)
    return work


def _of_scope(scope: Any, work: Work) -> list[str]:
    again = {"grids": work.grids, "slots": work.slots, "compared": work.compared, "kinds": dict(work.kinds)}
    again["checksum"] = uuid.UUID(int=work.checksum % (1 << 128))
    return [
        f"{name} is {getattr(scope, name)}, counted again {value}"
        for name, value in again.items()
        if getattr(scope, name) != value
    ]


def _of_names(connection: Connection, scope: Any, work: Work) -> list[str]:
    names = list(work.places)
    rows = {row.name: row for row in connection.execute(select(tallies).where(tallies.c.scope_id == scope.id))}
    wrong = [
        f'"{name}" has {row.cells} cells too many'
        for name, row in rows.items()
        if name not in work.places and row.cells
    ]
    wrong += [
        f'"{name}" has {rows[name].cells if name in rows else 0} cells, counted again {work.cells[name]}'
        for name in names
        if name not in rows or rows[name].cells != work.cells[name]
    ]
    if not names or not all(name in rows for name in names):
        return wrong
    places = [rows[name].place for name in names]
    stored = np.stack([table_of(rows[name].sums, max(places) + 1)[:, places] for name in names], axis=1)
    again = np.stack([widened(work.sums.get(name, empty(0)), len(names)) for name in names], axis=1)
    differs = np.any(canonical(stored) != canonical(again), axis=0)
    pairs = [f'"{names[i]}" and "{names[j]}"' for i, j in np.argwhere(np.triu(differs)).tolist()]
    if pairs:
        more = f" and {len(pairs) - _NAMED} more" if len(pairs) > _NAMED else ""
        wrong.append(f"other sums when counted again: {', '.join(pairs[:_NAMED])}{more}")
    return wrong
