"""Try failed jobs again: statistics and cached results that were given up become due once more."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Table, and_, exists, func, select, update

from registry.operations.health import is_current, of_living_project
from registry.storage.keys import key_of
from registry.storage.tables import cached_results, derivations, grids

AT_ONCE = 5_000
"""Jobs of a kind that one call makes due."""


@dataclass(frozen=True, slots=True)
class Retried:
    """How many jobs of each kind are due again."""

    derivations: int
    answers: int


def retry_failed(connection: Connection, project_id: uuid.UUID | None) -> Retried:
    """Make the failed jobs of a project, or (None) of all, due with all their attempts; up to `AT_ONCE` of each kind.

    Results of superseded revisions, of deleted grids and of deleted projects have no reader and stay as they are.
    """
    wanted = and_(is_current(), *([] if project_id is None else [grids.c.project_id == project_id]))
    statistics = _retry(connection, derivations, exists().where(wanted))
    whose = cached_results.c.project_id
    living = of_living_project(whose) if project_id is None else whose == project_id
    answers = _retry(connection, cached_results, living)
    return Retried(statistics, answers)


def _retry(connection: Connection, table: Table, wanted: ColumnElement[bool]) -> int:
    key = key_of(table)
    # A worker that settles one at this moment goes first; what it leaves failed is taken by the next call.
    some = select(*key).where(table.c.state == "failed", wanted).limit(AT_ONCE)
    batch = some.with_for_update(skip_locked=True, of=table).cte("batch").prefix_with("MATERIALIZED")
    here = and_(*(column == batch.c[column.name] for column in key))
    again = {"state": "pending", "due_at": func.now(), "attempts": 0, "reason": None, "methods_version": None}
    return int(connection.execute(update(table).where(here).values(again)).rowcount)
