"""Lines: a webhook's deliveries, one after another, by whoever holds the lease on the webhook.

A webhook keeps the position up to which events of its project have deliveries, and makes the next ones as it gets
there: positions are dense and only given to what is committed, so none is passed over, whatever dies in between, and an
import of a million grids is a number, not a million rows for each webhook. What is seen is locked first: the sequencer
and people write to a webhook's row too, and each statement behind the lock sees what they committed.
"""

import time
import uuid
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, and_, bindparam, case, func, null, or_, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.storage.arrivals import is_told
from registry.storage.database import Database, quietly_committed
from registry.storage.tables import deliveries, event_heads, events, new_id, projects, webhooks

MOST_ATTEMPTS = 8
LEASE = timedelta(seconds=30)
"""Longer than an attempt; each attempt begins a new one."""
_LONGEST_PAUSE = timedelta(hours=2)
"""Nothing is leased or paused for longer: an instant beyond it was written while the database's clock ran ahead."""
_WINDOW = 500
"""Events looked at, and deliveries made, at once."""
_MOST_WINDOWS = 20
"""In one transaction."""
_READ_AT_ONCE = 100
"""Due deliveries, with their events."""
_READ_SECONDS = 1.0
"""For which they are believed to be the next ones: then what came due before them meanwhile is seen."""


@dataclass(slots=True)
class Line:
    """A webhook that this thread sends to until the lease runs out, and what it has read of what is next."""

    webhook_id: uuid.UUID
    project_id: uuid.UUID
    lease: uuid.UUID
    is_failing: bool
    ahead: deque[Any] = field(default_factory=deque)
    read_at: float = 0.0

    @property
    def next(self) -> Any:
        """The delivery that is next by what was read; None if nothing was, or too long ago."""
        return self.ahead[0] if self.ahead and time.monotonic() < self.read_at + _READ_SECONDS else None


@dataclass(frozen=True, slots=True)
class Sending:
    """A delivery whose attempt has begun: the webhook's row, the event, and the number of the attempt from 1 on."""

    delivery_id: uuid.UUID
    event_id: uuid.UUID
    type: str
    at: datetime
    subject: str
    position: int | None
    data: Mapping[str, Any]
    attempts: int
    webhook: Any
    project: str


def claim_line(database: Database, busy: Collection[uuid.UUID], *, only_healthy: bool) -> Line | None:
    """Lease the webhook that has waited longest among those with something to send, of no project in `busy`."""
    lease = uuid.uuid4()
    row = webhooks.c
    asked = (
        select(row.id)
        .join(projects, and_(projects.c.id == row.project_id, projects.c.deleted_at.is_(None)))
        .where(row.state == "enabled", row.due_at <= func.now())
        .where(_is_over(row.leased_until), _is_over(row.paused_until), row.project_id.not_in(busy))
        .order_by(row.due_at)
        .limit(1)
    )
    if only_healthy:
        asked = asked.where(row.failures == 0)
    chosen = asked.with_for_update(of=webhooks, skip_locked=True).cte("chosen").prefix_with("MATERIALIZED")
    leased = {"lease": lease, "leased_until": func.now() + LEASE}
    claimed = update(webhooks).where(row.id == chosen.c.id).values(leased)
    with database.transaction() as connection:
        quietly_committed(connection)
        found = connection.execute(claimed.returning(row.id, row.project_id, row.failures)).one_or_none()
    return None if found is None else Line(found.id, found.project_id, lease, found.failures > 0)


def _is_over(instant: Any) -> Any:
    return or_(instant.is_(None), instant <= func.now(), instant > func.now() + _LONGEST_PAUSE)


def begin_next(database: Database, line: Line) -> Sending | None:
    """Begin an attempt of the first delivery that is due; None if nothing is, or the line is another's."""
    with database.transaction() as connection:
        # What a crash of the server loses here is done again.
        quietly_committed(connection)
        webhook = hold(connection, line)
        return None if webhook is None else go_on(connection, line, webhook)


def go_on(connection: Connection, line: Line, webhook: Any, *, leaving: bool = False) -> Sending | None:
    """Begin an attempt of the first delivery that is due, in the order of events, of a webhook that is held. None:
    nothing is due, or this thread is `leaving`, and the lease is given back."""
    for _ in range(_MOST_WINDOWS):
        if leaving or webhook is None or webhook.state != "enabled" or webhook.is_paused:
            break
        found = _first_due(connection, line)
        if found is not None and is_sent(found):
            if connection.execute(BEGIN, {"begun": found.id, "begun_attempts": found.attempts}).rowcount:
                return begun(webhook, found)
            line.ahead.clear()  # it is another one than was read
        elif found is not None:
            failed = {"state": "failed", "settled_at": func.now()}
            connection.execute(update(deliveries).where(deliveries.c.id == found.id).values(failed))
        elif _advance(connection, webhook):
            webhook = hold(connection, line)
        else:
            break
    _give_back(connection, line)
    return None


