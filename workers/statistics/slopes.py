"""Slopes of a series on the axis values: Theil–Sen with Sen's interval, and least squares.

Theil (1950); Sen (1968), JASA 63, 1379-1389: eq. 2.6 gives the variance behind the interval. The ends agree with
`scipy.stats.theilslopes(method="separate")`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from registry.results.terms import Interval
from registry.results.trend_tests import OrdinaryLeastSquares
from workers.statistics.kendall import min_attainable, tie_pattern, variance
from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray

LONGEST = 500
"""Points that a Theil–Sen slope looks at; of a longer series it takes this many at even distances."""


@dataclass(frozen=True, slots=True)
class TheilSen:
    """The median of all pairwise slopes, in the metric's unit per unit of the abscissa. The interval is `None`, with
    the `reason`, where no ordering of the values could have had a p below alpha: of 3 points in a line it would be
    as narrow as one point and hold the truth in two cases of three."""

    slope: float | None
    intercept: float | None
    interval: Interval | None
    points_used: int
    reason: str | None = None


def theil_sen(x: FloatArray, y: FloatArray, ticks: IntArray, level: float = 0.95) -> TheilSen:
    """The slope of m points with increasing x; all `None` for a single point."""
    if x.size < 2:
        return TheilSen(None, None, None, int(x.size), "one point has no slope")
    chosen = np.linspace(0, x.size - 1, min(int(x.size), LONGEST)).astype(np.int64)
    x, y, ticks = x[chosen], y[chosen], ticks[chosen]
    i, j = couples(int(x.size))
    slopes = np.sort((y[j] - y[i]) / (x[j] - x[i]))
    slope = float(np.median(slopes))
    reach = float(ndtri(0.5 + level / 2)) * math.sqrt(variance(int(x.size), tie_pattern(ticks)))
    high = min(round((slopes.size + reach) / 2), slopes.size - 1)
    low = max(round((slopes.size - reach) / 2) - 1, 0)
    intercept = float(np.median(y) - slope * np.median(x))
    if np.ptp(ticks) == 0:
        return TheilSen(slope, intercept, None, int(x.size), "every value is the same")
    if min_attainable(int(x.size), tie_pattern(ticks)) >= 1 - level:
        return TheilSen(slope, intercept, None, int(x.size), few(int(x.size), level))
    return TheilSen(slope, intercept, Interval(level, float(slopes[low]), float(slopes[high])), int(x.size))


def few(count: int, level: float) -> str:
    """Why so few values have no interval of their slope."""
    alpha = round(1 - level, 12)
    return f"no ordering of {count} such values has a p below {alpha:g}, so {100 * level:g} % cannot be kept"


@lru_cache(maxsize=64)
def couples(size: int) -> tuple[IntArray, IntArray]:
    """All pairs i < j of so many points."""
    i, j = np.triu_indices(size, 1)
    return i.astype(np.int64), j.astype(np.int64)


def least_squares(x: FloatArray, y: FloatArray, level: float = 0.95) -> OrdinaryLeastSquares:
    """Fits a line. Two points determine it and leave no p; a constant or perfectly straight series has none."""
    count = int(x.size)
    if count < 2:
        return OrdinaryLeastSquares("insufficient", reason="one point has no slope")
    dx, dy = x - x.mean(), y - y.mean()
    sxx, syy, sxy = float(dx @ dx), float(dy @ dy), float(dx @ dy)
    slope = sxy / sxx
    intercept = float(y.mean() - slope * x.mean())
    if np.ptp(y) == 0:
        return OrdinaryLeastSquares("undefined", 0.0, float(y[0]), reason="every value is the same")
    if count == 2:
        return OrdinaryLeastSquares("insufficient", slope, intercept, reason="two points leave no residual")
    r2 = min(1.0, sxy * sxy / (sxx * syy)) if syy else 1.0
    if 1 - r2 < 1e-14:
        return OrdinaryLeastSquares("undefined", slope, intercept, 0.0, 1.0, reason="the points leave no residual")
    stderr = math.sqrt((1 - r2) * syy / sxx / (count - 2))
    p = max(SMALLEST_P, 2 * float(stdtr(count - 2, -abs(slope) / stderr)))
    reach = float(stdtrit(count - 2, 0.5 + level / 2)) * stderr
    return OrdinaryLeastSquares("ok", slope, intercept, stderr, r2, p, Interval(level, slope - reach, slope + reach))
