"""Routes of webhooks: where a project's events are sent, what came of each delivery, and sending it again."""

import uuid
from collections.abc import Mapping
from typing import Any, get_args

from flask import Response
from marshmallow import ValidationError, fields, validate, validates_schema
from sqlalchemy import Connection

from registry.api import examples
from registry.api.context import actor, enter, parts
from registry.api.events import PATTERNS
from registry.api.fields import Body, Choice, Few, Instant, Name, name_shape
from registry.api.grid_fields import Markdown
from registry.api.idempotency import idempotent_write
from registry.api.paging import listed, page
from registry.api.problems import registry_error
from registry.api.responses import expected_tags, json_answer
from registry.api.schemas import ID, ByIdParameters, PageParameters, about, cursor_of
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.destinations import LONGEST_URL, read_destination
from registry.errors import Conflict
from registry.operations import webhooks
from registry.operations.baselines import tag_of
from registry.operations.webhooks import (
    delivery_of,
    find_delivery,
    find_webhook,
    list_deliveries,
    list_webhooks,
    start_of_recovery,
    webhook_of,
)
from registry.results.codec import to_document
from registry.results.webhooks import FILTERS, DeliveryState, Format, Recovery, WebhookState
from registry.settings import Settings

_MOST_TEXTS = 100


class Url(fields.Field[str]):
    """An address to which the registry may send, as far as that is known without resolving its host."""

    KIND = "string", "uri"
    PATTERN = f"[!-~]{{8,{LONGEST_URL}}}"

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return {"pattern": f"^{self.PATTERN}$"}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> str:
        if not isinstance(value, str):
            raise ValidationError("must be a string")
        try:
            read_destination(value, parts().settings.destinations)
        except ValueError as error:
            raise ValidationError(str(error)) from None
        return value


