"""Upkeep of deliveries: old ones are deleted, and webhooks that nobody woke are."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Connection, delete, func, or_, select, update

from registry.storage.tables import deliveries, event_heads, webhooks

MOST_SETTLED = 10_000
"""Settled deliveries of a webhook that are kept; the oldest are deleted first."""
_AT_ONCE = 50_000


def delete_settled_deliveries(connection: Connection, days: int) -> int:
    """Delete deliveries settled before so many days, and of each webhook all but the newest; return how many."""
    newest = deliveries.alias("newest")
    settled = (newest.c.webhook_id == webhooks.c.id, newest.c.state != "pending")
    last = select(newest.c.id).where(*settled).order_by(newest.c.id.desc()).offset(MOST_SETTLED).limit(1)
    bound = select(webhooks.c.id, last.scalar_subquery().label("last")).subquery()
    too_old = deliveries.c.settled_at < func.now() - timedelta(days=days)
    old = (
        select(deliveries.c.id)
        .join(bound, bound.c.id == deliveries.c.webhook_id)
        .where(deliveries.c.state != "pending", or_(too_old, deliveries.c.id <= bound.c.last))
        .limit(_AT_ONCE)
    )
    return int(connection.execute(delete(deliveries).where(deliveries.c.id.in_(old))).rowcount)


def wake_those_behind(connection: Connection) -> int:
    """Have webhooks looked at for which there are events, although nobody said so; return how many."""
    behind = (event_heads.c.project_id == webhooks.c.project_id, event_heads.c.position > webhooks.c.position)
    asleep = (webhooks.c.state == "enabled", webhooks.c.due_at.is_(None))
    return int(connection.execute(update(webhooks).where(*behind, *asleep).values(due_at=func.now())).rowcount)
