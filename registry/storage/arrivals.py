"""Write events in the transaction of the act that they tell of; operations and workers do.

What is written has no position yet. `workers.jobs.upkeep` gives it one after the act was committed, so that no reader
of the feed can meet a later event before an earlier one.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, and_, or_, select, text

from registry.results.codec import to_document
from registry.results.event_data import AlertEvent
from registry.results.events import EventType
from registry.storage.tables import events, projects

_LONGEST_CELL = 500
"""Bytes of the cell that an event of an alert names."""
# One document for all of them: 500 rows of parameters would cost a batch of grids a tenth of its time.
ANNOUNCE = """
    INSERT INTO arrivals (project_id, type, subject, data)
    SELECT :project, one ->> 0, one ->> 1, one -> 2
    FROM jsonb_array_elements(CAST(:told AS jsonb)) WITH ORDINALITY AS told (one, place) ORDER BY place
"""
"""The statement that writes events of `:project`, which are `:told` by `as_json`."""
EVERYTHING = "*"


@dataclass(frozen=True, slots=True)
class Arrival:
    """Act: what was done, to what (a path below the root of the API), and the little that a reader needs to know of it:
    ids, names, a verdict, one number. Never a secret, and nothing of another project."""

    type: EventType
    subject: str
    data: Mapping[str, Any]


def announce(connection: Connection, project_id: uuid.UUID, happened: Sequence[Arrival]) -> None:
    """Write events of a project, which are told in this order if the transaction is committed, and else never."""
    if happened:
        connection.execute(text(ANNOUNCE), {"project": project_id, "told": as_json(happened)})


def as_json(happened: Sequence[Arrival]) -> str:
    """Events as a statement takes them that writes more than them."""
    return orjson.dumps([[one.type, one.subject, one.data] for one in happened]).decode()


def slug_of(connection: Connection, project_id: uuid.UUID) -> str:
    """The project as subjects name it."""
    return str(connection.scalar(select(projects.c.slug).where(projects.c.id == project_id)))


def cut(text: str, most: int = 300) -> str:
    """A text of at most so many characters, which says where it was cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def of_grid(type_: EventType, grid_id: uuid.UUID, revision: int, names: Mapping[str, str]) -> Arrival:
    """An event of a grid, by its names."""
    return Arrival(type_, f"grids/{grid_id}", {"grid": str(grid_id), "revision": revision, **names})


def of_alert(type_: EventType, slug: str, row: Any) -> Arrival:
    """An event of an alert, from its row, in the project that the slug names."""
    at = row.at if row.at and len(orjson.dumps(row.at)) <= _LONGEST_CELL else None
    said = AlertEvent(
        str(row.id), row.baseline, row.model, row.state, row.reopened, row.benchmark, at, row.resolution, row.reason
    )
    return Arrival(type_, f"projects/{slug}/alerts/{row.id}", to_document(said))


def is_told(types: Sequence[str], names: Mapping[str, Sequence[str]]) -> ColumnElement[bool]:
    """Condition that an event has one of these types (`claim.flipped`, `claim.*`, `*`), and for each of these fields of
    its data one of these texts. An event without such a field is not told."""
    of_type = or_(*(_is_of(one) for one in types))
    return and_(of_type, *(events.c.data[name].astext.in_(texts) for name, texts in names.items()))


def _is_of(pattern: str) -> ColumnElement[bool]:
    if pattern.endswith(EVERYTHING):
        return events.c.type.startswith(pattern[:-1], autoescape=True)
    return events.c.type == pattern
