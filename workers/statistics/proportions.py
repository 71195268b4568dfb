"""Two proportions and many, of steps, trends and gaps: Fisher's exact test, Newcombe's interval, homogeneity.

Fisher (1935): the two-sided p sums every table that is no more probable than the observed one. Newcombe (1998),
Statistics in Medicine 17, 873-890, method 10: the interval of a difference from two Wilson intervals.

Success against failure in many 2 x 2 tables: the common odds ratio, and whether it is common.

Mantel and Haenszel (1959), JNCI 22, 719-748, for the ratio; Robins, Breslow and Greenland (1986), Biometrics 42,
311-323, eq. 3 for the variance of its logarithm; Breslow and Day (1980), Statistical Methods in Cancer Research 1,
eq. 4.30 for homogeneity, with Tarone's (1985) correction. Tables in which every trial came out the same say nothing
about odds and are left out.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv, chdtrc, erfc, gammaln, ndtri, xlogy

from registry.results.sensitivity import BreslowDay, OddsRatio
from registry.results.terms import Interval
from registry.results.trend_tests import Heterogeneity
from workers.statistics.terms import SMALLEST_P, BoolArray, FloatArray, IntArray

Count = IntArray | FloatArray
"""Successes or trials; not whole where a design effect divides them."""
FEWEST_EXPECTED = 5
"""Expected count of one outcome in a cell, from which on Pearson's statistic alone follows its law."""
EXACT_TRIALS = 20_000
"""Trials in both cells together up to which a pair is tested exactly; above it by the pooled z."""
_AT_ONCE = 50_000
"""Tables that are looked at together: their arrays stay in the cache of a core."""


def homogeneity(successes: FloatArray, trials: FloatArray) -> list[Heterogeneity]:
    """Pearson's test, for each row, that every cell has the same probability, without continuity correction. Effective
    numbers of trials need not be whole.

    Where a cell expects fewer than five of one outcome (Cochran 1954), its far tail is too light: the p is then the
    larger of its own and that of the likelihood ratio, and `test` says `pearson_and_likelihood_ratio`.
    """
    df = int(trials.shape[1]) - 1
    if df < 1:
        return [Heterogeneity("insufficient", "pearson", reason="one cell cannot differ")] * len(trials)
    pooled = successes.sum(axis=1) / trials.sum(axis=1)
    alike = (pooled == 0.0) | (pooled == 1.0)
    inner = np.where(alike, 0.5, pooled)[:, None]
    chi2 = np.sum((successes - trials * inner) ** 2 / (trials * inner * (1 - inner)), axis=1)
    p = np.maximum(SMALLEST_P, chdtrc(df, chi2))
    enough = trials.min(axis=1) * np.minimum(pooled, 1 - pooled) >= FEWEST_EXPECTED
    short = np.flatnonzero(~enough & ~alike)
    if short.size:
        k, n, chance = successes[short], trials[short], pooled[short, None]
        share = k / n
        ratio = xlogy(k, share / chance) + xlogy(n - k, (1 - share) / (1 - chance))
        p[short] = np.maximum(p[short], chdtrc(df, 2 * ratio.sum(axis=1)))
    return [
        Heterogeneity("undefined", "pearson", None, df, reason="every trial came out the same")
        if same
        else Heterogeneity("ok", "pearson" if plain else "pearson_and_likelihood_ratio", one, df, at)
        for same, plain, one, at in zip(alike.tolist(), enough.tolist(), chi2.tolist(), p.tolist(), strict=True)
    ]


