"""Types of webhooks as they are served: where events are sent, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.terms import Count, Identifier, Instant, Presence

Format = Literal["standard", "cloudevents", "slack", "discord"]
WebhookState = Literal["enabled", "disabled"]
DeliveryState = Literal["pending", "delivered", "failed"]
TEST = "webhook.test"
"""The type of what `test` sends; no feed has it."""
FILTERS = ("experiment", "benchmark", "model", "variant", "metric", "baseline", "contender")
"""Fields of an event's data by which a webhook may choose."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address to which the events of a project are sent."""

    id: Annotated[Identifier, "The webhook's id."]
    url: Annotated[str, "Where events are sent."]
    types: Annotated[tuple[str, ...], "Types of events, such as `claim.flipped`, `alert.*` or `*`."]
    filter: Annotated[Mapping[str, tuple[str, ...]], "Fields that an event must have, each with one of these texts."]
    format: Annotated[Format, "What is sent."]
    description: Annotated[str, "For people."]
    state: Annotated[WebhookState, "disabled: nothing is sent."]
    reason: Annotated[str | None, "Why it is disabled, where the registry did so."]
    failing_since: Annotated[Instant | None, "When an attempt failed first after the last success; null: none did."]
    waiting: Annotated[Count, "Events since those that have deliveries, of any type."]
    former_secret_until: Annotated[Instant | None, "Until when the secret before the last rotation signs too."]
    created_at: Annotated[Instant, "When it was made."]
    updated_at: Annotated[Instant, "When it was changed last, by people or by being disabled."]


@dataclass(frozen=True, slots=True)
class WebhookData:
    """The data of the event, as `Event` says for its type, and beside them these fields."""

    project: Annotated[str, "The project's slug."]
    subject: Annotated[str, "What it was done to: a path below /api/v1/; empty after a purge."]
    url: Annotated[str, "The address of the subject in the API; after a purge, of the project."]
    position: Annotated[int | None, "Of the event in the project's feed; a test has none.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class WebhookMessage:
    """An event as a webhook of the format `standard` is sent it, as Standard Webhooks says."""

    type: Annotated[str, "What was done, such as `claim.flipped`, or `webhook.test`; more types may come."]
    timestamp: Annotated[Instant, "When it was done."]
    data: Annotated[WebhookData, "About it."]


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """One time that an event was sent."""

    at: Annotated[Instant, "When it ended."]
    status: Annotated[int | None, "Of the answer; null: none came."]
    milliseconds: Annotated[int | None, "Until the answer; null: none came."]
    error: Annotated[str | None, "Why it failed; where no answer came, `unreachable: ` and the reason."]
    response: Annotated[str | None, "The beginning of the answer's body, up to 1,000 bytes."]


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event for a webhook."""

    id: Annotated[Identifier, "The delivery's id."]
    webhook: Annotated[Identifier, "The webhook's id."]
    event: Annotated[Identifier, "The event's id, which is `webhook-id` of each attempt."]
    position: Annotated[int | None, "Of the event in the project's feed; null for a test."]
    type: Annotated[str, "The event's type."]
    state: Annotated[DeliveryState, "pending: it will be sent, again or first; failed: it was given up."]
    next_at: Annotated[Instant | None, "When it is sent next, or when it was due; null: it is settled."]
    attempts: Annotated[tuple[DeliveryAttempt, ...], "The oldest first."]
    created_at: Annotated[Instant, "When it was made."]


@dataclass(frozen=True, slots=True)
class Recovery:
    """Events that are sent again."""

    count: Annotated[Count, "How many will be sent; counted up to 100,000."]
