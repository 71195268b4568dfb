"""The section `webhooks` of the OpenAPI document: what a receiver is sent, and what its answer means."""

from __future__ import annotations

from typing import Any

from registry.api import examples

_STANDARD = "#/components/schemas/WebhookMessage"
_CLOUD = "#/components/schemas/CloudEvent"


def described_webhooks() -> dict[str, Any]:
    """The webhooks by name."""
    return {"event": {"post": _EVENT}}


def _header(name: str, description: str, **schema: Any) -> dict[str, Any]:
    told = {"name": name, "in": "header", "required": True, "description": description}
    return told | {"schema": {"type": "string", **schema}}


_EVENT: dict[str, Any] = {
    "summary": "Receive an event",
    "description": (
        "An event of a project, sent to the address of a webhook that wants its type, one of `Event` or `webhook.test`."
        " Of the format `standard` the body is JSON, of `cloudevents` a CloudEvent; chats are sent a sentence in their"
        " own form.\n\nEach event is sent at least once, and may come twice, with the same `webhook-id`. Verify the"
        " signature, or anybody may send: libraries of Standard Webhooks do it, and the page about events has the code."
    ),
    "operationId": "receiveEvent",
    "tags": ["webhooks"],
    "security": [],
    "parameters": [
        _header("webhook-id", "The event's id, the same each time that it is sent.", format="uuid"),
        _header(
            "webhook-timestamp",
            "When this attempt was sent: seconds since 1970. Refuse what is older than some minutes.",
            pattern="^[0-9]+$",
        ),
        _header(
            "webhook-signature",
            "`v1,` and the base64 of HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}`; the key is the secret"
            " without `whsec_`, decoded from base64. For a day after a rotation two of them, with a space between: one"
            " that fits is enough.",
            pattern="^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$",
        ),
    ],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": _STANDARD}, "example": examples.WEBHOOK_MESSAGE},
            "application/cloudevents+json": {"schema": {"$ref": _CLOUD}},
        },
    },
    "responses": {
        "2XX": {
            "description": "Taken, if it comes within 15 seconds. What it says is kept up to 1,000 bytes, for people."
        },
        "410": {"description": "There is no receiver any more: the webhook is disabled until somebody enables it."},
        "429": {"description": "Too much: sent again, not before `Retry-After`, of which an hour at most is waited."},
        "503": {"description": "Not now: sent again, not before `Retry-After`, of which an hour at most is waited."},
        "default": {
            "description": "Anything else, a redirect and no answer too: sent again, up to seven times within about a"
            " day, then given up. A webhook without one success in five days is disabled."
        },
    },
}
