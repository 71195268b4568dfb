"""Requeue results that an older version of the statistical methods computed. Each is served until its replacement is
ready.

Answers to queries are requeued all, because somebody keeps asking them. Of the statistics of grids only those are of
experiments that somebody looks at: an archive of a hundred million grids would take hundreds of hours of processor
time. The others follow when they are read (`registry.operations.old_statistics`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, Table, and_, exists, func, or_, select, update

from registry.methods_version import METHODS_VERSION
from registry.query import RankingQuery
from registry.storage.keys import key_of, of_current
from registry.storage.statistics_jobs import requeue_statistics
from registry.storage.tables import cached_results, derivations
from workers.scope import alias_map, conditions

REQUEUED_AT_ONCE = 1_000
_AGAIN = {"state": "pending", "due_at": func.now(), "attempts": 0, "reason": None, "methods_version": None}
"""It waits from now on: its age is no delay, and an alarm about delays would ring at every upgrade."""


def requeue_old_methods(connection: Connection, days: int) -> int:
    """Requeue a batch of results with another `methods_version` and return how many.

    Statistics are of experiments and metrics of which some answer was read within `days`.
    """
    failed = and_(derivations.c.state == "failed", derivations.c.methods_version != METHODS_VERSION)
    # A superseded revision has no reader.
    requeued = _requeue(connection, derivations, [failed, exists().where(of_current(derivations))])
    # A stale result has no reader either: it is computed again when somebody asks.
    current = cached_results.c.document_generation == cached_results.c.generation
    served = and_(cached_results.c.state != "pending", or_(cached_results.c.state == "failed", current))
    old = (
        select(cached_results, _is_read(days).label("is_read"))
        .where(served, cached_results.c.methods_version != METHODS_VERSION)
        .order_by(cached_results.c.is_default.desc())
        .limit(REQUEUED_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    rows = connection.execute(old).all()
    statistics, done = _requeue_statistics(connection, rows)
    return requeued + statistics + _requeue(connection, cached_results, [cached_results.c.id.in_(done)])


def _is_read(days: int) -> Any:
    """Condition that somebody has read an answer about the same experiment and metric within `days`."""
    other = cached_results.alias()
    same = (other.c[name] == cached_results.c[name] for name in ("project_id", "experiment", "metric"))
    return exists().where(*same, other.c.read_at > func.now() - timedelta(days=days))


def _requeue_statistics(connection: Connection, rows: Sequence[Any]) -> tuple[int, list[Any]]:
    """Requeue old statistics in the scopes of default rankings that somebody reads, as many as fit into a batch.

    Return how many, and the ids of the rows whose scopes are done.
    """
    joined: dict[Any, Mapping[tuple[str, str], str]] = {}
    done: list[Any] = []
    requeued = 0
    for row in rows:
        if row.is_default and row.is_read:
            if row.project_id not in joined:
                joined[row.project_id] = alias_map(connection, row.project_id)
            scope = RankingQuery(row.experiment, row.metric)
            which = conditions(joined[row.project_id], row.project_id, scope)
            requeued += requeue_statistics(connection, *which, most=REQUEUED_AT_ONCE - requeued)
            if requeued >= REQUEUED_AT_ONCE:
                break  # more of its grids may be left
        done.append(row.id)
    return requeued, done


def _requeue(connection: Connection, table: Table, which: Sequence[Any]) -> int:
    key = key_of(table)
    batch = select(*key).where(*which).limit(REQUEUED_AT_ONCE).with_for_update(skip_locked=True, of=table).cte("batch")
    here = and_(*(column == batch.c[column.name] for column in key))
    return int(connection.execute(update(table).where(here).values(_AGAIN)).rowcount)
