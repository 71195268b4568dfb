"""The cells of a grid above, at and below a level, and how many of them are surely there.

Each cell is tested against the level on either side, at alpha / 2m (Bonferroni over m cells and two sides), by the
binomial law or by z or t, as in `thresholds`. So with probability 1 - alpha or more no cell is called surely above
that is not, nor surely below: the number of cells whose truth is above lies between both counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from registry.results.terms import Interval
from registry.results.thresholds import LevelCounts
from workers.statistics.curves import RowNoise
from workers.statistics.noise import Noise
from workers.statistics.table import Table
from workers.statistics.table_noise import noise_at
from workers.statistics.terms import FloatArray
from workers.statistics.thresholds import sure


def level_counts(table: Table, levels: Sequence[float], alpha: float) -> list[LevelCounts]:
    """How many measured cells lie above, at and below each level; none of a grid without cells or of astronomic
    numbers."""
    flat = np.flatnonzero(table.present)
    if not flat.size or not table.computable:
        return []
    y = table.values.ravel()[flat]
    intervals = _intervals(y, noise_at(table, flat), levels, alpha)
    return [_counts(y, level, within) for level, within in zip(levels, intervals, strict=True)]


def _counts(y: FloatArray, level: float, within: Interval | None) -> LevelCounts:
    slack = max(1e-12 * float(np.abs(y).max()), 1e-12 * abs(level))
    above, below = int(np.count_nonzero(y - level > slack)), int(np.count_nonzero(level - y > slack))
    return LevelCounts(level, y.size, above, below, above / y.size, within)


def _intervals(y: FloatArray, noise: Noise | None, levels: Sequence[float], alpha: float) -> list[Interval | None]:
    if noise is None:
        return [None] * len(levels)
    over, under = sure(y[None], _as_row(noise), np.array(levels), alpha / (2 * y.size))
    return [
        Interval(1 - alpha, int(above.sum()), y.size - int(below.sum()))
        for above, below in zip(over[:, 0], under[:, 0], strict=True)
    ]


def _as_row(noise: Noise) -> RowNoise:
    """The noise of all cells as that of one row."""
    df = None if noise.df is None else np.array([noise.df])
    k, n = (None if one is None else one[None] for one in (noise.k, noise.n))
    return RowNoise(noise.kind, noise.error[None], df, k, n, noise.whole)
