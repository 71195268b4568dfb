"""Events as they are served: a document of our own, and CloudEvents 1.0 for other systems."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from registry.results.terms import Identifier, Instant, Keyword, Presence

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


@dataclass(frozen=True, slots=True)
class CloudEvent:
    """An event as CloudEvents 1.0 writes it in JSON."""

    id: Annotated[Identifier, "The event's id."]
    source: Annotated[str, "The address of its project."]
    type: Annotated[str, f"What was done: `{TYPE_PREFIX}` and the type of the event."]
    subject: Annotated[str, "What it was done to: a path below /api/v1/; empty after a purge."]
    time: Annotated[Instant, "When it was done."]
    data: Annotated[Mapping[str, Any], "Ids, names and numbers, by type; more fields may come."]
    sequence: Annotated[
        str | None,
        "The position in the project's feed in digits of a fixed width, which sort as text; a test has none.",
        Presence.OMITTED,
    ] = None
    specversion: Annotated[Literal["1.0"], "Of CloudEvents."] = "1.0"
    datacontenttype: Annotated[Literal["application/json"], "Of `data`."] = "application/json"


def cloud_event(event: Event, source: str) -> CloudEvent:
    """The event for other systems; `source` is the address of its project."""
    type_, sequence = TYPE_PREFIX + event.type, sequence_of(event.position)
    return CloudEvent(event.id, source, type_, event.subject, event.time, event.data, sequence)


def sequence_of(position: int) -> str:
    """A position as the extension `sequence` of CloudEvents has it."""
    return f"{position:019d}"
