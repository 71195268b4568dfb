"""Schemas of what is said of webhooks, and of the parameters of their lists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, get_args

from marshmallow import ValidationError, fields, validate, validates_schema

from registry.api.context import parts
from registry.api.event_schemas import PATTERNS
from registry.api.fields import Body, Choice, Few, Instant, Matching, Name, name_shape
from registry.api.grid_fields import Markdown
from registry.api.schemas import PageParameters, about
from registry.destinations import LONGEST_URL, read_destination
from registry.operations.events import PATTERN as CURSOR
from registry.results.webhooks import FILTERS, DeliveryState, Format, WebhookState
from registry.settings import Settings

_ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
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
            Choice(*PATTERNS), validate=validate.Length(1, len(PATTERNS), error="has at least one type"), **options
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


def _url(**options: Any) -> Any:
    return Url(metadata=about("Where to send: https, no user, no fragment.", "https://ci.example.org/hooks"), **options)


def _types(**options: Any) -> Any:
    text = "Types of events: one of the catalogue, `alert.*` for all of a kind, `*` for all."
    return Types(metadata=about(text, ["claim.flipped", "alert.*"]), **options)


def _filter(**options: Any) -> Any:
    text = "Only events that have each of these fields with one of its texts, as the events' data says it."
    return EventFilter(metadata=about(text), **options)


def _format(**options: Any) -> Any:
    return Choice(*get_args(Format), metadata=about("What is sent; `standard` if not given."), **options)


class WebhookIn(Body):
    """An address to which events shall be sent."""

    url = _url(required=True)
    types = _types(required=True)
    filter = _filter(load_default=dict)
    format = _format(load_default="standard")
    description = Markdown(load_default="", metadata=about("For people."))


class WebhookChange(Body):
    """Changes to a webhook: at least one of its fields."""

    url = _url()
    types = _types()
    filter = _filter()
    format = _format()
    description = Markdown(metadata=about("For people."))
    state = Choice(
        *get_args(WebhookState),
        metadata=about("disabled: nothing is sent. One that is enabled is sent the events from then on."),
    )

    @validates_schema
    def something(self, data: Any, **_options: Any) -> None:
        if not data:
            raise ValidationError("gives nothing to change")


class Since(fields.Field[Any]):
    """An instant, or a position or cursor of the project's events."""

    _POSITION = re.compile("0|[1-9][0-9]{0,17}")

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "minLength": 10}]}

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any
    ) -> int | datetime | str:
        if isinstance(value, int) and not isinstance(value, bool) and self._POSITION.fullmatch(str(value)):
            return value
        if isinstance(value, str) and re.fullmatch(CURSOR, value) and not value.startswith("20"):
            return value
        try:
            found: datetime = Instant().deserialize(value)
        except ValidationError:
            wanted = "must be a position such as 17, a cursor of the feed, or an instant such as 2026-11-21T08:00:00Z"
            raise ValidationError(wanted) from None
        return found


class RecoverIn(Body):
    """From when on events shall be sent that a webhook has not taken."""

    since = Since(
        required=True, metadata=about("A position or cursor of the feed, behind which all are sent; or an instant.")
    )


class DeliveriesParameters(PageParameters):
    state = fields.List(
        Choice(*get_args(DeliveryState)), load_default=list, metadata=about("Only these; repeat for OR.")
    )
    cursor = Matching(_ID, "is not a cursor of this list", metadata=about("`next` of the page before."))
