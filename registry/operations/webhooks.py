"""Webhooks of a project, to which its events are sent, and deliveries. Workers send and disable what is gone."""

import secrets
import uuid
from base64 import b64encode
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection, Row, Select, delete, func, insert, literal_column, select, text, update

from registry.errors import Conflict, NotFound
from registry.operations.audit_log import Action, Actor, record
from registry.operations.baselines import Expect, check_tag
from registry.operations.events import check_kept, head_of
from registry.results.webhooks import TEST, Delivery, DeliveryAttempt, Webhook
from registry.storage.arrivals import Arrival, announce, is_told
from registry.storage.tables import deliveries, delivery_attempts, event_heads, events, new_id, projects, webhooks

_SECRET_BYTES = 32
_BOTH_SIGN = timedelta(hours=24)
_FIRST_LOOK = timedelta(seconds=1)
"""After a webhook was made, when a transaction that gave positions without knowing of it has ended."""


def make_secret() -> str:
    """A new secret as Standard Webhooks writes it."""
    return f"whsec_{b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()}"


def create_webhook(
    connection: Connection, actor: Actor, project_id: uuid.UUID, sent: Mapping[str, Any], most: int
) -> Any:
    """Make a webhook of a project for the events from now on; return its row. `Conflict` if there are so many."""
    # Two that are made at once count each other.
    connection.execute(select(projects.c.id).where(projects.c.id == project_id).with_for_update(key_share=True))
    count = connection.scalar(select(func.count()).where(webhooks.c.project_id == project_id)) or 0
    if count >= most:
        raise Conflict(f"The project has {count} webhooks, as many as one may have: remove one first.")
    position = head_of(connection, project_id).position
    row = {"id": new_id(), "project_id": project_id, "token_id": actor.token_id, "secret": make_secret(), **sent}
    connection.execute(insert(webhooks).values(row | {"position": position, "due_at": func.now() + _FIRST_LOOK}))
    made = find_webhook(connection, project_id, row["id"])
    record_webhook(connection, actor, "webhook.created", made, types=made.types, format=made.format)
    return made


def list_webhooks(connection: Connection, project_id: uuid.UUID, after: uuid.UUID | None, limit: int) -> Sequence[Any]:
    """Webhooks of a project, the oldest first."""
    query = _rows().where(webhooks.c.project_id == project_id)
    if after is not None:
        query = query.where(webhooks.c.id > after)
    return connection.execute(query.order_by(webhooks.c.id).limit(limit)).all()


def find_webhook(connection: Connection, project_id: uuid.UUID, webhook_id: uuid.UUID) -> Any:
    """A webhook of the project; `NotFound` if it has no such webhook."""
    row = connection.execute(_rows().where(*_one(project_id, webhook_id))).one_or_none()
    if row is None:
        raise NotFound("The project has no such webhook.")
    return row


def hold_webhook(
    connection: Connection, project_id: uuid.UUID, webhook_id: uuid.UUID, expect: Expect | None = None
) -> Any:
    """A webhook that nobody else changes until the transaction ends. `PreconditionFailed` for an unexpected tag."""
    connection.execute(select(webhooks.c.id).where(*_one(project_id, webhook_id)).with_for_update())
    row = find_webhook(connection, project_id, webhook_id)
    check_tag(row, expect, "webhook")
    return row


def change_webhook(
    connection: Connection,
    actor: Actor,
    project: Any,
    webhook_id: uuid.UUID,
    sent: Mapping[str, Any],
    expect: Expect | None,
) -> Any:
    """Change a webhook and return its row; what is so already leaves the log as it is. One that is enabled begins with
    the events from now on."""
    held = hold_webhook(connection, project.id, webhook_id, expect)
    changes = {name: value for name, value in sent.items() if getattr(held, name) != value}
    if not changes:
        return held
    told: dict[str, Any] = {**changes, "version": held.version + 1, "updated_at": func.now()}
    if changes.get("state") == "enabled":
        fresh = dict.fromkeys(("reason", "failing_since", "paused_until"))
        position = head_of(connection, held.project_id).position
        told |= fresh | {"failures": 0, "position": position, "due_at": func.now() + _FIRST_LOOK}
    connection.execute(update(webhooks).where(webhooks.c.id == held.id).values(told))
    row = find_webhook(connection, held.project_id, held.id)
    logged = {name: value for name, value in changes.items() if name not in ("url", "description")}
    record_webhook(connection, actor, "webhook.updated", row, changed=sorted(changes), **logged)
    if changes.get("state") == "disabled":
        data = {"webhook": str(row.id), "reason": "Somebody disabled it."}
        subject = f"projects/{project.slug}/webhooks/{row.id}"
        announce(connection, project.id, [Arrival("webhook.disabled", subject, data)])
    return row


