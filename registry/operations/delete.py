"""Delete a grid by a tombstone. Its revisions stay; publishing the same identity restores it with a new one."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from sqlalchemy import Connection, func, update

from registry.errors import PreconditionFailed
from registry.operations.amend import lock_summary
from registry.operations.publish import invalidate_scopes
from registry.operations.stored_grids import GridSummary
from registry.storage.tables import grids


def tombstone(
    connection: Connection, grid_id: uuid.UUID, *, revision: int | None = None, expected: Sequence[str] | None = None
) -> GridSummary:
    """Put a tombstone on a grid and return its summary as it was.

    With `revision` or `expected`, only if the current revision is that one or one of these; else `PreconditionFailed`.
    """
    stored = lock_summary(connection, grid_id, expected)
    if revision is not None and revision != stored.revision:
        raise PreconditionFailed(f"The grid is at revision {stored.revision}, not {revision}.")
    project_id = connection.execute(
        update(grids)
        .where(grids.c.id == grid_id)
        .values(deleted_at=func.now(), updated_at=func.now())
        .returning(grids.c.project_id)
    ).scalar_one()
    invalidate_scopes(connection, project_id, {(stored.names.experiment, stored.names.metric): [grid_id]})
    return stored
