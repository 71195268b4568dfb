"""Keep the pair sums of a large scope in the database, by which `direct.py` ranks it.

`workers.queries` opens, catches up and closes a scope; `workers.verify` compares its sums with those computed anew.

A scope is an experiment and a metric of a project. The table `pair_sum_queue` lists its changed grids, and
`pair_sum_inputs` tells which revision of each grid is in the sums, so a grid that is listed twice is counted once. Only
the worker that holds the lock on the row of the scope updates its sums.
"""

import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
import orjson
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Text,
    Uuid,
    any_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.query import Query
from registry.storage.database import Database
from registry.storage.tables import grids, new_id, pair_sum_inputs, pair_sum_queue, pair_sum_scopes, pair_sums
from workers.rankings.matrices import (
    BenchmarkChange,
    SumsDelta,
    TooLarge,
    read_inputs,
    sums_delta,
    take_changes,
)
from workers.scope import Aliases, alias_map, names_of
from workers.statistics.pair_sums import canonical, carry, empty, packed, unpacked
from workers.statistics.terms import IntArray

_LOCK_SECONDS = 1.0
"""Seconds for which one transaction adds before it writes. A longer one rewrites each changed row less often; but an
invalidation that resets the scope because of an alias waits for it, and fails after the lock timeout."""
_DIGITS = 10
_CHECKSUMS = 1 << 128

# Built once: the cost of one more grid is mostly that of building and sending statements.
_NEXT_BENCHMARK = (
    select(pair_sum_queue.c.benchmark)
    .where(pair_sum_queue.c.scope_id == bindparam("scope"), pair_sum_queue.c.benchmark > bindparam("after", type_=Text))
    .order_by(pair_sum_queue.c.benchmark)
    .limit(1)
)
_OF_SCOPE = pair_sums.c.scope_id == bindparam("scope")
_NAMES = select(func.array_agg(aggregate_order_by(pair_sums.c.name, pair_sums.c.position))).where(_OF_SCOPE)
_STORED_SUMS = select(pair_sums.c.name, pair_sums.c.cells, pair_sums.c.sums).where(
    _OF_SCOPE, pair_sums.c.name == any_(bindparam("touched", type_=ARRAY(Text)))
)
_INSERT_SUMS = upsert(pair_sums)
_UPSERT_SUMS = _INSERT_SUMS.on_conflict_do_update(
    index_elements=["scope_id", "position"],
    set_={"cells": _INSERT_SUMS.excluded.cells, "sums": _INSERT_SUMS.excluded.sums},
)
_UPDATE_SCOPE = update(pair_sum_scopes).where(pair_sum_scopes.c.id == bindparam("scope"))

_LOCK_SCOPE = (
    select(pair_sum_scopes)
    .where(
        pair_sum_scopes.c.project_id == bindparam("project"),
        pair_sum_scopes.c.experiment == bindparam("experiment"),
        pair_sum_scopes.c.metric == bindparam("metric"),
    )
    # FOR NO KEY UPDATE: two workers exclude each other, and neither waits for the FOR KEY SHARE of an invalidation,
    # which only keeps the scope from being deleted. SKIP LOCKED: a worker that does not get the scope leaves it to the
    # other.
    .with_for_update(skip_locked=True, key_share=True)
)


def open_scope(database: Database, project_id: uuid.UUID, query: Query) -> None:
    """Keep pair sums for the scope of a query from now on."""
    values = {"id": new_id(), "project_id": project_id, "experiment": query.experiment, "metric": query.metric}
    with database.transaction() as connection:
        connection.execute(upsert(pair_sum_scopes).values(values).on_conflict_do_nothing())


def close_scope(database: Database, project_id: uuid.UUID, query: Query) -> None:
    """Delete the pair sums of a scope and stop keeping them, unless another worker is updating them."""
    with database.transaction() as connection:
        scope = lock_scope(connection, project_id, query)
        # The scope last: the others refer to it.
        for table in (pair_sums, pair_sum_inputs, pair_sum_queue) if scope else ():
            connection.execute(delete(table).where(table.c.scope_id == scope.id))
        if scope:
            connection.execute(delete(pair_sum_scopes).where(pair_sum_scopes.c.id == scope.id))


