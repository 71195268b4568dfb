"""Events as they are served: a document of our own, and CloudEvents 1.0 for other systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from registry.results.terms import Identifier, Instant, Keyword

TYPE_PREFIX = "org.results-registry."
"""Of the types in CloudEvents: the same in every installation, so that a consumer's rules hold for all of them."""


@dataclass(frozen=True, slots=True)
class Event:
    """What was done in a project, at its place in the one order in which everybody is told."""

    id: Annotated[Identifier, "The event's id, the same wherever and however often it is told."]
    position: Annotated[
        int, Keyword("minimum", 1), "1, 2, 3, … in each project; those that a type or filter leaves out count too."
    ]
    type: Annotated[str, "What was done, such as `grid.published`; more types may come."]
    time: Annotated[Instant, "When it was done."]
    subject: Annotated[str, "What it was done to: a path below /api/v1/; empty after a purge."]
    data: Annotated[Mapping[str, Any], "Ids, names and numbers, by type; more fields may come."]
    cursor: Annotated[str, "`after` of what follows it in the feed."]
    links: Annotated[Mapping[str, Any], "`subject`: the address of the subject, if there is one."]


def event_of(row: Any, cursor: str, api: str = "/api/v1") -> Event:
    """An event from its row and the cursor behind it; its link begins with `api`."""
    time = row.at.isoformat().replace("+00:00", "Z")
    links = {"subject": {"href": f"{api}/{row.subject}"}} if row.subject else {}
    return Event(str(row.id), int(row.position), row.type, time, row.subject, row.data, cursor, links)


def cloud_event(event: Event, source: str) -> dict[str, Any]:
    """The event as CloudEvents 1.0 writes it in JSON; `source` is the address of its project.

    `sequence` is the extension of that name: digits of a fixed width, which sort as the positions do.
    """
    return {
        "specversion": "1.0",
        "id": event.id,
        "source": source,
        "type": TYPE_PREFIX + event.type,
        "subject": event.subject,
        "time": event.time,
        "datacontenttype": "application/json",
        "sequence": f"{event.position:019d}",
        "data": dict(event.data),
    }
