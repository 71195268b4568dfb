"""A set of cells that holds the best one with a guaranteed probability, whatever the truth is.

Gupta (1965), Technometrics 7, 225-245: keep every cell that lies within d times the error of a difference of the best
one seen. With the true best cell in mind, d is the quantile of the largest of the k - 1 differences to it, which share
its error and so correlate at 1/2; with unequal errors the independent bound (Sidak 1967) is used, which is larger
(Slepian 1962). Proportions are compared as arcsines of their roots (Anscombe 1948, Biometrika 35, 246-254), where
cells of equal trials have equal errors. It is Hsu's (1984) set of cells that cannot be told from the best.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import gammaln, log_ndtr, ndtri

from registry.results.peaks import BestSet
from workers.statistics.posteriors import quadrature
from workers.statistics.table import Table
from workers.statistics.table_noise import CellNoise
from workers.statistics.terms import FloatArray, IntArray

MOST_CELLS = 100
"""Cells that a set writes out; the best ones first."""


def best_set(table: Table, found: CellNoise, level: float) -> BestSet:
    """The guaranteed set of a grid."""
    score, variance = scale_of(found)
    kept = subset(score, variance, found.noise.df, level)
    order = kept[np.argsort(-found.y[kept], kind="stable")]
    return BestSet(level, int(kept.size), tuple(table.places_at(found.flat[order[:MOST_CELLS]])))


def scale_of(found: CellNoise) -> tuple[FloatArray, FloatArray]:
    """The cells on the scale on which they are compared, and their variances there."""
    noise = found.noise
    if noise.k is None or noise.n is None:
        return found.y, found.v
    # Anscombe's transformation: its variance is 1 / (4n + 2), whatever the share.
    share = (noise.k + 0.375) / (noise.n + 0.75)
    return np.asarray(np.arcsin(np.sqrt(share)), dtype=np.float64), 1 / (4 * noise.n + 2)


def subset(score: FloatArray, variance: FloatArray, df: float | None, level: float) -> IntArray:
    """The positions of the cells that are kept."""
    if score.size < 2:
        return np.arange(score.size)
    alike = bool(np.ptp(variance) <= 1e-9 * variance.max())
    d = quantile(int(score.size), level, df, alike)
    if alike:
        behind = (score.max() - score) / np.sqrt(2 * variance.max())
        return np.flatnonzero(behind <= d * (1 + 1e-12))
    # The leader by score less its reach is not the same for every cell: groups of equal errors keep that cheap.
    groups, place_of = np.unique(variance, return_inverse=True)
    tops = np.full(groups.size, -np.inf)
    np.maximum.at(tops, place_of, score)
    bars = np.max(tops[None, :] - d * np.sqrt(groups[:, None] + groups[None, :]), axis=1)
    return np.flatnonzero(score >= bars[place_of] - 1e-12 * np.max(np.abs(score)))


@lru_cache(maxsize=512)
def quantile(cells: int, level: float, df: float | None, alike: bool) -> float:
    """The constant d of so many cells, by bisection; Student's with `df` degrees of freedom."""
    # Comparisons with one and the same best cell are positively correlated. With unequal errors they are taken as
    # independent, which can only make the set larger.
    if df is None and not alike:
        return float(ndtri(level ** (1 / (cells - 1))))
    low, high = 0.0, 8.0 if df is None else 1000.0
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if coverage(middle, cells, df, alike) < level else (low, middle)
    return high


def coverage(d: float, cells: int, df: float | None, alike: bool) -> float:
    """The probability that the true best is kept when all cells are equal."""
    if df is not None:
        sizes, weights = scale_law(df)
        return float(sum(w * coverage(d * s, cells, None, alike) for s, w in zip(sizes, weights, strict=True)))
    if not alike:
        return float(np.exp((cells - 1) * log_ndtr(d)))
    nodes, weights = normal_nodes()
    return float(weights @ np.exp((cells - 1) * log_ndtr(nodes + np.sqrt(2.0) * d)))


@lru_cache(maxsize=1)
def normal_nodes() -> tuple[FloatArray, FloatArray]:
    """Nodes, and weights times the standard normal density."""
    nodes, weights = quadrature(np.linspace(-9.0, 9.0, 41))
    return nodes, np.asarray(weights * np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi))


@lru_cache(maxsize=64)
def scale_law(df: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the law of an estimated standard deviation over the true one: chi over its root df."""
    high = 1 + 9 / np.sqrt(df)
    nodes, weights = quadrature(np.linspace(1e-9, high, 9))
    log_density = np.log(2.0) + df / 2 * np.log(df / 2) - gammaln(df / 2) + (df - 1) * np.log(nodes) - df * nodes**2 / 2
    return nodes, np.asarray(weights * np.exp(log_density))
