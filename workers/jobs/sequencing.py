"""Sequencing: committed arrivals get their positions and become events.

Positions of a project are dense, and one is only given to what is committed: a reader who has seen position n never
meets a new event at or below n. Whoever holds the row in `event_heads` gives positions; arrivals are deleted in the
transaction that inserts the events, so each becomes one event exactly, whatever dies in between. The same transaction
says to the project's webhooks that there is something to send.
"""

from __future__ import annotations

import time
import uuid

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.storage.database import Database
from registry.storage.tables import arrivals, event_heads, events, webhooks

SEQUENCED_AT_ONCE = 1_000
"""Arrivals of one transaction."""
_SECONDS = 2.0
"""Seconds for which one call goes on, before the dispatcher's cycle does."""
_CARRIED = ("id", "type", "subject", "data", "at")


def sequence_arrivals(database: Database) -> int:
    """Give positions to the arrivals that are committed, project by project; return how many got one.

    If this takes long, the rest is left for the next call. Arrivals that another process is sequencing are its own.
    """
    until, total = time.monotonic() + _SECONDS, 0
    with database.reading() as connection:
        waiting = connection.scalars(select(arrivals.c.project_id).distinct()).all()
    for project_id in waiting:
        while time.monotonic() < until:
            with database.transaction() as connection:
                count = _sequence(connection, project_id)
            total += count
            if count < SEQUENCED_AT_ONCE:
                break
    return total


def _sequence(connection: Connection, project_id: uuid.UUID) -> int:
    head = _hold_head(connection, project_id)
    if head is None:
        return 0
    mine = (
        select(arrivals.c.number)
        .where(arrivals.c.project_id == project_id)
        .order_by(arrivals.c.number)
        .limit(SEQUENCED_AT_ONCE)
    )
    taken = delete(arrivals).where(arrivals.c.number.in_(mine)).returning(*arrivals.c).cte("taken")
    position = head + func.row_number().over(order_by=taken.c.number)
    rows = select(taken.c.project_id, position, *(taken.c[name] for name in _CARRIED), func.clock_timestamp())
    columns = ["project_id", "position", *_CARRIED, "recorded_at"]
    count = connection.execute(insert(events).from_select(columns, rows)).rowcount
    here = event_heads.c.project_id == project_id
    connection.execute(update(event_heads).where(here).values(position=head + count))
    # Even of those that are due already: a thread that is about to find nothing more waits for this transaction.
    connection.execute(update(webhooks).where(webhooks.c.project_id == project_id).values(due_at=func.now()))
    return int(count)


def _hold_head(connection: Connection, project_id: uuid.UUID) -> int | None:
    """Position of the project's latest event, held until the transaction ends; None while another process holds it."""
    # First, so that two processes which meet a new project do not both wait to insert its row.
    held = select(event_heads.c.position).where(event_heads.c.project_id == project_id)
    found = connection.scalar(held.with_for_update(skip_locked=True))
    if found is None:
        connection.execute(upsert(event_heads).values(project_id=project_id).on_conflict_do_nothing())
        found = connection.scalar(held.with_for_update(skip_locked=True))
    return None if found is None else int(found)
