"""Counting: the sums of pairs of a large scope, brought up to date with the grids that changed.

A scope is an experiment and a metric of a project. `uncounted` lists the grids that changed, `counted` says which
revision of each is in the sums: a grid that is listed twice is counted once. Who holds the row of the scope counts.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
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
from registry.storage.tables import counted, grids, new_id, scopes, tallies, uncounted
from workers.rankings.pair_sums.delta import Change, TooLarge, changed
from workers.rankings.pair_sums.read import Sheet, Taken, take
from workers.scope import alias_map, experiment_names, names_of
from workers.statistics.pair_sums import carry, empty, packed, unpacked
from workers.statistics.terms import IntArray

Aliases = Mapping[tuple[str, str], str]
_HELD_SECONDS = 1.0
"""How long one transaction counts before it writes. Each rewrites all rows that it changed; but who has everything
counted anew because of an alias waits for it, and gives up after the lock timeout."""
_DIGITS = 10
_CHECKSUMS = 1 << 128

# Built once: what one more grid costs is mostly statements.
_HELD = (
    select(scopes)
    .where(
        scopes.c.project_id == bindparam("project"),
        scopes.c.experiment == bindparam("experiment"),
        scopes.c.metric == bindparam("metric"),
    )
    # Weaker than what folding marks holds, which only keeps the scope from being closed.
    .with_for_update(skip_locked=True, key_share=True)
)
_LISTED = (
    select(uncounted.c.benchmark)
    .where(uncounted.c.scope_id == bindparam("scope"), uncounted.c.benchmark > bindparam("after", type_=Text))
    .order_by(uncounted.c.benchmark)
    .limit(1)
)
_OF_SCOPE = tallies.c.scope_id == bindparam("scope")
_NAMES = select(func.array_agg(aggregate_order_by(tallies.c.name, tallies.c.place))).where(_OF_SCOPE)
_TALLIES = select(tallies.c.name, tallies.c.cells, tallies.c.sums).where(
    _OF_SCOPE, tallies.c.name == any_(bindparam("touched", type_=ARRAY(Text)))
)
_ROWS = upsert(tallies)
_REPLACED = _ROWS.on_conflict_do_update(
    index_elements=["scope_id", "place"], set_={"cells": _ROWS.excluded.cells, "sums": _ROWS.excluded.sums}
)
_CHANGED = update(scopes).where(scopes.c.id == bindparam("scope"))


@dataclass
class Work:
    """What a transaction has counted so far of one scope."""

    places: dict[str, int] = field(default_factory=dict)
    sums: dict[str, IntArray] = field(default_factory=dict)
    """FIELDS x places, by name; places that came later are zeros."""
    cells: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    grids: int = 0
    slots: int = 0
    compared: int = 0
    checksum: int = 0


def open_scope(database: Database, project_id: uuid.UUID, question: Query) -> None:
    """Keep sums for the scope of a question from now on."""
    values = {"id": new_id(), "project_id": project_id, "experiment": question.experiment, "metric": question.metric}
    with database.transaction() as connection:
        connection.execute(upsert(scopes).values(values).on_conflict_do_nothing())


def catch_up(database: Database, project_id: uuid.UUID, question: Query, until: float) -> bool:
    """Count what changed, in short transactions, up to a monotonic instant; whether nothing is left to be counted."""
    while True:
        with database.transaction() as connection:
            scope = _held(connection, project_id, question)
            if scope is None:
                return False
            done = _turn(connection, scope, min(until, time.monotonic() + _HELD_SECONDS))
        if done or time.monotonic() >= until:
            return done


def keeps_sums(connection: Connection, project_id: uuid.UUID, question: Query) -> bool:
    """Whether sums are kept for the scope of a question."""
    return connection.execute(select(scopes.c.id).where(*of_question(project_id, question))).first() is not None


def is_counted(connection: Connection, project_id: uuid.UUID, question: Query) -> bool:
    """Whether sums are kept for the scope of a question and nothing is left to be counted."""
    scope = connection.execute(select(scopes).where(*of_question(project_id, question))).one_or_none()
    if scope is None or not scope.whole:
        return False
    left = select(uncounted.c.id).where(uncounted.c.scope_id == scope.id).limit(1)
    return connection.execute(left).first() is None


def close_scope(database: Database, project_id: uuid.UUID, question: Query) -> None:
    """Keep sums for the scope of a question no longer."""
    with database.transaction() as connection:
        scope = _held(connection, project_id, question)
        for table in (tallies, counted, uncounted) if scope else ():
            connection.execute(delete(table).where(table.c.scope_id == scope.id))
        if scope:
            connection.execute(delete(scopes).where(scopes.c.id == scope.id))


def of_question(project_id: uuid.UUID, question: Query) -> tuple[ColumnElement[bool], ...]:
    """Which row of `scopes` is that of a question."""
    same = (scopes.c.experiment == question.experiment, scopes.c.metric == question.metric)
    return (scopes.c.project_id == project_id, *same)


def _held(connection: Connection, project_id: uuid.UUID, question: Query) -> Any:
    """The row of the scope, held by this transaction; None while somebody else counts."""
    asked = {"project": project_id, "experiment": question.experiment, "metric": question.metric}
    return connection.execute(_HELD, asked).one_or_none()


def _turn(connection: Connection, scope: Any, until: float) -> bool:
    aliases = alias_map(connection, scope.project_id)
    if not scope.whole or is_of_old_sums(scope):
        _start_anew(connection, scope, aliases)
        return False
    exponent, work = scope.exponent, Work()
    found = _next_listed(connection, scope, "")
    while found is not None:
        names = names_of(aliases, "benchmark", aliases.get(("benchmark", found), found))
        taken = take(connection, scope, experiment_names(aliases, scope.experiment), names)
        if exponent is None:
            exponent = _exponent_for(_largest([*taken.kept, *taken.come]))
        try:
            change = changed(taken, aliases, exponent)
        except TooLarge as error:
            # Coarser sums from nothing; what this transaction counted is dropped with the rest.
            coarser = {"whole": False, "exponent": _exponent_for(error.largest)}
            connection.execute(update(scopes).where(scopes.c.id == scope.id).values(coarser))
            return False
        note(work, change, taken)
        if time.monotonic() >= until:
            break
        found = _next_listed(connection, scope, found)
    _write(connection, scope, work, exponent)
    return found is None


def _start_anew(connection: Connection, scope: Any, aliases: Aliases) -> None:
    """Forget all sums; every grid of the scope is to be counted."""
    for table in (tallies, counted, uncounted):
        connection.execute(delete(table).where(table.c.scope_id == scope.id))
    every = select(literal(scope.id, Uuid), grids.c.benchmark).where(*grids_of(scope, aliases)).distinct()
    connection.execute(insert(uncounted).from_select(["scope_id", "benchmark"], every))
    nothing = {"whole": True, "grids": 0, "slots": 0, "compared": 0, "kinds": {}, "checksum": uuid.UUID(int=0)}
    connection.execute(update(scopes).where(scopes.c.id == scope.id).values(nothing))


def grids_of(scope: Any, aliases: Aliases) -> tuple[Any, ...]:
    """Which rows of `grids` are of the scope, deleted ones included."""
    return (
        grids.c.project_id == scope.project_id,
        grids.c.experiment.in_(experiment_names(aliases, scope.experiment)),
        grids.c.metric == scope.metric,
    )


def _next_listed(connection: Connection, scope: Any, after: str) -> str | None:
    """A benchmark with a grid to be counted: the next one, or again the first.

    From where the last was found: what was taken off the list is passed over by every later look at it.
    """
    asked = {"scope": scope.id, "after": after}
    found: str | None = connection.scalar(_LISTED, asked)
    return connection.scalar(_LISTED, asked | {"after": ""}) if found is None and after else found


def _largest(sheets: Iterable[Sheet]) -> float:
    return max((float(np.nanmax(np.abs(sheet.values), initial=0.0)) for sheet in sheets), default=0.0)


def _exponent_for(largest: float) -> int:
    """The exponent with which the largest value has eleven digits; two more fit."""
    return _DIGITS - int(np.floor(np.log10(largest))) if largest > 0 else _DIGITS


def note(work: Work, change: Change, taken: Taken) -> None:
    """Add the change of one benchmark to the work, and what the grids that changed add to the scope."""
    index = np.array([work.places.setdefault(name, len(work.places)) for name in change.names], dtype=np.int64)
    for name, sums in change.sums.items():
        row = widened(work.sums.get(name, empty(0)), len(work.places))
        row[:, index] += sums
        carry(row)
        work.sums[name] = row
    work.cells.update(change.cells)
    work.slots += change.slots
    work.compared += change.compared
    for sheets, sign in ((taken.gone, -1), (taken.come, 1)):
        for sheet in sheets:
            work.grids += sign * len(sheet.ids)
            work.kinds[kind_key(sheet)] += sign * len(sheet.ids)
            work.checksum += sign * sum(map(fingerprint, sheet.ids, sheet.revisions))


def kind_key(sheet: Sheet) -> str:
    """What decides about the scale of a sheet, as JSON."""
    return orjson.dumps([sheet.unit or None, sheet.direction, sheet.lower, sheet.upper]).decode()


def is_of_old_sums(scope: Any) -> bool:
    """Whether a scope was counted by a release that knew units and directions only, and kept other sums."""
    return any(len(orjson.loads(kind)) == 2 for kind in scope.kinds)


def fingerprint(grid_id: uuid.UUID, revision: int) -> int:
    """128 bits of a revision; the sum over the inputs of a ranking, modulo 2^128, is its checksum."""
    return int.from_bytes(sha256(grid_id.bytes + revision.to_bytes(8)).digest()[:16])


def _write(connection: Connection, scope: Any, work: Work, exponent: int | None) -> None:
    """Add the work to the rows of the scope and of its names."""
    found = connection.scalar(_NAMES, {"scope": scope.id})
    places = {name: place for place, name in enumerate(found or ())}
    touched = sorted(work.cells)
    for name in touched:
        places.setdefault(name, len(places))
    known = {row.name: row for row in connection.execute(_TALLIES, {"scope": scope.id, "touched": touched})}
    rows = []
    index = np.array([places[name] for name in work.places], dtype=np.int64)
    for name in touched:
        old = known.get(name)
        sums = table_of(old.sums, len(places)) if old else empty(len(places))
        if name in work.sums:
            more = work.sums[name]
            sums[:, index[: more.shape[1]]] += more
            carry(sums)
        cells = (old.cells if old else 0) + work.cells[name]
        sent = {"scope_id": scope.id, "place": places[name], "name": name, "cells": cells, "sums": packed(sums)}
        rows.append(sent)
    if rows:
        connection.execute(_REPLACED, rows)
    kinds = Counter(scope.kinds)
    kinds.update(work.kinds)
    changed_scope = {
        "scope": scope.id,
        "exponent": exponent,
        "grids": scope.grids + work.grids,
        "slots": scope.slots + work.slots,
        "compared": scope.compared + work.compared,
        "kinds": {kind: count for kind, count in kinds.items() if count},
        "checksum": uuid.UUID(int=(scope.checksum.int + work.checksum) % _CHECKSUMS),
    }
    connection.execute(_CHANGED, changed_scope)


def table_of(stored: bytes | memoryview, names: int) -> IntArray:
    """The stored sums of a name with `names` rivals, FIELDS x names; places that came later are zeros."""
    return widened(unpacked(stored)[:, :names], names)


def widened(sums: IntArray, names: int) -> IntArray:
    """A copy of the sums of a name with room for `names` rivals."""
    wide = empty(names)
    wide[:, : sums.shape[1]] = sums
    return wide
