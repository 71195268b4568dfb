"""Trends of the gap between two grids along an axis.

The slope is the median of all slopes between two cells of one series (Hirsch, Slack and Smith 1982, section 4), its
interval that of Gilbert (1987), Statistical Methods for Environmental Pollution Monitoring, section 16.4.2: Sen's,
with the variances of S summed over the series; it is left out where no ordering could have been significant, for it
would not cover. With one series both are Theil and Sen's. The test is the stratified
Mann–Kendall test with its exact null law, so that ragged rows cannot make a trend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from registry.grids.grid import Axis
from registry.results.gaps import GapTrend, SeriesGap
from registry.results.terms import Interval
from workers.statistics.grid_trend import stratified
from workers.statistics.kendall import couples, mann_kendall, tie_pattern, variance
from workers.statistics.matching import Matched
from workers.statistics.series import MOST_POINTS
from workers.statistics.slopes import LONGEST, theil_sen
from workers.statistics.table import abscissa_of, place_of
from workers.statistics.terms import FloatArray, IntArray

MOST_SLOPES = 2_000_000
"""Slopes between two cells of which a median is taken; series beyond are left out of the slope."""
MOST_SERIES = 200
"""Series that an answer lists for an axis; all of them count."""


@dataclass(frozen=True)
class Row:
    """One series: its first cell's index, its abscissae in increasing order, and the gaps there in ticks."""

    first: int
    x: FloatArray
    ticks: IntArray


def gap_trends(found: Matched, alpha: float) -> tuple[GapTrend, ...]:
    """One for each axis with an order, in the order of the axes."""
    return tuple(gap_trend(found, i, alpha) for i, axis in enumerate(found.axes) if axis.ordered)


def gap_trend(found: Matched, place: int, alpha: float) -> GapTrend:
    """The trend along one axis."""
    axis, (numbers, scale) = found.axes[place], abscissa_of(found.axes[place])
    rows = rows_along(found, place, numbers)
    if not rows:
        return GapTrend(axis.name, scale, "insufficient", 0, reason="no series has two common cells")
    test = stratified([row.ticks for row in rows], alpha)
    slope, interval, used = common_slope(rows, found.decimals, 1 - alpha)
    return GapTrend(
        axis.name,
        scale,
        test.status,
        len(rows),
        slope,
        interval if test.status == "ok" else None,
        used,
        test,
        tuple(series_gap(found, place, row, alpha) for row in rows[:MOST_SERIES]),
        max(0, len(rows) - MOST_SERIES),
        test.reason,
    )


def rows_along(found: Matched, place: int, numbers: FloatArray) -> list[Row]:
    """The series with two common cells or more, up to `MOST_POINTS` cells together."""
    others = [i for i in range(len(found.axes)) if i != place]
    sequence = np.lexsort([found.positions[:, i] for i in (place, *reversed(others))])
    at = found.positions[sequence]
    starts = np.ones(found.count, dtype=np.bool_)
    starts[1:] = (at[1:, others] != at[:-1, others]).any(axis=1)
    rows, left = [], MOST_POINTS
    for cells in np.split(sequence, np.flatnonzero(starts)[1:]):
        if cells.size > 1:
            left -= int(cells.size)
            if left < 0:
                break
            rows.append(Row(int(cells[0]), numbers[found.positions[cells, place]], found.gaps[cells]))
    return rows


def series_gap(found: Matched, place: int, row: Row, alpha: float) -> SeriesGap:
    """One series by itself."""
    line = theil_sen(row.x, row.ticks / 10.0**found.decimals, row.ticks, 1 - alpha)
    axes: list[tuple[int, Axis]] = [(i, axis) for i, axis in enumerate(found.axes) if i != place]
    at = {axis.name: place_of(axis, int(found.positions[row.first, i])) for i, axis in axes}
    test = mann_kendall(row.ticks, alpha)
    return SeriesGap(at, int(row.x.size), line.slope, line.interval if test.status == "ok" else None, test)


def common_slope(rows: Sequence[Row], decimals: int, level: float) -> tuple[float, Interval, int]:
    """The median slope within series, its interval, and how many series it was taken over."""
    slopes: list[FloatArray] = []
    spread, size = 0.0, 0
    for row in rows:
        chosen = np.linspace(0, row.x.size - 1, min(int(row.x.size), LONGEST)).astype(np.int64)
        x, ticks = row.x[chosen], row.ticks[chosen]
        i, j = couples(int(x.size))
        size += int(i.size)
        if size > MOST_SLOPES:
            break
        slopes.append((ticks[j] - ticks[i]) / 10.0**decimals / (x[j] - x[i]))
        spread += variance(int(x.size), tie_pattern(ticks))
    ordered = np.sort(np.concatenate(slopes))
    reach = float(ndtri(0.5 + level / 2)) * math.sqrt(spread)
    high = min(round((ordered.size + reach) / 2), ordered.size - 1)
    low = max(round((ordered.size - reach) / 2) - 1, 0)
    return float(np.median(ordered)), Interval(level, float(ordered[low]), float(ordered[high])), len(slopes)