_IS_PAUSED = and_(webhooks.c.paused_until > func.now(), webhooks.c.paused_until <= func.now() + _LONGEST_PAUSE)
HOLD = (
    update(webhooks)
    .where(webhooks.c.id == bindparam("held_webhook"), webhooks.c.lease == bindparam("held_lease"))
    .where(projects.c.id == webhooks.c.project_id)
    .values(leased_until=func.now() + LEASE)
    .returning(webhooks, func.coalesce(_IS_PAUSED, False).label("is_paused"), projects.c.slug.label("project"))
)
"""Made once, as what is said for each delivery: to build it takes longer than the database does."""
BEGIN = (
    update(deliveries)
    .where(deliveries.c.id == bindparam("begun"), deliveries.c.state == "pending")
    .where(deliveries.c.attempts == bindparam("begun_attempts"))
    # Counted before it is sent: an attempt that kills its process has been counted.
    .values(attempts=deliveries.c.attempts + 1)
)


def hold(connection: Connection, line: Line) -> Any:
    """The webhook's row, held until the transaction ends and leased from now on; None if the lease ran out and another
    thread has it."""
    return connection.execute(HOLD, held_by(line)).one_or_none()


def held_by(line: Line) -> dict[str, uuid.UUID]:
    return {"held_webhook": line.webhook_id, "held_lease": line.lease}


def _first_due(connection: Connection, line: Line) -> Any:
    """The first delivery that is due, with its event; `at` is None where that is kept no longer."""
    if line.next is None:
        line.read_at = time.monotonic()
        line.ahead = deque(_read_due(connection, line.webhook_id))
    return line.ahead.popleft() if line.ahead else None


def _read_due(connection: Connection, webhook_id: uuid.UUID) -> Sequence[Any]:
    own = deliveries.c.event
    query = (
        select(
            deliveries.c.id,
            deliveries.c.event_id,
            deliveries.c.position,
            deliveries.c.type,
            deliveries.c.attempts,
            case((own.is_not(None), deliveries.c.created_at), else_=events.c.at).label("at"),
            func.coalesce(own["subject"].astext, events.c.subject).label("subject"),
            func.coalesce(own["data"], events.c.data).label("data"),
        )
        .outerjoin(
            events,
            and_(events.c.project_id == deliveries.c.project_id, events.c.position == deliveries.c.position),
        )
        .where(
            deliveries.c.webhook_id == webhook_id, deliveries.c.state == "pending", deliveries.c.due_at <= func.now()
        )
        .order_by(deliveries.c.position.nulls_first())
        .limit(_READ_AT_ONCE)
    )
    return connection.execute(query).all()


def is_sent(found: Any) -> bool:
    """Tell whether a delivery that was read can be tried: else its event is kept no longer, or each attempt took its
    process with it."""
    return found.at is not None and found.attempts < MOST_ATTEMPTS


def begun(webhook: Any, found: Any) -> Sending:
    """The attempt of a delivery that was counted just now."""
    event = (found.event_id, found.type, found.at, found.subject, found.position, found.data)
    return Sending(found.id, *event, found.attempts + 1, webhook, webhook.project)


def _advance(connection: Connection, webhook: Any) -> bool:
    """Make the deliveries of the next events and move the webhook behind them; False if there are no more events."""
    # First the head: what is at or below it is committed, and the statements after it see all of that.
    head = connection.scalar(select(event_heads.c.position).where(event_heads.c.project_id == webhook.project_id))
    if head is None or head <= webhook.position:
        return False
    ahead = (events.c.project_id == webhook.project_id, events.c.position > webhook.position)
    window = select(events.c.position).where(*ahead, events.c.position <= head).order_by(events.c.position)
    passed = connection.scalar(select(func.max(window.limit(_WINDOW).subquery().c.position)))
    if passed is not None:
        asked = select(events.c.position, events.c.id, events.c.type).where(*ahead, events.c.position <= passed)
        rows = connection.execute(asked.where(is_told(webhook.types, webhook.filter)).order_by(events.c.position)).all()
        _make_deliveries(connection, webhook, rows)
    # Without any, all up to the head were deleted by now.
    moved = update(webhooks).where(webhooks.c.id == webhook.id).values(position=head if passed is None else passed)
    connection.execute(moved)
    return True


def _make_deliveries(connection: Connection, webhook: Any, rows: Sequence[Any]) -> None:
    if not rows:
        return
    same = {"webhook_id": webhook.id, "project_id": webhook.project_id}
    ids = sorted(new_id() for _ in rows)  # deliveries are listed in the order of their ids
    told = [
        {"id": id_, "position": one.position, "event_id": one.id, "type": one.type}
        for id_, one in zip(ids, rows, strict=True)
    ]
    made = [same | one for one in told]
    # Of an event that is passed again (`recover`), what was taken stays so, and what was given up begins anew.
    again = {"state": "pending", "attempts": 0, "due_at": func.now(), "settled_at": null()}
    statement = upsert(deliveries).on_conflict_do_update(
        index_elements=["webhook_id", "event_id"], set_=again, where=deliveries.c.state == "failed"
    )
    connection.execute(statement, made)


def _give_back(connection: Connection, line: Line) -> None:
    """End the lease, and note when there will be something to send: now if there are events to pass."""
    pending = (deliveries.c.webhook_id == line.webhook_id, deliveries.c.state == "pending")
    due = select(func.min(deliveries.c.due_at)).where(*pending).scalar_subquery()
    head = select(event_heads.c.position).where(event_heads.c.project_id == webhooks.c.project_id).scalar_subquery()
    next_ = case((head > webhooks.c.position, func.now()), else_=due)
    free = {"lease": None, "leased_until": None, "due_at": next_}
    connection.execute(update(webhooks).where(webhooks.c.id == line.webhook_id).values(free))
