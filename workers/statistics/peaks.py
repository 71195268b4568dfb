"""The best cells of a grid, with their ties: everywhere and on each level of each axis."""

from __future__ import annotations

import numpy as np

from registry.results.peaks import Best, LevelBest, Peaks, RunnerUp
from registry.results.terms import Place
from workers.statistics.table import Table, by_level, position_of
from workers.statistics.terms import MOST_WRITTEN_LEVELS, BoolArray, IntArray

MOST_TIES = 100
"""Tied coordinates that are written out; `ties` counts them all."""


def peaks(table: Table) -> Peaks:
    """The peaks of a grid; on a tie all cells are peaks."""
    if table.metric.direction is None:
        return Peaks("undefined", reason="the metric has no better end")
    if table.cells == 0:
        return Peaks("insufficient", reason="no cell was measured")
    goodness = -table.ticks if table.metric.direction == "lower" else table.ticks
    floor = int(goodness[table.present].min()) - 1
    height = np.where(table.present, goodness, floor)
    top = int(height.max())
    best = best_of(table, height == top)
    by = {axis.name: level_bests(table, height, floor, place) for place, axis in enumerate(table.axes)}
    return Peaks("ok", best, runner_up(table, height, floor), by)


def best_of(table: Table, mask: BoolArray) -> Best:
    """The cells of a mask, which all have one value."""
    value, at, ties = cells_of(table, mask)
    return Best(value, at, ties)


def cells_of(table: Table, mask: BoolArray) -> tuple[float, tuple[dict[str, Place], ...], int]:
    """The first of the tied values, the coordinates, and how many there are."""
    flat = np.flatnonzero(mask)
    at = tuple(table.places_at(i) for i in flat[:MOST_TIES].tolist())
    return float(table.values.flat[flat[0]]), at, int(flat.size)


def runner_up(table: Table, height: IntArray, floor: int) -> RunnerUp | None:
    """The next distinct value below the peak."""
    rest = height[(height < height.max()) & (height > floor)]
    if rest.size == 0:
        return None
    value, at, ties = cells_of(table, height == rest.max())
    gap = int(height.max() - rest.max()) / 10.0**table.decimals
    return RunnerUp(value, at, ties, gap)


def level_bests(table: Table, height: IntArray, floor: int, place: int) -> tuple[LevelBest, ...]:
    """The best cells on every measured level of an axis."""
    rows, values = by_level(height, place), by_level(table.values, place)
    tops = rows.max(axis=1)
    found = []
    for level in np.flatnonzero(tops > floor)[:MOST_WRITTEN_LEVELS].tolist():
        flat = np.flatnonzero(rows[level] == tops[level])
        at = tuple(level_places(table, place, level, int(i)) for i in flat[:MOST_TIES])
        found.append(LevelBest(table.levels[place][level], float(values[level, flat[0]]), at, int(flat.size)))
    return tuple(found)


def level_places(table: Table, place: int, level: int, flat: int) -> dict[str, Place]:
    """The coordinate of a cell on a level, from its flat position among the other axes."""
    position = list(position_of(flat, [size for i, size in enumerate(table.values.shape) if i != place]))
    position.insert(place, level)
    return table.places(tuple(position))
