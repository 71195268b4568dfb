"""Settling: jobs of statistics get their last state, and those of current revisions are announced, in one statement."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Update, and_, func, insert, literal, literal_column, select

from registry.results.events import EventType
from registry.storage.tables import arrivals, derivations, grids

_NAMES = ("experiment", "benchmark", "model", "variant", "metric")
_LONGEST_REASON = 300


def settle_ready(connection: Connection, settled: Update, methods_version: str) -> int:
    """Carry out an update of jobs that are ready now, and announce their statistics; return how many jobs."""
    return _settle(connection, settled, "statistics.ready", literal("methods_version"), literal(methods_version))


def settle_failed(connection: Connection, settled: Update) -> int:
    """Carry out an update of jobs, and announce those that have failed now; return how many jobs."""
    reason = func.left(literal_column("settled.reason"), _LONGEST_REASON)
    return _settle(connection, settled, "statistics.failed", literal("reason"), reason)


def _settle(connection: Connection, settled: Update, type_: EventType, *more: ColumnElement[Any]) -> int:
    jobs = settled.returning(*(derivations.c[name] for name in ("grid_id", "revision", "state", "reason")))
    done = jobs.cte("settled")
    names: list[Any] = []
    for name in _NAMES:
        names += [literal_column(f"'{name}'"), grids.c[name]]
    said = (literal_column("'grid'"), grids.c.id, literal_column("'revision'"), grids.c.revision, *names, *more)
    current = and_(grids.c.id == done.c.grid_id, grids.c.revision == done.c.revision)
    subject = func.concat(literal_column("'grids/'"), grids.c.id)
    rows = select(grids.c.project_id, literal(type_), subject, func.jsonb_build_object(*said)).join(done, current)
    told = insert(arrivals).from_select(
        ["project_id", "type", "subject", "data"], rows.where(done.c.state != "pending").order_by(grids.c.id)
    )
    counted = select(func.count()).select_from(done).add_cte(told.cte("told"))
    return int(connection.scalar(counted) or 0)
