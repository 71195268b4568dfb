"""What was done in a project, the latest first, as people read it."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from flask import Response, request

from registry.api.context import enter, parts
from registry.api.event_schemas import KINDS
from registry.errors import Fault, Invalid
from registry.operations.event_subjects import still_there
from registry.operations.events import Wanted, latest_events
from registry.pages.front import pages
from registry.pages.links import data_path, to
from registry.pages.live import live_on
from registry.pages.responses import page
from registry.results.event_sentences import event_sentence
from registry.results.events import OF_ADMINISTRATION, TYPES
from registry.results.sentences import EventSentence
from registry.results.target_pages import page_of_target
from registry.storage.told_events import EVERYTHING

_EVENTS = 100
_DIGITS = 18
_NO_NEWS = ("statistics.ready",)
"""What follows from each publication by itself: shown where it is asked for."""
_KINDS = {one: one.removesuffix(".*") for one in KINDS if not one.startswith(OF_ADMINISTRATION)}


@pages.get("/projects/<project>/events")
def events(project: str) -> Response:
    """The events of a project behind which no later one stands, of the kinds in the address; older ones by `before`."""
    chosen, before = _chosen(), _before()
    everything = EVERYTHING in request.args.getlist("type")
    wanted = Wanted(chosen, OF_ADMINISTRATION if chosen or everything else (*OF_ADMINISTRATION, *_NO_NEWS))
    with parts().database.snapshot() as connection:
        row = enter(connection, project, "reader")
        found = latest_events(connection, row.id, _EVENTS, wanted, before)
        there = still_there(connection, row.id, {uuid.UUID(one) for event in found.events for one in _subject(event)})
    shown, now = found.events, datetime.now(UTC)
    query = [("type", one) for one in chosen]

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "events": [(one, *_told(project, one, there), age(now, one.at)) for one in shown],
            "kinds": _KINDS,
            "type": EVERYTHING if everything else chosen[0] if len(chosen) == 1 else "",
            "chosen": chosen,
            "older": found.older,
            "before": before,
            "atom": data_path(f"/projects/{project}/events.atom", row.visibility, query),
            "json": data_path(f"/projects/{project}/events", row.visibility, query),
            "feed": None if before else live_on(row, chosen),
            "shown": None,
        }

    # The ages are part of the page: it is another one a minute later.
    minute = now.replace(second=0, microsecond=0)
    return page("events.html", [row.updated_at, [one.id for one in shown], sorted(there), minute], context)


def _subject(event: Any) -> list[str]:
    """Id of the grid or claim that an event is about."""
    return [event.data[one] for one in ("grid", "claim") if one in event.data]


def _told(project: str, event: Any, there: set[str]) -> tuple[EventSentence, str]:
    """The event in words, and the page of what it is about; "" for what is gone."""
    told = event_sentence(event.type, event.data)
    if told.target is None or not there.issuperset(_subject(event)):
        return told, ""
    place = page_of_target(project, told.target)
    return told, to(place.path, **place.query)


def age(now: datetime, then: datetime) -> str:
    """How long ago an event was, in words; scripts say the same."""
    minutes = int((now - then).total_seconds() // 60)
    if minutes < 1:
        return "just now"
    count, unit = (
        (minutes, "minute") if minutes < 60 else (minutes // 60, "hour") if minutes < 1440 else (minutes // 1440, "day")
    )
    return f"{count} {unit}{'' if count == 1 else 's'} ago"


def _chosen() -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(one for one in request.args.getlist("type") if one))
    if EVERYTHING in chosen:
        return ()
    if not set(chosen) <= {*_KINDS, *(one for one in TYPES if not one.startswith(OF_ADMINISTRATION))}:
        raise Invalid([Fault("/type", f"is one of {', '.join(_KINDS)}, or a type of these such as claim.flipped")])
    return chosen


def _before() -> int | None:
    text = request.args.get("before")
    if not text:
        return None
    if not (len(text) <= _DIGITS and text.isascii() and text.isdecimal() and int(text) > 0):
        raise Invalid([Fault("/before", "is the position of an event: a whole number from 1")])
    return int(text)
