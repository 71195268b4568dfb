"""Margins before peaks: the arg-max of a grid is its noisiest statistic, so what noise leaves of it stands beside it.

The peak is compared with the expected best of equal cells, kept in a guaranteed set, and shrunk towards the mean
(DerSimonian and Laird 1986, eq. 8; empirical Bayes as in Efron and Morris 1975). The chance of being the best is that
of the shrunken cells: unrelated ones would each keep their luck, and the lucky one would look sure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from registry.results.peaks import CellChance, Peaks, Shrunken
from workers.statistics.best_set import best_set
from workers.statistics.noise_floor import floor_of
from workers.statistics.peaks import peaks
from workers.statistics.posteriors import Posteriors, beta_posteriors, chances, normal_posteriors
from workers.statistics.table import Table
from workers.statistics.table_noise import CellNoise, cell_noise
from workers.statistics.terms import FloatArray, IntArray

MOST_CELLS = 100
"""Cells that a list writes out; the most probable ones first."""
OUT_OF_REACH = "too many different cells are within reach of the best, or their errors differ too much"


@dataclass(frozen=True)
class _Posterior:
    """Every cell after shrinkage: means and variances, turned so that more is better; the target; the variance
    between cells and its share."""

    mean: FloatArray
    variance: FloatArray
    target: float
    tau2: float
    i2: float


def noisy_peaks(table: Table, level: float = 0.95) -> Peaks:
    """The peaks of a grid, and what noise leaves of them."""
    best = peaks(table)
    if table.metric.direction is None:
        return replace(best, noise_reason="the metric has no better end")
    if table.cells == 0:
        return replace(best, noise_status="insufficient", noise_reason="no cell was measured")
    found = cell_noise(table)
    if found is None:
        return replace(best, noise_status="insufficient", noise_reason="the noise of some cell is unknown")
    posterior = shrink(found)
    probable = None if posterior is None else shrunken_chances(posterior)
    expected, most = floor_of(table, found, level)
    return replace(
        best,
        noise=found.noise.kind,
        noise_status="ok",
        noise_reason=None if probable is not None else OUT_OF_REACH,
        expected_max_if_equal=expected,
        plausible_max_if_equal=most,
        probability_best=None if probable is None else listed(table, found, probable, unrelated_chances(found)),
        best_set=best_set(table, found, level),
        shrunken=None if posterior is None else shrunken_peak(table, found, posterior),
    )


def shrink(found: CellNoise) -> _Posterior | None:
    """Shrinks every cell; `None` where one outweighs all others, so that nothing can be said of their spread."""
    if found.y.size < 2:
        return _Posterior(found.y, found.v, float(found.y[0]), 0.0, 0.0)
    # DerSimonian and Laird's moment estimate, with weights relative to the largest.
    weight = found.v.min() / found.v
    spread = float(weight.sum() - (weight @ weight) / weight.sum())
    if spread <= 1e-12:
        return None
    centre = float(weight @ found.y / weight.sum())
    q = float(np.sum((found.y - centre) ** 2 / found.v))
    tau2 = max(0.0, (q - (found.y.size - 1)) * float(found.v.min()) / spread)
    inverse = 1 / (found.v + tau2)
    target = float(inverse @ found.y / inverse.sum())
    kept = tau2 / (tau2 + found.v)
    i2 = max(0.0, 1 - (found.y.size - 1) / q) if q > 0 else 0.0
    return _Posterior(target + kept * (found.y - target), kept * found.v, target, tau2, i2)


def shrunken_chances(posterior: _Posterior) -> FloatArray | None:
    """The probability of each cell to be the best; all alike where nothing but noise is between them."""
    if posterior.mean.size == 1 or posterior.tau2 == 0:
        return np.full(posterior.mean.size, 1 / posterior.mean.size)
    return chances_of_cells(normal_posteriors, posterior.mean, np.sqrt(posterior.variance))


def unrelated_chances(found: CellNoise) -> FloatArray | None:
    """The same with a flat prior on every cell: Jeffreys' for proportions."""
    noise = found.noise
    if noise.k is not None and noise.n is not None:
        return chances_of_cells(beta_posteriors, noise.k, noise.n)
    return chances_of_cells(normal_posteriors, found.y, np.sqrt(found.v))


def chances_of_cells(
    law: Callable[[FloatArray, FloatArray, IntArray], Posteriors], first: FloatArray, second: FloatArray
) -> FloatArray | None:
    """The probability of each cell to be the best, given the two numbers that its law has."""
    # As complex numbers pairs are sorted at once, and by both.
    cells, group, counts = np.unique(first + 1j * second, return_inverse=True, return_counts=True)
    found = chances(law(cells.real, cells.imag, counts))
    return None if found is None else found[group]


def listed(
    table: Table, found: CellNoise, probable: FloatArray, unrelated: FloatArray | None
) -> tuple[CellChance, ...]:
    """The most probable cells; of equally probable ones the better first."""
    order = np.lexsort([-found.y, -probable])[:MOST_CELLS]
    order = order[probable[order] > 0]
    cells = found.flat[order]
    rows = zip(
        table.places_at(cells),
        table.values.ravel()[cells].tolist(),
        probable[order].tolist(),
        [None] * order.size if unrelated is None else unrelated[order].tolist(),
        strict=True,
    )
    return tuple(CellChance(*row) for row in rows)


def shrunken_peak(table: Table, found: CellNoise, posterior: _Posterior) -> Shrunken | None:
    """The best cell without its luck; `None` for a single cell."""
    if found.y.size < 2:
        return None
    top = float(posterior.mean.max())
    at = np.flatnonzero(posterior.mean >= top - 1e-9 * abs(top))[:MOST_CELLS]
    cells = tuple(table.places_at(found.flat[at]))
    return Shrunken(found.sign * top, cells, found.sign * posterior.target, posterior.tau2, posterior.i2)
