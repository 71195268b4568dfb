"""Requeue results that an older version of the statistical methods computed."""

from __future__ import annotations

from sqlalchemy import Connection, and_, exists, func, or_, select, update

from registry.storage.keys import key_of, of_current
from registry.storage.tables import cached_results, derivations
from workers.methods_version import METHODS_VERSION

REQUEUED_AT_ONCE = 1_000


def requeue_old_methods(connection: Connection) -> int:
    """Requeue a batch of results with another `methods_version` and return how many. Each is served until its
    replacement is ready."""
    requeued = 0
    for table in (derivations, cached_results):
        old = and_(table.c.state != "pending", table.c.methods_version != METHODS_VERSION)
        # A stale result and a superseded revision have no reader: they are left as they are.
        if table is cached_results:
            old = and_(
                old,
                or_(
                    cached_results.c.state == "failed",
                    cached_results.c.document_generation == cached_results.c.generation,
                ),
            )
        else:
            current = of_current(derivations)
            old = and_(old, exists().where(current))
        key = key_of(table)
        batch = select(*key).where(old).limit(REQUEUED_AT_ONCE).with_for_update(skip_locked=True).cte("batch")
        here = and_(*(column == batch.c[column.name] for column in key))
        # It waits from now on: the age of its grid is no delay, and an alarm about delays would ring at every upgrade.
        again = {"state": "pending", "due_at": func.now(), "attempts": 0, "reason": None, "methods_version": None}
        requeued += int(connection.execute(update(table).where(here).values(again)).rowcount)
    return requeued
