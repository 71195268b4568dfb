"""Coverage of a grid: the cells that were measured, and the parts into which they fall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from registry.results.coverage import AxisCoverage, Coverage, LevelCoverage
from registry.results.terms import Place
from workers.statistics.table import Table, by_level
from workers.statistics.terms import MOST_WRITTEN_LEVELS, BoolArray, IntArray

MOST_LEVELS = 100
"""Levels of an axis up to which pairwise overlaps, and levels in all up to which components, are written out."""
MOST_COMPONENT_LEVELS = 1_000
MOST_HOLES = 100
"""Holes of a level that are written out; `hole_count` counts them all."""


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
    rows = by_level(table.present, place)
    counts = rows.sum(axis=1).tolist()
    names = table.levels[place]
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


def other_places(table: Table, place: int) -> Sequence[Place] | None:
    """The levels of the only other axis, if there is exactly one."""
    if len(table.axes) != 2:
        return None
    return table.levels[1 - place]


def level_coverage(name: Place, row: BoolArray, count: int, others: Sequence[Place] | None) -> LevelCoverage:
    """One level from its row of measured flags."""
    if others is None or count == 0:
        return LevelCoverage(name, count, None, None, (), 0)
    if count == row.size:
        return LevelCoverage(name, count, others[0], others[-1], (), 0)
    found = np.flatnonzero(row)
    first, last = int(found[0]), int(found[-1])
    holes = (np.flatnonzero(~row[first:last]) + first).tolist() if count < last - first + 1 else []
    return LevelCoverage(
        name, count, others[first], others[last], tuple(others[i] for i in holes[:MOST_HOLES]), len(holes)
    )


def overlap(rows: BoolArray) -> tuple[tuple[int, ...], ...]:
    """Number of coordinates that each two levels share."""
    counted = rows.astype(np.float64)
    return tuple(map(tuple, (counted @ counted.T).astype(np.int64).tolist()))


def components(table: Table) -> tuple[int, tuple[Mapping[str, tuple[Place, ...]], ...] | None]:
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
            axis.name: tuple(levels[p] for p in np.flatnonzero(part == label).tolist())
            for axis, levels, part in zip(table.axes, table.levels, np.split(labels, offsets[1:-1]), strict=True)
        }
        for label in order
    )


def component_labels(table: Table) -> IntArray:
    """A label for every level of every axis in turn, -1 for a level without a cell.

    On a single axis nothing has to be told apart: all measured levels are one component.
    """
    if len(table.axes) == 1:
        return np.where(table.present, 0, -1).astype(np.int64)
    if table.cells and table.present.all():
        return np.zeros(sum(table.values.shape), dtype=np.int64)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    offsets = np.cumsum([0, *table.values.shape])
    at = np.nonzero(table.present)
    # Each cell links its levels. Edges from its first level to all others (and itself) suffice; a complete graph of
    # them would connect no more.
    joined = [at[0]] * len(at)
    nodes = [index + offsets[i] for i, index in enumerate(at)]
    size = int(offsets[-1])
    rows, columns = np.concatenate(joined), np.concatenate(nodes)
    edges = coo_array((np.ones(rows.size, dtype=np.int32), (rows, columns)), shape=(size, size))
    _, labels = connected_components(edges, directed=False)
    used = np.zeros(size, dtype=np.bool_)
    used[columns] = True
    return np.where(used, labels, -1).astype(np.int64)
