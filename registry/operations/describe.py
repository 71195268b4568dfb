"""Say something of a grid: its description, which belongs to the grid, and its labels, which belong to a revision."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, update

from registry.errors import PreconditionFailed
from registry.operations.amend import lock_grid, lock_summary
from registry.operations.labels import changed_labels
from registry.operations.publish import Published
from registry.operations.revisions import write_next_revision
from registry.operations.stored_grids import GridSummary
from registry.storage.tables import grids


def describe(
    connection: Connection,
    grid_id: uuid.UUID,
    changes: Mapping[str, Any],
    *,
    most_labels: int,
    token_id: uuid.UUID | None = None,
    expected: Collection[tuple[str, str]] | None = None,
) -> Published:
    """Change the description, the labels or both of a grid. Labels are content: others make a revision with the same
    values, warnings and source. What is as it was already changes nothing.

    `expected`: pairs of a revision tag and a description tag, one of which must be the grid's.
    Raises `NotFound`, `PreconditionFailed`, and `Invalid` for too many labels.
    """
    stored = lock_summary(connection, grid_id, None)
    if expected is not None and (stored.revision_tag, stored.description_tag) not in expected:
        raise PreconditionFailed(
            f"The grid is at revision {stored.revision}, its description may differ; read it again."
        )
    labels = changed_labels(stored.labels, changes.get("labels", {}), most_labels)
    description = changes.get("description", stored.description)
    is_described = description != stored.description
    if is_described:
        connection.execute(update(grids).where(grids.c.id == grid_id).values(description=description))
    if labels == stored.labels:
        return Published(replace(stored, description=description), False, is_described)
    return Published(_relabelled(connection, grid_id, labels, token_id), True, is_described)


def _relabelled(
    connection: Connection, grid_id: uuid.UUID, labels: dict[str, str], token_id: uuid.UUID | None
) -> GridSummary:
    """The grid with a next revision that has these labels."""
    stored = lock_grid(connection, grid_id, None)
    grid = replace(stored.grid, labels=labels)
    return write_next_revision(
        connection, stored, grid, warnings=stored.warnings, source=stored.source, token_id=token_id
    )
