"""What is left at the end of a series of its first value, for `series.py`: a ratio with its interval.

MOVER-R, from the intervals of both
cells by themselves (Donner and Zou 2012, Statistical Methods in Medical Research 21, 347-359; Newcombe 2016,
Statistical Methods in Medical Research 25, 1774-1778): Wilson's (1927) of a proportion, else so many errors to either
side. With normal errors it is Fieller's.
"""

import numpy as np
from scipy.special import stdtrit

from registry.results.courses import Retained
from registry.results.terms import Interval
from workers.statistics.curves import Curves, RowNoise
from workers.statistics.proportions import wilson
from workers.statistics.terms import FloatArray, reach_of


def retained(curves: Curves, level: float) -> list[Retained | None]:
    """The last value of each series over its first one; `None` for a single cell, and where any value is negative or
    the first is 0: a share needs a scale that begins at 0."""
    first, last = curves.y[:, 0], curves.y[:, -1]
    defined = (first > 0) & np.all(curves.y >= 0, axis=1) & (curves.count > 1)
    # Ratios of numbers of very different sizes have no double: such a series has none.
    with np.errstate(all="ignore"):
        share = np.divide(last, first, out=np.zeros(len(curves)), where=defined)
        known = [None] * len(curves) if curves.noise is None else _intervals(curves, curves.noise, level)
    rows = zip((defined & np.isfinite(share)).tolist(), share.tolist(), known, strict=True)
    return [Retained(value, interval) if there else None for there, value, interval in rows]


def _intervals(curves: Curves, noise: RowNoise, level: float) -> list[Interval | None]:
    """The interval of each ratio; `None` where the first value may be 0."""
    (first, low1, high1), (last, low2, high2) = (_end(curves, noise, place, level) for place in (0, -1))
    # In the form without a difference in the numerator, the lower end has no pole at 2 first = high1.
    inside = np.maximum((first * last) ** 2 - low2 * (2 * last - low2) * high1 * (2 * first - high1), 0.0)
    under = first * last + np.sqrt(inside)
    outside = np.maximum((first * last) ** 2 - high2 * (2 * last - high2) * low1 * (2 * first - low1), 0.0)
    over = low1 * (2 * first - low1)
    low = np.divide(low2 * (2 * last - low2), under, out=np.zeros(len(curves)), where=under > 0)
    high = np.divide(first * last + np.sqrt(outside), over, out=np.full(len(curves), np.inf), where=over > 0)
    finite = (low1 > 0) & np.isfinite(low) & np.isfinite(high) & (low < high * (1 - 1e-12))
    ends = zip(finite.tolist(), np.maximum(low, 0.0).tolist(), high.tolist(), strict=True)
    return [Interval(level, *at) if bounded else None for bounded, *at in ends]


def _end(curves: Curves, noise: RowNoise, place: int, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The value of one cell of each series, and the ends of its own interval, at least 0."""
    value = curves.y[:, place]
    if noise.binomial is not None:
        k, n = noise.binomial
        low, high = (end * noise.whole for end in wilson(k[:, place], n[:, place], level))
    else:
        one = np.zeros(curves.count)
        one[place] = 1
        error, df = noise.of_sum(one)
        reach = error * (reach_of(level) if df is None else stdtrit(df, 0.5 + level / 2))
        low, high = value - reach, value + reach
    return value, np.minimum(np.maximum(low, 0.0), value), np.maximum(high, value)
