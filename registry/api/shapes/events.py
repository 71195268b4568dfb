"""The shape of an event, with all types: what each tells, and the fields of its data."""

from __future__ import annotations

from dataclasses import fields

from registry.api.shapes.words import Shape
from registry.results.event_documents import Event
from registry.results.events import CATALOGUE, EventKind
from registry.results.schema import components


def _line(kind: EventKind) -> str:
    data = ", ".join(f"`{field.name}`" for field in fields(kind.data))
    closed = " Only administrators of the project read it." if kind.reader == "admin" else ""
    return f"- `{kind.name}`: {kind.description}{closed} Data: {data}."


EVENTS: dict[str, Shape] = components(Event)
_TYPES = "\n".join(map(_line, CATALOGUE.values()))
EVENTS["Event"] |= {"description": f"{EVENTS['Event']['description']}\n\n{_TYPES}"}
