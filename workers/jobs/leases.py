"""Leases on jobs: claim, release, fail. The job is a row in PostgreSQL, and the database's clock decides.

Claiming counts an attempt and commits before any risky work, so that work which kills its process is not retried for
ever. Jobs that failed before are claimed one at a time: a poisoned grid cannot fail its neighbours.

Settling: jobs of statistics get their last state, and those of current revisions are announced, in one statement.
"""

import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeGuard

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    Update,
    and_,
    case,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)

from registry.errors import RegistryError, TryLater
from registry.methods_version import METHODS_VERSION
from registry.query import StoredClaimsQuery
from registry.results.events import EventType
from registry.settings import Settings
from registry.storage.database import Database, quietly_committed
from registry.storage.keys import key_of
from registry.storage.tables import arrivals, derivations, grids

_NAMES = ("experiment", "benchmark", "model", "variant", "metric")
_LONGEST_IN_EVENT = 300
FIRST_PAUSE = 0.5
LONGEST_PAUSE = timedelta(minutes=10)
"""Nothing is due or leased for longer: an instant beyond it was written while the database's clock ran ahead."""
_LONGEST_REASON = 1_000
_REFUSED = ("disk_full", "read_only", "no_rights", "lock_timeout")
"""Messages of the database about a write that has no room, right or turn: the job is not at fault, and to give it up
helps nobody."""


def settle_ready(connection: Connection, settled: Update, methods_version: str) -> int:
    """Carry out an update of jobs that are ready now, and announce their statistics; return how many jobs."""
    return _settle(connection, settled, "statistics.ready", literal("methods_version"), literal(methods_version))


def settle_failed(connection: Connection, settled: Update) -> int:
    """Carry out an update of jobs, and announce those that have failed now; return how many jobs."""
    reason = func.left(literal_column("settled.reason"), _LONGEST_IN_EVENT)
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


@dataclass(frozen=True, slots=True)
class Claim:
    """Jobs of one table, held by this process until the lease runs out."""

    table: Table
    lease: uuid.UUID
    rows: Sequence[Any]


def due(table: Table) -> ColumnElement[bool]:
    """Condition that a job is pending, its time has come, and no lease holds it."""
    unleased = or_(table.c.leased_until.is_(None), _is_past(table.c.leased_until))
    return and_(table.c.state == "pending", _is_past(table.c.due_at), unleased)


def _is_past(instant: ColumnElement[Any]) -> ColumnElement[bool]:
    """Condition that an instant is past, or so far ahead that only a clock that was later corrected can have written
    it."""
    return or_(instant <= func.now(), instant > func.now() + LONGEST_PAUSE)


def claim(
    database: Database, settings: Settings, table: Table, most: int, only: ColumnElement[bool] | None = None
) -> Claim:
    """Claim up to `most` jobs that were never attempted, or else one that was and has attempts left; of those for which
    `only` holds.

    A job that was attempted before may be slow rather than poisonous: each lease is twice as long as the one before.
    Return a claim without rows if nothing is due.
    """
    lease = uuid.uuid4()
    tried = table.c.attempts.between(1, settings.attempts - 1)
    with database.transaction() as connection:
        # A claim that a crash of the server loses leaves the job due: nothing but one attempt's count is lost.
        quietly_committed(connection)
        # New jobs first, so that those which fail again and again delay no other.
        for state, limit in ((table.c.attempts <= 0, most), (tried, 1)):
            condition = state if only is None else and_(state, only)
            rows = connection.execute(_claim_statement(table, condition, limit, lease, settings.lease_seconds)).all()
            if rows:
                return Claim(table, lease, rows)
    return Claim(table, lease, ())


