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

from sqlalchemy import ColumnElement, Connection, Table, and_, func, or_, select, tuple_, update

from registry.database import Database, quietly_committed
from registry.settings import Settings

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
    """Claim up to `most` promises that nobody tried before, or one that somebody did."""
    lease = uuid.uuid4()
    key = list(table.primary_key.columns)
    with database.transaction() as connection:
        quietly_committed(connection)
        for condition, limit in ((table.c.attempts == 0, most), (table.c.attempts > 0, 1)):
            chosen = (
                select(*key)
                .where(due(table), condition)
                .order_by(table.c.due_at)
                .limit(limit)
                .with_for_update(skip_locked=True)
            )
            held = {
                "lease": lease,
                "leased_until": func.now() + timedelta(seconds=settings.lease_seconds),
                "attempts": table.c.attempts + 1,
            }
            statement = update(table).where(tuple_(*key).in_(chosen)).values(held).returning(*table.c)
            rows = connection.execute(statement).all()
            if rows:
                return Claim(table, lease, rows)
    return Claim(table, lease, ())


def held(connection: Connection, claim: Claim, row: Any) -> bool:
    """Whether the lease on a row is still ours; its row is locked until the transaction ends."""
    key = [column == getattr(row, column.name) for column in claim.table.primary_key.columns]
    mine = select(claim.table.c.lease).where(*key, claim.table.c.state == "pending").with_for_update()
    return bool(connection.scalar(mine) == claim.lease)


def give_back(database: Database, settings: Settings, claim: Claim, row: Any, error: BaseException) -> None:
    """Note why an attempt failed: due again after a growing pause, or `failed` after the last attempt."""
    reason = f"{type(error).__name__}: {error}"[:_LONGEST_REASON].replace("\x00", "")
    over = row.attempts >= settings.attempts
    pause = timedelta(seconds=FIRST_PAUSE * 2 ** (row.attempts - 1))
    noted = {"reason": reason, "lease": None, "leased_until": None}
    outcome = {"state": "failed"} if over else {"due_at": func.now() + pause}
    key = [column == getattr(row, column.name) for column in claim.table.primary_key.columns]
    with database.transaction() as connection:
        connection.execute(update(claim.table).where(*key, claim.table.c.lease == claim.lease).values(noted | outcome))


def give_up_exhausted(connection: Connection, table: Table, attempts: int) -> int:
    """Settle as failed what was tried often enough without an answer: its processes died."""
    reason = func.coalesce(table.c.reason, "The worker died each time that it computed this.")
    exhausted = update(table).where(due(table), table.c.attempts >= attempts)
    return int(connection.execute(exhausted.values(state="failed", reason=reason, lease=None)).rowcount)
