"""Read the events of a project in their order."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, or_, select

from registry.storage.tables import event_heads, events

MOST_SCANNED = 20_000
"""Events that one reading looks at; the next one goes on behind them."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events a reader wants; the others are left out.

    `types` are types such as `claim.flipped`, or all of a kind as `claim.*`; none: all types. `without` are beginnings
    of types that are left out. `names` are fields of the data and the texts that they must have.
    """

    types: Sequence[str] = ()
    without: Sequence[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def holds(self, type_: str, data: Mapping[str, Any]) -> bool:
        """Return whether an event is one of these, as `_narrowed` asks the database."""
        if self.types and not any(_covers(one, type_) for one in self.types):
            return False
        if type_.startswith(tuple(self.without)):
            return False
        return all(data.get(name) == text for name, text in self.names.items())


EVERYTHING = Wanted()


@dataclass(frozen=True, slots=True)
class Head:
    """Positions of a project's oldest kept and latest event; without events 1 and 0."""

    first: int
    position: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Events of a feed behind a position, and the position behind which the next stretch begins."""

    events: Sequence[Any]
    next: int
    head: Head
    older: int = 0
    """Position before which more stand that were not looked at; 0: none do, or the stretch goes forward."""


def head_of(connection: Connection, project_id: uuid.UUID) -> Head:
    """Where the feed of a project begins and ends."""
    query = select(event_heads.c.first, event_heads.c.position).where(event_heads.c.project_id == project_id)
    row = connection.execute(query).one_or_none()
    return Head(1, 0) if row is None else Head(row.first, row.position)


def heads_of(connection: Connection, project_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, int]:
    """Position of the latest event of each of these projects that has any."""
    query = select(event_heads.c.project_id, event_heads.c.position)
    rows = connection.execute(query.where(event_heads.c.project_id.in_(project_ids)))
    return {row.project_id: int(row.position) for row in rows}


def read_events(
    connection: Connection, project_id: uuid.UUID, after: int, limit: int, wanted: Wanted = EVERYTHING
) -> Stretch:
    """Up to `limit` events behind a position, in order; a stretch may have none and yet end behind where it began.

    The connection sees one state of the database, or else what is deleted meanwhile may be missed.
    """
    head = head_of(connection, project_id)
    until = min(head.position, after + MOST_SCANNED)
    query = _narrowed(_between(project_id, after, until), wanted).order_by(events.c.position)
    found = connection.execute(query.limit(limit)).all()
    return Stretch(found, int(found[-1].position) if len(found) == limit else max(until, after), head)


def latest_events(
    connection: Connection, project_id: uuid.UUID, limit: int, wanted: Wanted = EVERYTHING, before: int | None = None
) -> Stretch:
    """The last `limit` events, the newest first, of the last `MOST_SCANNED`; with `before`, of those before a position.

    Older ones than these stand before `Stretch.older`.
    """
    head = head_of(connection, project_id)
    last = head.position if before is None else min(head.position, before - 1)
    query = _narrowed(_between(project_id, last - MOST_SCANNED, last), wanted).order_by(events.c.position.desc())
    found = connection.execute(query.limit(limit)).all()
    begins = int(found[-1].position) if len(found) == limit else last - MOST_SCANNED + 1
    return Stretch(found, head.position, head, begins if begins > head.first else 0)


def position_before(connection: Connection, project_id: uuid.UUID, instant: datetime) -> int:
    """The position behind which the events stand that got theirs at this instant or later.

    Found by halving: positions are dense, and later ones were given later.
    """
    head = head_of(connection, project_id)
    low, high = head.first - 1, head.position
    at = select(events.c.recorded_at).where(events.c.project_id == project_id)
    while low < high:
        middle = (low + high + 1) // 2
        if connection.execute(at.where(events.c.position == middle)).scalar_one() < instant:
            low = middle
        else:
            high = middle - 1
    return low


def _between(project_id: uuid.UUID, after: int, until: int) -> Select[Any]:
    return select(events).where(
        events.c.project_id == project_id, events.c.position > after, events.c.position <= until
    )


def _narrowed(query: Select[Any], wanted: Wanted) -> Select[Any]:
    if wanted.types:
        query = query.where(or_(*(_is_of(one) for one in wanted.types)))
    for beginning in wanted.without:
        query = query.where(~events.c.type.startswith(beginning, autoescape=True))
    for name, text in wanted.names.items():
        query = query.where(events.c.data[name].astext == text)
    return query


def _is_of(pattern: str) -> Any:
    if pattern.endswith(".*"):
        return events.c.type.startswith(pattern[:-1], autoescape=True)
    return events.c.type == pattern


def _covers(pattern: str, type_: str) -> bool:
    return type_.startswith(pattern[:-1]) if pattern.endswith(".*") else type_ == pattern