def rotate_secret(connection: Connection, actor: Actor, project_id: uuid.UUID, webhook_id: uuid.UUID) -> Any:
    """Give a webhook another secret and return its row; the one before signs too for 24 hours."""
    held = hold_webhook(connection, project_id, webhook_id)
    former = {"former_secret": held.secret, "former_until": func.now() + _BOTH_SIGN}
    changed = former | {"secret": make_secret(), "version": held.version + 1, "updated_at": func.now()}
    connection.execute(update(webhooks).where(webhooks.c.id == held.id).values(changed))
    record_webhook(connection, actor, "webhook.rotated", held)
    return find_webhook(connection, held.project_id, held.id)


def remove_webhook(
    connection: Connection, actor: Actor, project_id: uuid.UUID, webhook_id: uuid.UUID, expect: Expect | None
) -> None:
    """Remove a webhook with its deliveries."""
    held = hold_webhook(connection, project_id, webhook_id, expect)
    connection.execute(delete(webhooks).where(webhooks.c.id == held.id))
    record_webhook(connection, actor, "webhook.deleted", held)


def record_webhook(connection: Connection, actor: Actor, action: Action, row: Any, **told: Any) -> None:
    """Add an act to the audit log, which names a webhook by its host: the rest of its URL may be a secret."""
    host = urlsplit(row.url).hostname
    record(connection, actor, action, row.id, project_id=row.project_id, host=host, **told)


def webhook_of(row: Any) -> Webhook:
    """A webhook as it is served, without its secret."""
    former = row.former_until if row.former_until is not None and row.former_until > datetime.now(UTC) else None
    return Webhook(
        str(row.id),
        row.url,
        tuple(row.types),
        {name: tuple(texts) for name, texts in row.filter.items()},
        row.format,
        row.description,
        row.state,
        row.reason,
        instant(row.failing_since),
        int(row.waiting),
        instant(former),
        row.created_at.isoformat(),
        row.updated_at.isoformat(),
    )


def instant(found: datetime | None) -> str | None:
    """An instant as it is served."""
    return None if found is None else found.isoformat()


def _one(project_id: uuid.UUID, webhook_id: uuid.UUID) -> tuple[Any, ...]:
    return webhooks.c.project_id == project_id, webhooks.c.id == webhook_id


def _rows() -> Select[Any]:
    head = func.coalesce(event_heads.c.position, literal_column("0"))
    waiting = func.greatest(head - webhooks.c.position, literal_column("0")).label("waiting")
    joined = webhooks.outerjoin(event_heads, event_heads.c.project_id == webhooks.c.project_id)
    return select(webhooks, waiting).select_from(joined)


MOST_COUNTED = 100_000


def list_deliveries(
    connection: Connection, webhook: Any, states: Sequence[str], before: uuid.UUID | None, limit: int
) -> list[tuple[Any, list[Any]]]:
    """Deliveries of a webhook, the last made first, each with its attempts, the oldest first."""
    query = select(deliveries).where(deliveries.c.webhook_id == webhook.id)
    if states:
        query = query.where(deliveries.c.state.in_(states))
    if before is not None:
        query = query.where(deliveries.c.id < before)
    rows = connection.execute(query.order_by(deliveries.c.id.desc()).limit(limit)).all()
    return _with_attempts(connection, rows)


def find_delivery(connection: Connection, delivery_id: uuid.UUID) -> tuple[Any, list[Any]]:
    """A delivery with its attempts; `NotFound` if there is no such delivery."""
    row = connection.execute(select(deliveries).where(deliveries.c.id == delivery_id)).one_or_none()
    if row is None:
        raise NotFound("There is no such delivery.")
    return _with_attempts(connection, [row])[0]


def _with_attempts(connection: Connection, rows: Sequence[Row[Any]]) -> list[tuple[Any, list[Any]]]:
    made: dict[uuid.UUID, list[Any]] = defaultdict(list)
    asked = select(delivery_attempts).where(delivery_attempts.c.delivery_id.in_([row.id for row in rows]))
    for attempt in connection.execute(asked.order_by(delivery_attempts.c.delivery_id, delivery_attempts.c.number)):
        made[attempt.delivery_id].append(attempt)
    return [(row, made[row.id]) for row in rows]


def owner_of_delivery(connection: Connection, delivery_id: uuid.UUID) -> Any:
    """The project of a delivery, as rights are checked; None if there is no such delivery."""
    joined = deliveries.join(webhooks, webhooks.c.id == deliveries.c.webhook_id).join(
        projects, projects.c.id == webhooks.c.project_id
    )
    query = select(
        projects.c.id,
        projects.c.id.label("project_id"),
        projects.c.slug,
        projects.c.visibility,
        webhooks.c.id.label("webhook_id"),
    ).select_from(joined)
    return connection.execute(
        query.where(deliveries.c.id == delivery_id, projects.c.deleted_at.is_(None))
    ).one_or_none()


