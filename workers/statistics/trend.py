"""The trend of one series by what is known of its noise, and the change that it makes from end to end: along the fitted
line, and of the two end cells by themselves (Newcombe 1998 of proportions, Welch 1947 of repeats, else z).

Trends of the gap between two grids along an axis. The slope is the median of all slopes between two cells of one series
(Hirsch, Slack and Smith 1982, section 4), its interval that of Gilbert (1987), Statistical Methods for Environmental
Pollution Monitoring, section 16.4.2: Sen's, with the variances of S summed over the series; it is left out where no
ordering could have been significant, for it would not cover. With one series both are Theil and Sen's. The test is the
stratified Mann–Kendall test with its exact null law, so that ragged rows cannot make a trend.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri, stdtrit

from registry.grids.grid import Axis
from registry.results.comparison import GapTrend, SeriesGap
from registry.results.terms import Interval
from registry.results.trend_tests import (
    EndChange,
    EndMethod,
    FittedChange,
    Heterogeneity,
    Logit,
    MannKendall,
    OrdinaryLeastSquares,
    Weighted,
)
from workers.statistics.changes import on_scale
from workers.statistics.common_direction import stratified
from workers.statistics.curves import Curves, RowNoise
from workers.statistics.logit import logit_trends, successes
from workers.statistics.matching import Matched
from workers.statistics.noise import added
from workers.statistics.power import by_dispersion, detectable
from workers.statistics.proportions import homogeneity, newcombe
from workers.statistics.ranks import couples, mann_kendall, mann_kendalls, tie_pattern, variance
from workers.statistics.shape import FITS, only_rises_p
from workers.statistics.slopes import (
    LONGEST,
    TheilSen,
    agreeing,
    coarse,
    cochran_q,
    least_squares,
    theil_sen,
    theil_sens,
    weighted_slope,
)
from workers.statistics.table import MOST_POINTS, abscissa_of, place_of
from workers.statistics.terms import FloatArray, IntArray, reach_of


@dataclass(frozen=True)
class Decided:
    """The test behind a trend's p: the standard error of the change from end to end that it rests on, and its law:
    Student's, normal with infinite `df`, or that of so many proportions whose dispersion it divides by."""

    error: float
    df: float = math.inf
    proportions: int | None = None
    share: float = 0.5
    whole: float = math.inf

    def detectable(self, level: float) -> float | None:
        """The change that this test finds at a level with probability `POWER`, in the metric's unit; `None` where the
        scale has no room for it."""
        if self.proportions is None:
            return detectable(self.error, self.df, level)
        return self._of_proportions(by_dispersion(self.proportions, level) * self.error)

    def _of_proportions(self, size: float) -> float | None:
        """The change whose mean leaves it room on the scale: near an end the errors of what is there are too small."""
        # So many trials that a share is no different from an end of the scale leave no error either.
        end = max(min(self.share, 1 - self.share), math.ulp(1.0))
        if size > 2 * self.whole * end:
            error = size / math.sqrt(end * (1 - end))
            middle = min(0.5, error**2 / (4 * self.whole**2 + error**2))  # where it is half of the change itself
            size = error * math.sqrt(middle * (1 - middle))
        return size if size <= self.whole else None


@dataclass(frozen=True)
class Trend:
    """The tests of one series. `p` is that of the test which its noise allows; `None` where no p could have been
    significant. `change` goes from the first to the last abscissa along the fitted line, which the cells miss by more
    than their noise with p `lack_of_fit_p`."""

    mann_kendall: MannKendall
    line: TheilSen
    ols: OrdinaryLeastSquares
    p: float | None
    change: FittedChange | None
    decided: Decided | None
    logit: Logit | None = None
    weighted: Weighted | None = None
    heterogeneity: Heterogeneity | None = None

    @property
    def lack_of_fit_p(self) -> float | None:
        fit = self.logit or self.weighted
        return fit.lack_of_fit_p if fit else None

    def detectable(self, level: float) -> float | None:
        """The change that would be found at a level; `None` where the noise is not known or nothing could be."""
        least = self.mann_kendall.min_attainable_p if self.logit is None and self.weighted is None else 0.0
        if self.decided is None or least is None or least >= level:
            return None
        return self.decided.detectable(level)


def trends_of(curves: Curves, alpha: float = 0.05) -> list[Trend]:
    """The trend of each series: by trials, by errors, or by the order of its values alone."""
    level = 1 - alpha
    tests = mann_kendalls(curves.ticks, curves.ties, alpha)
    lines = theil_sens(curves.x, curves.y, curves.ticks, level, curves.ties)
    fits = least_squares(curves.x, curves.y, level)
    alone = list(zip(tests, lines, fits, strict=True))
    if curves.noise is None:
        rough, spans = [coarse(curves.count, ties) for ties in curves.ties], curves.span.tolist()
        rows = zip(tests, lines, fits, spans, rough, strict=True)
        return [without_noise(test, line, fit, span, alpha, is_coarse=ties) for test, line, fit, span, ties in rows]
    if curves.noise.kind == "trials":
        return by_trials(curves.x, curves.noise, alone, alpha)
    return by_errors(curves, curves.noise, alone, alpha)