class Types(Few):
    """Types of events, each as it stands in the catalogue, or all of a kind."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            Choice(*PATTERNS), validate=validate.Length(1, len(PATTERNS), error="must have one at least"), **options
        )

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> Any:
        return list(dict.fromkeys(super()._deserialize(value, attr, data, **options)))


class EventFilter(fields.Field[Any]):
    """Texts by the names of fields of an event; one text stands for a list of it."""

    KIND = "object", None

    def shape(self, settings: Settings) -> dict[str, Any]:
        one = {"type": "string"} | name_shape(settings.max_name)
        either = {"anyOf": [one, {"type": "array", "items": one, "minItems": 1, "maxItems": _MOST_TEXTS}]}
        named = {name: {"description": f"The {name} of the event, or one of several."} | either for name in FILTERS}
        return {"properties": named, "additionalProperties": False}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ValidationError("must be an object")
        found: dict[str, list[str]] = {}
        for name, texts in value.items():
            if name not in FILTERS:
                raise ValidationError({name: [f"is none of {', '.join(FILTERS)}"]})
            given = texts if isinstance(texts, list) else [texts]
            if not 1 <= len(given) <= _MOST_TEXTS:
                raise ValidationError({name: [f"has 1 to {_MOST_TEXTS} texts"]})
            try:
                found[name] = [str(Name(empty=True).deserialize(one)) for one in given]
            except ValidationError as error:
                raise ValidationError({name: error.messages}) from None
        return found


_URL = about("Where to send: https, no user, no fragment.", "https://ci.example.org/hooks")
_TYPES = about(
    "Types of events: one of the catalogue, `alert.*` for all of a kind, `*` for all.", ["claim.flipped", "alert.*"]
)
_FILTER = about("Only events that have each of these fields with one of its texts, as the events' data says it.")
_FORMAT = about("What is sent; `standard` if not given.")


class WebhookIn(Body):
    """An address to which events shall be sent."""

    url = Url(required=True, metadata=_URL)
    types = Types(required=True, metadata=_TYPES)
    filter = EventFilter(load_default=dict, metadata=_FILTER)
    format = Choice(*get_args(Format), load_default="standard", metadata=_FORMAT)
    description = Markdown(load_default="", metadata=about("For people."))


class WebhookChange(Body):
    """Changes to a webhook: at least one of its fields."""

    url = Url(metadata=_URL)
    types = Types(metadata=_TYPES)
    filter = EventFilter(metadata=_FILTER)
    format = Choice(*get_args(Format), metadata=_FORMAT)
    description = Markdown(metadata=about("For people."))
    state = Choice(
        *get_args(WebhookState),
        metadata=about("disabled: nothing is sent. One that is enabled is sent the events from then on."),
    )

    @validates_schema
    def something(self, data: Any, **_options: Any) -> None:
        if not data:
            raise ValidationError("gives nothing to change")


class RecoverIn(Body):
    """From when on events shall be sent that a webhook has not taken."""

    since = Instant(required=True, metadata=about("An instant: what was done then or later."))


class DeliveriesParameters(PageParameters):
    state = fields.List(
        Choice(*get_args(DeliveryState)), load_default=list, metadata=about("Only these; repeat for OR.")
    )
    cursor = cursor_of(ID)


blp = Blueprint("webhooks", "Where the events of a project are sent.")


def _without_secret(made: Response) -> Response:
    place = made.headers["Location"]
    detail = (
        f"The secret of the webhook {place.rpartition('/')[2]} was made by this key, and shown then, once. If it was "
        "lost, rotate it."
    )
    return registry_error(Conflict(detail), Location=place)


@blp.post("/projects/<project>/webhooks", operation="createWebhook")
@blp.arguments(WebhookIn, example=examples.WEBHOOK_IN)
@blp.answers(reply(201, "Created; the secret is shown this once", "WebhookSecret", headers=["Location", "ETag"]))
@idempotent_write("admin", kept=_without_secret)
def make_webhook(connection: Connection, row: Any, sent: dict[str, Any], project: str) -> Response:
    """Create a webhook

    It is sent the events from now on, each at least once, signed as Standard Webhooks says. A repetition with the same
    `Idempotency-Key` makes none, and is answered 409 with its `Location`. Needs the role admin, as all of webhooks.
    """
    most = parts().settings.max_webhooks
    return _shown(webhooks.create_webhook(connection, actor(connection), row.id, sent, most), project, 201)


def _shown(row: Any, project: str, status: int) -> Response:
    document = to_document(webhook_of(row)) | {"secret": row.secret}
    place = f"{API_PREFIX}/projects/{project}/webhooks/{row.id}"
    return json_answer(document, status=status, Location=place, ETag=f'"{tag_of(row)}"')


@blp.get("/projects/<project>/webhooks", operation="listWebhooks")
@blp.arguments(ByIdParameters, location="query")
@blp.answers(reply(200, "A page of webhooks, without secrets", "Webhooks", headers=["Link"]))
def list_all(query: dict[str, Any], project: str) -> Response:
    """List the webhooks

    The oldest first, without their secrets.
    """
    return listed(project, query, list_webhooks, lambda one: to_document(webhook_of(one)), role="admin")


@blp.get("/projects/<project>/webhooks/<uuid:webhook>", operation="getWebhook")
@blp.answers(reply(200, "The webhook, without its secret", "Webhook", headers=["ETag"]))
def read_webhook(project: str, webhook: uuid.UUID) -> Response:
    """Read a webhook

    Without its secret.
    """
    with parts().database.reading() as connection:
        row = find_webhook(connection, enter(connection, project, "admin").id, webhook)
    return _answer(row)


@blp.patch("/projects/<project>/webhooks/<uuid:webhook>", operation="updateWebhook")
@blp.arguments(WebhookChange, example=examples.WEBHOOK_CHANGE)
@blp.answers(reply(200, "The webhook", "Webhook", headers=["ETag"]), parameters=["If-Match"])
@idempotent_write("admin")
def change_webhook(
    connection: Connection, row: Any, sent: dict[str, Any], project: str, webhook: uuid.UUID
) -> Response:
    """Change a webhook

    Or disable and enable it. What happened while it was disabled is sent by `recover`.
    """
    return _answer(webhooks.change_webhook(connection, actor(connection), row, webhook, sent, expected_tags()))


def _answer(row: Any) -> Response:
    return json_answer(to_document(webhook_of(row)), ETag=f'"{tag_of(row)}"')


@blp.delete("/projects/<project>/webhooks/<uuid:webhook>", operation="deleteWebhook")
@blp.answers(reply(204, "Deleted"), parameters=["If-Match"])
@idempotent_write("admin")
def delete_webhook(connection: Connection, row: Any, project: str, webhook: uuid.UUID) -> Response:
    """Delete a webhook

    With its deliveries, those that were not sent included.
    """
    webhooks.remove_webhook(connection, actor(connection), row.id, webhook, expected_tags())
    return Response(status=204)


@blp.post("/projects/<project>/webhooks/<uuid:webhook>/rotate", operation="rotateWebhookSecret")
@blp.answers(reply(200, "The new secret, shown this once", "WebhookSecret", headers=["Location", "ETag"]))
@idempotent_write("admin", kept=_without_secret)
def rotate(connection: Connection, row: Any, project: str, webhook: uuid.UUID) -> Response:
    """Rotate the secret of a webhook

    For 24 hours what is sent has two signatures, by the new secret and by the one before.
    """
    return _shown(webhooks.rotate_secret(connection, actor(connection), row.id, webhook), project, 200)


deliveries_blp = Blueprint("deliveries", "What was sent to webhooks.")


@deliveries_blp.get("/projects/<project>/webhooks/<uuid:webhook>/deliveries", operation="listDeliveries")
@deliveries_blp.arguments(DeliveriesParameters, location="query")
@deliveries_blp.answers(reply(200, "A page of deliveries", "Deliveries", headers=["Link"]))
def list_deliveries_of(query: dict[str, Any], project: str, webhook: uuid.UUID) -> Response:
    """List the deliveries of a webhook

    The last made first, each with its attempts. Settled ones are listed for two weeks, and up to the last 10,000.
    """
    before = uuid.UUID(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        row = find_webhook(connection, enter(connection, project, "admin").id, webhook)
        found = list_deliveries(connection, row, query["state"], before, query["limit"] + 1)
    return page(found, query["limit"], lambda one: to_document(delivery_of(*one, row)), lambda one: str(one[0].id))


@deliveries_blp.post("/projects/<project>/webhooks/<uuid:webhook>/test", operation="testWebhook")
@deliveries_blp.answers(reply(202, "It will be sent", "Delivery"))
@idempotent_write("admin")
def test(connection: Connection, row: Any, project: str, webhook: uuid.UUID) -> Response:
    """Send a test to a webhook

    Of the type `webhook.test`, which is not in the feed of events. `deliveries` has what came of it.
    """
    made = webhooks.send_test(connection, actor(connection), row, webhook)
    return _accepted(connection, row.id, webhook, made)


def _accepted(connection: Connection, project_id: uuid.UUID, webhook: uuid.UUID, delivery: uuid.UUID) -> Response:
    found = delivery_of(*find_delivery(connection, delivery), find_webhook(connection, project_id, webhook))
    return json_answer(to_document(found), status=202)


@deliveries_blp.post("/projects/<project>/webhooks/<uuid:webhook>/recover", operation="recoverWebhook")
@deliveries_blp.arguments(RecoverIn, example=examples.RECOVER_IN)
@deliveries_blp.answers(reply(202, "They will be sent", "Recovery"), errors=[410])
@idempotent_write("admin")
def recover(connection: Connection, row: Any, sent: dict[str, Any], project: str, webhook: uuid.UUID) -> Response:
    """Send what a webhook has missed

    Every event since then that it has not taken, in order: those that were given up, those of the time in which it was
    disabled, and those before it was made. 410 if the feed does not keep all of them any more.
    """
    start = start_of_recovery(connection, row.id, sent["since"])
    count = webhooks.recover(connection, actor(connection), row.id, webhook, start)
    return json_answer(to_document(Recovery(count)), status=202)


@deliveries_blp.post("/deliveries/<uuid:delivery>/redeliver", operation="redeliver")
@deliveries_blp.answers(reply(202, "It will be sent again", "Delivery"))
@idempotent_write("admin")
def redeliver(connection: Connection, row: Any, delivery: uuid.UUID) -> Response:
    """Send a delivery again

    With the same `webhook-id`, and if it fails as often as a new one.
    """
    webhooks.redeliver(connection, actor(connection), row.project_id, row.webhook_id, delivery)
    return _accepted(connection, row.project_id, row.webhook_id, delivery)
