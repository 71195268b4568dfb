"""Two names over slots with known trials: the Mantel–Haenszel risk difference with Sato's variance.

Mantel and Haenszel (1959); Sato, Greenland and Robins (1989), Biometrics 45, 1323-1324, for the variance.
Where that variance is 0 although the names differ (one always succeeds, one never), Cochran's test answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erfc, ndtri

from registry.results.terms import Interval
from workers.statistics.terms import SMALLEST_P, IntArray


@dataclass(frozen=True, slots=True)
class RiskDifference:
    """The difference first minus second as a fraction, its standard error, two-sided p and interval."""

    difference: float
    stderr: float | None
    p: float | None
    interval: Interval | None
    test: str


def risk_difference(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray, level: float = 0.95) -> RiskDifference:
    """k1 of n1 against k2 of n2 trials in each of the same slots. No p when every trial came out the same."""
    both = (n1 + n2).astype(np.float64)
    weight = float(np.sum(n1 * n2 / both))
    difference = float(np.sum((k1 * n2 - k2 * n1) / both)) / weight
    spread_p = k2 * (n1 / both) ** 2 - k1 * (n2 / both) ** 2 + n1 / both * n2 / both * (n2 - n1) / 2
    spread_q = (k1 * (n2 - k2) + k2 * (n1 - k1)) / both / 2
    variance = (difference * float(spread_p.sum()) + float(spread_q.sum())) / weight**2
    if variance * weight <= 1e-12:
        return conditional(difference, k1, n1, k2, n2)
    stderr = math.sqrt(variance)
    reach = float(ndtri(0.5 + level / 2)) * stderr
    p = max(SMALLEST_P, float(erfc(abs(difference) / stderr / math.sqrt(2))))
    interval = Interval(level, difference - reach, difference + reach)
    return RiskDifference(difference, stderr, p, interval, "mantel_haenszel")


def conditional(difference: float, k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> RiskDifference:
    """Cochran, Mantel and Haenszel's test with the variance under equality; no interval."""
    both = (n1 + n2).astype(np.float64)
    total = k1 + k2
    spread = float(np.sum(n1 * n2 * total * (both - total) / both**2 / np.maximum(both - 1, 1)))
    if spread <= 0:
        return RiskDifference(difference, None, None, None, "cochran_mantel_haenszel")
    z = float(np.sum(k1 - total * n1 / both)) / math.sqrt(spread)
    p = max(SMALLEST_P, float(erfc(abs(z) / math.sqrt(2))))
    return RiskDifference(difference, None, p, None, "cochran_mantel_haenszel")
