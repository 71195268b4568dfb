"""Upkeep by the dispatcher: delete results, keys, events and jobs whose time is over, and make events of arrivals.

An arrival becomes an event with its position. Positions of a project are dense, and one is only given to what is
committed: a reader who has seen position n never meets a new event at or below n. Whoever holds the row in
`event_heads` gives positions; arrivals are deleted in the transaction that inserts the events, so each becomes one
event exactly, whatever dies in between. The same transaction says to the project's webhooks that there is something to
send.
"""

import time
import uuid
from datetime import timedelta

from sqlalchemy import Connection, and_, delete, func, insert, or_, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.storage.database import Database
from registry.storage.keys import key_of
from registry.storage.tables import (
    arrivals,
    cached_results,
    derivations,
    event_heads,
    events,
    idempotency_keys,
    webhooks,
)

EVENTS_AT_ONCE = 5_000
"""Events that one transaction deletes."""
JOBS_AT_ONCE = 5_000
"""Jobs that one transaction looks at."""
_SECONDS = 1.0
"""Seconds for which one call goes on deleting events or jobs, before the dispatcher's cycle does."""
_JOBS_KEPT = timedelta(days=1)
"""For people who look what was computed lately; the service reads no settled job."""

JobKey = tuple[uuid.UUID, int]
"""Grid and revision of a job."""


def delete_unread_results(connection: Connection, days: int, most: int) -> int:
    """Delete results unread for `days`, and in each project all but the `most` read last; return how many.

    Default rankings are kept.
    """
    by_last_read = func.row_number().over(
        partition_by=cached_results.c.project_id, order_by=[cached_results.c.read_at.desc(), cached_results.c.id]
    )
    ranked = (
        select(cached_results.c.id, cached_results.c.read_at, by_last_read.label("rank"))
        .where(~cached_results.c.is_default)
        .subquery()
    )
    old = or_(cached_results.c.read_at < func.now() - timedelta(days=days), ranked.c.rank > most)
    deletion = delete(cached_results).where(cached_results.c.id.in_(select(ranked.c.id).where(old)))
    return int(connection.execute(deletion).rowcount)


def delete_old_keys(connection: Connection, days: int) -> int:
    """Delete idempotency keys older than `days` and return how many."""
    old = idempotency_keys.c.created_at < func.now() - timedelta(days=days)
    return int(connection.execute(delete(idempotency_keys).where(old)).rowcount)


def delete_old_events(database: Database, days: int, most: int) -> bool:
    """Delete the events of each project that are older than `days`, and all but its `most` latest ones, the oldest
    first and some at a time; return whether some may be left."""
    until = time.monotonic() + _SECONDS
    old = or_(
        events.c.recorded_at < func.now() - timedelta(days=days), event_heads.c.position - events.c.position >= most
    )
    oldest = and_(events.c.project_id == event_heads.c.project_id, events.c.position == event_heads.c.first)
    with database.reading() as connection:
        due = connection.scalars(select(event_heads.c.project_id).join(events, oldest).where(old)).all()
    for project_id in due:
        while True:
            if time.monotonic() > until:
                return True
            with database.transaction() as connection:
                if _delete_oldest(connection, project_id, days, most) < EVENTS_AT_ONCE:
                    break
    return False


def _delete_oldest(connection: Connection, project_id: uuid.UUID, days: int, most: int) -> int:
    """Delete the oldest events of a project up to the first that is kept; return how many."""
    here = event_heads.c.project_id == project_id
    # Not waited for: who gives positions to this project's events is done before the next cleanup.
    head = connection.execute(select(event_heads).where(here).with_for_update(skip_locked=True)).one_or_none()
    if head is None:
        return 0
    last = min(head.position, head.first + EVENTS_AT_ONCE - 1)
    mine = (events.c.project_id == project_id, events.c.position.between(head.first, last))
    is_kept = and_(events.c.recorded_at >= func.now() - timedelta(days=days), events.c.position > head.position - most)
    kept = connection.scalar(select(func.min(events.c.position)).where(*mine, is_kept))
    first = last + 1 if kept is None else kept
    connection.execute(delete(events).where(*mine, events.c.position < first))
    connection.execute(update(event_heads).where(here).values(first=first))
    return int(first - head.first)


def delete_settled_jobs(database: Database, after: JobKey | None) -> JobKey | None:
    """Delete the jobs of statistics that were settled a day ago, in the order of their keys and from `after` on; return
    the key after which to go on, None at the end. What failed stays.

    So the table in which workers look for what is due holds what is due, whatever the number of grids.
    """
    until = time.monotonic() + _SECONDS
    while True:
        with database.transaction() as connection:
            after = _delete_settled(connection, after)
        if after is None or time.monotonic() > until:
            return after


def _delete_settled(connection: Connection, after: JobKey | None) -> JobKey | None:
    """Delete those among the next jobs; return the key of the last one, None if there were no more."""
    place = tuple_(derivations.c.grid_id, derivations.c.revision)
    query = select(*key_of(derivations)).order_by(derivations.c.grid_id, derivations.c.revision).limit(JOBS_AT_ONCE)
    page = connection.execute(query if after is None else query.where(place > tuple_(*after))).all()
    if not page:
        return None
    last = (page[-1].grid_id, page[-1].revision)
    settled = and_(derivations.c.state == "ready", derivations.c.settled_at < func.now() - _JOBS_KEPT)
    here = (place <= tuple_(*last), *([] if after is None else [place > tuple_(*after)]))
    connection.execute(delete(derivations).where(settled, *here))
    return last if len(page) == JOBS_AT_ONCE else None


SEQUENCED_AT_ONCE = 1_000
"""Arrivals of one transaction."""
_SEQUENCING_SECONDS = 2.0
"""Seconds for which one call goes on, before the dispatcher's cycle does."""
_CARRIED = ("id", "type", "subject", "data", "at")


def sequence_arrivals(database: Database) -> int:
    """Give positions to the arrivals that are committed, project by project; return how many got one.

    If this takes long, the rest is left for the next call. Arrivals that another process is sequencing are its own.
    """
    until, total = time.monotonic() + _SEQUENCING_SECONDS, 0
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