def fisher_p(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> FloatArray:
    """Two-sided p for each pair of cells: k1 of n1 against k2 of n2 trials; arrays of one length."""
    if k1.size == 0:
        return np.empty(0)
    most = int((n1 + n2).max())
    if most > EXACT_TRIALS:
        return pooled_z_p(k1, n1, k2, n2)
    low, high = window(k1, n1, k1 + k2, n1 + n2)
    # Tables of as many trials on both sides come in pairs of one probability: one of each, and half of the middle one.
    low = np.where(n1 == n2, np.maximum(low, (k1 + k2 + 1) // 2), low)
    widths = high - low
    order = np.argsort(widths, kind="stable")
    at_once = max(2, _AT_ONCE // int(widths.max() + 1))
    columns = [column[order] for column in (k1, n1, k1 + k2, n2, low, high)]
    parts = ([column[at : at + at_once] for column in columns] for at in range(0, k1.size, at_once))
    found = np.empty(k1.size)
    found[order] = np.concatenate([_fisher_p(*part) for part in parts])
    return found


def _fisher_p(k1: IntArray, n1: IntArray, total: IntArray, n2: IntArray, low: IntArray, high: IntArray) -> FloatArray:
    """The same, given the first and the last table that count; a column for each pair.

    The tables of a pair are added one by one: numpy does so along the first axis of two columns or more. So the zeros
    that a longer neighbour makes change no bit of a sum, as they would change those of its pairwise sums along a row.
    """
    if k1.size == 1:
        return _fisher_p(*(np.repeat(column, 2) for column in (k1, n1, total, n2, low, high)))[:1]
    first = low + np.arange(int((high - low).max()) + 1)[:, None]
    inside = first <= high
    first = np.minimum(first, high)
    weight = log_choices(n1, first) + log_choices(n2, total - first)
    seen = log_choices(n1, k1) + log_choices(n2, total - k1)
    chance = np.where(inside, np.exp(weight - weight.max(axis=0)), 0.0)
    chance[0, (n1 == n2) & (2 * low == total)] /= 2
    # Tables that are equally probable differ in the last bits of their logarithms: the slack counts them.
    tail = np.where(weight <= seen + 1e-9, chance, 0.0).sum(axis=0)
    return np.asarray(np.clip(tail / chance.sum(axis=0), SMALLEST_P, 1.0), dtype=np.float64)


def log_choices(n: IntArray, k: IntArray) -> FloatArray:
    """-log k! - log (n - k)!: the logarithm of n over k, but for what all tables of a pair share."""
    if n[0] == n[-1] and np.all(n == n[0]):
        return np.asarray(_log_choices(int(n[0]))[k])
    logs = log_factorials(EXACT_TRIALS)
    return np.asarray(-(logs[k] + logs[n - k]))


@lru_cache(maxsize=64)
def _log_choices(n: int) -> FloatArray:
    logs = log_factorials(EXACT_TRIALS)[: n + 1]
    return np.asarray(-(logs + logs[::-1]))


def window(k1: IntArray, n1: IntArray, total: IntArray, trials: IntArray) -> tuple[IntArray, IntArray]:
    """The first and the last table that count. The law is no wider than a normal one beyond the first few tables, so
    that what lies further out than this is less than 10^-17 of the p-value. Of as many trials on both sides it is
    symmetric and nowhere wider: it falls by e^-50 from a deviate d of k1 to the root of d^2 + 10^2."""
    mean = total * n1 / trials
    variance = mean * (1 - n1 / trials) * (1 - total / trials) * trials / np.maximum(trials - 1, 1)
    apart, spread = np.abs(k1 - mean), 10 * np.sqrt(variance)
    reach = np.where(2 * n1 == trials, np.hypot(apart, spread), apart + spread) + 10
    low = np.maximum(np.maximum(0, total - (trials - n1)), np.floor(mean - reach).astype(np.int64))
    return low, np.minimum(np.minimum(total, n1), np.ceil(mean + reach).astype(np.int64))


def pooled_z_p(k1: Count, n1: Count, k2: Count, n2: Count) -> FloatArray:
    """Two-sided normal p of the difference of two proportions, for numbers of trials beyond the exact test."""
    pooled = (k1 + k2) / (n1 + n2)
    spread = np.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    z = np.divide(np.abs(k1 / n1 - k2 / n2), spread, out=np.zeros(spread.shape), where=spread > 0)
    return np.maximum(np.asarray(erfc(z / np.sqrt(2.0)), dtype=np.float64), SMALLEST_P)


@lru_cache(maxsize=2)
def log_factorials(most: int) -> FloatArray:
    """log 0!, log 1!, ... log most!"""
    return np.asarray(gammaln(np.arange(most + 1) + 1.0), dtype=np.float64)


def newcombe(
    k1: Count, n1: Count, k2: Count, n2: Count, level: float | FloatArray = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Low and high ends of k2/n2 - k1/n1, as fractions."""
    low1, high1 = wilson(k1, n1, level)
    low2, high2 = wilson(k2, n2, level)
    p1, p2 = k1 / n1, k2 / n2
    difference = p2 - p1
    return (
        difference - np.hypot(p2 - low2, high1 - p1),
        difference + np.hypot(high2 - p2, p1 - low1),
    )


def shares_and_variances(k: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The variances of cells for the interval of their mean, and the shares at which they are taken. Half counts, in
    place of these, take the noise from a cell of few trials that came out alike, beside cells of many: of 5 and 500
    trials at .7, 17 % of the intervals miss, 6 % so."""
    share = (k + 1) / (n + 2)
    return share, share * (1 - share) / n


def wilson_limits(
    p: FloatArray, middle: FloatArray, variance: FloatArray, alpha: float, several: BoolArray | bool
) -> tuple[FloatArray, FloatArray]:
    """Wilson's (1927) limits of mean shares p with the trials of one share that has the same variance at `middle`
    (Korn and Graubard 1998). Where fewer than five of these came out one way, in several cells, the end on that side is
    no nearer than Clopper and Pearson's (1934), as they have it: 5 cells of 5 trials at .995 miss in 11.7 % else."""
    n, z2 = middle * (1 - middle) / variance, float(ndtri(1 - alpha / 2)) ** 2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(np.maximum(z2 * p * (1 - p) / n + (z2 / (2 * n)) ** 2, 0.0)) / (1 + z2 / n)
    low, high = np.minimum(centre - half, p), np.maximum(centre + half, p)
    return _no_nearer(low, p, n, alpha, several), -_no_nearer(-high, 1 - p, n, alpha, several, 1.0)


def _no_nearer(
    end: FloatArray, share: FloatArray, n: FloatArray, alpha: float, several: BoolArray | bool, less: float = 0.0
) -> FloatArray:
    few = np.flatnonzero(several & (share > 0) & (share * n < FEWEST_EXPECTED))
    k = share[few] * n[few]
    end[few] = np.minimum(end[few], betaincinv(k, n[few] - k + 1, alpha / 2) - less)
    return end


def wilson(k: Count, n: Count, level: float | FloatArray = 0.95) -> tuple[FloatArray, FloatArray]:
    """Wilson's score interval of k/n, as fractions."""
    z2 = ndtri(0.5 + level / 2) ** 2
    centre = (k + z2 / 2) / (n + z2)
    reach = np.sqrt(z2 * (k * (n - k) / n + z2 / 4)) / (n + z2)
    return centre - reach, centre + reach


SILENT = "every trial came out the same"


@dataclass(frozen=True)
class Tables:
    """Successes k of n trials, first and second, in strata where the outcomes differ."""

    k1: FloatArray
    n1: FloatArray
    k2: FloatArray
    n2: FloatArray

    @classmethod
    def of(cls, k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> "Tables":
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
