"""Which cells of a grid were measured, and whether what was measured hangs together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workers.statistics.table import Place, Table, by_level, place_of
from workers.statistics.terms import MOST_WRITTEN_LEVELS, BoolArray, IntArray, Status

MOST_LEVELS = 100
"""Levels of an axis up to which pairwise overlaps, and levels in all up to which components, are written out."""
MOST_COMPONENT_LEVELS = 1_000
MOST_HOLES = 100
"""Holes of a level that are written out; `hole_count` counts them all."""


@dataclass(frozen=True, slots=True)
class LevelCoverage:
    """How much of one level was measured. On a grid of two axes `first`, `last` and the `holes` between them
    are levels of the other axis; on other grids they are `None` and empty."""

    level: Place
    count: int
    first: Place | None
    last: Place | None
    holes: tuple[Place, ...]
    hole_count: int


@dataclass(frozen=True, slots=True)
class AxisCoverage:
    """The levels of an axis: each one's coverage, those without a cell, those without a gap.

    The first thousand levels are written out one by one, the others counted.
    `overlap[i][j]` is the number of coordinates that levels i and j both have; `None` above 100 levels.
    """

    levels: tuple[LevelCoverage, ...]
    levels_left_out: int
    empty: tuple[Place, ...]
    complete: tuple[Place, ...]
    overlap: list[list[int]] | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """Cells measured and possible. Levels that share a cell are connected; `components` are written out up to
    a thousand levels, and levels without a cell belong to none. Effects of unconnected levels cannot be told apart.
    """

    status: Status
    cells: int
    possible: int
    fraction: float | None
    by: dict[str, AxisCoverage]
    component_count: int
    components: tuple[dict[str, list[Place]], ...] | None
    reason: str | None = None


def coverage(table: Table) -> Coverage:
    """The coverage of a grid of any number of axes."""
    cells, possible = table.cells, int(table.values.size)
    count, parts = components(table)
    return Coverage(
        status="ok" if cells else "insufficient",
        cells=cells,
        possible=possible,
        fraction=cells / possible if possible else None,
        by={axis.name: axis_coverage(table, place) for place, axis in enumerate(table.axes)},
        component_count=count,
        components=parts,
        reason=None if cells else "no cell was measured",
    )


def axis_coverage(table: Table, place: int) -> AxisCoverage:
    """One axis, its levels in their order."""
    axis = table.axes[place]
    rows = by_level(table.present, place)
    counts = rows.sum(axis=1).tolist()
    names = [place_of(axis, i) for i in range(len(axis.levels))]
    others = other_places(table, place)
    written = min(len(names), MOST_WRITTEN_LEVELS)
    levels = tuple(level_coverage(names[i], rows[i], counts[i], others) for i in range(written))
    return AxisCoverage(
        levels,
        len(names) - written,
        tuple(name for name, count in zip(names, counts, strict=True) if count == 0),
        tuple(name for name, count in zip(names, counts, strict=True) if count and count == rows.shape[1]),
        overlap(rows) if len(names) <= MOST_LEVELS else None,
    )


def other_places(table: Table, place: int) -> list[Place] | None:
    """The levels of the only other axis, if there is exactly one."""
    if len(table.axes) != 2:
        return None
    other = table.axes[1 - place]
    return [place_of(other, i) for i in range(len(other.levels))]


def level_coverage(name: Place, row: BoolArray, count: int, others: list[Place] | None) -> LevelCoverage:
    """One level from its row of measured flags."""
    if others is None or count == 0:
        return LevelCoverage(name, count, None, None, (), 0)
    found = np.flatnonzero(row)
    first, last = int(found[0]), int(found[-1])
    holes = (np.flatnonzero(~row[first:last]) + first).tolist() if count < last - first + 1 else []
    return LevelCoverage(
        name, count, others[first], others[last], tuple(others[i] for i in holes[:MOST_HOLES]), len(holes)
    )


def overlap(rows: BoolArray) -> list[list[int]]:
    """How many coordinates each two levels share."""
    counted = rows.astype(np.float64)
    result: list[list[int]] = (counted @ counted.T).astype(np.int64).tolist()
    return result


def components(table: Table) -> tuple[int, tuple[dict[str, list[Place]], ...] | None]:
    """Connected components of the levels, each as axis name -> levels, largest in levels first."""
    if not table.axes:
        return table.cells, () if not table.cells else ({},)
    labels = component_labels(table)
    sizes = np.unique(labels[labels >= 0], return_counts=True)
    count = int(sizes[0].size)
    if labels.size > MOST_COMPONENT_LEVELS:
        return count, None
    order = [int(sizes[0][i]) for i in np.argsort(-sizes[1], kind="stable")]
    offsets = np.cumsum([0, *table.values.shape])
    return count, tuple(
        {
            axis.name: [place_of(axis, int(p)) for p in np.flatnonzero(part == label)]
            for axis, part in zip(table.axes, np.split(labels, offsets[1:-1]), strict=True)
        }
        for label in order
    )


def component_labels(table: Table) -> IntArray:
    """A label for every level of every axis in turn, -1 for a level without a cell.

    On a single axis nothing has to be told apart: all measured levels are one component.
    """
    if len(table.axes) == 1:
        return np.where(table.present, 0, -1).astype(np.int64)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    offsets = np.cumsum([0, *table.values.shape])
    at = np.nonzero(table.present)
    joined = [at[0]] * len(at)
    nodes = [index + offsets[i] for i, index in enumerate(at)]
    size = int(offsets[-1])
    rows, columns = np.concatenate(joined), np.concatenate(nodes)
    edges = coo_array((np.ones(rows.size, dtype=np.int32), (rows, columns)), shape=(size, size))
    _, labels = connected_components(edges, directed=False)
    used = np.zeros(size, dtype=np.bool_)
    used[columns] = True
    return np.where(used, labels, -1).astype(np.int64)
