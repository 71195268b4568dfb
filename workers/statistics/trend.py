"""The trend of one series by what is known of its noise, and the change that it makes from end to end.

One trend over all series of a grid along an axis: the sum of their S with its own null law.

A stratified Mann–Kendall test (Hirsch, Slack and Smith 1982, eq. 5); here the null law is the convolution of the
exact laws of the rows, so that ragged rows and ties need no approximation. Rows are taken as independent.

Trends of the gap between two grids along an axis. The slope is the median of all slopes between two cells of one series
(Hirsch, Slack and Smith 1982, section 4), its interval that of Gilbert (1987), Statistical Methods for Environmental
Pollution Monitoring, section 16.4.2: Sen's, with the variances of S summed over the series; it is left out where no
ordering could have been significant, for it would not cover. With one series both are Theil and Sen's. The test is the
stratified Mann–Kendall test with its exact null law, so that ragged rows cannot make a trend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from registry.grids.grid import Axis
from registry.results.comparison import GapTrend, SeriesGap
from registry.results.terms import Interval
from registry.results.trend_tests import (
    ExactOrNormal,
    FittedChange,
    GridTrend,
    Heterogeneity,
    Logit,
    MannKendall,
    OrdinaryLeastSquares,
    Weighted,
)
from workers.statistics.curves import Curves, RowNoise
from workers.statistics.logit import logit_trends, successes
from workers.statistics.matching import Matched
from workers.statistics.proportions import homogeneity
from workers.statistics.ranks import (
    EXACT_PAIRS,
    EXACT_POINTS,
    couples,
    mann_kendall,
    mann_kendalls,
    min_attainable,
    normal_p,
    probabilities,
    scores,
    tie_pattern,
    tie_patterns,
    untied_pairs,
    variance,
)
from workers.statistics.slopes import (
    LONGEST,
    TheilSen,
    agreeing,
    cochran_q,
    detectable_change,
    least_squares,
    theil_sen,
    theil_sens,
    weighted_slope,
)
from workers.statistics.table import MOST_POINTS, Table, abscissa_of, by_level, place_of
from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray


@dataclass(frozen=True)
class Trend:
    """The tests of one series. `p` is that of the test which its noise allows; `None` where no p could have been
    significant. `change` goes from the first to the last abscissa."""

    mann_kendall: MannKendall
    line: TheilSen
    ols: OrdinaryLeastSquares
    p: float | None
    change: FittedChange | None
    detectable: float | None
    logit: Logit | None = None
    weighted: Weighted | None = None
    heterogeneity: Heterogeneity | None = None


def trends_of(curves: Curves, alpha: float = 0.05) -> list[Trend]:
    """The trend of each series: by trials, by errors, or by the order of its values alone."""
    level = 1 - alpha
    tests = mann_kendalls(curves.ticks, curves.ties, alpha)
    lines = theil_sens(curves.x, curves.y, curves.ticks, level, curves.ties)
    fits = least_squares(curves.x, curves.y, level)
    if curves.noise is None:
        changes = changes_without_noise(curves, lines, fits)
        plain = zip(tests, lines, fits, changes, strict=True)
        return [without_noise(test, line, fit, *change, alpha) for test, line, fit, change in plain]
    alone = list(zip(tests, lines, fits, strict=True))
    if curves.noise.kind == "trials":
        return by_trials(curves.x, curves.noise, alone, alpha)
    return by_errors(curves, curves.noise, alone, level)


_Alone = tuple[MannKendall, TheilSen, OrdinaryLeastSquares]


def without_noise(
    test: MannKendall,
    line: TheilSen,
    fit: OrdinaryLeastSquares,
    change: FittedChange | None,
    df: float | None,
    alpha: float,
) -> Trend:
    """The trend of a series of which nothing but the order of its values is known."""
    seen = None if change is None else detectable_change(change, df, alpha)
    p = test.p if test.status == "ok" else None
    return Trend(test, line, fit, p, agreeing(change, p, alpha), seen)


def by_errors(curves: Curves, noise: RowNoise, alone: Sequence[_Alone], level: float) -> list[Trend]:
    """Adds what standard errors or repeats of every cell allow."""
    slopes, differ = weighted_slope(curves.x, curves.y, noise, level), cochran_q(curves.y, noise)
    found = []
    for row, (weighted, change) in enumerate(slopes):
        seen = None if change is None else detectable_change(change, noise.df_of(row), 1 - level)
        found.append(Trend(*alone[row], weighted.p, change, seen, None, weighted, differ[row]))
    return found


def by_trials(x: FloatArray, noise: RowNoise, alone: Sequence[_Alone], alpha: float) -> list[Trend]:
    """Adds what the trials of every cell allow."""
    differ = homogeneity(*successes(noise))
    trends = logit_trends(x, noise, [one.p for one in differ], alpha)
    found = []
    for row, trend in enumerate(trends):
        seen = None if trend.change is None else detectable_change(trend.change, trend.df, alpha)
        p, change = trend.logit.p, agreeing(trend.change, trend.logit.p, alpha)
        found.append(Trend(*alone[row], p, change, seen, trend.logit, None, differ[row]))
    return found


def changes_without_noise(
    curves: Curves, lines: Sequence[TheilSen], fits: Sequence[OrdinaryLeastSquares]
) -> list[tuple[FittedChange | None, float | None]]:
    """Sen's slope over the whole length of each series, or the least-squares one of a coarse series, and the degrees of
    freedom of its interval."""
    coarse, spans = are_coarse(curves), curves.span.tolist()
    rows = zip(lines, fits, coarse, spans, strict=True)
    return [change_over(line, fit, rough, span, curves.count) for line, fit, rough, span in rows]


def change_over(
    line: TheilSen, fit: OrdinaryLeastSquares, coarse: bool, span: float, count: int
) -> tuple[FittedChange | None, float | None]:
    """The change of one series, and the degrees of freedom of its interval."""
    if count < 2 or line.slope is None:
        return None, None
    if coarse:
        value, reason = fit.slope or 0.0, line.reason or fit.reason
        interval = None if line.reason else over(fit.interval, span)
        return FittedChange(value * span, interval, "least_squares", reason), count - 2.0
    return FittedChange(line.slope * span, over(line.interval, span), "theil_sen", line.reason), None


def are_coarse(curves: Curves) -> list[bool]:
    """Return whether a series has two values, or so few that a third of all pairs tie: its median slope may be 0, with
    an interval of no width, however far its mean moves."""
    count, pairs = curves.count, curves.count * (curves.count - 1) // 2
    found = []
    for ties in curves.ties:
        values, tied = count - sum(ties) + len(ties), pairs - untied_pairs(count, ties)
        found.append(values > 1 and count > 2 and (values == 2 or 3 * tied >= pairs))
    return found


def over(interval: Interval | None, span: float) -> Interval | None:
    """The interval of a slope as that of the change over a distance."""
    return None if interval is None else Interval(interval.level, interval.low * span, interval.high * span)


MOST_SLOPES = 2_000_000
"""Slopes between two cells of which a median is taken; series beyond are left out of the slope."""
MOST_SERIES = 200
"""Series that an answer lists for an axis; all of them count."""


def grid_trends(table: Table, alpha: float) -> dict[str, GridTrend]:
    """The trend along every ordered axis, by the axis' name."""
    return {
        axis.name: stratified(rows_along(table, place), alpha) for place, axis in enumerate(table.axes) if axis.ordered
    }


