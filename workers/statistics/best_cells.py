"""Margins before peaks: the arg-max of a grid is its noisiest statistic, so the noise floor stands beside it.

The peak is compared with the expected maximum of equal cells, shrunk towards the mean (DerSimonian and Laird
1986, eq. 8; empirical Bayes as in Efron and Morris 1975), and given its chance of being the best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workers.statistics.posteriors import beta_posteriors, chances, expected_maximum, normal_posteriors
from workers.statistics.table import Place, Table
from workers.statistics.terms import BoolArray, FloatArray, IntArray, Status

MOST_CELLS = 100
"""Cells that a list writes out; the most probable ones first."""


@dataclass(frozen=True, slots=True)
class CellChance:
    """A cell and its probability of being the best; cells are taken as independent."""

    at: dict[str, Place]
    value: float
    probability: float


@dataclass(frozen=True, slots=True)
class BestSet:
    """The smallest set of cells that holds the best one with probability `level`; of cells that tie at its edge
    the first in row-major order belong to it, and `tied_out` counts the others."""

    level: float
    size: int
    tied_out: int
    at: tuple[dict[str, Place], ...]


@dataclass(frozen=True, slots=True)
class Shrunken:
    """The best value after shrinkage towards the grid's mean, in the metric's unit, and the cells that have it.

    `tau2` is the variance between cells beyond noise, `i2` its share of the total, `mean` the target.
    """

    value: float
    at: tuple[dict[str, Place], ...]
    mean: float
    tau2: float
    i2: float


@dataclass(frozen=True, slots=True)
class Prominence:
    """How far a peak stands out of its neighbours' mean, towards the better end; neighbours are one step away
    along ordered axes, diagonals included, on the same level of nominal ones."""

    at: dict[str, Place]
    neighbours: int
    neighbour_mean: float | None
    prominence: float | None


@dataclass(frozen=True, slots=True)
class NoisyPeaks:
    """What noise leaves of the peaks; `None` where a part does not apply. `noise_status` is `insufficient`
    when some cell has neither trials nor a standard error. `expected_max_if_equal` is the expected best value,
    in the metric's unit, of as many cells with one common mean."""

    noise_status: Status
    noise_reason: str | None = None
    expected_max_if_equal: float | None = None
    probability_best: tuple[CellChance, ...] | None = None
    best_set: BestSet | None = None
    shrunken: Shrunken | None = None
    prominence: tuple[Prominence, ...] | None = None


@dataclass(frozen=True)
class Noise:
    """The measured cells as flat arrays, turned so that more is better: `y` and its variance `v`; trials and
    successes where the noise is binomial."""

    y: FloatArray
    v: FloatArray
    k: IntArray | None
    n: IntArray | None
    flat: IntArray


def noisy_peaks(table: Table, level: float = 0.95) -> NoisyPeaks:
    """The noise floor of a grid."""
    if table.metric.direction is None:
        return NoisyPeaks("undefined", "the metric has no better end")
    if table.cells == 0:
        return NoisyPeaks("insufficient", "no cell was measured")
    stand_out = prominences(table)
    noise = noise_of(table)
    if noise is None:
        return NoisyPeaks("insufficient", "the noise of some cell is unknown", prominence=stand_out)
    probable = chances_of(noise)
    return NoisyPeaks(
        "ok" if probable is not None else "undefined",
        None
        if probable is not None
        else "too many different cells are within reach of the best, or their errors differ too much",
        expected_if_equal(table, noise),
        None if probable is None else listed(table, noise, probable),
        None if probable is None else best_set(table, noise, probable, level),
        shrunken(table, noise),
        stand_out,
    )


def noise_of(table: Table) -> Noise | None:
    """The variances of all measured cells; `None` unless every cell has trials, or every one an error."""
    flat = np.flatnonzero(table.present)
    sign = -1.0 if table.metric.direction == "lower" else 1.0
    y = sign * table.values.ravel()[flat]
    whole = table.metric.proportion_of
    if table.trials is not None and whole and np.all(table.trials.ravel()[flat] > 0):
        n = table.trials.ravel()[flat]
        k = np.rint(sign * y * n / whole).astype(np.int64)
        chance = (k + 0.5) / (n + 1)
        return Noise(y, chance * (1 - chance) / n * whole**2, k if sign > 0 else n - k, n, flat)
    if table.stderr is not None and np.all(table.stderr.ravel()[flat] > 0):
        return Noise(y, table.stderr.ravel()[flat] ** 2, None, None, flat)
    return None


