"""The trend of one series by what is known of its noise, and the change that it makes from end to end."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from registry.results.terms import Interval
from registry.results.trend_tests import FittedChange, Heterogeneity, Logit, MannKendall, OrdinaryLeastSquares, Weighted
from workers.statistics.fitted_change import agreeing, detectable_change
from workers.statistics.kendall import mann_kendall, tie_pattern, untied_pairs
from workers.statistics.logit import logit_trend
from workers.statistics.noise import Noise
from workers.statistics.proportions import homogeneity
from workers.statistics.slopes import TheilSen, least_squares, theil_sen
from workers.statistics.table import Curve
from workers.statistics.weighted import cochran_q, weighted_slope


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
        return None if self.heterogeneity is None else replace(self.heterogeneity, q=q)


def trend_of(curve: Curve, alpha: float = 0.05) -> Trend:
    """The trend of a series: by trials, by errors, or by the order of its values alone."""
    level = 1 - alpha
    test = mann_kendall(curve.ticks, alpha)
    line = theil_sen(curve.x, curve.y, curve.ticks, level)
    ols = least_squares(curve.x, curve.y, level)
    noise = curve.noise
    if noise is None:
        change, df = change_without_noise(curve, line, ols)
        seen = None if change is None else detectable_change(change, df, alpha)
        p = test.p if test.status == "ok" else None
        return Trend(test, line, ols, p, agreeing(change, p, alpha), seen)
    if noise.kind == "trials":
        return by_trials(curve, noise, Trend(test, line, ols, None, None, None), alpha)
    weighted, change = weighted_slope(curve.x, curve.y, noise, level)
    seen = None if change is None else detectable_change(change, noise.df, alpha)
    differ = cochran_q(curve.y, noise)
    return Trend(test, line, ols, weighted.p, change, seen, None, weighted, differ)


def by_trials(curve: Curve, noise: Noise, found: Trend, alpha: float) -> Trend:
    """Adds what the trials of every cell allow."""
    if noise.k is None or noise.n is None:
        raise ValueError("this noise has no trials")
    differ = homogeneity(noise.k, noise.n)
    trend = logit_trend(curve.x, noise, differ.p, alpha)
    seen = None if trend.change is None else detectable_change(trend.change, trend.df, alpha)
    change = agreeing(trend.change, trend.logit.p, alpha)
    return replace(found, p=trend.logit.p, change=change, detectable=seen, logit=trend.logit, heterogeneity=differ)


def change_without_noise(
    curve: Curve, line: TheilSen, ols: OrdinaryLeastSquares
) -> tuple[FittedChange | None, float | None]:
    """Sen's slope over the whole length, or the least-squares one of a coarse series, and the degrees of freedom of
    its interval."""
    if curve.count < 2 or line.slope is None:
        return None, None
    if is_coarse(curve):
        value, reason = ols.slope or 0.0, line.reason or ols.reason
        interval = None if line.reason else over(ols.interval, curve.span)
        return FittedChange(value * curve.span, interval, "least_squares", reason), curve.count - 2.0
    return FittedChange(line.slope * curve.span, over(line.interval, curve.span), "theil_sen", line.reason), None


def is_coarse(curve: Curve) -> bool:
    """Whether a series has two values, or so few that a third of all pairs tie: its median slope may be 0, with an
    interval of no width, however far its mean moves."""
    values, pairs = int(np.unique(curve.ticks).size), curve.count * (curve.count - 1) // 2
    untied = untied_pairs(curve.count, tie_pattern(curve.ticks))
    return values > 1 and curve.count > 2 and (values == 2 or 3 * (pairs - untied) >= pairs)


def over(interval: Interval | None, span: float) -> Interval | None:
    """The interval of a slope as that of the change over a distance."""
    return None if interval is None else Interval(interval.level, interval.low * span, interval.high * span)
