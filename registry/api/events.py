"""Route of a project's feed of events: what was done, in one order, page by page or as it happens."""

import re
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import Response, request
from marshmallow import fields

from registry.api.context import asked_query, caller, entered, parts
from registry.api.event_streams import Permit, open_stream
from registry.api.fields import Choice, Instant, Matching, Name
from registry.api.long_poll import place_to_wait, preference
from registry.api.responses import common, dumps, not_modified, send, tagged, wanted_form
from registry.api.schemas import PageParameters, about
from registry.api.smorest import API_PREFIX, Blueprint
from registry.operations.events import (
    PATTERN,
    Stretch,
    Wanted,
    check_kept,
    head_of,
    position_before,
    read_cursor,
    read_events,
    write_cursor,
)
from registry.results.codec import to_document
from registry.results.event_documents import Event, cloud_event, event_of
from registry.results.events import OF_ADMINISTRATION, TYPES
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
            " is not given, all that is kept; of a stream what comes from now on."
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


blp = Blueprint("events", "What was done, in one order.")

FORMS = ("json", "cloudevents", "sse")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request for events: of which project, from which position on, and which of them."""

    project: Any
    after: int | None
    """None: where this form begins by itself."""
    wanted: Wanted
    limit: int

    @property
    def project_id(self) -> uuid.UUID:
        found: uuid.UUID = self.project.project_id
        return found

    def cursor(self, position: int) -> str:
        return write_cursor(self.project_id, position)


@blp.in_forms(
    "/projects/<project>/events",
    "listEvents",
    FORMS,
    EventsParameters,
    "Events behind the cursor; a stream of them; or CloudEvents 1.0",
    "Events",
    suffixes=("json",),
    errors=[410],
    parameters=["Prefer", "Last-Event-ID"],
    headers=["Link", "Preference-Applied"],
)
def list_events(query: dict[str, Any], project: str, suffix: str | None = None) -> Response:
    """Read what was done

    Events in the order of their positions. A position is only given to what is committed, so whoever has read up to a
    cursor never meets a new event before it: `next` of a page is `after` of the following one, for ever. It moves on
    also where the types leave everything out. `Prefer: wait=25` waits for the first event.

    `Accept: text/event-stream` is a stream (server-sent events) that ends within a minute; with the last `id` as
    `Last-Event-ID` it goes on where it ended. Without one, and without `after`, it begins at the head.

    Events of tokens, shares and webhooks are left out unless the caller administers the project.
    """
    form = wanted_form(suffix, FORMS)
    with entered(project) as (connection, row):
        who = caller(connection)
        permit = Permit.of(connection, who, row)
    hidden = () if who.role_in(row.project_id) == "admin" else OF_ADMINISTRATION
    types = () if EVERYTHING in query["type"] else tuple(query["type"])
    wanted = Wanted(types, hidden, {name: query[name] for name in NAMES if name in query})
    after = _position(row, query, streamed=form == "sse")
    asked = _Asked(row, after, wanted, query["limit"])
    if form == "sse":
        return open_stream(row.project_id, after, wanted, permit)
    return _answer(asked, _awaited(asked), form)


def _position(project: Any, query: Mapping[str, Any], *, streamed: bool) -> int | None:
    """The position behind which to read; None where the caller does not say. A stream goes on where it ended."""
    seen = request.headers.get("Last-Event-ID", "") if streamed else ""
    place: str | datetime | None = seen or query.get("after")
    if place is None:
        return None
    if isinstance(place, datetime):
        with parts().database.snapshot() as connection:
            return position_before(connection, project.project_id, place)
    if place == NOW:
        with parts().database.reading() as connection:
            return head_of(connection, project.project_id).position
    return read_cursor(project.project_id, place)


def _awaited(asked: _Asked) -> Stretch:
    """The events behind the position; the first of them for as long as the caller prefers to wait, or none."""
    stretch = _read(asked, asked.after)
    seconds = preference()
    if not seconds or _is_enough(stretch):
        return stretch
    with place_to_wait(seconds) as until, parts().watch.listening(asked.project_id, stretch.head.position) as place:
        while not _is_enough(stretch) and place.wait(stretch.next, until - time.monotonic()):
            stretch = _read(asked, stretch.next)
    return stretch


def _read(asked: _Asked, after: int | None) -> Stretch:
    # One snapshot: between two statements the oldest events may be deleted, and the reader would not know.
    with parts().database.snapshot() as connection:
        if after is None:
            after = head_of(connection, asked.project_id).first - 1
        stretch = read_events(connection, asked.project_id, after, asked.limit, asked.wanted)
    check_kept(asked.project_id, after, stretch.head)
    return stretch


def _is_enough(stretch: Stretch) -> bool:
    return bool(stretch.events) or stretch.next < stretch.head.position


def _answer(asked: _Asked, stretch: Stretch, form: str) -> Response:
    head = asked.cursor(stretch.head.position)
    # Who becomes an administrator sees more at the same head.
    tag = tagged(head if asked.wanted.without else f"{head}.all", form)
    following = f"{request.path}?{asked_query(after=asked.cursor(stretch.next))}"
    if not_modified(tag):
        return common(Response(status=304), tag)
    response = send(_written(asked, stretch, form), form=form, tag=tag)
    response.headers["Link"] = f'<{following}>; rel="next"'
    return response


def _written(asked: _Asked, stretch: Stretch, form: str) -> bytes:
    events: list[Event] = [event_of(row, asked.cursor(row.position), API_PREFIX) for row in stretch.events]
    if form == "cloudevents":
        address = f"{parts().settings.url}{API_PREFIX}/projects/{asked.project.slug}"
        return dumps([to_document(cloud_event(one, address)) for one in events])
    cursors = {"next": asked.cursor(stretch.next), "head": asked.cursor(stretch.head.position)}
    return dumps({"items": [to_document(one) for one in events], **cursors})
