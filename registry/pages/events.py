"""Page of a project's events, the latest first, in sentences; the overview shows the first of them."""

import itertools
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api.context import enter, parts
from registry.api.events import KINDS
from registry.errors import Fault, Invalid
from registry.operations.events import Wanted, latest_events, relabelled, still_there
from registry.pages.front import pages
from registry.pages.links import data_path, to
from registry.pages.live import live_on
from registry.pages.parameters import number
from registry.pages.responses import page
from registry.results.event_sentences import event_sentence
from registry.results.events import OF_ADMINISTRATION, TYPES
from registry.results.judgement import EventSentence
from registry.results.target_pages import page_of_target
from registry.storage.arrivals import EVERYTHING

_EVENTS = 100
_REVISED = "grid.revised"
NEWS = (
    "ranking.changed", "claim.flipped", "claim.deleted", "alert.*", "baseline.*",
    "grid.deleted", "grid.restored", "grid.purged", "statistics.failed", _REVISED,
)  # fmt: skip
"""What tells a reader something; the rest follows from publications, and is shown where it is asked for."""
_UNFOLDED = 5
"""Numbers that moved are news too, also where no rank did; of many at once some are folded away."""
_KINDS = [one for one in KINDS if not one.startswith(OF_ADMINISTRATION)]


@dataclass(frozen=True, slots=True)
class Told:
    """Events of a project, the latest first, and which of the grids and claims in them are still there."""

    events: Sequence[Any]
    there: set[str]
    older: int
    """The position before which older ones stand; 0: none do."""

    @property
    def tags(self) -> list[object]:
        """What tells one state of them from another."""
        return [[one.id for one in self.events], sorted(self.there)]

    def said(self, project: str, now: datetime) -> list[tuple[Any, EventSentence, str, str]]:
        """Each with its sentence, the page of what it is about ("" for what is gone), and its age."""
        return [(one, *self._said(project, one), age(now, one.at)) for one in self.events]

    def _said(self, project: str, event: Any) -> tuple[EventSentence, str]:
        told = event_sentence(event.type, event.data)
        if told.target is None or not self.there.issuperset(_subject(event)):
            return told, ""
        place = page_of_target(project, told.target)
        return told, to(place.path, **place.query)


def latest(
    connection: Connection, project_id: uuid.UUID, limit: int, types: Sequence[str] = NEWS, before: int | None = None
) -> Told:
    """The last events of these types, of none all types, that readers may see; with `before` those before a position.
    A revision that changed labels alone is no news.

    The connection sees one state of the database.
    """
    found = latest_events(connection, project_id, limit, Wanted(types, OF_ADMINISTRATION), before)
    told = found.events
    if types == NEWS:
        revised = {_revision(one) for one in told if one.type == _REVISED and "grid" in one.data}
        alike = relabelled(connection, project_id, {(uuid.UUID(grid), number) for grid, number in revised})
        told = [one for one in told if one.type != _REVISED or _revision(one) not in alike]
    subjects = {uuid.UUID(one) for event in told for one in _subject(event)}
    return Told(told, still_there(connection, project_id, subjects), found.older)


def _revision(event: Any) -> tuple[str, int]:
    return event.data.get("grid", ""), event.data.get("revision", 0)


@pages.get("/projects/<project>/events")
def events(project: str) -> Response:
    """The news of a project behind which no later one stands, or the events of the types in the address; older ones by
    `before`."""
    asked = _asked()
    before = number("before", "is the position of an event: a whole number from 1", digits=18)
    chosen = () if EVERYTHING in asked else asked or NEWS
    with parts().database.snapshot() as connection:
        row = enter(connection, project, "reader")
        found = latest(connection, row.id, _EVENTS, chosen, before)
    now = datetime.now(UTC)
    query = [("type", one) for one in chosen]

    def context() -> dict[str, Any]:
        said = found.said(project, now)
        return {
            "project": row,
            "runs": list(runs_of(said, len(said) if asked else _UNFOLDED)),
            "asked": asked,
            "older": found.older,
            "before": before,
            "json": data_path(f"/projects/{project}/events", row.visibility, query),
            "feed": None if before else live_on(row, chosen),
            "shown": None,
        }

    # The ages are part of the page: it is another one a minute later.
    minute = now.replace(second=0, microsecond=0)
    return page("events.html", [row.updated_at, *found.tags, minute], context)


def runs_of(told: Sequence[Any], unfolded: int = _UNFOLDED) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
    """Events in runs: what is shown of each, and the revised grids beyond `unfolded` ones that are folded away."""
    for revised, run in itertools.groupby(told, key=lambda one: one[0].type == _REVISED):
        every = list(run)
        yield (every[:unfolded], every[unfolded:]) if revised else (every, [])


def _subject(event: Any) -> list[str]:
    """Id of the grid or claim that an event is about."""
    return [event.data[one] for one in ("grid", "claim") if one in event.data]


def age(now: datetime, then: datetime) -> str:
    """How long ago an event was, in words; scripts say the same."""
    minutes = int((now - then).total_seconds() // 60)
    if minutes < 1:
        return "just now"
    count, unit = (
        (minutes, "minute") if minutes < 60 else (minutes // 60, "hour") if minutes < 1440 else (minutes // 1440, "day")
    )
    return f"{count} {unit}{'' if count == 1 else 's'} ago"


def _asked() -> tuple[str, ...]:
    asked = tuple(dict.fromkeys(one for one in request.args.getlist("type") if one))
    known = {EVERYTHING, *_KINDS, *(one for one in TYPES if not one.startswith(OF_ADMINISTRATION))}
    if not set(asked) <= known:
        raise Invalid([Fault("/type", f"is *, one of {', '.join(_KINDS)}, or a type of these such as claim.flipped")])
    return asked
