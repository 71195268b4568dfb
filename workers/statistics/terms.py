"""The words that every statistic shares: its status, the settings of a metric, arrays and intervals."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import erfc, ndtri, stdtr, stdtrit

from registry.results.parameters import POWER
from registry.results.terms import Interval

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

MOST_WRITTEN_LEVELS = 1_000
"""Levels of an axis that an answer lists one by one; the rest is counted."""
SMALLEST_P = 2.2250738585072014e-308
"""Value reported for a p-value that is too small for a float: never 0."""


def computable(*arrays: FloatArray) -> bool:
    """Return whether the largest finite size in each array is 0 or within 10^-100 and 10^100: squares then neither
    overflow nor vanish."""
    sizes = [float(np.max(np.abs(array[np.isfinite(array)]), initial=0.0)) for array in arrays]
    return all(size == 0.0 or 1e-100 < size < 1e100 for size in sizes)


def detectable(stderr: float, alpha: float) -> float:
    """The smallest difference that a two-sided test at alpha finds with probability `POWER`, given the standard error
    of its estimate: (z_{1 - alpha/2} + z_{POWER}) stderr, in the unit of the error."""
    return (normal_quantile(1 - alpha / 2) + normal_quantile(POWER)) * stderr


@lru_cache(maxsize=64)
def normal_quantile(share: float) -> float:
    """The value that a standard normal variable stays below with this probability."""
    return float(ndtri(share))


@lru_cache(maxsize=256)
def reach_of(level: float, df: float | None = None) -> float:
    """Number of standard errors that a central interval of this level reaches to either side; normal without `df`."""
    return normal_quantile(0.5 + level / 2) if df is None else float(stdtrit(df, 0.5 + level / 2))


def two_sided(deviate: float, df: float | None = None) -> float:
    """The two-sided p of a standardised deviate, normal or Student's; never 0."""
    size = abs(deviate)
    p = float(erfc(size / math.sqrt(2))) if df is None else 2 * float(stdtr(df, -size))
    return max(SMALLEST_P, p)


def within(interval: Interval, lower: float | None, upper: float | None) -> Interval:
    """The interval without what lies beyond the bounds that its truth has."""
    low = interval.low if lower is None else max(interval.low, lower)
    return Interval(interval.level, low, interval.high if upper is None else min(interval.high, upper))
