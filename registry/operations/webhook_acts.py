"""Acts on webhooks, each with its line in the audit log; as `registry.operations.acts` has those on other things.

The log names a webhook by its host: the rest of its URL may be a secret of the receiver.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection

from registry.operations import deliveries, webhooks
from registry.operations.audit_log import Action, Actor, record
from registry.operations.baselines import Expect
from registry.storage.arrivals import Arrival, announce


def create_webhook(
    connection: Connection, actor: Actor, project_id: uuid.UUID, sent: Mapping[str, Any], most: int
) -> Any:
    """Make a webhook, of which a project has so many at `most`: its row, with the secret."""
    row = webhooks.make_webhook(connection, project_id, sent, actor.token_id, most)
    _record(connection, actor, "webhook.created", row, types=row.types, format=row.format)
    return row


def change_webhook(
    connection: Connection,
    actor: Actor,
    project: Any,
    webhook_id: uuid.UUID,
    sent: Mapping[str, Any],
    expect: Expect | None,
) -> Any:
    """Change a webhook and return its row; what is so already leaves the log as it is."""
    held = webhooks.hold_webhook(connection, project.id, webhook_id, expect)
    changes = {name: value for name, value in sent.items() if getattr(held, name) != value}
    if not changes:
        return held
    row = webhooks.change_webhook(connection, held, changes)
    told = {name: value for name, value in changes.items() if name not in ("url", "description")}
    _record(connection, actor, "webhook.updated", row, changed=sorted(changes), **told)
    if changes.get("state") == "disabled":
        data = {"webhook": str(row.id), "reason": "Somebody disabled it."}
        announce(connection, project.id, [Arrival("webhook.disabled", _subject(project, row), data)])
    return row


def remove_webhook(
    connection: Connection, actor: Actor, project_id: uuid.UUID, webhook_id: uuid.UUID, expect: Expect | None
) -> None:
    """Remove a webhook with its deliveries."""
    held = webhooks.hold_webhook(connection, project_id, webhook_id, expect)
    webhooks.remove_webhook(connection, held)
    _record(connection, actor, "webhook.deleted", held)


def rotate_secret(connection: Connection, actor: Actor, project_id: uuid.UUID, webhook_id: uuid.UUID) -> Any:
    """Give a webhook another secret: its row, with it."""
    row = webhooks.rotate_secret(connection, webhooks.hold_webhook(connection, project_id, webhook_id))
    _record(connection, actor, "webhook.rotated", row)
    return row


def send_test(connection: Connection, actor: Actor, project: Any, webhook_id: uuid.UUID) -> uuid.UUID:
    """Have a test sent to a webhook; the id of its delivery."""
    held = webhooks.hold_webhook(connection, project.id, webhook_id)
    _record(connection, actor, "webhook.tested", held)
    return deliveries.send_test(connection, held, project.slug)


def redeliver(
    connection: Connection, actor: Actor, project_id: uuid.UUID, webhook_id: uuid.UUID, delivery_id: uuid.UUID
) -> Any:
    """Have a delivery sent again: the row of its webhook."""
    held = webhooks.hold_webhook(connection, project_id, webhook_id)
    deliveries.redeliver(connection, held, delivery_id)
    _record(connection, actor, "webhook.redelivered", held, delivery=str(delivery_id))
    return held


def recover(connection: Connection, actor: Actor, project_id: uuid.UUID, webhook_id: uuid.UUID, since: int) -> int:
    """Have events behind a position sent that a webhook has not taken; return how many."""
    held = webhooks.hold_webhook(connection, project_id, webhook_id)
    count = deliveries.recover(connection, held, since)
    _record(connection, actor, "webhook.recovered", held, position=since, count=count)
    return count


def _record(connection: Connection, actor: Actor, action: Action, row: Any, **told: Any) -> None:
    host = urlsplit(row.url).hostname
    record(connection, actor, action, row.id, project_id=row.project_id, host=host, **told)


def _subject(project: Any, row: Any) -> str:
    return f"projects/{project.slug}/webhooks/{row.id}"
