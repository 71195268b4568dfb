"""Summary of a series before anything is inferred: its moments, ends and area."""

from __future__ import annotations

import numpy as np

from registry.results.series import Summary
from registry.results.terms import Interval
from workers.statistics.curves import Curves
from workers.statistics.terms import FloatArray, reach_of


def summaries(curves: Curves, whole: float | None, level: float = 0.95) -> list[Summary]:
    """The summary of each series with increasing x; the interval of a mean of proportions stays within 0 and the
    whole."""
    y, count, several = curves.y, curves.count, curves.count > 1
    squares = np.sum((y - curves.mean[:, None]) ** 2, axis=1)
    area = np.sum((curves.x[:, 1:] - curves.x[:, :-1]) * (y[:, 1:] + y[:, :-1]), axis=1) / 2
    columns = (
        curves.mean,
        np.sqrt(squares / (count - 1)) if several else None,
        y.min(axis=1),
        y.max(axis=1),
        y[:, 0],
        y[:, -1],
        y[:, -1] - y[:, 0],
        area / curves.span if several else None,
    )
    lists = [[None] * len(y) if column is None else column.tolist() for column in columns]
    rows = zip(*lists, mean_intervals(curves, squares, whole, level), strict=True)
    return [Summary(count, *row) for row in rows]


def mean_intervals(curves: Curves, squares: FloatArray, whole: float | None, level: float) -> list[Interval | None]:
    """The interval of the mean of m cells; `None` for a single cell without noise."""
    count, noise = curves.count, curves.noise
    if noise is None and count < 2:
        return [None] * len(curves)
    if noise is None:
        reach = reach_of(level, count - 1.0) * np.sqrt(squares / (count - 1) / count)
    else:
        deviates = np.array([reach_of(level, noise.df_of(row)) for row in range(len(curves))])
        reach = deviates * np.sqrt(np.sum(noise.error**2, axis=1)) / count
    low, high = curves.mean - reach, curves.mean + reach
    if whole is not None:
        low, high = np.maximum(low, 0.0), np.minimum(high, whole)
    return [Interval(level, *ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
