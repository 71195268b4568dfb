"""Deliveries of webhooks: what was sent, what came of it, and sending again."""

from __future__ import annotations

import uuid
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api import examples
from registry.api.audit_log import actor
from registry.api.context import enter, parts
from registry.api.idempotency import idempotent_write
from registry.api.paging import page
from registry.api.responses import json_answer
from registry.api.schemas import Empty
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.api.webhook_schemas import DeliveriesParameters, RecoverIn
from registry.operations import webhook_acts
from registry.operations.deliveries import delivery_of, find_delivery, list_deliveries, start_of_recovery
from registry.operations.webhooks import find_webhook
from registry.results.codec import to_document
from registry.results.webhooks import Recovery

blp = Blueprint("deliveries", __name__, url_prefix=API_PREFIX, description="What was sent to webhooks.")


@blp.get("/projects/<project>/webhooks/<uuid:webhook>/deliveries")
@blp.doc(operationId="listDeliveries")
@blp.arguments(DeliveriesParameters, location="query")
@blp.answers(reply(200, "A page of deliveries", "Deliveries", headers=["Link"]))
def list_all(query: dict[str, Any], project: str, webhook: uuid.UUID) -> Response:
    """List the deliveries of a webhook

    The last made first, each with its attempts. Settled ones are listed for two weeks, and up to the last 10,000.
    """
    before = uuid.UUID(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        row = find_webhook(connection, enter(connection, project, "admin").id, webhook)
        found = list_deliveries(connection, row, query["state"], before, query["limit"] + 1)
    return page(found, query["limit"], lambda one: to_document(delivery_of(*one, row)), lambda one: str(one[0].id))


@blp.post("/projects/<project>/webhooks/<uuid:webhook>/test")
@blp.doc(operationId="testWebhook")
@blp.arguments(Empty, location="query")
@blp.answers(
    reply(202, "It will be sent", "Delivery", example=examples.DELIVERY), errors=[409], parameters=["Idempotency-Key"]
)
@idempotent_write("admin")
def test(connection: Connection, row: Any, _query: dict[str, Any], project: str, webhook: uuid.UUID) -> Response:
    """Send a test to a webhook

    Of the type `webhook.test`, which is not in the feed of events. `deliveries` has what came of it.
    """
    made = webhook_acts.send_test(connection, actor(connection), row, webhook)
    return _accepted(connection, row.id, webhook, made)


def _accepted(connection: Connection, project_id: uuid.UUID, webhook: uuid.UUID, delivery: uuid.UUID) -> Response:
    found = delivery_of(*find_delivery(connection, delivery), find_webhook(connection, project_id, webhook))
    return json_answer(to_document(found), status=202)


@blp.post("/projects/<project>/webhooks/<uuid:webhook>/recover")
@blp.doc(operationId="recoverWebhook")
@blp.arguments(RecoverIn, example=examples.RECOVER_IN)
@blp.answers(
    reply(202, "They will be sent", "Recovery", example=examples.RECOVERY),
    errors=[400, 409, 410, 415],
    parameters=["Idempotency-Key"],
)
@idempotent_write("admin")
def recover(connection: Connection, row: Any, sent: dict[str, Any], project: str, webhook: uuid.UUID) -> Response:
    """Send what a webhook has missed

    Every event since then that it has not taken, in order: those that were given up, those of the time in which it was
    disabled, and those before it was made. 410 if the feed does not keep all of them any more.
    """
    start = start_of_recovery(connection, row.id, sent["since"])
    count = webhook_acts.recover(connection, actor(connection), row.id, webhook, start)
    return json_answer(to_document(Recovery(count)), status=202)


@blp.post("/deliveries/<uuid:delivery>/redeliver")
@blp.doc(operationId="redeliver")
@blp.arguments(Empty, location="query")
@blp.answers(
    reply(202, "It will be sent again", "Delivery", example=examples.DELIVERY),
    errors=[409],
    parameters=["Idempotency-Key"],
)
@idempotent_write("admin")
def redeliver(connection: Connection, row: Any, _query: dict[str, Any], delivery: uuid.UUID) -> Response:
    """Send a delivery again

    With the same `webhook-id`, and if it fails as often as a new one.
    """
    webhook_acts.redeliver(connection, actor(connection), row.project_id, row.webhook_id, delivery)
    return _accepted(connection, row.project_id, row.webhook_id, delivery)
