"""Revisions to compare: two grids of one project, each at a revision and with the outcomes of items that it has."""

from __future__ import annotations

import uuid

from sqlalchemy import Connection, literal, select

from registry.errors import NotFound
from registry.storage.item_outcomes import mark_of
from registry.storage.keys import of_grid
from registry.storage.tables import grids, revisions


def revision_of(
    connection: Connection, project_id: uuid.UUID, grid_id: uuid.UUID, number: int | None
) -> tuple[int, int]:
    """Number of a grid's revision, by default the current one, and the mark of its outcomes of items; `NotFound` if the
    project has no such grid, or the grid no such revision."""
    wanted = grids.c.revision if number is None else literal(number)
    query = (
        select(grids.c.id, revisions.c.number, mark_of(grids.c.id, wanted).label("items"))
        .outerjoin(revisions, of_grid(revisions) & (revisions.c.number == wanted))
        .where(grids.c.id == grid_id, grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"The project has no grid {grid_id}.")
    if row.number is None:
        raise NotFound(f"The grid {grid_id} has no revision {number}.")
    return int(row.number), int(row.items)
