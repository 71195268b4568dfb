"""Two proportions and many: Fisher's exact test, Newcombe's interval, the chi-squared test of homogeneity.

Fisher (1935): the two-sided p sums every table that is no more probable than the observed one. Newcombe (1998),
Statistics in Medicine 17, 873-890, method 10: the interval of a difference from two Wilson intervals.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import chdtrc, erfc, gammaln, ndtri, xlogy

from registry.results.trend_tests import Heterogeneity
from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray

Count = IntArray | FloatArray
"""Successes or trials; not whole where a design effect divides them."""
FEWEST_EXPECTED = 5
"""Of one outcome in a cell, from which on Pearson's statistic alone follows its law."""
EXACT_TRIALS = 20_000
"""Trials in both cells together up to which a pair is tested exactly; above it by the pooled z."""


def homogeneity(successes: Count, trials: Count) -> Heterogeneity:
    """Pearson's test that every cell has the same probability, without continuity correction. Effective numbers of
    trials need not be whole.

    Where a cell expects fewer than five of one outcome (Cochran 1954), its far tail is too light: the p is then the
    larger of its own and that of the likelihood ratio, and `test` says `pearson_and_likelihood_ratio`.
    """
    df = int(trials.size) - 1
    if df < 1:
        return Heterogeneity("insufficient", "pearson", reason="one cell cannot differ")
    pooled = float(successes.sum() / trials.sum())
    if pooled in (0.0, 1.0):
        return Heterogeneity("undefined", "pearson", None, df, reason="every trial came out the same")
    chi2 = float(np.sum((successes - trials * pooled) ** 2 / (trials * pooled * (1 - pooled))))
    p = max(SMALLEST_P, float(chdtrc(df, chi2)))
    if float(trials.min()) * min(pooled, 1 - pooled) >= FEWEST_EXPECTED:
        return Heterogeneity("ok", "pearson", chi2, df, p)
    share, misses = successes / trials, trials - successes
    ratio = xlogy(successes, share / pooled) + xlogy(misses, (1 - share) / (1 - pooled))
    return Heterogeneity("ok", "pearson_and_likelihood_ratio", chi2, df, max(p, float(chdtrc(df, 2 * ratio.sum()))))


def fisher_p(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> FloatArray:
    """Two-sided p for each pair of cells: k1 of n1 against k2 of n2 trials; arrays of one length."""
    if k1.size == 0:
        return np.empty(0)
    if int((n1 + n2).max()) > EXACT_TRIALS:
        return pooled_z_p(k1, n1, k2, n2)
    logs = log_factorials(int((n1 + n2).max()))
    total = k1 + k2
    low, high = np.maximum(0, total - n2), np.minimum(total, n1)
    table = low[:, None] + np.arange(int((high - low).max()) + 1)
    inside = table <= high[:, None]
    first = np.minimum(table, high[:, None])
    second = total[:, None] - first
    weight = -logs[first] - logs[n1[:, None] - first] - logs[second] - logs[n2[:, None] - second]
    seen = np.take_along_axis(weight, (k1 - low)[:, None], axis=1)
    chance = np.where(inside, np.exp(weight - weight.max(axis=1, keepdims=True)), 0.0)
    tail = np.sum(chance * (weight <= seen + 1e-9), axis=1)
    return np.asarray(np.clip(tail / chance.sum(axis=1), SMALLEST_P, 1.0), dtype=np.float64)


def pooled_z_p(k1: Count, n1: Count, k2: Count, n2: Count) -> FloatArray:
    """Two-sided normal p of the difference of two proportions, for numbers of trials beyond the exact test."""
    pooled = (k1 + k2) / (n1 + n2)
    spread = np.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    z = np.divide(np.abs(k1 / n1 - k2 / n2), spread, out=np.zeros(k1.size), where=spread > 0)
    return np.maximum(np.asarray(erfc(z / np.sqrt(2.0)), dtype=np.float64), SMALLEST_P)


@lru_cache(maxsize=8)
def log_factorials(most: int) -> FloatArray:
    """log 0!, log 1!, ... log most!"""
    return np.asarray(gammaln(np.arange(most + 1) + 1.0), dtype=np.float64)


def newcombe(k1: Count, n1: Count, k2: Count, n2: Count, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Low and high ends of k2/n2 - k1/n1, as fractions."""
    low1, high1 = wilson(k1, n1, level)
    low2, high2 = wilson(k2, n2, level)
    p1, p2 = k1 / n1, k2 / n2
    difference = p2 - p1
    return (
        difference - np.hypot(p2 - low2, high1 - p1),
        difference + np.hypot(high2 - p2, p1 - low1),
    )


def wilson(k: Count, n: Count, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Wilson's score interval of k/n, as fractions."""
    z2 = float(ndtri(0.5 + level / 2)) ** 2
    centre = (k + z2 / 2) / (n + z2)
    reach = np.sqrt(z2 * (k * (n - k) / n + z2 / 4)) / (n + z2)
    return centre - reach, centre + reach
