"""Look up what a comparison, a gate or a plan asks of two grids before workers do: their revisions and counts."""

import math
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, literal, select

from registry.errors import Fault, Invalid, NotFound
from registry.grids.intake import Submission
from registry.storage.item_outcomes import marks_of
from registry.storage.keys import among, of_grid
from registry.storage.rows import content_of
from registry.storage.tables import grids, revisions

MOST_UNPUBLISHED = 20_000
"""Cells of a grid that is compared or judged without being stored."""


def unpublished(submission: Submission) -> dict[str, Any]:
    """A grid that is not stored, as a question carries it; `Invalid` where it is too large for one."""
    if len(submission.grid.values) > MOST_UNPUBLISHED:
        raise Invalid([Fault("", f"at most {MOST_UNPUBLISHED:,} cells are compared without being published")])
    return content_of(submission.grid, asdict(submission.names))


def revision_of(
    connection: Connection, project_id: uuid.UUID, grid_id: uuid.UUID, number: int | None
) -> tuple[int, int]:
    """Number of a grid's revision, by default the current one, and the mark of its outcomes of items; `NotFound` if the
    project has no such grid, or the grid no such revision."""
    wanted = grids.c.revision if number is None else literal(number)
    query = (
        select(grids.c.id, revisions.c.number)
        .outerjoin(revisions, of_grid(revisions) & (revisions.c.number == wanted))
        .where(grids.c.id == grid_id, grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"The project has no grid {grid_id}.")
    if row.number is None:
        raise NotFound(f"The grid {grid_id} has no revision {number}.")
    one = grid_id, int(row.number)
    return one[1], marks_of(connection, [one]).get(one, 0)


Revision = tuple[str, int]
"""The id of a grid, and the number of one of its revisions."""


def cell_means(
    connection: Connection, wanted: Iterable[Revision]
) -> tuple[Mapping[Revision, float], Mapping[Revision, float], Mapping[Revision, float]]:
    """Mean trials, mean repeats, and mean values, of the cells of each of these revisions that have any."""
    names = ("grid_id", "number", "trials", "cell_trials", "repeats", "values")
    columns = [revisions.c[name] for name in names]
    trials, repeats, values = dict[Revision, float](), dict[Revision, float](), dict[Revision, float]()
    if asked := list(wanted):
        for row in connection.execute(select(*columns).join(grids, of_grid(revisions)).where(*among(asked))):
            each = [row.trials] if row.cell_trials is None else row.cell_trials
            counted = [
                (found, [n for n in counts if n]) for found, counts in ((trials, each), (repeats, row.repeats or ()))
            ]
            for found, known in (*counted, (values, [value for value in row[-1] if value is not None])):
                if known:
                    found[str(row.grid_id), row.number] = math.fsum(known) / len(known)
    return trials, repeats, values
