"""Fold marks: publications note which scopes they touch, and here that becomes promises."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Connection,
    Uuid,
    and_,
    any_,
    case,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from registry.query import Query, RankingQuery
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import answers, derivations, grids, marks, new_id, scopes, uncounted
from workers.jobs.leases import LONGEST_PAUSE
from workers.scope import alias_map, experiment_names
from workers.statistics import METHODS_VERSION

APPLIED_AT_ONCE = 200
"""Marks of one transaction: each may name the five hundred grids of a batch."""
READ_LATELY = timedelta(days=1)
KEPT_CURRENT = 20
"""So many answers of a scope that were read lately are computed again with every change, beside the usual one."""
_TURN_SECONDS = 2.0
REQUEUED_AT_ONCE = 1_000
_SOME = (
    select(
        marks.c.id, marks.c.project_id, marks.c.experiment, marks.c.metric, marks.c.grid_ids.is_(None).label("anything")
    )
    .limit(APPLIED_AT_ONCE)
    .with_for_update(skip_locked=True)
)
_IDLE_SHARE = 4
"""An answer under constant publication is computed at most a fifth of the time."""


def apply_invalidations(database: Database, settings: Settings) -> int:
    """Turn marks into promises: answers whose inputs changed become pending, usual questions are asked.

    How many marks there were; the rest, if this takes long, is for the next time. Marks are deleted in the transaction
    that makes the answers pending, so a reader sees the one or the other.
    """
    until, folded = time.monotonic() + _TURN_SECONDS, 0
    while True:
        some = _apply_some(database, settings)
        folded += some
        if some < APPLIED_AT_ONCE or time.monotonic() > until:
            return folded


def _apply_some(database: Database, settings: Settings) -> int:
    with database.transaction() as connection:
        taken = connection.execute(_SOME).all()
        touched = {(row.project_id, row.experiment, row.metric) for row in taken}
        for project_id in sorted({row.project_id for row in taken}):
            joined = alias_map(connection, project_id)
            here = {(e and joined.get(("experiment", e), e), m) for p, e, m in touched if p == project_id}
            _reopen(connection, settings, project_id, here)
        _note_changes(connection, taken)
        connection.execute(delete(marks).where(_these(taken)))
    return len(taken)


def _these(taken: Sequence[Any]) -> ColumnElement[bool]:
    return marks.c.id == any_(literal([row.id for row in taken], ARRAY(BigInteger)))


def _reopen(
    connection: Connection, settings: Settings, project_id: Any, touched: set[tuple[str | None, str | None]]
) -> None:
    here = answers.c.project_id == project_id
    whole = (None, None) in touched
    for experiment, metric in sorted((e, m) for e, m in touched if e is not None and m is not None):
        _ask_usual(connection, project_id, RankingQuery(experiment, metric))
        if not whole:
            mine = and_(here, answers.c.experiment == experiment, answers.c.metric == metric)
            _compute_again(connection, settings, mine)
    if whole:
        _compute_again(connection, settings, here)


def _compute_again(connection: Connection, settings: Settings, changed: ColumnElement[bool]) -> None:
    """Make the usual answers and those read lately pending; the others sleep until somebody asks again."""
    lately = and_(~answers.c.usual, answers.c.asked_at > func.now() - READ_LATELY)
    newest = select(answers.c.id).where(changed, lately).order_by(answers.c.asked_at.desc()).limit(KEPT_CURRENT)
    kept = or_(answers.c.usual, answers.c.id.in_(newest.scalar_subquery()))
    # Computed or failed, it is for inputs that are no more: the next reader has it computed.
    asleep = {"state": "ready", "generation": answers.c.generation + 1, "attempts": 0, "reason": None}
    connection.execute(update(answers).where(changed, ~kept).values(asleep))
    connection.execute(update(answers).where(changed, kept).values(_pending(settings)))


def _note_changes(connection: Connection, taken: Sequence[Any]) -> None:
    """Tell the scopes that keep sums what is to be counted; who counts is neither waited for nor held up."""
    projects = {row.project_id for row in taken}
    query = select(scopes).where(scopes.c.project_id.in_(projects)).order_by(scopes.c.id)
    kept = connection.execute(query.with_for_update(read=True, key_share=True)).all()
    if not kept:
        return
    aliases = {project_id: alias_map(connection, project_id) for project_id in projects}
    for scope in kept:
        names = experiment_names(aliases[scope.project_id], scope.experiment)
        mine = [
            row
            for row in taken
            if row.project_id == scope.project_id
            and (row.experiment is None or (row.experiment in names and row.metric == scope.metric))
        ]
        if any(row.anything for row in mine):
            connection.execute(update(scopes).where(scopes.c.id == scope.id).values(whole=False))
        elif mine:
            # The ids stay on the server: after a night without a dispatcher they are a million.
            changed = select(func.unnest(marks.c.grid_ids).label("grid_id")).where(_these(mine)).subquery()
            every = select(literal(scope.id, Uuid), grids.c.benchmark, grids.c.id)
            every = every.join_from(changed, grids, grids.c.id == changed.c.grid_id)
            connection.execute(insert(uncounted).from_select(["scope_id", "benchmark", "grid_id"], every))


def _pending(settings: Settings) -> dict[str, Any]:
    """Due after the debounce, or later where the last computation took long: other promises come first."""
    idle = func.least(answers.c.seconds * _IDLE_SHARE, LONGEST_PAUSE.seconds / 2)
    # The clock may have run ahead when the answer was computed.
    busy = func.least(answers.c.computed_at, func.now()) + func.make_interval(0, 0, 0, 0, 0, 0, idle)
    debounced = func.now() + timedelta(seconds=settings.ranking_debounce)
    first = case((answers.c.state == "pending", answers.c.due_at), else_=debounced)
    return {
        "state": "pending",
        "generation": answers.c.generation + 1,
        "due_at": func.greatest(first, func.coalesce(busy, func.now())),
        "attempts": 0,
        "reason": None,
    }


def _ask_usual(connection: Connection, project_id: Any, question: Query) -> None:
    """Promise the answer to the usual question, so that it is there before anyone asks."""
    values = {
        "id": new_id(),
        "project_id": project_id,
        "experiment": question.experiment,
        "metric": question.metric,
        "question": question.document(),
        "question_key": question.key,
    }
    promised = insert(answers).values(values | {"usual": True})
    key = ["project_id", "question_key"]
    # Somebody may have asked it before the first publication was folded.
    known = promised.on_conflict_do_update(index_elements=key, set_={"usual": True}, where=~answers.c.usual)
    connection.execute(known)


def requeue_old_methods(connection: Connection) -> int:
    """Promise again some of what an older methods_version computed; how much. It is served until the new is there."""
    redone = 0
    for table in (derivations, answers):
        old = and_(table.c.state != "pending", table.c.methods_version != METHODS_VERSION)
        # What is asleep, or was superseded, nobody reads.
        if table is answers:
            old = and_(old, or_(answers.c.state == "failed", answers.c.answered == answers.c.generation))
        else:
            current = and_(grids.c.id == derivations.c.grid_id, grids.c.revision == derivations.c.revision)
            old = and_(old, exists().where(current))
        key = list(table.primary_key.columns)
        some = select(*key).where(old).limit(REQUEUED_AT_ONCE).with_for_update(skip_locked=True).cte("some")
        here = and_(*(column == some.c[column.name] for column in key))
        again = {"state": "pending", "attempts": 0, "reason": None, "methods_version": None}
        redone += int(connection.execute(update(table).where(here).values(again)).rowcount)
    return redone