def keeps_sums(connection: Connection, project_id: uuid.UUID, query: Query) -> bool:
    """Return whether pair sums are kept for the scope of a query."""
    return connection.execute(select(pair_sum_scopes.c.id).where(*scope_of(project_id, query))).first() is not None


def is_up_to_date(connection: Connection, project_id: uuid.UUID, query: Query) -> bool:
    """Return whether pair sums are kept for the scope of a query and contain every change."""
    scope = connection.execute(select(pair_sum_scopes).where(*scope_of(project_id, query))).one_or_none()
    if scope is None or not scope.is_complete:
        return False
    left = select(pair_sum_queue.c.id).where(pair_sum_queue.c.scope_id == scope.id).limit(1)
    return connection.execute(left).first() is None


def lock_scope(connection: Connection, project_id: uuid.UUID, query: Query) -> Any:
    """Row of the scope, locked by this transaction; None if another worker holds it."""
    parameters = {"project": project_id, "experiment": query.experiment, "metric": query.metric}
    return connection.execute(_LOCK_SCOPE, parameters).one_or_none()


def scope_of(project_id: uuid.UUID, query: Query) -> tuple[ColumnElement[bool], ...]:
    """Conditions for the row of `pair_sum_scopes` that belongs to a query."""
    same = (pair_sum_scopes.c.experiment == query.experiment, pair_sum_scopes.c.metric == query.metric)
    return (pair_sum_scopes.c.project_id == project_id, *same)


def grids_of(scope: Any, aliases: Aliases) -> tuple[Any, ...]:
    """Conditions for the rows of `grids` that belong to the scope, deleted ones included."""
    return (
        grids.c.project_id == scope.project_id,
        grids.c.experiment.in_(names_of(aliases, "experiment", scope.experiment)),
        grids.c.metric == scope.metric,
    )


@dataclass
class ScopeDelta:
    """Sum of all deltas of one transaction to a scope."""

    places: dict[str, int] = field(default_factory=dict)
    sums: dict[str, IntArray] = field(default_factory=dict)
    """FIELDS x places, by name; places that came later are zeros."""
    cells: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    grids: int = 0
    slots: int = 0
    compared: int = 0
    checksum: int = 0


def catch_up(database: Database, project_id: uuid.UUID, query: Query, until: float) -> bool:
    """Count the changed grids, in short transactions, until none is left or the monotonic clock reaches `until`.

    Return whether none is left.
    """
    while True:
        # A transaction for each batch: what was added is kept if the next one fails, and the lock is released in
        # between.
        with database.transaction() as connection:
            scope = lock_scope(connection, project_id, query)
            if scope is None:
                return False
            done = _update_batch(connection, scope, min(until, time.monotonic() + _LOCK_SECONDS))
        if done or time.monotonic() >= until:
            return done


def _update_batch(connection: Connection, scope: Any, until: float) -> bool:
    aliases = alias_map(connection, scope.project_id)
    if not scope.is_complete:
        _reset(connection, scope, aliases)
        return False
    exponent, total = scope.exponent, ScopeDelta()
    benchmark = _next_benchmark(connection, scope, "")
    while benchmark is not None:
        names = names_of(aliases, "benchmark", aliases.get(("benchmark", benchmark), benchmark))
        change = take_changes(connection, scope, aliases, names)
        if exponent is None:
            largest = [np.nanmax(np.abs(one.values), initial=0.0) for one in (*change.unchanged, *change.after)]
            exponent = _exponent_for(float(max(largest, default=0.0)))
        try:
            delta = sums_delta(change, exponent)
        except TooLarge as error:
            # Start again with coarser sums. The batch so far is not written; `_reset` deletes what earlier ones wrote.
            coarser = {"is_complete": False, "exponent": _exponent_for(error.largest)}
            connection.execute(update(pair_sum_scopes).where(pair_sum_scopes.c.id == scope.id).values(coarser))
            return False
        accumulate(total, delta, change)
        if time.monotonic() >= until:
            break
        benchmark = _next_benchmark(connection, scope, benchmark)
    _write(connection, scope, total, exponent)
    return benchmark is None


