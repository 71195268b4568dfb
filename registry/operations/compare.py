"""Look up what a comparison, a gate or a plan asks of two grids before workers do: their revisions, trials and
noise."""

import math
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, literal, select

from registry.errors import Fault, Invalid, NotFound
from registry.grids.grid import Grid
from registry.grids.intake import Submission
from registry.plans.noise import with_effect
from registry.plans.reachable import gate_error, is_exact
from registry.storage.item_outcomes import marks_of
from registry.storage.keys import among, of_grid
from registry.storage.rows import content_of, grid_of
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


def mean_trials(connection: Connection, wanted: Iterable[Revision]) -> Mapping[Revision, float]:
    """Mean trials of a measured cell of each of these revisions, of those that have any."""
    query = select(revisions.c.grid_id, revisions.c.number, revisions.c.trials, revisions.c.cell_trials)
    asked = list(wanted)
    if not asked:
        return {}
    rows = connection.execute(query.join(grids, of_grid(revisions)).where(*among(asked)))
    found = dict[Revision, float]()
    for row in rows:
        each = [row.trials] if row.cell_trials is None else row.cell_trials
        if known := [count for count in each if count is not None]:
            found[str(row.grid_id), row.number] = math.fsum(known) / len(known)
    return found


@dataclass(frozen=True, slots=True)
class PairNoise:
    """What is known of the noise of the common cells of two revisions: whether some cell has none, and the standard
    error of the mean of their differences, 0 where no cell has any and None where that of some cell is unknown; the
    mean number of repeats of those that have any."""

    some_exact: bool
    stderr: float | None
    repeats: float | None


def noise_of_pairs(connection: Connection, pairs: Iterable[tuple[Revision, Revision]]) -> list[PairNoise]:
    """The noise of each pair; as a gate takes it, which a comparison does not where some cell has none."""
    asked = list(pairs)
    wanted = {one for pair in asked for one in pair}
    query = select(revisions).join(grids, of_grid(revisions)).where(*among(wanted))
    rows = connection.execute(query).all() if wanted else []
    found = {(str(row.grid_id), row.number): grid_of(row) for row in rows}
    return [_noise(found[mine], found[theirs]) for mine, theirs in asked]


def _noise(mine: Grid, theirs: Grid) -> PairNoise:
    mine, theirs = with_effect(mine, theirs), with_effect(theirs, mine)
    cells = _by_place(mine), _by_place(theirs)
    sides = [
        (grid, held[key])
        for key in cells[0].keys() & cells[1]
        for grid, held in zip((mine, theirs), cells, strict=True)
    ]
    exact = [is_exact(grid, place) for grid, place in sides]
    errors = [gate_error(grid, place) for grid, place in sides]
    known = [error for error in errors if error is not None]
    stderr = math.hypot(*known) / (len(sides) / 2) if known and len(known) == len(errors) else None
    repeats = [times for grid, place in sides if grid.repeats and (times := grid.repeats[place])]
    return PairNoise(any(exact), stderr, sum(repeats) / len(repeats) if repeats else None)


def _by_place(grid: Grid) -> dict[frozenset[tuple[str, str | float]], int]:
    found = {}
    for cell in grid.cells():
        levels = (axis.levels[i] for axis, i in zip(grid.axes, cell.at, strict=True))
        named = zip((axis.name for axis in grid.axes), levels, strict=True)
        key = frozenset((name, level.label if level.number is None else level.number) for name, level in named)
        found[key] = grid.index(cell.at)
    return found