_Alone = tuple[MannKendall, TheilSen, OrdinaryLeastSquares]


def without_noise(
    test: MannKendall, line: TheilSen, fit: OrdinaryLeastSquares, span: float, alpha: float, *, is_coarse: bool
) -> Trend:
    """The trend of a series of which nothing but the order of its values is known: Sen's slope over its whole length,
    or the least-squares one of a coarse series."""
    p = test.p if test.status == "ok" else None
    if line.slope is None:
        return Trend(test, line, fit, p, None, None)
    if is_coarse:
        interval = None if line.too_few else over(fit.interval, span)
        change = FittedChange((fit.slope or 0.0) * span, interval, "least_squares", line.too_few or fit.reason)
    else:
        change = FittedChange(line.slope * span, over(line.interval, span), "theil_sen", line.reason)
    return Trend(test, line, fit, p, agreeing(change, p, alpha), None)


def by_errors(curves: Curves, noise: RowNoise, alone: Sequence[_Alone], alpha: float) -> list[Trend]:
    """Adds what standard errors or repeats of every cell allow. Where a line misses the cells and no monotone course
    fits them, true levels scatter: the slope is then held against their scatter too, by least squares."""
    slopes, differ = weighted_slope(curves.x, curves.y, noise, 1 - alpha), cochran_q(curves.y, noise)
    bent = [row for row, one in enumerate(slopes) if (one.weighted.lack_of_fit_p or 1.0) < alpha]
    signs = np.array([1.0 if (slopes[row].weighted.slope or 0.0) > 0 else -1.0 for row in bent])
    fits = only_rises_p(curves, bent, signs).tolist() if bent else []
    scattered = {row for row, p in zip(bent, fits, strict=True) if p < FITS}
    found = []
    for row, (own, one, spread) in enumerate(zip(alone, slopes, differ, strict=True)):
        fit, line = one.weighted, own[2]
        p, df = fit.p, fit.df
        law = None if one.change is None else Decided(one.error, math.inf if df is None else df)
        if row in scattered and p is not None and line.p is not None:
            p = max(p, line.p)
            law = Decided((line.stderr or 0.0) * float(curves.span[row]), curves.count - 2.0)
        found.append(Trend(*own, p, one.change, law, None, fit, spread))
    return found


def by_trials(x: FloatArray, noise: RowNoise, alone: Sequence[_Alone], alpha: float) -> list[Trend]:
    """Adds what the trials of every cell allow."""
    k, n = successes(noise)
    differ = homogeneity(k, n)
    trends = logit_trends(x, noise, [one.p for one in differ], alpha)
    shares = (k.sum(axis=1) + 0.5) / (n.sum(axis=1) + 1)
    errors, cells = straight_errors(x, n, shares, noise.whole).tolist(), x.shape[1]
    return [
        Trend(
            *alone[row],
            trend.logit.p,
            agreeing(trend.change, trend.logit.p, alpha),
            None if trend.change is None else Decided(errors[row], math.inf, cells, float(shares[row]), noise.whole),
            trend.logit,
            None,
            differ[row],
        )
        for row, trend in enumerate(trends)
    ]


def straight_errors(x: FloatArray, n: FloatArray, shares: FloatArray, whole: float) -> FloatArray:
    """The standard error, under no trend, of the change of each row along a line about its mean; NaN for one cell."""
    away = x - np.sum(n * x, axis=1, keepdims=True) / n.sum(axis=1, keepdims=True)
    spread = np.sum(n * away**2, axis=1)
    variance = np.divide(shares * (1 - shares), spread, out=np.full(len(x), np.nan), where=spread > 0)
    return np.asarray(np.sqrt(variance) * (x[:, -1] - x[:, 0]) * whole)


def end_changes(curves: Curves, level: float) -> list[EndChange | None]:
    """The last cell less the first, by themselves; `None` without noise or a second cell."""
    noise = curves.noise
    if noise is None or curves.count < 2:
        return [None] * len(curves)
    ends = curves.ticks[:, -1] - curves.ticks[:, 0]
    values = [int(end) / 10.0**row.decimals for end, row in zip(ends.tolist(), curves.rows, strict=True)]
    method: EndMethod = "newcombe"
    if noise.binomial is not None:
        k, n = noise.binomial
        low, high = (end * noise.whole for end in newcombe(k[:, 0], n[:, 0], k[:, -1], n[:, -1], level))
        known = np.ones(len(curves), dtype=np.bool_)
    else:
        away = np.zeros(curves.count)
        away[0], away[-1] = -1, 1
        error, df = noise.of_sum(away)
        reach = (reach_of(level) if df is None else stdtrit(df, 0.5 + level / 2)) * error
        low, high = on_scale(curves, np.array(values) - reach, np.array(values) + reach)
        known = error > 0
        method = "z" if df is None else "welch"
    rows = zip(values, low.tolist(), high.tolist(), known.tolist(), strict=True)
    return [EndChange(value, Interval(level, *at) if told else None, method) for value, *at, told in rows]


