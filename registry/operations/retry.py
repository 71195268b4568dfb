"""Compute again: jobs that were given up, and statistics that other methods computed."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, exists, func, select, update

from registry.errors import Unavailable
from registry.methods_version import METHODS_VERSION
from registry.operations.audit_log import Actor, record
from registry.operations.health import is_current, of_living_project
from registry.storage.database import Database
from registry.storage.keys import key_of
from registry.storage.statistics_jobs import requeue_statistics
from registry.storage.tables import cached_results, derivations, grids

AT_ONCE = 5_000
"""Jobs of a kind that one call makes due."""


@dataclass(frozen=True, slots=True)
class Retried:
    """How many jobs of each kind are due again."""

    derivations: int
    answers: int


def retry_failed(connection: Connection, actor: Actor, project_id: uuid.UUID | None) -> Retried:
    """Make the failed jobs of a project, or (None) of all, due with all their attempts; up to `AT_ONCE` of each kind.

    Results of superseded revisions, of deleted grids and of deleted projects have no reader and stay as they are.
    The audit log has it where there were any.
    """
    wanted = and_(is_current(), *([] if project_id is None else [grids.c.project_id == project_id]))
    statistics = _retry(connection, derivations, exists().where(wanted))
    whose = cached_results.c.project_id
    living = of_living_project(whose) if project_id is None else whose == project_id
    answers = _retry(connection, cached_results, living)
    if statistics or answers:
        told = {"derivations": statistics, "answers": answers}
        record(connection, actor, "jobs.retried", project_id or "all", project_id=project_id, **told)
    return Retried(statistics, answers)


def _retry(connection: Connection, table: Table, wanted: ColumnElement[bool]) -> int:
    key = key_of(table)
    # A worker that settles one at this moment goes first; what it leaves failed is taken by the next call.
    some = select(*key).where(table.c.state == "failed", wanted).limit(AT_ONCE)
    batch = some.with_for_update(skip_locked=True, of=table).cte("batch").prefix_with("MATERIALIZED")
    here = and_(*(column == batch.c[column.name] for column in key))
    again = {"state": "pending", "due_at": func.now(), "attempts": 0, "reason": None, "methods_version": None}
    return int(connection.execute(update(table).where(here).values(again)).rowcount)


def requeue_old(database: Database, rows: Iterable[Any]) -> bool:
    """Make the jobs due of those rows of `find_statistics` that other methods than this release's computed, or that
    somebody has deleted, if nobody has done so yet; return whether some are due now. A row may be None.

    Whoever reads goes on with what is stored, also where nothing can be written.
    """
    old = [row for row in rows if row is not None and row.state == "ready" and row.methods_version != METHODS_VERSION]
    if not old:
        return False
    projects: set[uuid.UUID] = {row.project_id for row in old}
    which = (grids.c.project_id.in_(projects), grids.c.id.in_([row.id for row in old]))
    try:
        with database.transaction() as connection:
            return requeue_statistics(connection, *which) > 0
    except Unavailable:
        return False
