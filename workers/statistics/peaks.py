"""The best cells of a grid, with their ties: everywhere and on each level of each axis."""

from __future__ import annotations

from itertools import islice

import numpy as np

from registry.results.peaks import Best, LevelBest, Peaks, RunnerUp
from registry.results.terms import Place
from workers.statistics.table import Table, by_level
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
    return float(table.values.flat[flat[0]]), tuple(table.places_at(flat[:MOST_TIES])), int(flat.size)


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
    rows, cells = by_level(height, place), by_level(np.arange(height.size).reshape(height.shape), place)
    tops = rows.max(axis=1)
    levels = np.flatnonzero(tops > floor)[:MOST_WRITTEN_LEVELS]
    level, column = np.nonzero(rows[levels] == tops[levels, None])
    flat, ties = cells[levels][level, column], np.bincount(level, minlength=levels.size)
    starts = np.cumsum(ties) - ties
    written = np.arange(flat.size) - starts[level] < MOST_TIES
    places = iter(table.places_at(flat[written]))
    values = table.values.ravel()[flat[starts]].tolist()
    names = [table.levels[place][i] for i in levels.tolist()]
    return tuple(
        LevelBest(name, value, tuple(islice(places, min(count, MOST_TIES))), count)
        for name, value, count in zip(names, values, ties.tolist(), strict=True)
    )