def _claim_statement(table: Table, condition: ColumnElement[bool], most: int, lease: uuid.UUID, seconds: float) -> Any:
    key = key_of(table)
    # Where more is published than two cores describe, who publishes now looks now: the newest grid is the first.
    order: list[ColumnElement[Any]] = [table.c.due_at.desc()]
    if "is_default" in table.c:
        # Claims that are kept wait for what people asked and look at: there may be thousands.
        order = [table.c.query["kind"].astext == StoredClaimsQuery.kind, table.c.is_default.desc(), table.c.due_at]
    waiting = select(*key).where(due(table), condition).order_by(*order).limit(most)
    # SKIP LOCKED: rows that another worker is claiming are its own, and waiting for them would serialise the workers.
    # The CTE is materialised because a subquery may be evaluated once for each row, and then locks more than `most`.
    chosen = waiting.with_for_update(skip_locked=True).cte("chosen").prefix_with("MATERIALIZED")
    same = and_(*(column == chosen.c[column.name] for column in key))
    begun = func.greatest(table.c.attempts, 0)
    span = func.make_interval(0, 0, 0, 0, 0, 0, func.least(seconds * func.power(2, begun), LONGEST_PAUSE.seconds))
    # Counted before the work begins: an attempt that kills its process has been counted.
    leased = {"lease": lease, "leased_until": func.now() + span, "attempts": begun + 1}
    return update(table).where(same).values(leased).returning(*table.c, func.now().label("claimed_at"))


def release(database: Database, claim: Claim, rows: Sequence[Any], pause: float = 0.0) -> None:
    """Release claimed jobs without counting the attempt; they are due at once, or after `pause` seconds."""
    key = key_of(claim.table)
    untried = tuple_(*key).in_([tuple(getattr(row, column.name) for column in key) for row in rows])
    # Not below 0: if an input changed meanwhile, `attempts` was reset to 0 already.
    attempts = func.greatest(claim.table.c.attempts - 1, 0)
    freed: dict[str, Any] = {"lease": None, "leased_until": None, "attempts": attempts}
    if pause:
        freed["due_at"] = func.now() + timedelta(seconds=pause)
    with database.transaction() as connection:
        quietly_committed(connection)
        connection.execute(update(claim.table).where(untried, claim.table.c.lease == claim.lease).values(freed))


def is_refused(error: BaseException) -> TypeGuard[TryLater]:
    """Return whether an attempt ended because the database refused a write, which says nothing of the job."""
    return isinstance(error, TryLater) and error.reason in _REFUSED


def put_off(database: Database, claim: Claim, rows: Sequence[Any], error: TryLater) -> None:
    """Release jobs that the database refused to settle; they are due when writers may try again."""
    with suppress(RegistryError):  # if it takes not even that, they are due when their lease runs out
        release(database, claim, rows, error.after)


def fail_attempt(database: Database, settings: Settings, claim: Claim, row: Any, error: BaseException) -> None:
    """Record why an attempt failed. The job is due again after a growing pause, or `failed` after its last attempt."""
    reason = f"{type(error).__name__}: {error}"[:_LONGEST_REASON].replace("\x00", "")
    # The count in the table, not that of the claimed row: it was reset if an input changed while this attempt ran.
    over = claim.table.c.attempts >= settings.attempts
    pause = timedelta(seconds=FIRST_PAUSE * 2 ** (row.attempts - 1))
    outcome = {
        "state": case((over, "failed"), else_="pending"),
        "methods_version": case((over, METHODS_VERSION), else_=claim.table.c.methods_version),
        "due_at": func.now() + pause,
        "reason": reason,
        "lease": None,
        "leased_until": None,
    }
    # Only under its own lease: after that ran out, the job may be another worker's, or settled.
    key = [column == getattr(row, column.name) for column in key_of(claim.table)]
    with database.transaction() as connection:
        _fail(
            connection, claim.table, update(claim.table).where(*key, claim.table.c.lease == claim.lease).values(outcome)
        )


def fail_exhausted(connection: Connection, table: Table, attempts: int) -> int:
    """Fail the due jobs that have no attempt left, because their workers died; return their number."""
    reason = func.coalesce(table.c.reason, "The worker died each time that it computed this.")
    exhausted = update(table).where(due(table), table.c.attempts >= attempts)
    failed = {"state": "failed", "reason": reason, "lease": None, "leased_until": None}
    return _fail(connection, table, exhausted.values(failed | {"methods_version": METHODS_VERSION}))


def _fail(connection: Connection, table: Table, settled: Update) -> int:
    """Carry out an update of jobs that may have failed; of statistics, tell of those that have."""
    if table is derivations:
        return settle_failed(connection, settled)
    return int(connection.execute(settled).rowcount)
