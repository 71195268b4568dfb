"""What some cells of a grid were at each of its revisions."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from registry.errors import Fault, Invalid
from registry.grids.grid import Cell, Grid
from registry.grids.slices import Slice, sliced
from registry.operations.query_names import check_slice_of_grid
from registry.operations.read import find_grid, placed
from registry.operations.stored_grids import StoredGrid, stored_grid

MOST_CELLS = 1_000
"""Cells of one revision that a history is about."""
_MOST_READ = 2_000_000
"""Cells that are read for one page of it."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A revision, with the measured cells of the slice: coordinates as levels are sent."""

    stored: StoredGrid
    cells: list[tuple[dict[str, Any], Cell]]


def read_history(
    connection: Connection, grid_id: uuid.UUID, current: int, wanted: Slice, before: int | None, limit: int
) -> tuple[list[Recorded], bool]:
    """The newest `limit` revisions below `before`, newest first, cut to a slice, and whether there are older ones.

    Of very large grids fewer are read. `Invalid` when the current revision has nothing of the slice, or more than
    `MOST_CELLS` cells of it.
    """
    if wanted:
        check_slice_of_grid(connection, grid_id, current, wanted)
    first = min(current, (before or current + 1) - 1)
    found: list[Recorded] = []
    read, number = 0, first
    while number > 0 and len(found) < limit and read < _MOST_READ:
        stored = stored_grid(find_grid(connection, grid_id, number))
        found.append(Recorded(stored, _cells(sliced(stored.grid, wanted))))
        read += len(stored.grid.values)
        number -= 1
    return found, number > 0


def _cells(grid: Grid | None) -> list[tuple[dict[str, Any], Cell]]:
    if grid is None:  # an axis or a level of the slice came with a later revision
        return []
    if len(grid.values) > MOST_CELLS:
        most = f"{MOST_CELLS:,}"
        raise Invalid([Fault("", f"is about {len(grid.values):,} cells; choose at most {most} with at.<axis>=<level>")])
    return list(_measured(grid))


def _measured(grid: Grid) -> Iterator[tuple[dict[str, Any], Cell]]:
    return (placed(grid, index) for index, value in enumerate(grid.values) if value is not None)
