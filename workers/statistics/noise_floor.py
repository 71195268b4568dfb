"""Noise floor, the best of as many equal cells by chance: the floor that a peak has to pass.

Trials have the binomial law of the maximum of shares, which never goes beyond the bound; errors the normal one.
"""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr, log_ndtr

from workers.statistics.posteriors import expected_maximum
from workers.statistics.table import Table
from workers.statistics.table_noise import CellNoise
from workers.statistics.terms import FloatArray, IntArray

MOST_SIZES, MOST_SHARES = 1_000, 200_000
"""Different errors, and different shares of their trials, that are told apart; beyond, an average cell stands for
all, and of more trials in one cell the normal law."""


def floor_of(table: Table, found: CellNoise, level: float) -> tuple[float | None, float | None]:
    """The expected best value of equal cells, and the one that is not surpassed with probability `level`, in the
    metric's unit; `None` for a single cell, which is the best of nothing."""
    noise = found.noise
    if found.y.size < 2:
        return None, None
    # The law of very many trials is the normal one, and has no lattice that could be written out.
    if noise.k is not None and noise.n is not None and noise.n.max() <= MOST_SHARES:
        shares = shares_of_best(float(noise.k.sum() / noise.n.sum()), noise.n, level)
        expected, most = (found_value(noise.whole, found.sign, share) for share in shares)
        return expected, most
    variances, counts = np.unique(found.v, return_counts=True)
    mean = float(np.sum(found.y / found.v) / np.sum(1 / found.v))
    if variances.size > MOST_SIZES:
        variances, counts = np.array([float(found.v.mean())]), np.array([found.y.size])
    errors = np.sqrt(variances)
    expected, most = (mean + beyond for beyond in (expected_maximum(errors, counts), quantile(errors, counts, level)))
    return inside(table, found.sign * expected), inside(table, found.sign * most)


def quantile(errors: FloatArray, counts: IntArray, level: float) -> float:
    """Quantile of the largest of independent normals with mean 0, by bisection."""
    low, high = -10.0 * float(errors.max()), 10.0 * float(errors.max())
    while high - low > 1e-12 * float(errors.max()):
        middle = (low + high) / 2
        below = float(counts @ log_ndtr(middle / errors))
        low, high = (middle, high) if below < np.log(level) else (low, middle)
    return high


def found_value(whole: float, sign: float, share: float) -> float:
    """A share of better outcomes as a value of the metric."""
    return whole * (share if sign > 0 else 1 - share)


def shares_of_best(share: float, trials: FloatArray, level: float) -> tuple[float, float]:
    """The mean of the largest of independent binomial shares, the sum over their lattice of 1 - P(all are below), and
    its quantile."""
    sizes, counts = np.unique(np.maximum(1, np.rint(trials)).astype(np.int64), return_counts=True)
    if sizes.size > MOST_SIZES or int(sizes.sum()) > MOST_SHARES:
        sizes, counts = np.array([round(float(trials.mean()))]), np.array([trials.size])
    if share in (0.0, 1.0):
        return share, share
    lattice = np.unique(np.concatenate([np.arange(size) / size for size in sizes.tolist()]))
    law = np.zeros(lattice.size)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        # A share of this lattice, which was divided by one size, may be just below a whole number at another.
        below = bdtr(np.floor(lattice * size + 1e-9), size, share)
        law += count * np.log(np.maximum(below, 1e-300))
    reached = np.flatnonzero(law >= np.log(level))
    most = float(lattice[reached[0]]) if reached.size else 1.0
    return float(np.diff(np.append(lattice, 1.0)) @ -np.expm1(law)), most


def inside(table: Table, value: float) -> float:
    """No further than the metric's bounds."""
    lower, upper = table.metric.lower, table.metric.upper
    return min(value if lower is None else max(value, lower), np.inf if upper is None else upper)
