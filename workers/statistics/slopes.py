"""Slopes of a series on the axis values: Theil–Sen with Sen's interval, and least squares.

Theil (1950); Sen (1968), JASA 63, 1379-1389: eq. 2.6 gives the variance behind the interval. The ends agree with
`scipy.stats.theilslopes(method="separate")`.

Cells with standard errors: inverse-variance weighted slope, Cochran's Q, tests of differences. Cochran (1954),
Biometrics 10, 101-129. Submitted errors are taken as known, and tails are normal or chi-squared. Errors that repeats
estimate have Student's t and F with the degrees of freedom of that estimate; a difference of two cells by themselves
has Welch's t (1947).

The change of a series from its first to its last abscissa, as a model sees it, with its interval. On the logit scale
the interval comes from those of the two fitted ends and their correlation: the method of variance estimates recovery
(Zou 2008, American Journal of Epidemiology 168, 212-224), which stays within the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, expit, fdtrc, ndtri, stdtr

from registry.results.terms import Interval
from registry.results.trend_tests import (
    FittedChange,
    Heterogeneity,
    HeterogeneityTest,
    OrdinaryLeastSquares,
    Weighted,
    WeightedTest,
)
from workers.statistics.curves import RowNoise
from workers.statistics.ranks import couples, min_attainable, tie_patterns, variance
from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray, detectable, reach_of, two_sided

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
    return theil_sens(x[None, :], y[None, :], ticks[None, :], level)[0]


def theil_sens(
    x: FloatArray, y: FloatArray, ticks: IntArray, level: float = 0.95, ties: Sequence[tuple[int, ...]] | None = None
) -> list[TheilSen]:
    """The same of each row, given the tie patterns of the rows if they are known."""
    points = int(x.shape[1])
    if points < 2:
        return [TheilSen(None, None, None, points, "one point has no slope")] * len(x)
    if points > LONGEST:
        chosen = np.linspace(0, points - 1, LONGEST).astype(np.int64)
        x, y, ticks, ties, points = x[:, chosen], y[:, chosen], ticks[:, chosen], None, LONGEST
    i, j = couples(points)
    slopes = np.sort((y[:, j] - y[:, i]) / (x[:, j] - x[:, i]), axis=1)
    slope = medians(slopes)
    intercept = (medians(np.sort(y, axis=1)) - slope * medians(np.sort(x, axis=1))).tolist()
    patterns = tie_patterns(ticks) if ties is None else ties
    ends = [_ends_of(points, pattern, level) for pattern in patterns]
    rows = np.arange(len(x))
    low = slopes[rows, np.array([first for first, _, _ in ends])].tolist()
    high = slopes[rows, np.array([last for _, last, _ in ends])].tolist()
    return [
        TheilSen(one, intercept[row], Interval(level, low[row], high[row]) if reason is None else None, points, reason)
        for row, (one, (_, _, reason)) in enumerate(zip(slope.tolist(), ends, strict=True))
    ]


@lru_cache(maxsize=4_096)
def _ends_of(points: int, ties: tuple[int, ...], level: float) -> tuple[int, int, str | None]:
    """Indices of the sorted slopes that are the ends of the interval, or why it has none."""
    pairs = points * (points - 1) // 2
    reach = float(ndtri(0.5 + level / 2)) * math.sqrt(variance(points, ties))
    high = min(round((pairs + reach) / 2), pairs - 1)
    low = max(round((pairs - reach) / 2) - 1, 0)
    if ties == (points,):
        return low, high, "every value is the same"
    return low, high, few(points, level) if min_attainable(points, ties) >= 1 - level else None


def medians(ordered: FloatArray) -> FloatArray:
    """The median of each row of sorted values."""
    middle = ordered.shape[1] // 2
    if ordered.shape[1] % 2:
        return ordered[:, middle]
    return (ordered[:, middle - 1] + ordered[:, middle]) / 2


def few(count: int, level: float) -> str:
    """Reason why so few values have no interval of their slope."""
    alpha = round(1 - level, 12)
    return f"no ordering of {count} such values has a p below {alpha:g}, so {100 * level:g} % cannot be kept"


def least_squares(x: FloatArray, y: FloatArray, level: float = 0.95) -> list[OrdinaryLeastSquares]:
    """Fits a line to each row. Two points determine it and leave no p; a constant or perfectly straight series has
    none."""
    count = int(x.shape[1])
    if count < 2:
        return [OrdinaryLeastSquares("insufficient", reason="one point has no slope")] * len(x)
    x_mean, y_mean = x.mean(axis=1), y.mean(axis=1)
    dx, dy = x - x_mean[:, None], y - y_mean[:, None]
    sxx, syy, sxy = (np.sum(product, axis=1) for product in (dx * dx, dy * dy, dx * dy))
    slope = sxy / sxx
    intercept = y_mean - slope * x_mean
    constant = y.max(axis=1) == y.min(axis=1)
    known = np.where(syy > 0, sxx * syy, 1.0)
    r2 = np.where(syy > 0, np.minimum(1.0, sxy * sxy / known), 1.0)
    straight = 1 - r2 < 1e-14
    stderr = np.sqrt((1 - r2) * syy / sxx / max(count - 2, 1))
    t = np.abs(slope) / np.where(straight, 1.0, stderr)
    p = np.maximum(SMALLEST_P, 2 * stdtr(max(count - 2, 1), -t))
    reach = reach_of(level, float(max(count - 2, 1))) * stderr
    columns = (slope, intercept, stderr, r2, p, slope - reach, slope + reach, y[:, 0], constant, straight)
    rows = zip(*(np.asarray(column).tolist() for column in columns), strict=True)
    return [_described(_Line(*row), count, level) for row in rows]


class _Line(NamedTuple):
    """A least-squares line, and whether its points are all the same or all on it."""

    slope: float
    intercept: float
    stderr: float
    r2: float
    p: float
    low: float
    high: float
    first: float
    constant: bool
    straight: bool


def _described(line: _Line, count: int, level: float) -> OrdinaryLeastSquares:
    slope, intercept = line.slope, line.intercept
    if line.constant:
        return OrdinaryLeastSquares("undefined", 0.0, line.first, reason="every value is the same")
    if count == 2:
        return OrdinaryLeastSquares("insufficient", slope, intercept, reason="two points leave no residual")
    if line.straight:
        return OrdinaryLeastSquares("undefined", slope, intercept, 0.0, 1.0, reason="the points leave no residual")
    interval = Interval(level, line.low, line.high)
    return OrdinaryLeastSquares("ok", slope, intercept, line.stderr, line.r2, line.p, interval)


def weighted_slope(
    x: FloatArray, y: FloatArray, noise: RowNoise, level: float = 0.95
) -> list[tuple[Weighted, FittedChange | None]]:
    """Weighs each of the m cells of a row by 1 / error^2, and what that makes of the change from end to end; two cells
    suffice, because the errors do not come from how they scatter."""
    if x.shape[1] < 2:
        return [(Weighted("insufficient", reason="one point has no slope"), None)] * len(x)
    least = noise.error.min(axis=1)
    weight = (least[:, None] / noise.error) ** 2
    total = weight.sum(axis=1)
    centre = np.sum(weight * x, axis=1) / total
    away = x - centre[:, None]
    sxx = np.sum(weight * away**2, axis=1)
    outweighed = sxx <= 0
    sxx = np.where(outweighed, 1.0, sxx)
    slope = np.sum(weight * away * y, axis=1) / sxx
    intercept = np.sum(weight * y, axis=1) / total - slope * centre
    error, span = least / np.sqrt(sxx), x[:, -1] - x[:, 0]
    columns = (column.tolist() for column in (slope, intercept, error, span, outweighed))
    lines = [_WeightedLine(*row) for row in zip(*columns, strict=True)]
    return [_weighted(line, noise.df_of(row), level) for row, line in enumerate(lines)]


class _WeightedLine(NamedTuple):
    """A weighted line; nothing is known of its slope where one cell outweighs all others."""

    slope: float
    intercept: float
    error: float
    span: float
    outweighed: bool


def _weighted(line: _WeightedLine, df: float | None, level: float) -> tuple[Weighted, FittedChange | None]:
    if line.outweighed:
        return Weighted("undefined", reason="one cell outweighs all others"), None
    slope, error = line.slope, line.error
    reach, z = reach_of(level, df) * error, slope / error
    test: WeightedTest = "z" if df is None else "t_pooled_repeats"
    around = Interval(level, slope - reach, slope + reach)
    found = Weighted("ok", test, slope, line.intercept, error, z, df, two_sided(z, df), around)
    interval = Interval(level, around.low * line.span, around.high * line.span)
    return found, FittedChange(slope * line.span, interval, "weighted" if df is None else "pooled_repeats")


def cochran_q(y: FloatArray, noise: RowNoise) -> list[Heterogeneity]:
    """Tests, for each row, that all cells estimate one value: chi-squared, or F where the errors are estimated."""
    name: HeterogeneityTest = "cochran_q" if noise.df is None else "f_repeats"
    df = int(y.shape[1]) - 1
    if df < 1:
        return [Heterogeneity("insufficient", name, reason="one cell cannot differ")] * len(y)
    weight = (noise.error.min(axis=1, keepdims=True) / noise.error) ** 2
    mean = np.sum(weight * y, axis=1, keepdims=True) / weight.sum(axis=1, keepdims=True)
    q = np.sum(((y - mean) / noise.error) ** 2, axis=1)
    tail = chdtrc(df, q) if noise.df is None else fdtrc(df, noise.df, q / df)
    columns = (q.tolist(), np.maximum(SMALLEST_P, tail).tolist())
    return [
        Heterogeneity("ok", name, one, df, p, df_error=noise.df_of(i))
        for i, (one, p) in enumerate(zip(*columns, strict=True))
    ]


@dataclass(frozen=True)
class Ends:
    """Fitted log-odds at both ends of each row, their variances and covariance; `df` of the dispersion, the same of
    all rows, `None` where it is 1."""

    first: FloatArray
    last: FloatArray
    variances: tuple[FloatArray, FloatArray]
    covariance: FloatArray
    df: float | None


def ends_of(
    u: FloatArray,
    line: tuple[FloatArray, FloatArray],
    covariance: tuple[FloatArray, FloatArray, FloatArray],
    df: float | None,
) -> Ends:
    """The ends of lines of log-odds over the rows of u, given the variance of each intercept, the covariance of
    intercept and slope, and the variance of the slope."""
    first, last = u[:, 0], u[:, -1]
    v0, v01, v1 = covariance
    return Ends(
        line[0] + line[1] * first,
        line[0] + line[1] * last,
        (v0 + 2 * first * v01 + first * first * v1, v0 + 2 * last * v01 + last * last * v1),
        v0 + (first + last) * v01 + first * last * v1,
        df,
    )


def change_of_ends(ends: Ends, whole: float, level: float) -> list[FittedChange]:
    """The difference of the two proportions of each row and its interval, in the metric's unit."""
    spread = [np.sqrt(np.maximum(variance, 1e-300)) for variance in ends.variances]
    correlation = ends.covariance / (spread[0] * spread[1])
    reach = reach_of(level, ends.df)
    p1, p2 = expit(ends.first), expit(ends.last)
    l1, u1 = (expit(ends.first + sign * reach * spread[0]) for sign in (-1, 1))
    l2, u2 = (expit(ends.last + sign * reach * spread[1]) for sign in (-1, 1))
    low = p2 - p1 - recovered(p2 - l2, u1 - p1, correlation)
    high = p2 - p1 + recovered(u2 - p2, p1 - l1, correlation)
    columns = ((part * whole).tolist() for part in (p2 - p1, low, high))
    return [FittedChange(value, Interval(level, *at), "logit") for value, *at in zip(*columns, strict=True)]