def send_test(connection: Connection, actor: Actor, project: Any, webhook_id: uuid.UUID) -> uuid.UUID:
    """Have a test sent to a webhook; the id of its delivery. `Conflict` for one that is disabled."""
    held = _enabled(connection, project.id, webhook_id)
    record_webhook(connection, actor, "webhook.tested", held)
    subject = f"projects/{project.slug}/webhooks/{held.id}"
    event = {"subject": subject, "data": {"webhook": str(held.id), "description": held.description}}
    ids = {"id": new_id(), "webhook_id": held.id, "project_id": held.project_id, "event_id": new_id()}
    connection.execute(insert(deliveries).values(ids | {"type": TEST, "event": event}))
    _wake(connection, held.id)
    return uuid.UUID(str(ids["id"]))


def redeliver(
    connection: Connection, actor: Actor, project_id: uuid.UUID, webhook_id: uuid.UUID, delivery_id: uuid.UUID
) -> None:
    """Have a delivery sent again, at once and, if that fails, as often as a new one."""
    held = _enabled(connection, project_id, webhook_id)
    again = {"state": "pending", "attempts": 0, "due_at": func.now(), "settled_at": None}
    connection.execute(update(deliveries).where(deliveries.c.id == delivery_id).values(again))
    _wake(connection, held.id)
    record_webhook(connection, actor, "webhook.redelivered", held, delivery=str(delivery_id))


def recover(connection: Connection, actor: Actor, project_id: uuid.UUID, webhook_id: uuid.UUID, since: int) -> int:
    """Have all events behind a position sent that were not taken; return how many, counted up to 100,000.

    The webhook goes back to that position, and passes all its events again.
    """
    held = _enabled(connection, project_id, webhook_id)
    start = min(since, head_of(connection, held.project_id).position)
    same = (deliveries.c.webhook_id == held.id, deliveries.c.event_id == events.c.id)
    taken = select(deliveries.c.id).where(*same, deliveries.c.state == "delivered").exists()
    missed = (
        select(events.c.position)
        .where(events.c.project_id == held.project_id, events.c.position > start)
        .where(is_told(held.types, held.filter), ~taken)
        .limit(MOST_COUNTED)
        .subquery()
    )
    count = connection.scalar(select(func.count()).select_from(missed)) or 0
    back = func.least(webhooks.c.position, start)
    connection.execute(update(webhooks).where(webhooks.c.id == held.id).values(position=back))
    _wake(connection, held.id)
    record_webhook(connection, actor, "webhook.recovered", held, position=since, count=int(count))
    return int(count)


def start_of_recovery(connection: Connection, project_id: uuid.UUID, since: datetime) -> int:
    """The position behind which all events are that were done then or later; `CursorExpired` where events of that time
    may have been deleted."""
    head = head_of(connection, project_id)
    mine = events.c.project_id == project_id
    found = connection.scalar(select(func.min(events.c.position)).where(mine, events.c.at >= since))
    older = connection.scalar(select(events.c.position).where(mine, events.c.at < since).limit(1))
    first = head.first > 1 and older is None
    start = head.first - 2 if first else head.position if found is None else int(found) - 1
    check_kept(project_id, start, head)
    return start


def _enabled(connection: Connection, project_id: uuid.UUID, webhook_id: uuid.UUID) -> Any:
    held = hold_webhook(connection, project_id, webhook_id)
    if held.state != "enabled":
        raise Conflict("The webhook is disabled: enable it first.")
    return held


def _wake(connection: Connection, webhook_id: uuid.UUID) -> None:
    """Have a webhook looked at now, whatever it rested for."""
    now: Mapping[str, Any] = {"due_at": func.now(), "paused_until": None}
    connection.execute(update(webhooks).where(webhooks.c.id == webhook_id).values(now))


def delivery_of(row: Any, attempts: Sequence[Any], webhook: Any) -> Delivery:
    """A delivery as it is served."""
    due = None
    if row.state == "pending":
        due = max(row.due_at, webhook.paused_until) if webhook.paused_until else row.due_at
    told = [
        DeliveryAttempt(one.at.isoformat(), one.status, one.milliseconds, one.error, one.response) for one in attempts
    ]
    names = (str(row.id), str(row.webhook_id), str(row.event_id))
    return Delivery(*names, row.position, row.type, row.state, instant(due), tuple(told), row.created_at.isoformat())


_LAG = text("""
    SELECT coalesce(max(extract(epoch FROM now() - first.at)), 0)::float8
    FROM webhooks w JOIN projects p ON p.id = w.project_id AND p.deleted_at IS NULL
    CROSS JOIN LATERAL (
        SELECT min(position) AS position FROM deliveries d
        WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.attempts = 0) unsent
    CROSS JOIN LATERAL (
        SELECT e.at FROM events e
        WHERE e.project_id = w.project_id AND e.position >= coalesce(unsent.position, w.position + 1)
        ORDER BY e.position LIMIT 1) first
    WHERE w.state = 'enabled' AND w.failures = 0
""")


def webhook_lag(connection: Connection) -> float:
    """Seconds since the oldest event that an enabled webhook, whose receiver took the last one, was never sent."""
    return max(0.0, float(connection.scalar(_LAG) or 0.0))