def _reset(connection: Connection, scope: Any, aliases: Aliases) -> None:
    """Delete the sums and list every grid of the scope."""
    for table in (pair_sums, pair_sum_inputs, pair_sum_queue):
        connection.execute(delete(table).where(table.c.scope_id == scope.id))
    every = select(literal(scope.id, Uuid), grids.c.benchmark).where(*grids_of(scope, aliases)).distinct()
    connection.execute(insert(pair_sum_queue).from_select(["scope_id", "benchmark"], every))
    nothing = {"is_complete": True, "grids": 0, "slots": 0, "compared": 0, "kinds": {}, "checksum": uuid.UUID(int=0)}
    connection.execute(update(pair_sum_scopes).where(pair_sum_scopes.c.id == scope.id).values(nothing))


def _next_benchmark(connection: Connection, scope: Any, after: str) -> str | None:
    """Next benchmark with a grid to count, in alphabetical order and round again from the first.

    Starting behind the last one found: every look from the beginning would pass over the rows that this transaction
    deleted.
    """
    parameters = {"scope": scope.id, "after": after}
    found: str | None = connection.scalar(_NEXT_BENCHMARK, parameters)
    return connection.scalar(_NEXT_BENCHMARK, parameters | {"after": ""}) if found is None and after else found


def _exponent_for(largest: float) -> int:
    """Exponent with which the largest value has eleven digits; two more would fit."""
    return _DIGITS - int(np.floor(np.log10(largest))) if largest > 0 else _DIGITS


def accumulate(total: ScopeDelta, delta: SumsDelta, change: BenchmarkChange) -> None:
    """Add the delta of one benchmark to the total, with the counts and the checksum of its changed grids."""
    index = np.array([total.places.setdefault(name, len(total.places)) for name in delta.names], dtype=np.int64)
    for name, sums in delta.sums.items():
        row = widened(total.sums.get(name, empty(0)), len(total.places))
        row[:, index] += sums
        carry(row)
        total.sums[name] = row
    total.cells.update(delta.cells)
    total.slots += delta.slots
    total.compared += delta.compared
    for matrices, sign in ((change.before, -1), (change.after, 1)):
        for matrix in matrices:
            total.grids += sign * len(matrix.ids)
            kind = orjson.dumps([matrix.unit or None, matrix.direction, matrix.lower, matrix.upper]).decode()
            total.kinds[kind] += sign * len(matrix.ids)
            total.checksum += sign * sum(map(fingerprint, matrix.ids, matrix.revisions))


def fingerprint(grid_id: uuid.UUID, revision: int) -> int:
    """128 bits of a revision. Their sum over the inputs of a ranking, modulo 2^128, is the ranking's checksum."""
    return int.from_bytes(sha256(grid_id.bytes + revision.to_bytes(8)).digest()[:16])


