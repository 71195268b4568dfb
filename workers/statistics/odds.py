"""Success against failure in many 2 x 2 tables: the common odds ratio, and whether it is common.

Mantel and Haenszel (1959), JNCI 22, 719-748, for the ratio; Robins, Breslow and Greenland (1986), Biometrics 42,
311-323, eq. 3 for the variance of its logarithm; Breslow and Day (1980), Statistical Methods in Cancer Research 1,
eq. 4.30 for homogeneity, with Tarone's (1985) correction. Tables in which every trial came out the same say nothing
about odds and are left out.

Two names over slots with known trials: the Mantel–Haenszel risk difference with Sato's variance. Mantel and Haenszel
(1959); Sato, Greenland and Robins (1989), Biometrics 45, 1323-1324, for the variance. Where that variance is 0 although
the names differ (one always succeeds, one never), Cochran's test answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, erfc, ndtri

from registry.results.odds import BreslowDay, OddsRatio
from registry.results.terms import Interval
from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray

SILENT = "every trial came out the same"


@dataclass(frozen=True)
class Tables:
    """Successes k of n trials, first and second, in strata where the outcomes differ."""

    k1: FloatArray
    n1: FloatArray
    k2: FloatArray
    n2: FloatArray

    @classmethod
    def of(cls, k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> Tables:
        total = k1 + k2
        speaks = (total > 0) & (total < n1 + n2)
        return cls(*(array[speaks].astype(np.float64) for array in (k1, n1, k2, n2)))

    @property
    def strata(self) -> int:
        return int(self.k1.size)


def odds_ratio(tables: Tables, level: float = 0.95) -> OddsRatio:
    """Mantel and Haenszel's ratio with the interval of Robins, Breslow and Greenland."""
    if not tables.strata:
        return OddsRatio("undefined", 0, reason=SILENT)
    both = tables.n1 + tables.n2
    r = tables.k1 * (tables.n2 - tables.k2) / both
    s = tables.k2 * (tables.n1 - tables.k1) / both
    top, bottom = float(r.sum()), float(s.sum())
    if top == 0 or bottom == 0:
        return OddsRatio("undefined", tables.strata, reason=f"the odds ratio is {'infinite' if bottom == 0 else '0'}")
    concordant = (tables.k1 + tables.n2 - tables.k2) / both
    discordant = 1 - concordant
    variance = (
        float(np.sum(concordant * r)) / top**2
        + float(np.sum(concordant * s + discordant * r)) / (top * bottom)
        + float(np.sum(discordant * s)) / bottom**2
    ) / 2
    reach = float(ndtri(0.5 + level / 2)) * math.sqrt(variance)
    value = top / bottom
    return OddsRatio("ok", tables.strata, value, Interval(level, value * math.exp(-reach), value * math.exp(reach)))


def breslow_day(tables: Tables, ratio: OddsRatio) -> BreslowDay:
    """Tests that the strata share the ratio."""
    if ratio.value is None:
        return BreslowDay("undefined", tables.strata, reason=ratio.reason)
    if tables.strata < 2:
        return BreslowDay("insufficient", tables.strata, reason="one stratum cannot differ")
    total = tables.k1 + tables.k2
    fitted = expected(tables, total, ratio.value)
    spread = 1 / (1 / fitted + 1 / (total - fitted) + 1 / (tables.n1 - fitted) + 1 / (tables.n2 - total + fitted))
    plain = float(np.sum((tables.k1 - fitted) ** 2 / spread))
    tarone = max(0.0, plain - float(np.sum(tables.k1 - fitted)) ** 2 / float(spread.sum()))
    df = tables.strata - 1
    p, raw = (max(SMALLEST_P, float(chdtrc(df, chi2))) for chi2 in (tarone, plain))
    return BreslowDay("ok", tables.strata, tarone, df, p, plain, raw)


def expected(tables: Tables, total: FloatArray, ratio: float) -> FloatArray:
    """The successes of the first that give its table this odds ratio, margins kept: the root of a quadratic.

    With f successes and t in both: f (n2 - t + f) = ratio (t - f) (n1 - f). Of the two forms of the root the one is
    taken that subtracts nothing; b < 0 happens only where ratio < 1.
    """
    a = 1 - ratio
    b = tables.n2 - total + ratio * (total + tables.n1)
    c = -ratio * total * tables.n1
    root = np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))
    found = np.where(b >= 0, -2 * c / (np.abs(b) + root), (root - b) / (2 * a or 1.0))
    low, high = np.maximum(0.0, total - tables.n2), np.minimum(total, tables.n1)
    edge = 1e-12 * (high - low)
    return np.asarray(np.clip(found, low + edge, high - edge), dtype=np.float64)


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
