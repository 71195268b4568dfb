"""Webhooks: made, tested, rotated, enabled, removed; what they were sent, and sending it again."""

from __future__ import annotations

import hmac
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any, get_args

from flask import Response
from marshmallow import Schema, ValidationError, fields
from sqlalchemy import Connection

from registry.api.audit_log import actor
from registry.api.context import parts
from registry.api.events import PATTERNS
from registry.api.fields import Choice
from registry.api.grid_fields import Markdown
from registry.api.webhooks import EventFilter, Types, Url
from registry.errors import Fault, Invalid, NotFound
from registry.operations import deliveries
from registry.operations import webhooks as stored
from registry.operations.deliveries import delivery_of, list_deliveries, owner_of_delivery
from registry.operations.webhooks import find_webhook, list_webhooks
from registry.pages.administration.blueprint import administration
from registry.pages.administration.layout import ROWS, after, cut, path_of, show_section
from registry.pages.administration.submitting import (
    Typed,
    asked,
    forget,
    hand_over,
    handed_over,
    home,
    read_form,
    submitted,
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


@administration.get("/projects/<project>/settings/webhooks")
def webhooks(project: str) -> Response:
    """The webhooks, and a form to make one."""
    return _webhooks(project, asked(), 200)


def _webhooks(project: str, typed: Typed, status: int) -> Response:
    with parts().database.reading() as connection:
        row = home(connection, project)
        rows, more = cut(list_webhooks(connection, row.id, after(), ROWS + 1))
    context: dict[str, Any] = {"rows": rows, "more": more, "formats": _FORMATS, "patterns": PATTERNS}
    return show_section(row, "webhooks", typed, status, **context)


@administration.post("/projects/<project>/settings/webhooks")
def make_webhook(project: str) -> Response:
    """Create a webhook and lead to the page that shows its secret, once."""
    made: dict[str, str] = {}

    def act(connection: Connection, row: Any) -> str:
        sent = read_form(_WebhookForm(), lists=("types", "only"))
        sent["filter"] = _filter(sent.pop("names"))
        found = stored.create_webhook(connection, actor(connection), row.id, sent, parts().settings.max_webhooks)
        made.update(path=path_of(project, f"webhooks/{found.id}"), secret=found.secret)
        return made["path"]

    return _with_secret(submitted(project, partial(_webhooks, project), act, conflict_at="url"), made)


def _with_secret(answer: Response, made: dict[str, str]) -> Response:
    if made:
        hand_over(answer, made["path"], made["secret"])
    return answer


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


@administration.get("/projects/<project>/settings/webhooks/<uuid:webhook>")
def webhook(project: str, webhook: uuid.UUID) -> Response:
    """A webhook with what it was sent last, and its secret when that was made just now."""
    answer = _webhook(project, webhook, Typed(), 200)
    forget(answer, path_of(project, f"webhooks/{webhook}"))
    return answer


def _webhook(project: str, webhook: uuid.UUID, typed: Typed, status: int) -> Response:
    with parts().database.reading() as connection:
        row = home(connection, project)
        found = find_webhook(connection, row.id, webhook)
        sent = list_deliveries(connection, found, (), after(), ROWS + 1)
    secret = handed_over()
    is_its = hmac.compare_digest(found.secret.encode(), secret.encode("utf-8", "replace"))
    shown = sent[:ROWS]
    context: dict[str, Any] = {
        "webhook": found,
        "secret": secret if is_its else "",
        "deliveries": [(one, attempts, delivery_of(one, attempts, found)) for one, attempts in shown],
        "more": str(shown[-1][0].id) if len(sent) > ROWS else None,
    }
    return show_section(row, "webhooks", typed, status, **context)


@administration.post("/projects/<project>/settings/webhooks/<uuid:webhook>/<any(test, enable, disable, remove):word>")
def act_on_webhook(project: str, webhook: uuid.UUID, word: str) -> Response:
    """Test, enable, disable or remove a webhook."""

    def act(connection: Connection, row: Any) -> str:
        _ACTS[word](connection, row, webhook)
        return path_of(project, "webhooks" if word == "remove" else f"webhooks/{webhook}")

    return submitted(project, partial(_webhook, project, webhook), act)


def _remove(connection: Connection, row: Any, webhook: uuid.UUID) -> None:
    stored.remove_webhook(connection, actor(connection), row.id, webhook, None)


def _test(connection: Connection, row: Any, webhook: uuid.UUID) -> None:
    deliveries.send_test(connection, actor(connection), row, webhook)


def _state(state: str) -> Callable[[Connection, Any, uuid.UUID], None]:
    def change(connection: Connection, row: Any, webhook: uuid.UUID) -> None:
        stored.change_webhook(connection, actor(connection), row, webhook, {"state": state}, None)

    return change


_ACTS: dict[str, Callable[[Connection, Any, uuid.UUID], None]] = {
    "test": _test,
    "enable": _state("enabled"),
    "disable": _state("disabled"),
    "remove": _remove,
}


@administration.post("/projects/<project>/settings/webhooks/<uuid:webhook>/rotate")
def rotate(project: str, webhook: uuid.UUID) -> Response:
    """Give a webhook another secret and lead to its page, which shows it once."""
    made: dict[str, str] = {}

    def act(connection: Connection, row: Any) -> str:
        found = stored.rotate_secret(connection, actor(connection), row.id, webhook)
        made.update(path=path_of(project, f"webhooks/{webhook}"), secret=found.secret)
        return made["path"]

    return _with_secret(submitted(project, partial(_webhook, project, webhook), act), made)


@administration.post("/projects/<project>/settings/webhooks/<uuid:webhook>/deliveries/<uuid:delivery>")
def redeliver(project: str, webhook: uuid.UUID, delivery: uuid.UUID) -> Response:
    """Send a delivery again."""

    def act(connection: Connection, row: Any) -> str:
        owner = owner_of_delivery(connection, delivery)
        if owner is None or owner.webhook_id != webhook:
            raise NotFound("The webhook has no such delivery.")
        deliveries.redeliver(connection, actor(connection), row.id, webhook, delivery)
        return path_of(project, f"webhooks/{webhook}")

    return submitted(project, partial(_webhook, project, webhook), act)
