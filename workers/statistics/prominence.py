"""Prominence of the peaks of a grid over their neighbours."""

from __future__ import annotations

import numpy as np

from registry.results.peaks import Prominence
from workers.statistics.table import Table
from workers.statistics.terms import BoolArray

MOST_CELLS = 100
"""Peaks that are looked at."""


def prominences(table: Table) -> tuple[Prominence, ...] | None:
    """Every peak among its neighbours; `None` on a grid without an ordered axis."""
    if not any(axis.ordered for axis in table.axes):
        return None
    ticks = -table.ticks if table.metric.direction == "lower" else table.ticks
    top = int(ticks[table.present].max())
    peaks = np.argwhere(table.present & (ticks == top))[:MOST_CELLS]
    return tuple(prominence(table, tuple(int(p) for p in peak)) for peak in peaks)


def prominence(table: Table, peak: tuple[int, ...]) -> Prominence:
    """One peak against the cells around it."""
    window = tuple(
        slice(max(0, p - 1), p + 2) if axis.ordered else slice(p, p + 1)
        for axis, p in zip(table.axes, peak, strict=True)
    )
    around: BoolArray = table.present[window]
    count = int(np.count_nonzero(around)) - 1
    if count == 0:
        return Prominence(table.places(peak), 0, None, None)
    value = float(table.values[peak])
    mean = (float(table.values[window][around].sum()) - value) / count
    sign = -1.0 if table.metric.direction == "lower" else 1.0
    return Prominence(table.places(peak), count, mean, sign * (value - mean))
