"""Tests by ranks: Mann and Kendall's for a trend (of series), Friedman's for complete blocks (of rankings).

Mann–Kendall test with ties, exact: the null law of S is a q-multinomial coefficient (Kendall 1970, ch. 5).

Of m values with ties in groups of t_1 ... t_r, the number of inversions over all orderings of the multiset has
the generating function [m]_q! / ([t_1]_q! ... [t_r]_q!) (Stanley, Enumerative Combinatorics 1, prop. 1.7.1), and
S = T - 2 * inversions with T untied pairs. A polynomial with non-negative coefficients below 2^b is the integer
that it takes at q = 2^b, so products, exact quotients and tail sums are operations on whole numbers.

Complete blocks: Friedman's test, its better approximations and its exact law, and the critical difference.

Friedman (1937); Iman and Davenport (1980) for F; Nemenyi (1963) as in Demšar (2006), JMLR 7, section 3.2.2. The
exact law counts the orders within blocks; because it is symmetric in the treatments, sums of ranks can be kept
sorted, which leaves few states.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from scipy.special import chdtrc, erfc, fdtrc, ndtr

from registry.results.pairs import CriticalDifference, Friedman, ImanDavenport
from registry.results.trend_tests import ExactOrNormal, MannKendall
from workers.statistics.posteriors import quadrature
from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray

EXACT_POINTS = 60
DIRECT_POINTS = 200
MOST_AT_ONCE = 10_000
"""Pairs of points of all rows that are compared in one array."""
EXACT_PAIRS = 4_000
"""Untied pairs of all rows together, up to which a stratified test is exact."""


def mann_kendall(ticks: IntArray, alpha: float = 0.05) -> MannKendall:
    """Tests for a monotone trend in integer values in their order; exact to 60 points, else the normal tail."""
    return mann_kendalls(ticks[None, :], [tie_pattern(ticks)], alpha)[0]


def mann_kendalls(ticks: IntArray, ties: Sequence[tuple[int, ...]], alpha: float = 0.05) -> list[MannKendall]:
    """The same of each row of an array, given the tie patterns of the rows."""
    count = int(ticks.shape[1])
    if count < 2:
        method: ExactOrNormal = "exact" if count <= EXACT_POINTS else "normal"
        return [MannKendall("insufficient", 0, None, None, None, method, "one point has no trend")] * len(ticks)
    return [_tested(s, count, pattern, alpha) for s, pattern in zip(scores(ticks), ties, strict=True)]


@lru_cache(maxsize=4_096)
def _tested(s: int, count: int, ties: tuple[int, ...], alpha: float) -> MannKendall:
    """The test of a score; a grid has the same few scores again and again."""
    method: ExactOrNormal = "exact" if count <= EXACT_POINTS else "normal"
    pairs = untied_pairs(count, ties)
    least = min_attainable(count, ties)
    p = exact_p(s, count, ties) if method == "exact" else normal_p(s, variance(count, ties))
    tau = s / math.sqrt(pairs * (count * (count - 1) // 2)) if pairs else None
    if pairs == 0:
        return MannKendall("undefined", s, tau, p, least, method, "every value is the same")
    if least >= alpha:
        return MannKendall("insufficient", s, tau, p, least, method, few(count, ties, alpha))
    return MannKendall("ok", s, tau, p, least, method)


def score(ticks: IntArray) -> int:
    """S: rising pairs minus falling pairs."""
    return scores(ticks[None, :])[0]


def scores(ticks: IntArray) -> list[int]:
    """S of each row; of long rows in O(m log m) by the bits of the ranks."""
    if ticks.shape[1] <= DIRECT_POINTS:
        i, j = couples(int(ticks.shape[1]))
        if i.size * len(ticks) <= MOST_AT_ONCE:
            return [int(s) for s in np.sign(ticks[:, j] - ticks[:, i]).sum(axis=1).tolist()]
        found = np.zeros(len(ticks), dtype=ticks.dtype)
        for apart in range(1, ticks.shape[1]):
            found += np.sign(ticks[:, apart:] - ticks[:, :-apart]).sum(axis=1)
        return [int(s) for s in found]
    return [_long_score(row) for row in ticks]


@lru_cache(maxsize=64)
def couples(size: int) -> tuple[IntArray, IntArray]:
    """All pairs i < j of so many points."""
    i, j = np.triu_indices(size, 1)
    return i.astype(np.int64), j.astype(np.int64)


def _long_score(ticks: IntArray) -> int:
    _, ranks = np.unique(ticks, return_inverse=True)
    return inversions(int(ranks.max()) - ranks) - inversions(ranks)


def inversions(ranks: IntArray) -> int:
    """The number of pairs i < j with ranks[i] > ranks[j], for ranks >= 0."""
    total = 0
    for bit in range(int(ranks.max()).bit_length()):
        # Two ranks compare as the highest bit in which they differ. Within a family the higher bits are equal: an
        # inversion is a one before a zero.
        family = ranks >> (bit + 1)
        order = np.argsort(family, kind="stable")
        ones = (ranks[order] >> bit) & 1
        before = np.cumsum(ones) - ones
        _, start, group = np.unique(family[order], return_index=True, return_inverse=True)
        total += int(np.sum((before - before[start][group])[ones == 0]))
    return total


def tie_pattern(ticks: IntArray) -> tuple[int, ...]:
    """The sizes of the groups of equal values that have more than one member, sorted."""
    return tuple(sorted(count for count in Counter(ticks.tolist()).values() if count > 1))


def tie_patterns(ticks: IntArray) -> list[tuple[int, ...]]:
    """Sizes, for each row, of the groups of equal values that have more than one member, sorted."""
    ordered = np.sort(ticks, axis=1)
    same = ordered[:, 1:] == ordered[:, :-1]
    found: list[tuple[int, ...]] = [()] * len(ticks)
    for row in np.flatnonzero(same.any(axis=1)).tolist():
        found[row] = _runs(same[row].tolist())
    return found


def _runs(same: Iterable[bool]) -> tuple[int, ...]:
    """The sizes of the runs of equal neighbours."""
    sizes, size = [], 1
    for again in (*same, False):
        if again:
            size += 1
        elif size > 1:
            sizes.append(size)
            size = 1
    return tuple(sorted(sizes))


def untied_pairs(count: int, ties: Sequence[int]) -> int:
    """T, the largest S that the values allow."""
    return count * (count - 1) // 2 - sum(t * (t - 1) // 2 for t in ties)


@lru_cache(maxsize=4_096)
def variance(count: int, ties: tuple[int, ...]) -> float:
    """The null variance of S with ties (Kendall 1970, eq. 4.4)."""
    return sum(sign * n * (n - 1) * (2 * n + 5) for sign, n in [(1, count), *((-1, t) for t in ties)]) / 18


def orderings(count: int, ties: Sequence[int]) -> int:
    """Number of different orderings of the values."""
    return math.factorial(count) // math.prod(math.factorial(t) for t in ties)


@lru_cache(maxsize=4_096)
def min_attainable(count: int, ties: tuple[int, ...]) -> float:
    """Twice the probability of the one fully sorted ordering."""
    return max(SMALLEST_P, min(1.0, 2 / orderings(count, ties))) if count <= 170 else SMALLEST_P


def few(count: int, ties: tuple[int, ...], alpha: float) -> str:
    """Why no p of these values could be below alpha: they are few, or so many tie."""
    if min_attainable(count, ()) < alpha:
        return f"so many of the {count} values tie that no ordering of them has a p below {alpha:g}"
    return f"no ordering of {count} such values has a p below {alpha:g}"


def exact_p(s: int, count: int, ties: tuple[int, ...]) -> float:
    """P(|S| >= |s|) over all orderings, as a correctly rounded quotient of integers."""
    if s == 0:
        return 1.0
    polynomial, bits = null_law(count, ties)
    # S = T - 2 * inversions, and the law is symmetric: |S| >= |s| is twice the tail of few inversions.
    most = (untied_pairs(count, ties) - abs(s)) // 2
    tail = polynomial & ((1 << bits * (most + 1)) - 1)
    # The sum of the coefficients is the polynomial at q = 1, and 2^bits is 1 modulo 2^bits - 1. The sum is smaller than
    # the modulus, so the remainder is the sum itself.
    return min(1.0, 2 * (tail % ((1 << bits) - 1)) / orderings(count, ties))


def normal_p(s: float, spread: float) -> float:
    """The two-sided tail of S with a continuity correction; a survival function, so it does not round to 0."""
    if s == 0 or spread <= 0:
        return 1.0
    return max(SMALLEST_P, float(erfc((abs(s) - 1) / math.sqrt(2 * spread))))


@lru_cache(maxsize=256)
def null_law(count: int, ties: tuple[int, ...]) -> tuple[int, int]:
    """The orderings by inversions as one integer, and its bits per coefficient (a multiple of 8)."""
    # More bits than count! has, so that no coefficient carries into the next; whole bytes, so that `probabilities` can
    # cut the integer into coefficients.
    bits = -(-(math.factorial(count).bit_length() + 1) // 8) * 8
    law = q_factorial(count, bits)
    for t in ties:
        law //= q_factorial(t, bits)
    return law, bits


@lru_cache(maxsize=256)
def q_factorial(count: int, bits: int) -> int:
    """[count]_q! at q = 2^bits."""
    product = 1
    for i in range(2, count + 1):
        product *= ((1 << bits * i) - 1) // ((1 << bits) - 1)
    return product


@lru_cache(maxsize=1024)
def probabilities(count: int, ties: tuple[int, ...]) -> FloatArray:
    """The null probability of 0, 1, 2 ... T inversions, of length T + 1."""
    law, bits = null_law(count, ties)
    width = bits // 8
    size = untied_pairs(count, ties) + 1
    raw = law.to_bytes(width * size, "little")
    total = orderings(count, ties)
    return np.array([int.from_bytes(raw[i : i + width], "little") / total for i in range(0, len(raw), width)])


def shared_ranks(goodness: FloatArray) -> IntArray:
    """Ranks from 1 for the largest; what differs by rounding only shares the better rank (1, 1, 3)."""
    return np.asarray(rank_rows(goodness[None, :])[0], dtype=np.int64)


def rank_rows(goodness: FloatArray | IntArray, slack: float = 1e-9) -> IntArray:
    """The same within each row of a matrix; what differs by no more than so much of the larger of two shares a rank,
    and by a thousandth of that of the largest of all: beside one that diverged the others keep their order."""
    order = np.argsort(-goodness, axis=1, kind="stable")
    ordered = np.take_along_axis(goodness, order, axis=1)
    sizes = np.maximum(np.abs(ordered), np.max(np.abs(ordered), axis=1, keepdims=True, initial=1e-297) / 1_000)
    leaders = np.zeros(goodness.shape, dtype=np.int64)
    apart = -np.diff(ordered, axis=1) > slack * np.maximum(sizes[:, 1:], sizes[:, :-1])
    leaders[:, 1:] = np.where(apart, np.arange(1, goodness.shape[1]), 0)
    ranks = np.empty(goodness.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.maximum.accumulate(leaders, axis=1) + 1, axis=1)
    return ranks


MOST_TREATMENTS = 6
MOST_STATES = 2_000_000
"""Treatments, and combinations of states and orders in one step, up to which the law is enumerated."""


def ranks_of(goodness: IntArray) -> FloatArray:
    """Ranks within each row of blocks x treatments: 1 for the largest, middle ranks for ties."""
    best, worst = rank_rows(goodness, 0), goodness.shape[1] + 1 - rank_rows(-goodness, 0)
    return np.asarray((best + worst) / 2, dtype=np.float64)


def friedman(goodness: IntArray, alpha: float = 0.05) -> Friedman:
    """Tests complete blocks x treatments of integers of which more is better."""
    blocks, k = goodness.shape
    if blocks == 0 or k < 2:
        return Friedman("insufficient", (1.0,) * k, None, max(0, k - 1), None, None, None, None, blocks, "no contest")
    ranks = ranks_of(goodness)
    mean_ranks = tuple(float(r) for r in ranks.mean(axis=0))
    spread = float(np.sum((ranks - (k + 1) / 2) ** 2))
    if spread == 0:
        reason = "all treatments tie in every block"
        return Friedman("undefined", mean_ranks, None, k - 1, None, None, None, None, blocks, reason)
    between = float(np.sum((ranks.sum(axis=0) - blocks * (k + 1) / 2) ** 2))
    chi2 = (k - 1) * between / spread
    return Friedman(
        "ok",
        mean_ranks,
        chi2,
        k - 1,
        max(SMALLEST_P, float(chdtrc(k - 1, chi2))),
        iman_davenport(chi2, blocks, k),
        friedman_p(np.rint(2 * ranks).astype(np.int64)),
        CriticalDifference(alpha, studentized_range(k, alpha) * math.sqrt(k * (k + 1) / 12 / blocks)),
        blocks,
    )


def iman_davenport(chi2: float, blocks: int, k: int) -> ImanDavenport | None:
    """F from the tie-corrected chi-squared; none for a single block."""
    if blocks < 2:
        return None
    rest = blocks * (k - 1) - chi2
    if rest <= 1e-12 * chi2:
        return ImanDavenport(None, None)
    f = (blocks - 1) * chi2 / rest
    return ImanDavenport(f, max(SMALLEST_P, float(fdtrc(k - 1, (k - 1) * (blocks - 1), f))))


def friedman_p(doubled: IntArray) -> float | None:
    """P(sum of squared rank sums >= observed) when all orders within blocks are equally likely."""
    blocks, k = doubled.shape
    if k > MOST_TREATMENTS:
        return None
    seen = int(np.sum(doubled.sum(axis=0) ** 2))
    base = int(doubled.max()) * blocks + 1
    # A state, the sums of ranks of all treatments, is one number to this base, and has to fit into 64 bits.
    if base**k >= 2**62:
        return None
    places = base ** np.arange(k, dtype=np.int64)
    states: IntArray = np.sort(doubled[:1], axis=1)
    weights: FloatArray = np.ones(1)
    for number, block in enumerate(doubled[1:], start=2):
        orders = np.array(sorted(set(itertools.permutations(block.tolist()))), dtype=np.int64)
        if len(states) * len(orders) > MOST_STATES:
            return None
        sums = (states[:, None, :] + orders).reshape(-1, k)
        weights = np.repeat(weights / len(orders), len(orders))
        # Not after the last block: what is equal up to order need not be joined once more only to be summed.
        if number < blocks:
            keys, place = np.unique(np.sort(sums, axis=1) @ places, return_inverse=True)
            weights = np.asarray(np.bincount(place, weights), dtype=np.float64)
            sums = keys[:, None] // places % base
        states = sums
    return float(min(1.0, weights[np.sum(states**2, axis=1) >= seen].sum()))


@lru_cache(maxsize=128)
def studentized_range(k: int, alpha: float) -> float:
    """The upper quantile of the range of k standard normals (infinite degrees of freedom), by bisection."""
    nodes, weights = quadrature(np.linspace(-9.0, 9.0, 61))
    density = np.exp(-(nodes**2) / 2) / math.sqrt(2 * math.pi)
    low, high = 0.0, 20.0
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        inside = k * float(weights @ (density * (ndtr(nodes) - ndtr(nodes - middle)) ** (k - 1)))
        low, high = (middle, high) if inside < 1 - alpha else (low, middle)
    return (low + high) / 2
