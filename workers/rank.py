"""Rank: the grids of a scope -> a field -> a ranking, settled only if no input changed meanwhile."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import orjson
import structlog
from sqlalchemy import Connection, and_, case, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from registry.database import Database
from registry.question import Question
from registry.settings import Settings
from registry.tables import aliases, grids, new_id, ranking_marks, rankings, revisions
from workers.derive import finished
from workers.field import build_field
from workers.promises import claim, give_back
from workers.statistics import METHODS_VERSION, rank

log = structlog.get_logger()

FOLDED_AT_ONCE = 10_000
_IDLE_SHARE = 4
"""A ranking under constant publication is computed at most a fifth of the time."""


def rank_due(database: Database, settings: Settings) -> int:
    """Answer one due question, if there is one; how many there were."""
    claimed = claim(database, settings, rankings, 1)
    for row in claimed.rows:
        try:
            _rank(database, claimed.lease, row)
        except Exception as error:
            log.warning("ranking failed", ranking=str(row.id), error=repr(error))
            give_back(database, settings, claimed, row, error)
    return len(claimed.rows)


def _rank(database: Database, lease: Any, row: Any) -> None:
    begun = time.perf_counter()
    question = Question.of(row.question)
    with database.reading() as connection:
        inputs = scope_rows(connection, row.project_id, question)
        joined = alias_map(connection, row.project_id)
    document = answer(question, inputs, joined)
    settled = {
        # An input that changed since the claim leaves the promise open; this answer is then never served.
        "state": case((rankings.c.generation == row.generation, "ready"), else_="pending"),
        "attempts": 0,
        "lease": None,
        "leased_until": None,
        "reason": None,
        "document": finished(document | {"computed_at": datetime.now(UTC)}),
        "etag": sha256(orjson.dumps(document)).hexdigest()[:24],
        "methods_version": METHODS_VERSION,
        "seconds": time.perf_counter() - begun,
        "computed_at": func.now(),
    }
    with database.transaction() as connection:
        mine = and_(rankings.c.id == row.id, rankings.c.lease == lease)
        connection.execute(update(rankings).where(mine).values(settled))


def answer(question: Question, rows: Sequence[Any], joined: dict[tuple[str, str], str]) -> dict[str, Any]:
    """The ranking's document, without the instant: equal inputs give equal bytes."""
    field = build_field(question, rows, joined)
    return {
        "by": question.by,
        "experiment": question.experiment,
        "metric": question.metric,
        "benchmarks": list(field.standings.benchmark_names),
        "variant": list(question.variant),
        "methods_version": METHODS_VERSION,
        **rank(field.standings, method=question.method, missing=question.missing, alpha=question.alpha),
        "inputs": field.inputs,
        "warnings": field.warnings,
        "state": "ready",
    }


def scope_rows(connection: Connection, project_id: Any, question: Question) -> Sequence[Any]:
    """The current revisions of the grids that the question is about, oldest update first."""
    names = select(aliases.c.alias).where(
        aliases.c.project_id == project_id, aliases.c.kind == "experiment", aliases.c.name == question.experiment
    )
    query = (
        select(
            grids.c.id,
            grids.c.benchmark,
            grids.c.model,
            grids.c.variant,
            *(revisions.c[name] for name in ("number", "metric", "axes", "values", "trials", "cell_trials")),
        )
        .join(revisions, and_(revisions.c.grid_id == grids.c.id, revisions.c.number == grids.c.revision))
        .where(
            grids.c.project_id == project_id,
            or_(grids.c.experiment == question.experiment, grids.c.experiment.in_(names)),
            grids.c.metric == question.metric,
            grids.c.deleted_at.is_(None),
        )
        .order_by(grids.c.updated_at, grids.c.id)
    )
    return connection.execute(query).all()


def alias_map(connection: Connection, project_id: Any) -> dict[tuple[str, str], str]:
    """What each alias of a project stands for, by (kind, alias)."""
    query = select(aliases.c.kind, aliases.c.alias, aliases.c.name).where(aliases.c.project_id == project_id)
    return {(row.kind, row.alias): row.name for row in connection.execute(query)}


def fold_marks(database: Database, settings: Settings) -> int:
    """Turn marks into promises: rankings whose inputs changed become pending, usual questions are asked.

    How many marks there were. Marks are deleted in the transaction that makes the rankings pending, so a reader sees
    the one or the other.
    """
    with database.transaction() as connection:
        some = select(ranking_marks.c.id).limit(FOLDED_AT_ONCE).with_for_update(skip_locked=True)
        taken = connection.execute(
            delete(ranking_marks).where(ranking_marks.c.id.in_(some)).returning(*ranking_marks.c)
        ).all()
        touched = {(row.project_id, row.experiment, row.metric) for row in taken}
        for project_id in sorted({row.project_id for row in taken}):
            joined = alias_map(connection, project_id)
            scopes = {(e and joined.get(("experiment", e), e), m) for p, e, m in touched if p == project_id}
            _reopen(connection, settings, project_id, scopes)
    return len(taken)


def _reopen(
    connection: Connection, settings: Settings, project_id: Any, scopes: set[tuple[str | None, str | None]]
) -> None:
    here = rankings.c.project_id == project_id
    whole = (None, None) in scopes
    for experiment, metric in sorted((e, m) for e, m in scopes if e is not None and m is not None):
        _ask_usual(connection, project_id, Question(experiment, metric))
        if not whole:
            mine = and_(here, rankings.c.experiment == experiment, rankings.c.metric == metric)
            connection.execute(update(rankings).where(mine).values(_pending(settings)))
    if whole:
        connection.execute(update(rankings).where(here).values(_pending(settings)))


def _pending(settings: Settings) -> dict[str, Any]:
    """Due after the debounce, or later where the last computation took long: other promises come first."""
    busy = rankings.c.computed_at + func.make_interval(0, 0, 0, 0, 0, 0, rankings.c.seconds * _IDLE_SHARE)
    debounced = func.now() + timedelta(seconds=settings.ranking_debounce)
    first = case((rankings.c.state == "pending", rankings.c.due_at), else_=debounced)
    return {
        "state": "pending",
        "generation": rankings.c.generation + 1,
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
    connection.execute(insert(rankings).values(values).on_conflict_do_nothing())