def expected_if_equal(table: Table, noise: Noise) -> float:
    """The expected best of equal cells: their common mean plus what the largest of their errors adds."""
    sign = -1.0 if table.metric.direction == "lower" else 1.0
    if noise.k is not None and noise.n is not None:
        whole = table.metric.proportion_of or 1.0
        pooled = float(noise.k.sum() / noise.n.sum())
        sizes, counts = np.unique(noise.n, return_counts=True)
        spreads = np.sqrt(pooled * (1 - pooled) / sizes) * whole
        mean = sign * (pooled if sign > 0 else 1 - pooled) * whole
    else:
        variances, counts = np.unique(noise.v, return_counts=True)
        spreads = np.sqrt(variances)
        mean = float(np.sum(noise.y / noise.v) / np.sum(1 / noise.v))
    if spreads.size > 1000 or spreads.max() <= 0:
        spreads, counts = np.array([float(np.sqrt(noise.v.mean()))]), np.array([noise.y.size])
    return sign * (mean + (expected_maximum(spreads, counts) if noise.y.size > 1 else 0.0))


def chances_of(noise: Noise) -> FloatArray | None:
    """The probability of each cell to be the best."""
    if noise.k is not None and noise.n is not None:
        pairs, group, counts = np.unique(
            np.column_stack([noise.k, noise.n]), axis=0, return_inverse=True, return_counts=True
        )
        found = chances(beta_posteriors(pairs[:, 0], pairs[:, 1], counts))
    else:
        cells, group, counts = np.unique(
            np.column_stack([noise.y, np.sqrt(noise.v)]), axis=0, return_inverse=True, return_counts=True
        )
        found = chances(normal_posteriors(cells[:, 0], cells[:, 1], counts))
    return None if found is None else found[group.ravel()]


def listed(table: Table, noise: Noise, probable: FloatArray) -> tuple[CellChance, ...]:
    """The most probable cells."""
    order = np.argsort(-probable, kind="stable")[:MOST_CELLS].tolist()
    return tuple(
        CellChance(place(table, noise, i), float(table.values.flat[noise.flat[i]]), float(probable[i]))
        for i in order
        if probable[i] > 0
    )


def best_set(table: Table, noise: Noise, probable: FloatArray, level: float) -> BestSet:
    """The smallest credible set."""
    order = np.argsort(-probable, kind="stable")
    total = np.cumsum(probable[order])
    size = min(int(np.searchsorted(total, level * (1 - 1e-12))), order.size - 1) + 1
    tied = int(np.count_nonzero(probable >= probable[order[size - 1]] * (1 - 1e-12))) - size
    return BestSet(level, size, tied, tuple(place(table, noise, int(i)) for i in order[: min(size, MOST_CELLS)]))


def shrunken(table: Table, noise: Noise) -> Shrunken | None:
    """The empirical-Bayes peak; `None` for a single cell, or where one cell outweighs all others."""
    weight = noise.v.min() / noise.v
    spread = float(weight.sum() - (weight @ weight) / weight.sum())
    if noise.y.size < 2 or spread <= 1e-12:
        return None
    centre = float(weight @ noise.y / weight.sum())
    q = float(np.sum((noise.y - centre) ** 2 / noise.v))
    extra = max(0.0, (q - (noise.y.size - 1)) * float(noise.v.min()) / spread)
    inverse = 1 / (noise.v + extra)
    mean = float(inverse @ noise.y / inverse.sum())
    shrunk = mean + extra / (extra + noise.v) * (noise.y - mean)
    top = float(shrunk.max())
    at = np.flatnonzero(shrunk >= top - 1e-9 * abs(top))[:MOST_CELLS]
    sign = -1.0 if table.metric.direction == "lower" else 1.0
    i2 = max(0.0, 1 - (noise.y.size - 1) / q) if q > 0 else 0.0
    return Shrunken(sign * top, tuple(place(table, noise, int(i)) for i in at), sign * mean, extra, i2)


def place(table: Table, noise: Noise, i: int) -> dict[str, Place]:
    """The coordinate of the i-th measured cell."""
    index = np.unravel_index(int(noise.flat[i]), table.values.shape)
    return table.places(tuple(int(p) for p in index))


def prominences(table: Table) -> tuple[Prominence, ...] | None:
    """Every peak among its neighbours; `None` on a grid without an ordered axis."""
    if not any(axis.ordered for axis in table.axes):
        return None
    ticks = -table.ticks if table.metric.direction == "lower" else table.ticks
    top = int(ticks[table.present].max())
    peaks = np.argwhere(table.present & (ticks == top))[:MOST_CELLS]
    return tuple(prominence(table, tuple(int(p) for p in peak)) for peak in peaks)


def prominence(table: Table, peak: tuple[int, ...]) -> Prominence:
    """One peak against the cells around it."""
    window = tuple(
        slice(max(0, p - 1), p + 2) if axis.ordered else slice(p, p + 1)
        for axis, p in zip(table.axes, peak, strict=True)
    )
    around: BoolArray = table.present[window]
    count = int(np.count_nonzero(around)) - 1
    if count == 0:
        return Prominence(table.places(peak), 0, None, None)
    value = float(table.values[peak])
    mean = (float(table.values[window][around].sum()) - value) / count
    sign = -1.0 if table.metric.direction == "lower" else 1.0
    return Prominence(table.places(peak), count, mean, sign * (value - mean))
