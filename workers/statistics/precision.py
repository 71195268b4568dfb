"""Precision with which the values were printed, and the trials that it implies.

A proportion of n trials printed to d decimals lies on a lattice (the GRIM test of Brown and Heathers 2017). The
smallest n that explains every value is reported as implied; it is never adopted.
"""

from __future__ import annotations

import numpy as np

from registry.results.precision import OffLattice, Precision
from workers.statistics.table import Table
from workers.statistics.terms import BoolArray, FloatArray, IntArray

MOST_TRIALS = 10_000
MOST_VALUES = 5_000
MOST_OFF = 100
_AT_ONCE = 2_000
"""Pairs of a value and a number of trials that are looked at together."""


def precision(table: Table) -> Precision:
    """The precision of a grid; lattices only for proportions."""
    if table.cells == 0:
        return Precision("insufficient", None, reason="no cell was measured")
    whole = table.metric.proportion_of
    if whole is None:
        return Precision("ok", table.decimals)
    candidates = implied(np.unique(table.values[table.present]), whole, table.decimals)
    smallest = candidates[0] if candidates else None
    count, off = off_lattice(table, whole)
    chance = None if smallest is None else lattice_share(smallest, whole, table.decimals)
    return Precision("ok", table.decimals, smallest, candidates, chance, count, off)


def implied(values: FloatArray, whole: float, decimals: int) -> tuple[int, ...]:
    """The five smallest numbers of trials, below the printed resolution, on whose lattice every value lies."""
    finest = min(MOST_TRIALS, round(whole * 10.0 ** min(decimals, 6)))
    trials = np.arange(1, finest, dtype=np.int64)
    left = values[np.linspace(0, values.size - 1, min(values.size, MOST_VALUES)).astype(np.int64)]
    # The first values leave few candidates, and more values are then looked at together.
    while left.size and trials.size:
        count = max(1, _AT_ONCE // trials.size)
        trials = trials[on_lattice(left[:count, None], trials, whole, decimals).all(axis=0)]
        left = left[count:]
    return tuple(trials[:5].tolist())


def on_lattice(values: FloatArray, trials: IntArray, whole: float, decimals: int) -> BoolArray:
    """Return whether some whole number of successes rounds to each value."""
    nearest = np.rint(values * trials / whole) * whole / trials
    return np.asarray(np.abs(nearest - values) <= 0.5 * 10.0**-decimals + 1e-11 * whole)


def lattice_share(trials: int, whole: float, decimals: int) -> float:
    """The share of all printable values that are proportions of so many trials."""
    return min(1.0, (trials + 1) / (whole * 10.0**decimals + 1))


def off_lattice(table: Table, whole: float) -> tuple[int | None, tuple[OffLattice, ...] | None]:
    """The values that contradict their trials; `None` without trials."""
    if table.trials is None:
        return None, None
    known = table.present & (table.trials > 0)
    fits = np.ones(table.values.shape, dtype=np.bool_)
    fits[known] = on_lattice(table.values[known], table.trials[known], whole, table.decimals)
    found = np.flatnonzero(~fits)
    first = found[:MOST_OFF]
    rows = zip(table.places_at(first), table.values.ravel()[first].tolist(), strict=True)
    return int(found.size), tuple(OffLattice(*row) for row in rows)
