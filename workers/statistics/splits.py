"""Series in two parts: the mean of the levels beyond a point less that of the levels up to it.

The errors of cells add in squares, and those of the means of both parts do, for no cell is in both. With repeats the
degrees of freedom are those of the pooled variance of a series, and of several series Satterthwaite's (1946).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from registry.results.series import Series
from registry.results.splits import Split
from registry.results.terms import Interval
from workers.statistics.curves import Curves
from workers.statistics.terms import reach_of


def splits(curves: Curves, at: float | None, level: float) -> list[Split | None]:
    """The split of each series at a number of its axis; `None` where it has no cell on one of the sides."""
    if at is None:
        return [None] * len(curves)
    return [_split(curves, row, at, level) for row in range(len(curves))]


def _split(curves: Curves, row: int, at: float, level: float) -> Split | None:
    numbers = [one for one in curves.places[row] if not isinstance(one, str)]
    later = np.array(numbers) > at
    if len(numbers) != curves.count or not later.any() or later.all():
        return None
    before, after = (float(curves.y[row][mask].mean()) for mask in (~later, later))
    noise = curves.noise
    if noise is None:
        return Split(curves.count, before, after, after - before)
    errors = [noise.error[row][mask] for mask in (~later, later)]
    error = math.hypot(*(float(np.sqrt(np.sum(one**2))) / one.size for one in errors))
    return _with_interval(curves.count, (before, after), error, noise.df_of(row), level)


def grid_splits(series: Iterable[Series], level: float) -> dict[str, Split]:
    """All series along each axis together, those that have cells on both sides; every one with the same weight."""
    by_axis: dict[str, list[Split]] = {}
    for one in series:
        if one.split is not None:
            by_axis.setdefault(one.along, []).append(one.split)
    return {along: _together(rows, level) for along, rows in by_axis.items()}


def _together(rows: Sequence[Split], level: float) -> Split:
    count = len(rows)
    before, after = math.fsum(one.before for one in rows) / count, math.fsum(one.after for one in rows) / count
    squares = [one.stderr**2 for one in rows if one.stderr is not None]
    if len(squares) < count:
        return Split(count, before, after, after - before)
    weight = math.fsum(square**2 / one.df for square, one in zip(squares, rows, strict=True) if one.df)
    df = math.fsum(squares) ** 2 / weight if weight > 0 else None
    return _with_interval(count, (before, after), math.sqrt(math.fsum(squares)) / count, df, level)


def _with_interval(count: int, means: tuple[float, float], error: float, df: float | None, level: float) -> Split:
    gap, reach = means[1] - means[0], reach_of(level, df) * error
    return Split(count, *means, gap, Interval(level, gap - reach, gap + reach), error, df)
