"""Parameters of the feed of events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from marshmallow import fields

from registry.api.fields import Choice, Instant, Matching, Name
from registry.api.schemas import PageParameters, about
from registry.operations.events import PATTERN
from registry.results.events import TYPES
from registry.storage.arrivals import EVERYTHING

NOW = "now"
NAMES = ("experiment", "benchmark", "model", "variant", "metric")
"""Fields of an event's data that select events."""
KINDS = tuple(dict.fromkeys(f"{one.partition('.')[0]}.*" for one in TYPES))
"""Patterns of all types of a kind, such as `claim.*`."""
PATTERNS = (EVERYTHING, *KINDS, *TYPES)
"""All that may choose types of events, of the feed and of a webhook alike."""


class Place(Matching):
    """A place in a feed: a cursor, `now`, or an instant, which is read."""

    _INSTANT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9:.]{5,18}(?:[Zz]|[+ -][0-9]{2}:?[0-9]{2})?)?"

    def __init__(self, **options: Any) -> None:
        wanted = "must be a cursor of this feed, now, or an instant such as 2026-11-21T08:00:00Z"
        super().__init__(rf"{NOW}|{self._INSTANT}|{PATTERN}", wanted, **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> Any:
        found = super()._deserialize(value, attr, data, **options)
        return Instant().deserialize(found, attr, data) if re.fullmatch(self._INSTANT, found) else found


class EventsParameters(PageParameters):
    after = Place(
        metadata=about(
            "What was seen: `next` or `head` of a page; `now`; or an instant, for what was recorded from then on. If it"
            " is not given, all that is kept; of an Atom feed the latest, of a stream what comes from now on."
        )
    )
    type = fields.List(
        Choice(*PATTERNS),
        load_default=list,
        metadata=about("Only these types: one such as `claim.flipped`, `claim.*` for all of a kind; repeat for OR."),
    )
    experiment = Name(metadata=about("Only events of this experiment."))
    benchmark = Name(metadata=about("Only events of this benchmark."))
    model = Name(metadata=about("Only events of this model."))
    variant = Name(empty=True, metadata=about("Only events of this variant."))
    metric = Name(metadata=about("Only events of this metric."))
