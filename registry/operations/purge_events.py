"""Purge of events: those that named what is gone keep their places and types, and nothing else."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, delete, func, literal, or_, select, text, tuple_, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.storage.arrivals import Arrival, announce
from registry.storage.tables import arrivals, deliveries, event_heads, events, webhooks

_AT_ONCE = 50_000
"""Positions that one statement looks at, far within its timeout."""
_NAMED = text("'$.** ? (@ == $gone[*])'")


@dataclass(frozen=True, slots=True)
class Gone:
    """What events may name that is gone: ids and names, and judgements by the ids of their claims and their numbers."""

    words: Collection[str]
    judgements: Collection[tuple[str, str]] = ()


def forget_events(connection: Connection, project_id: uuid.UUID, gone: Gone) -> None:
    """Empty the data and the subject of every event of the project that names something of these.

    The project's events get no positions until the transaction ends, so that none passes by.
    """
    connection.execute(upsert(event_heads).values(project_id=project_id).on_conflict_do_nothing())
    head = connection.execute(select(event_heads).where(event_heads.c.project_id == project_id).with_for_update()).one()
    for first in range(head.first, head.position + 1, _AT_ONCE):
        _empty(connection, events, project_id, gone, events.c.position.between(first, first + _AT_ONCE - 1))
    _empty(connection, arrivals, project_id, gone, True)


def _empty(connection: Connection, table: Any, project_id: uuid.UUID, gone: Gone, where: Any) -> None:
    words: Any = func.jsonb_build_object("gone", literal(sorted(gone.words), JSONB))
    about: list[Any] = [func.jsonb_path_exists(table.c.data, _NAMED, words)]
    if gone.judgements:
        said = tuple_(table.c.data["claim"].astext, table.c.data["judgement"].astext)
        about.append(said.in_(sorted(gone.judgements)))
    here = and_(table.c.project_id == project_id, where, or_(*about))
    connection.execute(update(table).where(here).values(data={}, subject=""))


def announce_purged(connection: Connection, project_id: uuid.UUID, grids: Iterable[uuid.UUID]) -> None:
    """Announce that grids were removed for good; nothing but their ids is told."""
    announce(connection, project_id, [Arrival("grid.purged", f"grids/{one}", {"grid": str(one)}) for one in grids])


def remove_events(connection: Connection, project_ids: Collection[uuid.UUID]) -> None:
    """Remove the events of projects, their places, and the webhooks that they were sent to."""
    # The head first: this waits for who is giving positions, whose events are there for the statements below.
    for table in (event_heads, arrivals, events, deliveries, webhooks):
        connection.execute(delete(table).where(table.c.project_id.in_(project_ids)))
