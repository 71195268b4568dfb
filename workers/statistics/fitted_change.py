"""The change of a series from its first to its last abscissa, as a model sees it, with its interval.

On the logit scale the interval comes from those of the two fitted ends and their correlation: the method of variance
estimates recovery (Zou 2008, American Journal of Epidemiology 168, 212-224), which stays within the bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from registry.results.terms import Interval
from registry.results.trend_tests import FittedChange
from workers.statistics.terms import FloatArray, detectable, reach_of


@dataclass(frozen=True)
class Ends:
    """Fitted log-odds at both ends with their 2 x 2 covariance; `df` of the dispersion, `None` where it is 1."""

    first: float
    last: float
    covariance: FloatArray
    df: float | None


def ends_of(u: FloatArray, line: tuple[float, float], covariance: FloatArray, df: float | None) -> Ends:
    """The ends of a line of log-odds over u with the covariance of its intercept and slope."""
    design = np.array([[1.0, float(u[0])], [1.0, float(u[-1])]])
    first, last = (line[0] + line[1] * float(end) for end in (u[0], u[-1]))
    return Ends(first, last, design @ covariance @ design.T, df)


def change_of_ends(ends: Ends, whole: float, level: float) -> tuple[float, Interval]:
    """The difference of the two proportions and its interval, in the metric's unit."""
    spread = np.sqrt(np.maximum(np.diag(ends.covariance), 1e-300))
    correlation = float(ends.covariance[0, 1] / (spread[0] * spread[1]))
    reach = reach_of(level, ends.df)
    p1, p2 = float(expit(ends.first)), float(expit(ends.last))
    l1, u1 = (float(expit(ends.first + sign * reach * spread[0])) for sign in (-1, 1))
    l2, u2 = (float(expit(ends.last + sign * reach * spread[1])) for sign in (-1, 1))
    low = recovered(p2 - l2, u1 - p1, correlation)
    high = recovered(u2 - p2, p1 - l1, correlation)
    return (p2 - p1) * whole, Interval(level, (p2 - p1 - low) * whole, (p2 - p1 + high) * whole)


def recovered(own: float, other: float, correlation: float) -> float:
    """The reach of a difference from the reaches of its two parts."""
    return math.sqrt(max(0.0, own * own + other * other - 2 * correlation * own * other))


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
    return replace(change, interval=Interval(change.interval.level, low, high))


def detectable_change(change: FittedChange, df: float | None, alpha: float) -> float | None:
    """The smallest change that the series could have shown; from half the width of the interval."""
    if change.interval is None:
        return None
    half = (change.interval.high - change.interval.low) / 2
    return detectable(half / reach_of(change.interval.level, df), alpha)
