"""Retention: delete cached results that are no longer read, expired idempotency keys, and the oldest events."""

from __future__ import annotations

import time
import uuid
from datetime import timedelta

from sqlalchemy import Connection, and_, delete, func, or_, select, update

from registry.storage.database import Database
from registry.storage.tables import cached_results, event_heads, events, idempotency_keys

EVENTS_AT_ONCE = 5_000
"""Events that one transaction deletes."""
_SECONDS = 1.0
"""Seconds for which one call goes on deleting events, before the dispatcher's cycle does."""


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
