"""Ranks that equal scores share.

Complete blocks: Friedman's test, its better approximations and its exact law, and the critical difference.

Friedman (1937); Iman and Davenport (1980) for F; Nemenyi (1963) as in Demšar (2006), JMLR 7, section 3.2.2. The
exact law counts the orders within blocks; because it is symmetric in the treatments, sums of ranks can be kept
sorted, which leaves few states.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from scipy.special import chdtrc, fdtrc, ndtr

from registry.results.blocks import CriticalDifference, Friedman, ImanDavenport
from workers.statistics.posteriors import quadrature
from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray


def shared_ranks(goodness: FloatArray) -> IntArray:
    """Ranks from 1 for the largest; what differs by rounding only shares the better rank (1, 1, 3)."""
    return np.asarray(rank_rows(goodness[None, :])[0], dtype=np.int64)


def rank_rows(goodness: FloatArray | IntArray, slack: float = 1e-9) -> IntArray:
    """The same within each row of a matrix; what differs by no more than so much of the largest shares a rank."""
    least = slack * np.maximum(1e-300, np.max(np.abs(goodness), axis=1, initial=0.0))
    order = np.argsort(-goodness, axis=1, kind="stable")
    steps = -np.diff(np.take_along_axis(goodness, order, axis=1), axis=1)
    leaders = np.zeros(goodness.shape, dtype=np.int64)
    leaders[:, 1:] = np.where(steps > least[:, None], np.arange(1, goodness.shape[1]), 0)
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
        exact_p(np.rint(2 * ranks).astype(np.int64)),
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


def exact_p(doubled: IntArray) -> float | None:
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