def rows_along(table: Table, place: int) -> list[IntArray]:
    """The values of the series along an axis that have two cells or more, as integers."""
    present, ticks = by_level(table.present, place).T, by_level(table.ticks, place).T
    found = []
    left = MOST_POINTS
    for i in np.flatnonzero(present.sum(axis=1) > 1).tolist():
        row = ticks[i][present[i]]
        left -= int(row.size)
        if left < 0:
            break
        found.append(row)
    return found


def stratified(rows: Sequence[IntArray], alpha: float = 0.05) -> GridTrend:
    """Tests for a common direction of all rows."""
    if not rows:
        return GridTrend("insufficient", 0, 0, None, None, "exact", "no series has two cells")
    s, patterns = scored(rows)
    pairs = sum(untied_pairs(*pattern) for pattern in patterns)
    least = max(SMALLEST_P, 2 * math.prod(min_attainable(*p) / 2 if untied_pairs(*p) else 1.0 for p in patterns))
    if pairs == 0:
        return GridTrend("undefined", s, len(rows), 1.0, 1.0, "exact", "no series has two different values")
    method: ExactOrNormal = "normal"
    p = normal_p(s, sum(variance(*pattern) for pattern in patterns))
    if pairs <= EXACT_PAIRS and max(count for count, _ in patterns) <= EXACT_POINTS:
        method, p = "exact", tail(patterns, s, pairs)
    if least >= alpha:
        reason = f"no orderings of these series have a p below {alpha}"
        return GridTrend("insufficient", s, len(rows), p, min(1.0, least), method, reason)
    return GridTrend("ok", s, len(rows), p, least, method)


def scored(rows: Sequence[IntArray]) -> tuple[int, list[tuple[int, tuple[int, ...]]]]:
    """The sum of S over the rows, and the length and tie pattern of each, by length."""
    by_length: dict[int, list[IntArray]] = {}
    for row in rows:
        by_length.setdefault(int(row.size), []).append(row)
    s, patterns = 0, []
    for count, alike in by_length.items():
        ticks = np.array(alike)
        s += sum(scores(ticks))
        patterns += [(count, ties) for ties in tie_patterns(ticks)]
    return s, patterns


def tail(patterns: Sequence[tuple[int, tuple[int, ...]]], s: int, pairs: int) -> float:
    """P(|sum of S| >= |s|) by convolution over the rows."""
    if s == 0:
        return 1.0
    # Inversions of independent rows add up, so their laws are convolved; each is symmetric, and so is the sum.
    ordered = sorted(patterns)
    alike = ordered.count(ordered[0])
    law = repeated(*ordered[0], alike)
    for count, ties in ordered[alike:]:
        law = np.convolve(law, probabilities(count, ties))
    return min(1.0, max(SMALLEST_P, 2 * float(law[: (pairs - abs(s)) // 2 + 1].sum())))


@lru_cache(maxsize=128)
def repeated(count: int, ties: tuple[int, ...], times: int) -> FloatArray:
    """The law of as many rows with one tie pattern; most rows of most grids have no ties."""
    law: FloatArray = np.ones(1)
    for _ in range(times):
        law = np.convolve(law, probabilities(count, ties))
    return law


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
