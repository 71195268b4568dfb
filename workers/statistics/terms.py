"""Small parts that all statistics share: types of arrays, quantiles, values as ticks.

Values as integers of their last submitted decimal, so that ties are exact: 0.7000000000000028 ties with 0.7.
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import erfc, ndtri, stdtr, stdtrit

from registry.results.terms import Interval

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

MOST_WRITTEN_LEVELS = 1_000
"""Levels of an axis that an answer lists one by one; the rest is counted."""
SMALLEST_P = 2.2250738585072014e-308
"""Value reported for a p-value that is too small for a float: never 0."""
ROUNDING = 1e-12
"""Share of a number that is arithmetic noise."""
SIGNIFICANT = 12
"""Digits of the largest value that count; what differs beyond them is arithmetic noise."""
SMALL, DUST = 1e-3, 1e-14
"""Shares of the largest number of a table: of a row that has digits of its own, and of what has all digits and may yet
be arithmetic noise."""


def computable(*arrays: FloatArray) -> bool:
    """Return whether the largest finite size in each array is 0 or within 10^-100 and 10^100: squares then neither
    overflow nor vanish."""
    sizes = [float(np.max(np.abs(array[np.isfinite(array)]), initial=0.0)) for array in arrays]
    return all(size == 0.0 or 1e-100 < size < 1e100 for size in sizes)


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


def decimals_of(values: FloatArray) -> int:
    """The fewest decimals that write every finite value to twelve significant digits of the largest one.

    Negative for values beyond 10^12. Zero for an empty array.
    """
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if finite.size else 0.0
    if largest == 0.0:
        return 0
    most = min(SIGNIFICANT - 1 - int(np.floor(np.log10(largest))), 300)
    for places in range(min(0, most), most):
        scaled = finite * 10.0**places
        # Within 10^-12 of the largest value, in units of this many decimals.
        if np.all(np.abs(scaled - np.rint(scaled)) <= largest * 10.0 ** (places - SIGNIFICANT)):
            return places
    return most


def ticks_of(values: FloatArray, decimals: int) -> IntArray:
    """The values in units of 10^-decimals, rounded to the nearest; 0 where a value is not finite."""
    present = np.where(np.isfinite(values), values, 0.0)
    return np.rint(present * 10.0**decimals).astype(np.int64)


def ticks_by_row(values: FloatArray, ticks: IntArray, decimals: int) -> tuple[IntArray, IntArray]:
    """The ticks of each row of a matrix, and their decimals: those of the matrix, `ticks`, unless a row is so much
    smaller than the largest that fewer than nine digits of it would be left; it then has those of its own. What may be
    the rounding error of larger numbers has none."""
    sizes = np.abs(np.where(np.isfinite(values), values, 0.0)).max(axis=1, initial=0.0)
    largest = float(sizes.max(initial=0.0))
    found, small = np.full(len(values), decimals), np.flatnonzero((sizes > 0) & (sizes < SMALL * largest))
    if not small.size:
        return ticks, found
    own = decimals_by_column(values[small].T)
    every_digit = own >= SIGNIFICANT - 1 - np.floor(np.log10(sizes[small]))
    sure = ~every_digit | (sizes[small] > DUST * largest)
    small, ticks = small[sure], ticks.copy()
    found[small] = own[sure]
    scaled = np.where(np.isfinite(values[small]), values[small], 0.0) * 10.0 ** own[sure, None].astype(np.float64)
    ticks[small] = np.rint(scaled).astype(np.int64)
    return ticks, found


def decimals_by_column(values: FloatArray) -> IntArray:
    """`decimals_of` each column of a matrix, all at once."""
    sizes = np.abs(np.where(np.isfinite(values), values, 0.0))
    largest = sizes.max(axis=0, initial=0.0)
    open_ = largest > 0
    most = np.zeros(largest.size, dtype=np.int64)
    most[open_] = np.minimum(SIGNIFICANT - 1 - np.floor(np.log10(largest[open_])), 300).astype(np.int64)
    found = most.copy()
    for places in range(min(0, int(most.min(initial=0))), int(most.max(initial=0))):
        at = np.flatnonzero(open_ & (places < most) & (places >= np.minimum(0, most)))
        if at.size:
            scaled = sizes[:, at] * 10.0**places
            slack = largest[at] * 10.0 ** (places - SIGNIFICANT)
            fits = at[np.all(np.abs(scaled - np.rint(scaled)) <= slack, axis=0)]
            found[fits], open_[fits] = places, False
    return found
