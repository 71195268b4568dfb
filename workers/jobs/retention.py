"""Retention: delete cached results that are no longer read, and expired idempotency keys."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Connection, delete, func, or_, select

from registry.storage.tables import cached_results, idempotency_keys


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
