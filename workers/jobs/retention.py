"""Retention: delete cached results that are no longer read, and expired idempotency keys."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Connection, delete, func, or_, select

from registry.storage.tables import answers, idempotency_keys


def delete_unread_results(connection: Connection, days: int, most: int) -> int:
    """Delete results unread for `days`, and in each project all but the `most` read last; return how many.

    Default rankings are kept.
    """
    by_last_read = func.row_number().over(
        partition_by=answers.c.project_id, order_by=[answers.c.asked_at.desc(), answers.c.id]
    )
    ranked = select(answers.c.id, answers.c.asked_at, by_last_read.label("rank")).where(~answers.c.usual).subquery()
    old = or_(ranked.c.asked_at < func.now() - timedelta(days=days), ranked.c.rank > most)
    deletion = delete(answers).where(answers.c.id.in_(select(ranked.c.id).where(old)))
    return int(connection.execute(deletion).rowcount)


def delete_old_keys(connection: Connection, days: int) -> int:
    """Delete idempotency keys older than `days` and return how many."""
    old = idempotency_keys.c.created_at < func.now() - timedelta(days=days)
    return int(connection.execute(delete(idempotency_keys).where(old)).rowcount)
