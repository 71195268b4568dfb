"""Keeping promises: claim with a lease, settle or fail under it. The record is in Postgres and its clock decides.

A claim counts the attempt and commits before any risky work, so that work which kills its process is not tried for
ever. Promises that failed before are claimed alone: one poisoned grid takes no neighbour with it.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, case, delete, func, or_, select, tuple_, update

from registry.database import Database, quietly_committed
from registry.settings import Settings
from registry.tables import idempotency_keys
from workers.statistics import METHODS_VERSION

FIRST_PAUSE = 0.5
_LONGEST_REASON = 1_000


@dataclass(frozen=True, slots=True)
class Claim:
    """Promises of one table that this process holds until the lease runs out."""

    table: Table
    lease: uuid.UUID
    rows: Sequence[Any]


def due(table: Table) -> ColumnElement[bool]:
    """Whether a promise waits for somebody now."""
    free = or_(table.c.leased_until.is_(None), table.c.leased_until < func.now())
    return and_(table.c.state == "pending", table.c.due_at <= func.now(), free)


def claim(database: Database, settings: Settings, table: Table, most: int) -> Claim:
    """Claim up to `most` promises that nobody tried before, or one that somebody did and that is not exhausted.

    What was tried before may be slow rather than poisonous: its lease outlasts a worker's time limit.
    """
    lease = uuid.uuid4()
    tried = table.c.attempts.between(1, settings.attempts - 1)
    choices = ((table.c.attempts == 0, most, settings.lease_seconds), (tried, 1, 2 * settings.lease_seconds))
    with database.transaction() as connection:
        quietly_committed(connection)
        for condition, limit, seconds in choices:
            rows = connection.execute(_claiming(table, condition, limit, lease, timedelta(seconds=seconds))).all()
            if rows:
                return Claim(table, lease, rows)
    return Claim(table, lease, ())


def _claiming(table: Table, condition: ColumnElement[bool], most: int, lease: uuid.UUID, span: timedelta) -> Any:
    key = list(table.primary_key.columns)
    waiting = select(*key).where(due(table), condition).order_by(table.c.due_at).limit(most)
    # A CTE is evaluated once; a subquery may be evaluated for each row, and then locks more than its limit.
    chosen = waiting.with_for_update(skip_locked=True).cte("chosen").prefix_with("MATERIALIZED")
    same = and_(*(column == chosen.c[column.name] for column in key))
    held = {"lease": lease, "leased_until": func.now() + span, "attempts": table.c.attempts + 1}
    return update(table).where(same).values(held).returning(*table.c)


def let_go(database: Database, claim: Claim, rows: Sequence[Any], pause: float = 0.0) -> None:
    """Give claimed promises back untried, due at once or after a pause of so many seconds."""
    key = tuple_(*claim.table.primary_key.columns)
    untried = key.in_([tuple(getattr(row, column.name) for column in claim.table.primary_key.columns) for row in rows])
    free: dict[str, Any] = {"lease": None, "leased_until": None, "attempts": claim.table.c.attempts - 1}
    if pause:
        free["due_at"] = func.now() + timedelta(seconds=pause)
    with database.transaction() as connection:
        quietly_committed(connection)
        connection.execute(update(claim.table).where(untried, claim.table.c.lease == claim.lease).values(free))


def give_back(database: Database, settings: Settings, claim: Claim, row: Any, error: BaseException) -> None:
    """Note why an attempt failed: due again after a growing pause, or `failed` after the last attempt."""
    reason = f"{type(error).__name__}: {error}"[:_LONGEST_REASON].replace("\x00", "")
    # The count in the table: it began anew if an input changed while this attempt ran.
    over = claim.table.c.attempts >= settings.attempts
    pause = timedelta(seconds=FIRST_PAUSE * 2 ** (row.attempts - 1))
    noted = {
        "state": case((over, "failed"), else_="pending"),
        "methods_version": case((over, METHODS_VERSION), else_=claim.table.c.methods_version),
        "due_at": func.now() + pause,
        "reason": reason,
        "lease": None,
        "leased_until": None,
    }
    key = [column == getattr(row, column.name) for column in claim.table.primary_key.columns]
    with database.transaction() as connection:
        connection.execute(update(claim.table).where(*key, claim.table.c.lease == claim.lease).values(noted))


def give_up_exhausted(connection: Connection, table: Table, attempts: int) -> int:
    """Settle as failed what was tried often enough without an answer: its processes died."""
    reason = func.coalesce(table.c.reason, "The worker died each time that it computed this.")
    exhausted = update(table).where(due(table), table.c.attempts >= attempts)
    failed = {"state": "failed", "reason": reason, "lease": None, "leased_until": None}
    return int(connection.execute(exhausted.values(failed | {"methods_version": METHODS_VERSION})).rowcount)


def forget_old_keys(connection: Connection, days: int) -> int:
    """Remove the idempotency keys whose time is over; how many there were."""
    old = idempotency_keys.c.created_at < func.now() - timedelta(days=days)
    return int(connection.execute(delete(idempotency_keys).where(old)).rowcount)
