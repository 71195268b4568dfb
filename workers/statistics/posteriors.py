"""The chance that a cell is the best one, for `best_cells.py`, by deterministic quadrature of independent posteriors.

P(i is best) = integral of f_i(z) * prod_{j != i} F_j(z) dz. Proportions have Jeffreys' posterior
Beta(k + 1/2, n - k + 1/2), integrated over theta with p = sin^2 theta, where its density has no poles
(Berger 1985, section 3.3.3); values with standard errors have normal ones. Equal cells are one group.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betainc, betainccinv, betaincinv, betaln, log_ndtr, ndtr

from workers.statistics.terms import FloatArray, IntArray

PANELS = 40
NODES = 8
"""Of a rule across posteriors of very different width."""
PANELS_PER_WIDTH, LEAST_PANELS = 10, 8
FINE_NODES = 16
"""Of a rule whose panels suit every posterior: what it leaves out is less than 10^-10 of a chance."""
FINER = 4.0 ** np.arange(6)
"""Shares of the last panel at which it is cut where densities are not smooth."""
MOST_GROUPS = 300
"""Distinct posteriors within reach of the best one up to which the integral is taken."""
NEGLIGIBLE = -36.0
"""Natural logarithm of a probability that no longer counts."""


@dataclass(frozen=True)
class Posteriors:
    """Groups of equal posteriors on a common coordinate: how many cells each has, and their functions.

    `distribution(z, i)` and `density(z, i)` take nodes and group indices and give groups x nodes; `low(i)` and
    `high` are where a group's probability begins and ends for all purposes; that of the `leader` begins late.
    Densities that are not `smooth` have a power at the upper bound that is not whole, whose derivatives have poles.
    """

    counts: IntArray
    low: Callable[[IntArray], FloatArray]
    high: FloatArray
    leader: int
    distribution: Callable[[FloatArray, IntArray], FloatArray]
    density: Callable[[FloatArray, IntArray], FloatArray]
    smooth: bool = True


def beta_posteriors(k: FloatArray, n: FloatArray, counts: IntArray) -> Posteriors:
    """Groups of k of n trials each, where more successes are better; the coordinate is theta."""
    a, b = k + 0.5, n - k + 0.5
    constant = np.log(2.0) - betaln(a, b)

    def distribution(z: FloatArray, i: IntArray) -> FloatArray:
        return np.asarray(betainc(a[i, None], b[i, None], np.sin(z) ** 2), dtype=np.float64)

    def density(z: FloatArray, i: IntArray) -> FloatArray:
        powers = 2 * k[i, None] * np.log(np.sin(z)) + 2 * (n - k)[i, None] * np.log(np.cos(z))
        return np.asarray(np.exp(constant[i, None] + powers), dtype=np.float64)

    def low(i: IntArray) -> FloatArray:
        return np.asarray(np.arcsin(np.sqrt(betaincinv(a[i], b[i], 1e-17))), dtype=np.float64)

    leader = int(np.argmax(np.arcsin(np.sqrt((k + 0.5) / (n + 1))) - 4 / np.sqrt(n + 1)))
    high = np.arcsin(np.sqrt(betainccinv(a, b, 1e-17)))
    smooth = bool(np.all(k == np.rint(k)) and np.all(n == np.rint(n)))
    return Posteriors(counts, low, np.asarray(high), leader, distribution, density, smooth)


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

    def low(i: IntArray) -> FloatArray:
        return np.asarray(mean[i] - 9 * stderr[i])

    return Posteriors(counts, low, mean + 9 * stderr, int(np.argmax(mean - 9 * stderr)), distribution, density)


def chances(groups: Posteriors) -> FloatArray | None:
    """Probability, for each group, that one given cell of it is the best; sums to 1 over all cells.

    `None` when more than `MOST_GROUPS` distinct posteriors are within reach of the best, when errors differ by so many
    orders of magnitude that the nodes miss all of them, or when trials are so many that nothing but rounding is left.
    """
    top = float(groups.high.max())
    bottom = beginning(groups, float(groups.low(np.array([groups.leader]))[0]), top)
    near = np.flatnonzero(groups.high > bottom)
    result = np.zeros(groups.counts.size)
    if not 0 < near.size <= MOST_GROUPS:
        return None
    distribution, density, weights = laws(groups, near, bottom, top)
    # The product of all distributions, less one's own, is a difference of logarithms: M factors instead of M^2.
    logs = np.log(np.maximum(distribution, 1e-300))
    every = groups.counts[near] @ logs
    result[near] = (density * np.exp(every - logs)) @ weights
    total = float(groups.counts @ result)
    # What quadrature misses is spread over all, so that the sum is 1.
    return np.asarray(result / total, dtype=np.float64) if total > 0 else None


def beginning(groups: Posteriors, low: float, high: float) -> float:
    """Point from which the best cell's distribution, the product of all, ceases to be negligible, by Newton's method
    from a point before it. The root of the logarithm is nearly straight, where the logarithm itself is a parabola."""
    near = np.flatnonzero(groups.high > low)
    for _ in range(100):
        at, counts = np.array([low]), groups.counts[near]
        share = np.maximum(groups.distribution(at, near)[:, 0], 1e-300)
        slope = float(counts @ (groups.density(at, near)[:, 0] / share))
        depth = -float(counts @ np.log(share))
        missing = 2 * (depth - math.sqrt(-NEGLIGIBLE * max(depth, 0.0)))
        # Of more than 10^15 trials a density is nothing but rounding errors.
        if abs(missing) <= 1e-6 or not slope > 0:
            break
        low = min(high, low + missing / slope)
        near = near[groups.high[near] > low]
    return low


def laws(groups: Posteriors, near: IntArray, low: float, high: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The distributions and densities of some groups at the nodes of a rule between two points, groups x nodes, and
    the weights of the nodes."""
    width = groups.high[near] - groups.low(near)
    panels = math.ceil(PANELS_PER_WIDTH * (high - low) / float(width.min()))
    if panels > PANELS:
        nodes, weights = quadrature(edges(groups, near, low, high))
        return groups.distribution(nodes, near), groups.density(nodes, near), weights
    at = np.linspace(low, high, max(panels, LEAST_PANELS) + 1)
    if not groups.smooth:
        at = np.concatenate([at[:-1], high - (at[-1] - at[-2]) / FINER[1:], at[-1:]])
    nodes, weights = quadrature(at, FINE_NODES)
    density = groups.density(nodes, near)
    return between(groups.distribution(at, near), density), density, weights


