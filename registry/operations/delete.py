"""Delete a grid by a tombstone, and take the tombstone away. Its revisions stay; publishing the same identity restores
it too, with a new one."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, func, update

from registry.errors import NotFound, PreconditionFailed
from registry.operations.amend import lock_summary
from registry.operations.revisions import invalidate_scopes
from registry.operations.stored_grids import GridSummary, grid_summaries, grid_summary
from registry.storage.arrivals import of_grid
from registry.storage.tables import grids


@dataclass(frozen=True, slots=True)
class Restored:
    """A grid, and whether it had a tombstone."""

    stored: GridSummary
    was_deleted: bool


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
    told = [of_grid("grid.deleted", grid_id, stored.revision, asdict(stored.names))]
    invalidate_scopes(connection, project_id, {(stored.names.experiment, stored.names.metric): [grid_id]}, told)
    return stored


def restore(connection: Connection, grid_id: uuid.UUID) -> Restored:
    """Take the tombstone off a grid, which has the revisions that it had; one without a tombstone stays as it is.

    Raises `NotFound` for a grid that was purged or whose project is deleted.
    """
    changed = {"deleted_at": None, "updated_at": func.now()}
    here = (grids.c.id == grid_id, grids.c.deleted_at.is_not(None))
    project_id = connection.execute(update(grids).where(*here).values(changed).returning(grids.c.project_id)).scalar()
    row = connection.execute(grid_summaries().where(grids.c.id == grid_id)).one_or_none()
    if row is None:
        raise NotFound("There is no such grid.")
    stored = grid_summary(row)
    if project_id is not None:
        told = [of_grid("grid.restored", grid_id, stored.revision, asdict(stored.names))]
        invalidate_scopes(connection, project_id, {(stored.names.experiment, stored.names.metric): [grid_id]}, told)
    return Restored(stored, project_id is not None)
