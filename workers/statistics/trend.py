"""The trend of one series by what is known of its noise, and the change that it makes from end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from registry.results.terms import Interval
from registry.results.trend_tests import FittedChange, Heterogeneity, Logit, MannKendall, OrdinaryLeastSquares, Weighted
from workers.statistics.curves import Curves, RowNoise
from workers.statistics.kendall import mann_kendalls, untied_pairs
from workers.statistics.logit import logit_trends, successes
from workers.statistics.proportions import homogeneity
from workers.statistics.slopes import (
    TheilSen,
    agreeing,
    cochran_q,
    detectable_change,
    least_squares,
    theil_sens,
    weighted_slope,
)
from workers.statistics.terms import FloatArray


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

    def heterogeneity_with(self, q: float | None) -> Heterogeneity | None:
        """The test of heterogeneity with its value among the other series."""
        one = self.heterogeneity
        return one and Heterogeneity(one.status, one.test, one.chi2, one.df, one.p, one.df_error, q, one.reason)


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