def recovered(own: FloatArray, other: FloatArray, correlation: FloatArray) -> FloatArray:
    """The reach of a difference from the reaches of its two parts."""
    return np.sqrt(np.maximum(0.0, own * own + other * other - 2 * correlation * own * other))


def agreeing(change: FittedChange | None, p: float | None, alpha: float) -> FittedChange | None:
    """The change with an interval that agrees with its test about 0: where the test rejects no change, the side of the
    other sign is cut off; where it does not, the interval reaches to 0.

    Near the bounds the interval and the test approximate in different ways, and a reader has both before him.
    """
    if change is None or p is None or change.interval is None:
        return change
    low, high = change.interval.low, change.interval.high
    if p < alpha:
        low, high = (max(low, 0.0), high) if change.value > 0 else (low, min(high, 0.0))
    else:
        low, high = min(low, 0.0), max(high, 0.0)
    if (low, high) == (change.interval.low, change.interval.high):
        return change
    return FittedChange(change.value, Interval(change.interval.level, low, high), change.method, change.reason)


def detectable_change(change: FittedChange, df: float | None, alpha: float) -> float | None:
    """The smallest change that the series could have shown; from half the width of the interval."""
    if change.interval is None:
        return None
    half = (change.interval.high - change.interval.low) / 2
    return detectable(half / reach_of(change.interval.level, df), alpha)
