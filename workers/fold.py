"""Fold marks: publications note which scopes they touch, and here that becomes promises."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, and_, case, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from registry.database import Database
from registry.question import Question, RankingQuestion
from registry.settings import Settings
from registry.tables import answers, derivations, marks, new_id
from workers.scope import alias_map
from workers.statistics import METHODS_VERSION

FOLDED_AT_ONCE = 10_000
REDONE_AT_ONCE = 1_000
_IDLE_SHARE = 4
"""An answer under constant publication is computed at most a fifth of the time."""


def fold_marks(database: Database, settings: Settings) -> int:
    """Turn marks into promises: answers whose inputs changed become pending, usual questions are asked.

    How many marks there were. Marks are deleted in the transaction that makes the answers pending, so a reader sees
    the one or the other.
    """
    with database.transaction() as connection:
        some = select(marks.c.id).limit(FOLDED_AT_ONCE).with_for_update(skip_locked=True)
        taken = connection.execute(delete(marks).where(marks.c.id.in_(some)).returning(*marks.c)).all()
        touched = {(row.project_id, row.experiment, row.metric) for row in taken}
        for project_id in sorted({row.project_id for row in taken}):
            joined = alias_map(connection, project_id)
            scopes = {(e and joined.get(("experiment", e), e), m) for p, e, m in touched if p == project_id}
            _reopen(connection, settings, project_id, scopes)
    return len(taken)


def _reopen(
    connection: Connection, settings: Settings, project_id: Any, scopes: set[tuple[str | None, str | None]]
) -> None:
    here = answers.c.project_id == project_id
    whole = (None, None) in scopes
    for experiment, metric in sorted((e, m) for e, m in scopes if e is not None and m is not None):
        _ask_usual(connection, project_id, RankingQuestion(experiment, metric))
        if not whole:
            mine = and_(here, answers.c.experiment == experiment, answers.c.metric == metric)
            connection.execute(update(answers).where(mine).values(_pending(settings)))
    if whole:
        connection.execute(update(answers).where(here).values(_pending(settings)))


def _pending(settings: Settings) -> dict[str, Any]:
    """Due after the debounce, or later where the last computation took long: other promises come first."""
    busy = answers.c.computed_at + func.make_interval(0, 0, 0, 0, 0, 0, answers.c.seconds * _IDLE_SHARE)
    debounced = func.now() + timedelta(seconds=settings.ranking_debounce)
    first = case((answers.c.state == "pending", answers.c.due_at), else_=debounced)
    return {
        "state": "pending",
        "generation": answers.c.generation + 1,
        "due_at": func.greatest(first, func.coalesce(busy, func.now())),
        "attempts": 0,
        "reason": None,
    }


def _ask_usual(connection: Connection, project_id: Any, question: Question) -> None:
    """Promise the answer to the usual question, so that it is there before anyone asks."""
    values = {
        "id": new_id(),
        "project_id": project_id,
        "experiment": question.experiment,
        "metric": question.metric,
        "question": question.document(),
        "question_key": question.key,
    }
    connection.execute(insert(answers).values(values).on_conflict_do_nothing())


def redo_old_methods(connection: Connection) -> int:
    """Promise again some of what an older methods_version computed; how much. It is served until the new is there."""
    redone = 0
    for table in (derivations, answers):
        old = and_(table.c.state != "pending", table.c.methods_version != METHODS_VERSION)
        key = list(table.primary_key.columns)
        some = select(*key).where(old).limit(REDONE_AT_ONCE).with_for_update(skip_locked=True).cte("some")
        here = and_(*(column == some.c[column.name] for column in key))
        again = {"state": "pending", "attempts": 0, "reason": None, "methods_version": None}
        redone += int(connection.execute(update(table).where(here).values(again)).rowcount)
    return redone
