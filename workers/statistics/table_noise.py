"""The noise of all measured cells of a grid, turned so that more is better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from registry.results.terms import KnownNoise
from workers.statistics.noise import CellErrors, Noise, kind_of, noise_of_cells
from workers.statistics.table import Table
from workers.statistics.terms import FloatArray, IntArray


@dataclass(frozen=True)
class CellNoise:
    """The measured cells as flat arrays in row-major order: `y` turned so that more is better, its variance `v`, and
    their indices `flat`. `noise` has successes of the better outcome where it is binomial."""

    y: FloatArray
    v: FloatArray
    noise: Noise
    flat: IntArray
    sign: float


def cell_noise(table: Table) -> CellNoise | None:
    """The noise of a grid; `None` unless that of every measured cell is known in the same way."""
    flat = np.flatnonzero(table.present)
    sign = -1.0 if table.metric.direction == "lower" else 1.0
    found = noise_at(table, flat)
    if found is None:
        return None
    # Where lower is better, the failures are the better outcomes.
    if sign < 0 and found.k is not None and found.n is not None:
        counted = None if found.counted is None else (found.counted[1] - found.counted[0], found.counted[1])
        found = Noise(found.kind, found.error, None, found.n - found.k, found.n, found.whole, counted)
    return CellNoise(sign * table.values.ravel()[flat], found.error**2, found, flat, sign)


def noise_at(table: Table, flat: IntArray) -> Noise | None:
    """The noise of some cells, in the metric's own direction."""
    given = errors_at(table, flat)
    return None if given is None else noise_of_cells(given)


def errors_at(table: Table, flat: IntArray) -> CellErrors | None:
    """What was submitted of the noise of some cells; `None` where there are none."""
    if not flat.size:
        return None
    trials = None if table.counts is None else table.counts.ravel()[flat]
    stderr = None if table.stderr is None else table.stderr.ravel()[flat]
    return CellErrors(
        table.values.ravel()[flat],
        trials if trials is not None and np.all(trials > 0) else None,
        stderr if stderr is not None and np.all(np.isfinite(stderr)) else None,
        None if table.repeats is None else table.repeats.ravel()[flat],
        table.metric.proportion_of,
        table.design_effect,
    )


def known_noise(table: Table) -> KnownNoise:
    """Name of the noise on which the tests of a whole grid rest."""
    given = errors_at(table, np.flatnonzero(table.present))
    return "unknown" if given is None else kind_of(given.trials, given.stderr, given.repeats, given.whole)
