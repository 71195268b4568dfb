"""The change of a series from its first to its last abscissa, as a model sees it, with its interval.

On the logit scale the interval comes from those of the two fitted ends and their correlation: the method of variance
estimates recovery (Zou 2008, American Journal of Epidemiology 168, 212-224), which stays within the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from registry.results.terms import Interval
from registry.results.trend_tests import FittedChange
from workers.statistics.terms import FloatArray, detectable, reach_of


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
