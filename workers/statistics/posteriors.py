"""The chance that a cell is the best one, by deterministic quadrature of independent posteriors.

P(i is best) = integral of f_i(z) * prod_{j != i} F_j(z) dz. Proportions have Jeffreys' posterior
Beta(k + 1/2, n - k + 1/2), integrated over theta with p = sin^2 theta, where its density has no poles
(Berger 1985, section 3.3.3); values with standard errors have normal ones. Equal cells are one group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betainc, betainccinv, betaln, log_ndtr, ndtr

from workers.statistics.terms import FloatArray, IntArray

PANELS = 40
NODES = 8
MOST_GROUPS = 300
"""Distinct posteriors within reach of the best one up to which the integral is taken."""
NEGLIGIBLE = -36.0
"""Natural logarithm of a probability that no longer counts."""


@dataclass(frozen=True)
class Posteriors:
    """Groups of equal posteriors on a common coordinate: how many cells each has, and their functions.

    `distribution(z, i)` and `density(z, i)` take nodes and group indices and give groups x nodes; `low` and
    `high` hold, per group, where its probability begins and ends for all purposes.
    """

    counts: IntArray
    low: FloatArray
    high: FloatArray
    distribution: Callable[[FloatArray, IntArray], FloatArray]
    density: Callable[[FloatArray, IntArray], FloatArray]


def beta_posteriors(k: FloatArray, n: FloatArray, counts: IntArray) -> Posteriors:
    """Groups of k of n trials each, where more successes are better; the coordinate is theta."""
    a, b = k + 0.5, n - k + 0.5
    constant = np.log(2.0) - betaln(a, b)

    def distribution(z: FloatArray, i: IntArray) -> FloatArray:
        return np.asarray(betainc(a[i, None], b[i, None], np.sin(z) ** 2), dtype=np.float64)

    def density(z: FloatArray, i: IntArray) -> FloatArray:
        powers = 2 * k[i, None] * np.log(np.sin(z)) + 2 * (n - k)[i, None] * np.log(np.cos(z))
        return np.asarray(np.exp(constant[i, None] + powers), dtype=np.float64)

    low = np.arcsin(np.sqrt(1 - betainccinv(b, a, 1e-17)))
    high = np.arcsin(np.sqrt(betainccinv(a, b, 1e-17)))
    return Posteriors(counts, np.asarray(low), np.asarray(high), distribution, density)


def normal_posteriors(mean: FloatArray, stderr: FloatArray, counts: IntArray) -> Posteriors:
    """Groups with a mean and a standard error each, where more is better; the coordinate is the value.

    An error below the resolution of the numbers is raised to it.
    """
    stderr = np.maximum(stderr, 1e-12 * float(np.max(np.abs(mean), initial=1e-100)))

    def distribution(z: FloatArray, i: IntArray) -> FloatArray:
        return np.asarray(ndtr((z - mean[i, None]) / stderr[i, None]), dtype=np.float64)

    def density(z: FloatArray, i: IntArray) -> FloatArray:
        spread = stderr[i, None]
        return np.asarray(np.exp(-(((z - mean[i, None]) / spread) ** 2) / 2) / spread / np.sqrt(2 * np.pi))

    return Posteriors(counts, mean - 9 * stderr, mean + 9 * stderr, distribution, density)


def chances(groups: Posteriors) -> FloatArray | None:
    """Probability, for each group, that one given cell of it is the best; sums to 1 over all cells.

    `None` when more than `MOST_GROUPS` distinct posteriors are within reach of the best, or when errors differ by
    so many orders of magnitude that the nodes miss all of them.
    """
    everything = np.arange(groups.counts.size)
    top = float(groups.high.max())
    bottom = beginning(groups, float(groups.low.max()), top)
    near = everything[groups.high > bottom]
    result = np.zeros(groups.counts.size)
    if near.size > MOST_GROUPS:
        return None
    nodes, weights = quadrature(edges(groups, near, bottom, top))
    # The product of all distributions, less one's own, is a difference of logarithms: M factors instead of M^2.
    logs = np.log(np.maximum(groups.distribution(nodes, near), 1e-300))
    every = groups.counts[near] @ logs
    result[near] = (groups.density(nodes, near) * np.exp(every - logs)) @ weights
    total = float(groups.counts @ result)
    # What quadrature misses is spread over all, so that the sum is 1.
    return np.asarray(result / total, dtype=np.float64) if total > 0 else None


def beginning(groups: Posteriors, low: float, high: float) -> float:
    """Point from which the best cell's distribution, the product of all, ceases to be negligible; by bisection."""
    near = np.flatnonzero(groups.high > low)
    for _ in range(30):
        middle = (low + high) / 2
        values = groups.distribution(np.array([middle]), near)[:, 0]
        if float(groups.counts[near] @ np.log(np.maximum(values, 1e-300))) < NEGLIGIBLE:
            low, near = middle, near[groups.high[near] > middle]
        else:
            high = middle
    return low


def edges(groups: Posteriors, near: IntArray, low: float, high: float) -> FloatArray:
    """Even panels, and finer ones across posteriors that are much narrower than the whole."""
    width = (groups.high - groups.low)[near]
    narrow = near[np.argsort(width)][: np.count_nonzero(width < (high - low) / 4)][:20]
    finer = [np.linspace(groups.low[i], groups.high[i], PANELS // 2) for i in narrow]
    joined = np.unique(np.concatenate([np.linspace(low, high, PANELS + 1), *finer]))
    return np.asarray(joined[(joined >= low) & (joined <= high)], dtype=np.float64)


@lru_cache(maxsize=4)
def legendre(size: int) -> tuple[FloatArray, FloatArray]:
    """Gauss–Legendre nodes and weights on [-1, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(size)
    return np.asarray(nodes, dtype=np.float64), np.asarray(weights, dtype=np.float64)


def quadrature(at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the composite rule on the panels between the edges."""
    unit, weight = legendre(NODES)
    half = np.diff(at)[:, None] / 2
    nodes = at[:-1, None] + half * (1 + unit)
    return nodes.ravel(), (half * weight).ravel()


def expected_maximum(spreads: FloatArray, counts: IntArray) -> float:
    """The mean of the largest of independent normals with mean 0: `counts` of each of the spreads."""
    scale = float(spreads.max())
    nodes, weights = quadrature(np.linspace(-10.0, 10.0, 81))
    # The mean of a variable is the integral of 1 - F above 0 less that of F below.
    law = np.exp(counts @ np.asarray(log_ndtr(nodes * scale / spreads[:, None])))
    return scale * float(weights @ (np.where(nodes > 0, 1.0, 0.0) - law))
