"""Slopes of a series on the axis values, for `series.py`: Theil–Sen with Sen's interval, and least squares.

Theil (1950); Sen (1968), JASA 63, 1379-1389: eq. 2.6 gives the variance behind the interval. The ends agree with
`scipy.stats.theilslopes(method="separate")`.

Cells with standard errors: inverse-variance weighted slope, Cochran's Q, tests of differences. Cochran (1954),
Biometrics 10, 101-129. Submitted errors are taken as known, and tails are normal or chi-squared. Errors that repeats
estimate may differ from cell to cell: a slope has Student's t with Satterthwaite's (1946) degrees of freedom, a spread
the F of Brown and Forsythe (1974, Technometrics 16, 129-132) with both degrees of freedom by Box (1954, Annals of
Mathematical Statistics 25, 290-302), as Mehrotra (1997) has it. Welch's (1951) F, which divides by the variance of each
cell, calls 13 to 61 % of flat series of 20 cells uneven at 5 %, with 5 to 2 repeats.

The change of a series from its first to its last abscissa, as a model sees it, with its interval. On the logit scale
the interval comes from those of the two fitted ends and their correlation: the method of variance estimates recovery
(Zou 2008, American Journal of Epidemiology 168, 212-224), which stays within the bounds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, erfc, expit, fdtrc, ndtri, stdtr, stdtrit

from registry.results.terms import Interval
from registry.results.trend_tests import (
    ChangeMethod,
    FittedChange,
    Heterogeneity,
    HeterogeneityTest,
    OrdinaryLeastSquares,
    Weighted,
    WeightedTest,
)
from workers.statistics.curves import RowNoise
from workers.statistics.noise import added
from workers.statistics.ranks import couples, few, min_attainable, tie_patterns, untied_pairs, variance
from workers.statistics.terms import ROUNDING, SMALLEST_P, FloatArray, IntArray, reach_of

LONGEST = 500
"""Points that a Theil–Sen slope looks at; of a longer series it takes this many at even distances."""


COARSE = "so many values tie that the median slope may be 0 however far the mean moves"
STRAIGHT = "so many slopes between points are one number that their scatter does not say how far it may be off"


@dataclass(frozen=True, slots=True)
class TheilSen:
    """The median of all pairwise slopes, in the metric's unit per unit of the abscissa. The interval is `None`, with
    the `reason`, where no ordering of the values could have had a p below alpha: of 3 points in a line it would be
    as narrow as one point and hold the truth in two cases of three. `None` too where the values are `coarse`, and where
    its ends are one number."""

    slope: float | None
    intercept: float | None
    interval: Interval | None
    points_used: int
    reason: str | None = None

    @property
    def too_few(self) -> str | None:
        """Reason why no slope of so few values has an interval."""
        return None if self.reason in (COARSE, STRAIGHT) else self.reason


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
    rows, dust = np.arange(len(x)), ROUNDING * np.abs(y).max(axis=1) / np.diff(x, axis=1).min(axis=1)
    low = slopes[rows, np.array([first for first, _, _ in ends])].tolist()
    high = slopes[rows, np.array([last for _, last, _ in ends])].tolist()
    found = []
    for row, (one, (_, _, reason)) in enumerate(zip(slope.tolist(), ends, strict=True)):
        why = STRAIGHT if reason is None and high[row] - low[row] <= dust[row] else reason
        found.append(TheilSen(one, intercept[row], None if why else Interval(level, low[row], high[row]), points, why))
    return found


@lru_cache(maxsize=4_096)
def _ends_of(points: int, ties: tuple[int, ...], level: float) -> tuple[int, int, str | None]:
    """Indices of the sorted slopes that are the ends of the interval, or why it has none."""
    pairs = points * (points - 1) // 2
    reach = float(ndtri(0.5 + level / 2)) * math.sqrt(variance(points, ties))
    high = min(round((pairs + reach) / 2), pairs - 1)
    low = max(round((pairs - reach) / 2) - 1, 0)
    if ties == (points,):
        return low, high, "every value is the same"
    if min_attainable(points, ties) >= 1 - level:
        return low, high, f"{few(points, ties, round(1 - level, 12))}, so {100 * level:g} % cannot be kept"
    return low, high, COARSE if coarse(points, ties) else None


def coarse(count: int, ties: tuple[int, ...]) -> bool:
    """Return whether a series has two values, or so few that a third of all pairs tie: its median slope may be 0, with
    an interval of no width, however far its mean moves."""
    values, pairs = count - sum(ties) + len(ties), count * (count - 1) // 2
    return values > 1 and count > 2 and (values == 2 or 3 * (pairs - untied_pairs(count, ties)) >= pairs)


def medians(ordered: FloatArray) -> FloatArray:
    """The median of each row of sorted values."""
    middle = ordered.shape[1] // 2
    if ordered.shape[1] % 2:
        return ordered[:, middle]
    return (ordered[:, middle - 1] + ordered[:, middle]) / 2


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


@dataclass(frozen=True)
class WeightedTrend:
    """The weighted slope of a series, the change over its length, and the standard error of that."""

    weighted: Weighted
    change: FittedChange | None = None
    error: float = math.nan


def weighted_slope(x: FloatArray, y: FloatArray, noise: RowNoise, level: float = 0.95) -> list[WeightedTrend]:
    """Weighs each of the m cells of a row by 1 / error^2, with repeats by their number, and what that makes of the
    change from end to end; two cells suffice, because the errors do not come from how they scatter."""
    count = int(x.shape[1])
    if count < 2:
        return [WeightedTrend(Weighted("insufficient", reason="one point has no slope"))] * len(x)
    weight = _weights(noise)
    total = weight.sum(axis=1)
    centre = np.sum(weight * x, axis=1) / total
    away = x - centre[:, None]
    sxx = np.sum(weight * away**2, axis=1)
    outweighed = sxx <= 0
    sxx = np.where(outweighed, 1.0, sxx)
    slope = np.sum(weight * away * y, axis=1) / sxx
    intercept = np.sum(weight * y, axis=1) / total - slope * centre
    error, df = noise.of_sum(weight * away / sxx[:, None])
    known = ~outweighed & (error > 0)
    error = np.where(known, error, 1.0)
    z = slope / error
    deviate = np.full(len(x), reach_of(level)) if df is None else stdtrit(df, 0.5 + level / 2)
    p = np.maximum(SMALLEST_P, erfc(np.abs(z) / math.sqrt(2)) if df is None else 2 * stdtr(df, -np.abs(z)))
    misses = [None] * len(x) if count < 3 else misfit(y, noise, line_basis(x, noise)).p.tolist()
    test: WeightedTest = "z" if df is None else "t_satterthwaite"
    method: ChangeMethod = "weighted" if df is None else "repeats"
    spans = (x[:, -1] - x[:, 0]).tolist()
    columns = (slope, intercept, error, z, np.full(len(x), np.nan) if df is None else df, p, deviate * error)
    found = []
    for row, (b, a, se, t, free, tail, reach) in enumerate(zip(*(one.tolist() for one in columns), strict=True)):
        if not known[row]:
            why = "one cell outweighs all others" if outweighed[row] else "the repeats of the cells agree"
            found.append(WeightedTrend(Weighted("undefined", reason=why)))
            continue
        around = Interval(level, b - reach, b + reach)
        ends = Interval(level, around.low * spans[row], around.high * spans[row])
        fit = Weighted("ok", test, b, a, se, t, None if df is None else free, tail, around, misses[row])
        found.append(WeightedTrend(fit, FittedChange(b * spans[row], ends, method), se * spans[row]))
    return found


def _weights(noise: RowNoise) -> FloatArray:
    """Inverse variances relative to the largest of their row, so that no square overflows. Pooled variances of repeats
    weigh by the numbers of repeats alone."""
    return np.asarray((noise.error.min(axis=1, keepdims=True) / noise.error) ** 2)


def line_basis(x: FloatArray, noise: RowNoise) -> FloatArray:
    """The columns of a line over each row, 2 x S x m, as `misfit` takes them."""
    weight = _weights(noise)
    total = weight.sum(axis=1, keepdims=True)
    away = x - np.sum(weight * x, axis=1, keepdims=True) / total
    # Where one cell outweighs all others there is no line; the column is then 0.
    spread = np.maximum(np.sum(weight * away**2, axis=1, keepdims=True), 1e-300)
    return np.asarray(np.sqrt(weight) * np.stack([np.ones_like(x) / np.sqrt(total), away / np.sqrt(spread)]))


class Misfit(NamedTuple):
    """The spread of the cells of each row about a model, its degrees of freedom, those of the errors where they are
    estimated, and p."""

    statistic: FloatArray
    df: FloatArray
    df_error: FloatArray | None
    p: FloatArray


def misfit(y: FloatArray, noise: RowNoise, basis: FloatArray) -> Misfit:
    """Tests that the cells of each row lie on a model whose columns `basis`, B x S x m, are orthonormal where each cell
    is weighted by the root of its weight: chi-squared, or F where repeats estimate the errors."""
    root = np.sqrt(_weights(noise))
    scaled = root * y
    rest = scaled - np.sum(np.sum(basis * scaled, axis=2, keepdims=True) * basis, axis=0)
    least = noise.error.min(axis=1)
    free = int(y.shape[1]) - len(basis)
    if noise.own is None:
        q = np.sum((rest / least[:, None]) ** 2, axis=1)
        return Misfit(q, np.full(len(y), float(free)), None, np.maximum(SMALLEST_P, chdtrc(free, q)))
    # Of the quadratic form z'Mz with M = 1 - BB' and independent z of variances s: mean, and half the variance.
    spread = root**2 * noise.own[0]
    kept = np.maximum(1 - np.sum(basis**2, axis=0), 0.0)
    expected, df_error = added(kept * spread, noise.own[1])
    inner = np.einsum("asm,sm,bsm->sab", basis, spread, basis)
    half = np.sum(spread**2 * (2 * kept - 1), axis=1) + np.sum(inner**2, axis=(1, 2))
    known = (expected > 0) & (half > 0)
    df = np.where(known, np.clip(np.divide(expected**2, half, out=np.ones_like(half), where=known), 1.0, free), free)
    f = np.divide(np.sum(rest**2, axis=1), expected, out=np.zeros_like(half), where=known)
    p = np.where(known, fdtrc(df, np.where(known, df_error, 1.0), f), 1.0)
    return Misfit(f * df, df, df_error, np.maximum(SMALLEST_P, p))


def cochran_q(y: FloatArray, noise: RowNoise) -> list[Heterogeneity]:
    """Tests, for each row, that all cells estimate one value."""
    name: HeterogeneityTest = "cochran_q" if noise.own is None else "brown_forsythe"
    if int(y.shape[1]) < 2:
        return [Heterogeneity("insufficient", name, reason="one cell cannot differ")] * len(y)
    weight = _weights(noise)
    found = misfit(y, noise, np.sqrt(weight / weight.sum(axis=1, keepdims=True))[None])
    free = [None] * len(y) if found.df_error is None else found.df_error.tolist()
    rows = zip(found.statistic.tolist(), found.df.tolist(), found.p.tolist(), free, strict=True)
    return [Heterogeneity("ok", name, one, df, p, df_error) for one, df, p, df_error in rows]


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
