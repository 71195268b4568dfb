"""Amend a grid while a job runs: add or replace cells. Each amendment makes a revision."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, select

from registry.errors import NotFound, PreconditionFailed
from registry.grids.intake import Limits
from registry.grids.intake import amend as amended
from registry.operations.publish import Published
from registry.operations.revisions import write_next_revision
from registry.operations.stored_grids import (
    GridSummary,
    StoredGrid,
    grid_summaries,
    grid_summary,
    stored_grid,
    stored_grids,
)
from registry.storage.tables import grids


def lock_grid(connection: Connection, grid_id: uuid.UUID, expected: Sequence[str] | None) -> StoredGrid:
    """Lock the row of a grid until the end of the transaction, and return its current revision.

    `expected`: the revision tags that the caller's `If-Match` allows; `PreconditionFailed` if the grid is at another.
    """
    found = stored_grid(_lock(connection, grid_id, stored_grids()))
    check_revision(found, expected)
    return found


def lock_summary(connection: Connection, grid_id: uuid.UUID, expected: Sequence[str] | None) -> GridSummary:
    """Like `lock_grid`, without the cells."""
    found = grid_summary(_lock(connection, grid_id, grid_summaries()))
    check_revision(found, expected)
    return found


def _lock(connection: Connection, grid_id: uuid.UUID, query: Select[Any]) -> Any:
    connection.execute(select(grids.c.id).where(grids.c.id == grid_id).with_for_update())
    row = connection.execute(query.where(grids.c.id == grid_id)).one_or_none()
    if row is None:
        raise NotFound("There is no such grid.")
    return row


def check_revision(found: GridSummary, expected: Sequence[str] | None) -> None:
    """Raise `PreconditionFailed` when the grid is at none of the expected revisions; with None any revision will do."""
    if expected is not None and "*" not in expected and found.revision_tag not in expected:
        raise PreconditionFailed(f"The grid is at revision {found.revision}; read it again.")


def amend(
    connection: Connection,
    grid_id: uuid.UUID,
    cells: Sequence[Mapping[str, Any]],
    limits: Limits,
    *,
    may_grow: bool = True,
    token_id: uuid.UUID | None = None,
    expected: Sequence[str] | None = None,
) -> Published:
    """Add or replace cells; unchanged content makes no revision. Raises `Invalid` and `PreconditionFailed`.

    `may_grow`: add the levels that the axes lack.
    """
    stored = lock_grid(connection, grid_id, expected)
    grid, new_warnings = amended(stored.grid, cells, limits, may_grow=may_grow)
    if grid.digest == stored.digest:
        return Published(stored, False)
    warnings = [warning.document() for warning in new_warnings]
    # The values are no longer those of the file that the revision before came from.
    return Published(
        write_next_revision(connection, stored, grid, warnings=warnings, source=None, token_id=token_id), True
    )
