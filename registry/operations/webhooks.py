"""Webhooks of a project: where its events are sent. Workers send them and disable what is gone."""

from __future__ import annotations

import secrets
import uuid
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection, Select, delete, func, insert, literal_column, select, update

from registry.errors import Conflict, NotFound
from registry.operations.audit_log import Action, Actor, record
from registry.operations.baselines import Expect, check_tag
from registry.operations.events import head_of
from registry.results.webhooks import Webhook
from registry.storage.arrivals import Arrival, announce
from registry.storage.tables import event_heads, new_id, projects, webhooks

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
