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

from registry.settings import Settings
from registry.storage.database import Database, quietly_committed
from registry.storage.tables import answers, idempotency_keys
from workers.statistics import METHODS_VERSION

FIRST_PAUSE = 0.5
LONGEST_PAUSE = timedelta(minutes=10)
"""Nothing is due or leased for longer: an instant beyond it was written while the database's clock ran ahead."""
_LONGEST_REASON = 1_000


@dataclass(frozen=True, slots=True)
class Claim:
    """Promises of one table that this process holds until the lease runs out."""

    table: Table
    lease: uuid.UUID
    rows: Sequence[Any]


def due(table: Table) -> ColumnElement[bool]:
    """Whether a promise waits for somebody now."""
    free = or_(table.c.leased_until.is_(None), _over(table.c.leased_until))
    return and_(table.c.state == "pending", _over(table.c.due_at), free)


def _over(instant: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether an instant is past, or so far ahead that only a clock which has been put right can have written it."""
    return or_(instant <= func.now(), instant > func.now() + LONGEST_PAUSE)


def claim(database: Database, settings: Settings, table: Table, most: int) -> Claim:
    """Claim up to `most` promises that nobody tried before, or one that somebody did and that is not exhausted.

    What was tried before may be slow rather than poisonous: each lease is twice as long as the one before.
    """
    lease = uuid.uuid4()
    tried = table.c.attempts.between(1, settings.attempts - 1)
    with database.transaction() as connection:
        quietly_committed(connection)
        for condition, limit in ((table.c.attempts <= 0, most), (tried, 1)):
            rows = connection.execute(_claiming(table, condition, limit, lease, settings.lease_seconds)).all()
            if rows:
                return Claim(table, lease, rows)
    return Claim(table, lease, ())


def _claiming(table: Table, condition: ColumnElement[bool], most: int, lease: uuid.UUID, seconds: float) -> Any:
    key = list(table.primary_key.columns)
    first = [table.c.usual.desc()] if "usual" in table.c else []
    waiting = select(*key).where(due(table), condition).order_by(*first, table.c.due_at).limit(most)
    # A CTE is evaluated once; a subquery may be evaluated for each row, and then locks more than its limit.
    chosen = waiting.with_for_update(skip_locked=True).cte("chosen").prefix_with("MATERIALIZED")
    same = and_(*(column == chosen.c[column.name] for column in key))
    begun = func.greatest(table.c.attempts, 0)
    span = func.make_interval(0, 0, 0, 0, 0, 0, func.least(seconds * func.power(2, begun), LONGEST_PAUSE.seconds))
    held = {"lease": lease, "leased_until": func.now() + span, "attempts": begun + 1}
    return update(table).where(same).values(held).returning(*table.c)


def release(database: Database, claim: Claim, rows: Sequence[Any], pause: float = 0.0) -> None:
    """Give claimed promises back untried, due at once or after a pause of so many seconds."""
    key = tuple_(*claim.table.primary_key.columns)
    untried = key.in_([tuple(getattr(row, column.name) for column in claim.table.primary_key.columns) for row in rows])
    # Not below 0: where an input changed meanwhile, the attempts count from 0 again already.
    attempts = func.greatest(claim.table.c.attempts - 1, 0)
    free: dict[str, Any] = {"lease": None, "leased_until": None, "attempts": attempts}
    if pause:
        free["due_at"] = func.now() + timedelta(seconds=pause)
    with database.transaction() as connection:
        quietly_committed(connection)
        connection.execute(update(claim.table).where(untried, claim.table.c.lease == claim.lease).values(free))


def fail_attempt(database: Database, settings: Settings, claim: Claim, row: Any, error: BaseException) -> None:
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


def fail_exhausted(connection: Connection, table: Table, attempts: int) -> int:
    """Settle as failed what was tried often enough without an answer: its processes died."""
    reason = func.coalesce(table.c.reason, "The worker died each time that it computed this.")
    exhausted = update(table).where(due(table), table.c.attempts >= attempts)
    failed = {"state": "failed", "reason": reason, "lease": None, "leased_until": None}
    return int(connection.execute(exhausted.values(failed | {"methods_version": METHODS_VERSION})).rowcount)


def delete_unread_results(connection: Connection, days: int, most: int) -> int:
    """Remove what nobody asked for so many days, and of each project what is beyond the `most` read last; how many.

    The answers to the usual questions stay.
    """
    latest = func.row_number().over(
        partition_by=answers.c.project_id, order_by=[answers.c.asked_at.desc(), answers.c.id]
    )
    asked = select(answers.c.id, answers.c.asked_at, latest.label("place")).where(~answers.c.usual).subquery()
    old = or_(asked.c.asked_at < func.now() - timedelta(days=days), asked.c.place > most)
    gone = delete(answers).where(answers.c.id.in_(select(asked.c.id).where(old)))
    return int(connection.execute(gone).rowcount)


def delete_old_keys(connection: Connection, days: int) -> int:
    """Remove the idempotency keys whose time is over; how many there were."""
    old = idempotency_keys.c.created_at < func.now() - timedelta(days=days)
    return int(connection.execute(delete(idempotency_keys).where(old)).rowcount)
