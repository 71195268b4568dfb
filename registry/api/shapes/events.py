"""The shape of an event, with all types: what each tells, and the fields of its data."""

from __future__ import annotations

from dataclasses import fields

from registry.api.shapes.words import Shape
from registry.results.event_documents import Event
from registry.results.events import CATALOGUE, EventKind
from registry.results.schema import components


def _line(kind: EventKind) -> str:
    data = ", ".join(_data(kind))
    closed = " Only administrators of the project read it." if kind.reader == "admin" else ""
    return f"- `{kind.name}`: {kind.description}{closed} Data: {data}."


def _data(kind: EventKind) -> list[str]:
    """The fields of the data of an event; those of an earlier type by its name, where all of these are the first."""
    own = [field.name for field in fields(kind.data)]
    for other in CATALOGUE.values():
        if other is kind:
            break
        known = [field.name for field in fields(other.data)]
        if len(known) > 1 and own[: len(known)] == known:
            return [f"that of `{other.name}`", *(f"`{name}`" for name in own[len(known) :])]
    return [f"`{name}`" for name in own]


EVENTS: dict[str, Shape] = components(Event)
_TYPES = "\n".join(map(_line, CATALOGUE.values()))
EVENTS["Event"] |= {"description": f"{EVENTS['Event']['description']}\n\n{_TYPES}"}