def reaching_0(change: EndChange | None) -> EndChange | None:
    """The change with an interval that holds 0, where the tests of its series found no change."""
    if change is None or change.interval is None:
        return change
    return replace(change, interval=change.interval.with_0())


def levels_within(curves: Curves, margin: float | None, alpha: float) -> list[bool]:
    """Return whether any two cells of a series are shown to differ by less than the margin: each pair by two one-sided
    tests at alpha, which all must pass (Berger 1982). Trials have Newcombe's limits, which hold at the ends of the
    scale; without noise the scatter of the series stands for it."""
    if margin is None or curves.count < 2:
        return [False] * len(curves)
    found = [False] * len(curves)
    for row in np.flatnonzero(np.ptp(curves.y, axis=1) < margin).tolist():
        gaps, reaches = pairs_of(curves, row, alpha)
        found[row] = bool(np.all(gaps + reaches < margin))
    return found


def pairs_of(curves: Curves, row: int, alpha: float) -> tuple[FloatArray, FloatArray]:
    """The differences of all pairs of cells of a series, and how far a one-sided limit reaches beyond each; of a series
    beyond `LONGEST` the largest of both."""
    y, noise, count = curves.y[row], curves.noise, curves.count
    if noise is not None and noise.binomial is not None and count <= LONGEST:
        k, n = (one[row] for one in noise.binomial)
        i, j = couples(count)
        low, high = newcombe(k[i], n[i], k[j], n[j], 1 - 2 * alpha)
        gaps = np.abs(y[i] - y[j])
        return gaps, np.maximum(np.abs(low), np.abs(high)) * noise.whole - gaps
    if noise is None:
        variances, df = np.full(count, float(np.var(y, ddof=1))), np.full(count, (count - 1) / 2)
    elif noise.own is None:
        variances, df = noise.error[row] ** 2, np.full(count, np.inf)
    else:
        variances, df = noise.own[0][row], noise.own[1][row]
    if count > LONGEST:
        y, variances, df = np.array([y.min(), y.max()]), np.full(2, variances.max()), np.full(2, df.min())
    i, j = couples(int(y.size))
    variance, free = added(*(np.stack([one[i], one[j]], axis=-1) for one in (variances, df)))
    return np.abs(y[i] - y[j]), stdtrit(free, 1 - alpha) * np.sqrt(variance)


def over(interval: Interval | None, span: float) -> Interval | None:
    """The interval of a slope as that of the change over a distance."""
    return None if interval is None else Interval(interval.level, interval.low * span, interval.high * span)


MOST_SLOPES = 2_000_000
"""Slopes between two cells of which a median is taken; series beyond are left out of the slope."""
MOST_SERIES = 200
"""Series that an answer lists for an axis; all of them count."""


@dataclass(frozen=True)
class CommonRow:
    """One series: its first cell's index, its abscissae in increasing order, and the gaps there in ticks."""

    first: int
    x: FloatArray
    ticks: IntArray


def gap_trends(found: Matched, alpha: float) -> tuple[GapTrend, ...]:
    """One for each axis with an order, in the order of the axes."""
    return tuple(gap_trend(found, i, alpha) for i, axis in enumerate(found.axes) if axis.ordered)


def gap_trend(found: Matched, place: int, alpha: float) -> GapTrend:
    axis, (numbers, scale) = found.axes[place], abscissa_of(found.axes[place])
    rows = common_rows_along(found, place, numbers)
    if not rows:
        return GapTrend(axis.name, scale, "insufficient", 0, reason="no series has two common cells")
    test = stratified([row.ticks for row in rows], alpha, "gaps")
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


def common_rows_along(found: Matched, place: int, numbers: FloatArray) -> list[CommonRow]:
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
            rows.append(CommonRow(int(cells[0]), numbers[found.positions[cells, place]], found.gaps[cells]))
    return rows


def series_gap(found: Matched, place: int, row: CommonRow, alpha: float) -> SeriesGap:
    line = theil_sen(row.x, row.ticks / 10.0**found.decimals, row.ticks, 1 - alpha)
    axes: list[tuple[int, Axis]] = [(i, axis) for i, axis in enumerate(found.axes) if i != place]
    at = {axis.name: place_of(axis, int(found.positions[row.first, i])) for i, axis in axes}
    test = mann_kendall(row.ticks, alpha)
    return SeriesGap(at, int(row.x.size), line.slope, line.interval if test.status == "ok" else None, test)


def common_slope(rows: Sequence[CommonRow], decimals: int, level: float) -> tuple[float, Interval, int]:
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