def between(ends: FloatArray, density: FloatArray) -> FloatArray:
    """Distributions at the nodes of panels, given them at the edges: a density is its polynomial through the nodes of a
    panel, and what it gains there is scaled to the gain between the edges.

    A panel is no wider than 1.8 standard errors, h <= 0.9 to either side. Of a normal density the polynomial is off by
    less than max|f^(16)| h^16 / (16! 2^15) = 2.2e-13 of the largest density.
    """
    shape = len(density), ends.shape[1] - 1, FINE_NODES
    parts = density.reshape(shape) @ gains(FINE_NODES)
    first, whole = ends[:, :-1, None], parts[..., -1:]
    share = np.divide(parts[..., :-1], whole, out=np.zeros(shape), where=whole > 1e-290)
    return np.asarray(first + (ends[:, 1:, None] - first) * share).reshape(density.shape)


@lru_cache(maxsize=4)
def gains(size: int) -> FloatArray:
    """The integrals of the polynomials that are 1 at one Gauss-Legendre node and 0 at the others: a row for each, from
    -1 to every node and, in the last column, to 1."""
    nodes, weights = legendre(size)
    degrees = np.arange(size)
    at_nodes = np.polynomial.legendre.legvander(nodes, size - 1)
    at_ends = np.polynomial.legendre.legvander(np.append(nodes, 1.0), size)
    # The integral of Legendre's polynomial of degree k is the difference of its neighbours over 2k + 1.
    integrals = np.vstack(
        [at_ends[:, 0] + at_ends[:, 1], (at_ends[:, 2:] - at_ends[:, :-2]).T / (2 * degrees[1:, None] + 1)]
    )
    return np.asarray((weights[:, None] * at_nodes * (degrees + 0.5)) @ integrals)


def edges(groups: Posteriors, near: IntArray, low: float, high: float) -> FloatArray:
    """Even panels, and finer ones across posteriors that are much narrower than the whole."""
    begins, ends = groups.low(near), groups.high[near]
    width = ends - begins
    narrow = np.argsort(width)[: np.count_nonzero(width < (high - low) / 4)][:20]
    finer = [np.linspace(begins[i], ends[i], PANELS // 2) for i in narrow]
    joined = np.unique(np.concatenate([np.linspace(low, high, PANELS + 1), *finer]))
    return np.asarray(joined[(joined >= low) & (joined <= high)], dtype=np.float64)


@lru_cache(maxsize=4)
def legendre(size: int) -> tuple[FloatArray, FloatArray]:
    """Gauss–Legendre nodes and weights on [-1, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(size)
    return np.asarray(nodes, dtype=np.float64), np.asarray(weights, dtype=np.float64)


def quadrature(at: FloatArray, size: int = NODES) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the composite rule on the panels between the edges, so many nodes in each."""
    unit, weight = legendre(size)
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