def _write(connection: Connection, scope: Any, total: ScopeDelta, exponent: int | None) -> None:
    """Add the total to the rows of the scope and of its names."""
    found = connection.scalar(_NAMES, {"scope": scope.id})
    places = {name: place for place, name in enumerate(found or ())}
    touched = sorted(total.cells)
    # A name keeps its place and new names are appended, so the stored rows of all other names stay valid: they are
    # widened by zeros when they are read.
    for name in touched:
        places.setdefault(name, len(places))
    known = {row.name: row for row in connection.execute(_STORED_SUMS, {"scope": scope.id, "touched": touched})}
    rows = []
    index = np.array([places[name] for name in total.places], dtype=np.int64)
    for name in touched:
        old = known.get(name)
        sums = stored_sums(old.sums, len(places)) if old else empty(len(places))
        if name in total.sums:
            more = total.sums[name]
            sums[:, index[: more.shape[1]]] += more
            carry(sums)
        cells = (old.cells if old else 0) + total.cells[name]
        sent = {"scope_id": scope.id, "position": places[name], "name": name, "cells": cells, "sums": packed(sums)}
        rows.append(sent)
    if rows:
        connection.execute(_UPSERT_SUMS, rows)
    kinds = Counter(scope.kinds)
    kinds.update(total.kinds)
    changed_scope = {
        "scope": scope.id,
        "exponent": exponent,
        "grids": scope.grids + total.grids,
        "slots": scope.slots + total.slots,
        "compared": scope.compared + total.compared,
        "kinds": {kind: count for kind, count in kinds.items() if count},
        "checksum": uuid.UUID(int=(scope.checksum.int + total.checksum) % _CHECKSUMS),
    }
    connection.execute(_UPDATE_SCOPE, changed_scope)


def stored_sums(stored: bytes | memoryview, names: int) -> IntArray:
    """Stored sums of a name with `names` rivals, FIELDS x names; zeros for places added later."""
    return widened(unpacked(stored)[:, :names], names)


def widened(sums: IntArray, names: int) -> IntArray:
    """Copy of the sums of a name with room for `names` rivals."""
    wide = empty(names)
    wide[:, : sums.shape[1]] = sums
    return wide


_NAMED = 5
"""Wrong names that are named; the others are counted."""


def check_sums(connection: Connection, scope: Any) -> Iterator[str]:
    """Differences between the stored sums of a scope and its grids, a sentence each.

    Compares every integer; `connection` must see one snapshot. There are none for sums that are to be computed again.
    """
    if not scope.is_complete:
        return
    total = _recomputed(connection, scope)
    expected = {"grids": total.grids, "slots": total.slots, "compared": total.compared, "kinds": dict(total.kinds)}
    expected["checksum"] = uuid.UUID(int=total.checksum % _CHECKSUMS)
    where = f'experiment "{scope.experiment}", metric "{scope.metric}"'
    for name, value in expected.items():
        if getattr(scope, name) != value:
            yield f"{where}: {name} is {getattr(scope, name)}, counted again {value}"
    if wrong := _wrong_names(connection, scope, total):
        more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        yield f"{where}: other cells or sums when counted again: {', '.join(wrong[:_NAMED])}{more}"


def _recomputed(connection: Connection, scope: Any) -> ScopeDelta:
    aliases, total = alias_map(connection, scope.project_id), ScopeDelta()
    found = connection.scalars(select(grids.c.benchmark).where(*grids_of(scope, aliases)).distinct())
    for benchmark in sorted({aliases.get(("benchmark", one), one) for one in found}):
        names = names_of(aliases, "benchmark", benchmark)
        change = BenchmarkChange([], [], read_inputs(connection, scope, aliases, names), bool(aliases))
        accumulate(total, sums_delta(change, scope.exponent or 0), change)
    return total


def _wrong_names(connection: Connection, scope: Any, total: ScopeDelta) -> list[str]:
    """Names of which other cells or sums are stored than were counted again, in quotes."""
    rows = {row.name: row for row in connection.execute(select(pair_sums).where(pair_sums.c.scope_id == scope.id))}
    names = list(total.places)
    wrong = [f'"{name}"' for name, row in rows.items() if row.cells != total.cells[name]]
    wrong += [f'"{name}"' for name in names if name not in rows]
    if not names or wrong:
        return wrong
    places = [rows[name].position for name in names]
    stored = np.stack([stored_sums(rows[name].sums, max(places) + 1)[:, places] for name in names], axis=1)
    again = np.stack([widened(total.sums.get(name, empty(0)), len(names)) for name in names], axis=1)
    differs = np.any(canonical(stored) != canonical(again), axis=(0, 2))
    return [f'"{names[i]}"' for i in np.flatnonzero(differs)]
