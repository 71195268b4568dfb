"""Purge: remove for good what was deleted long ago. The one act that takes revisions away; the log names each grid."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, and_, delete, func, or_, select, text, update

from registry.operations.record import Actor, record
from registry.tables import counted, derivations, grids, projects, revisions, scopes, statistics, uncounted

AT_ONCE = 100


def purge(connection: Connection, actor: Actor, *, older_than_days: int) -> int:
    """Remove up to `AT_ONCE` grids that were deleted, alone or with their project, before that many days.

    How many there were; call it again, each time in a transaction of its own, until it is 0.
    """
    old = func.now() - timedelta(days=older_than_days)
    gone = (
        select(grids, projects.c.slug.label("project"))
        .join(projects, projects.c.id == grids.c.project_id)
        .where(or_(grids.c.deleted_at < old, projects.c.deleted_at < old))
        .order_by(grids.c.id)
        .limit(AT_ONCE)
        .with_for_update(of=grids)
    )
    rows = connection.execute(gone).all()
    if rows:
        _remove(connection, actor, rows)
    return len(rows)


def _remove(connection: Connection, actor: Actor, rows: Any) -> None:
    ids = [row.id for row in rows]
    # A scope that has not yet counted such a grid away could never do so: it counts everything anew.
    behind = select(counted.c.scope_id).where(counted.c.grid_id.in_(ids))
    connection.execute(update(scopes).where(scopes.c.id.in_(behind)).values(whole=False))
    connection.execute(text("SET LOCAL registry.purging = 'on'"))
    for table in (statistics, derivations, counted, uncounted, revisions):
        connection.execute(delete(table).where(table.c.grid_id.in_(ids)))
    connection.execute(delete(grids).where(grids.c.id.in_(ids)))
    for row in rows:
        names = {name: getattr(row, name) for name in ("experiment", "benchmark", "model", "variant", "metric")}
        deleted = None if row.deleted_at is None else row.deleted_at.isoformat()
        held: dict[str, Any] = {"names": names, "revisions": row.revision, "deleted_at": deleted}
        record(connection, actor, "grid.purged", row.id, project_id=row.project_id, **held)


def purgeable(connection: Connection, *, older_than_days: int) -> int:
    """How many grids `purge` would remove in all."""
    old = func.now() - timedelta(days=older_than_days)
    either = or_(grids.c.deleted_at < old, projects.c.deleted_at < old)
    query = select(func.count()).select_from(grids).join(projects, and_(projects.c.id == grids.c.project_id, either))
    return int(connection.scalar(query) or 0)
