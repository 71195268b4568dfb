"""Webhooks of a project: where its events are sent."""

from __future__ import annotations

import uuid
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api import examples
from registry.api.audit_log import actor
from registry.api.context import enter, parts
from registry.api.idempotency import idempotent_write
from registry.api.paging import page
from registry.api.problems import registry_error
from registry.api.responses import json_answer, known_tags
from registry.api.schemas import ByIdParameters, Empty
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.api.webhook_schemas import WebhookChange, WebhookIn
from registry.errors import Conflict
from registry.operations import webhook_acts
from registry.operations.baselines import Expect
from registry.operations.webhooks import find_webhook, list_webhooks, tag_of, webhook_of
from registry.results.codec import to_document

blp = Blueprint("webhooks", __name__, url_prefix=API_PREFIX, description="Where the events of a project are sent.")


def _without_secret(made: Response) -> Response:
    place = made.headers["Location"]
    detail = (
        f"The secret of the webhook {place.rpartition('/')[2]} was made by this key, and shown then, once. If it was "
        "lost, rotate it."
    )
    return registry_error(Conflict(detail), Location=place)


@blp.post("/projects/<project>/webhooks")
@blp.doc(operationId="createWebhook")
@blp.arguments(WebhookIn, example=examples.WEBHOOK_IN)
@blp.answers(
    reply(
        201,
        "Created; the secret is shown this once",
        "WebhookSecret",
        example=examples.WEBHOOK_SECRET,
        headers=["Location", "ETag"],
    ),
    errors=[400, 409, 415],
    parameters=["Idempotency-Key"],
)
@idempotent_write("admin", kept=_without_secret)
def make_webhook(connection: Connection, row: Any, sent: dict[str, Any], project: str) -> Response:
    """Create a webhook

    It is sent the events from now on, each at least once, signed as Standard Webhooks says. A repetition with the same
    `Idempotency-Key` makes none, and is answered 409 with its `Location`. Needs the role admin, as all of webhooks.
    """
    most = parts().settings.max_webhooks
    return _shown(webhook_acts.create_webhook(connection, actor(connection), row.id, sent, most), project, 201)


def _shown(row: Any, project: str, status: int) -> Response:
    """A webhook with its secret."""
    document = to_document(webhook_of(row)) | {"secret": row.secret}
    answer = json_answer(document, status=status, Location=f"{API_PREFIX}/projects/{project}/webhooks/{row.id}")
    answer.headers["ETag"] = f'"{tag_of(row)}"'
    return answer


@blp.get("/projects/<project>/webhooks")
@blp.doc(operationId="listWebhooks")
@blp.arguments(ByIdParameters, location="query")
@blp.answers(reply(200, "A page of webhooks, without secrets", "Webhooks", headers=["Link"]))
def list_all(query: dict[str, Any], project: str) -> Response:
    """List the webhooks

    The oldest first, without their secrets.
    """
    after = uuid.UUID(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        row = enter(connection, project, "admin")
        rows = list_webhooks(connection, row.id, after, query["limit"] + 1)
    return page(rows, query["limit"], lambda one: to_document(webhook_of(one)), lambda one: str(one.id))


@blp.get("/projects/<project>/webhooks/<uuid:webhook>")
@blp.doc(operationId="getWebhook")
@blp.arguments(Empty, location="query")
@blp.answers(reply(200, "The webhook, without its secret", "Webhook", example=examples.WEBHOOK, headers=["ETag"]))
def read_webhook(_query: dict[str, Any], project: str, webhook: uuid.UUID) -> Response:
    """Read a webhook

    Without its secret.
    """
    with parts().database.reading() as connection:
        row = find_webhook(connection, enter(connection, project, "admin").id, webhook)
    return _answer(row)


@blp.patch("/projects/<project>/webhooks/<uuid:webhook>")
@blp.doc(operationId="updateWebhook")
@blp.arguments(WebhookChange, example=examples.WEBHOOK_CHANGE)
@blp.answers(
    reply(200, "The webhook", "Webhook", example=examples.WEBHOOK, headers=["ETag"]),
    errors=[400, 409, 412, 415],
    parameters=["Idempotency-Key", "If-Match"],
)
@idempotent_write("admin")
def change_webhook(
    connection: Connection, row: Any, sent: dict[str, Any], project: str, webhook: uuid.UUID
) -> Response:
    """Change a webhook

    Or disable and enable it. What happened while it was disabled is sent by `recover`.
    """
    return _answer(webhook_acts.change_webhook(connection, actor(connection), row, webhook, sent, _expected()))


def _answer(row: Any) -> Response:
    answer = json_answer(to_document(webhook_of(row)))
    answer.headers["ETag"] = f'"{tag_of(row)}"'
    return answer


def _expected() -> Expect | None:
    return known_tags("If-Match") if "If-Match" in request.headers else None


@blp.delete("/projects/<project>/webhooks/<uuid:webhook>")
@blp.doc(operationId="deleteWebhook")
@blp.arguments(Empty, location="query")
@blp.answers(reply(204, "Deleted"), errors=[409, 412], parameters=["Idempotency-Key", "If-Match"])
@idempotent_write("admin")
def delete_webhook(
    connection: Connection, row: Any, _query: dict[str, Any], project: str, webhook: uuid.UUID
) -> Response:
    """Delete a webhook

    With its deliveries, those that were not sent included.
    """
    webhook_acts.remove_webhook(connection, actor(connection), row.id, webhook, _expected())
    return Response(status=204)


@blp.post("/projects/<project>/webhooks/<uuid:webhook>/rotate")
@blp.doc(operationId="rotateWebhookSecret")
@blp.arguments(Empty, location="query")
@blp.answers(
    reply(
        200,
        "The new secret, shown this once",
        "WebhookSecret",
        example=examples.WEBHOOK_SECRET,
        headers=["Location", "ETag"],
    ),
    errors=[409],
    parameters=["Idempotency-Key"],
)
@idempotent_write("admin", kept=_without_secret)
def rotate(connection: Connection, row: Any, _query: dict[str, Any], project: str, webhook: uuid.UUID) -> Response:
    """Rotate the secret of a webhook

    For 24 hours what is sent has two signatures, by the new secret and by the one before.
    """
    return _shown(webhook_acts.rotate_secret(connection, actor(connection), row.id, webhook), project, 200)
