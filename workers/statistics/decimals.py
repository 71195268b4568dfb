"""Values as integers of their last submitted decimal, so that ties are exact: 0.7000000000000028 ties with 0.7."""

from __future__ import annotations

import numpy as np

from workers.statistics.terms import FloatArray, IntArray

SIGNIFICANT = 12
"""Digits of the largest value that count; what differs beyond them is arithmetic noise."""


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
