"""Settings of webhooks: make, test, rotate, enable, remove them; see what they were sent, and send it again."""

import hmac
import uuid
from typing import Any, get_args

from flask import request
from marshmallow import Schema, ValidationError, fields
from sqlalchemy import Connection

from registry.api.context import actor, parts
from registry.api.events import PATTERNS
from registry.api.fields import Choice
from registry.api.grid_fields import Markdown
from registry.api.webhooks import EventFilter, Types, Url
from registry.errors import Fault, Invalid, NotFound
from registry.operations import webhooks as stored
from registry.operations.webhooks import delivery_of, find_webhook, list_deliveries, list_webhooks, owner_of_delivery
from registry.pages.administration.layout import (
    ROWS,
    Section,
    Typed,
    after,
    cut,
    hand_over,
    handed_over,
    path_of,
    read_form,
)
from registry.results.webhooks import Format

_FORMATS: tuple[tuple[Format, str], ...] = (
    ("standard", "Standard Webhooks: JSON, for programs"),
    ("cloudevents", "CloudEvents 1.0: JSON, for event buses"),
    ("slack", "Slack: a sentence"),
    ("discord", "Discord: a sentence"),
)


class _WebhookForm(Schema):
    url = Url(required=True)
    types = Types(required=True)
    format = Choice(*get_args(Format), load_default="standard")
    names = fields.List(fields.String(), data_key="only", load_default=list)
    description = Markdown(load_default="")


WEBHOOKS = Section("webhooks")
WEBHOOK = Section("webhooks", "/<uuid:webhook>")


@WEBHOOKS.page
def webhooks(connection: Connection, row: Any, _typed: Typed) -> dict[str, Any]:
    """The webhooks, and a form to make one."""
    rows, more = cut(list_webhooks(connection, row.id, after(), ROWS + 1))
    return {"rows": rows, "more": more, "formats": _FORMATS, "patterns": PATTERNS}


@WEBHOOKS.form(conflict_at="url")
def make_webhook(connection: Connection, row: Any) -> str:
    """Create a webhook and lead to the page that shows its secret, once."""
    sent = read_form(_WebhookForm(), lists=("types", "only"))
    sent["filter"] = _filter(sent.pop("names"))
    found = stored.create_webhook(connection, actor(connection), row.id, sent, parts().settings.max_webhooks)
    return _with_secret(row, found)


def _with_secret(row: Any, webhook: Any) -> str:
    path = path_of(row.slug, f"webhooks/{webhook.id}")
    hand_over(path, webhook.secret)
    return path


def _filter(lines: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in lines:
        name, _, text = line.partition("=")
        found.setdefault(name.strip(), []).append(text.strip())
    try:
        read: dict[str, list[str]] = EventFilter().deserialize(found)
    except ValidationError as error:
        told = "; ".join(f"{name or 'a line without a name'} {texts[0]}" for name, texts in error.messages_dict.items())
        raise Invalid([Fault("/only", told)]) from None
    return read


@WEBHOOK.page
def webhook(connection: Connection, row: Any, _typed: Typed) -> dict[str, Any]:
    """A webhook with what it was sent last, and its secret when that was made just now."""
    found = find_webhook(connection, row.id, (request.view_args or {})["webhook"])
    sent = list_deliveries(connection, found, (), after(), ROWS + 1)
    shown = sent[:ROWS]
    return {
        "webhook": found,
        "secret": handed_over(lambda one: hmac.compare_digest(found.secret.encode(), one)),
        "deliveries": [(one, attempts, delivery_of(one, attempts, found)) for one, attempts in shown],
        "more": str(shown[-1][0].id) if len(sent) > ROWS else None,
    }


@WEBHOOK.form("/<any(test, enable, disable, remove):word>")
def act_on_webhook(connection: Connection, row: Any, webhook: uuid.UUID, word: str) -> str | None:
    """Test, enable, disable or remove a webhook."""
    who = actor(connection)
    if word == "remove":
        stored.remove_webhook(connection, who, row.id, webhook, None)
        return None
    if word == "test":
        stored.send_test(connection, who, row, webhook)
    else:
        stored.change_webhook(connection, who, row, webhook, {"state": f"{word}d"}, None)
    return path_of(row.slug, f"webhooks/{webhook}")


@WEBHOOK.form("/rotate")
def rotate(connection: Connection, row: Any, webhook: uuid.UUID) -> str:
    """Give a webhook another secret and lead to its page, which shows it once."""
    return _with_secret(row, stored.rotate_secret(connection, actor(connection), row.id, webhook))


@WEBHOOK.form("/deliveries/<uuid:delivery>")
def redeliver(connection: Connection, row: Any, webhook: uuid.UUID, delivery: uuid.UUID) -> str:
    """Send a delivery again."""
    owner = owner_of_delivery(connection, delivery)
    if owner is None or owner.webhook_id != webhook:
        raise NotFound("The webhook has no such delivery.")
    stored.redeliver(connection, actor(connection), row.id, webhook, delivery)
    return path_of(row.slug, f"webhooks/{webhook}")
