"""The gap in each cell that two grids share, with what the cell's noise says about it.

Where both cells have trials: Newcombe's interval and Fisher's exact test. Where both have a standard error: z, or
Welch's t where both errors come from repeats. Else only the gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from registry.grid import Direction
from workers.statistics.matching import Matched
from workers.statistics.multiplicity import adjusted
from workers.statistics.proportions import EXACT_TRIALS, fisher_p, newcombe, pooled_z_p
from workers.statistics.table import Place, place_of
from workers.statistics.terms import BoolArray, FloatArray, IntArray, Interval
from workers.statistics.weighted import gap_test

MOST_CELLS = 10_000
"""Cells that an answer lists, in row-major order; the rest is counted and tested."""
MOST_TABLES = 20_000_000
"""2 x 2 tables that all exact tests of one comparison may look at; above it they are normal."""


@dataclass(frozen=True, slots=True)
class CellGap:
    """One coordinate: both values, contender less baseline in the metric's unit, and the test of that cell alone.
    `p_holm` is adjusted over all tested cells. `test` is `fisher`, `pooled_z`, `z` or `welch`; `None` without
    known noise."""

    at: dict[str, Place]
    baseline: float
    contender: float
    gap: float
    better: str | None
    interval: Interval | None
    p: float | None
    p_holm: float | None
    test: str | None


@dataclass(frozen=True)
class Tested:
    """Tests of m cells as arrays: NaN and an empty name where there is none. Ends in the metric's unit."""

    low: FloatArray
    high: FloatArray
    p: FloatArray
    names: list[str | None]


def cell_gaps(found: Matched, whole: float | None, direction: Direction | None, alpha: float) -> tuple[CellGap, ...]:
    """The cells in row-major order, at most `MOST_CELLS`."""
    tested = tests(found, whole, alpha)
    holm = adjusted([None if np.isnan(p) else float(p) for p in tested.p], "holm")
    scale = 10.0**found.decimals
    rows = []
    for i in range(min(found.count, MOST_CELLS)):
        known = bool(np.isfinite(tested.p[i]))
        places = found.positions[i].tolist()
        rows.append(
            CellGap(
                {axis.name: place_of(axis, place) for axis, place in zip(found.axes, places, strict=True)},
                float(found.values[1, i]),
                float(found.values[0, i]),
                float(found.gaps[i] / scale),
                better(int(found.gaps[i]), direction),
                Interval(1 - alpha, float(tested.low[i]), float(tested.high[i])) if known else None,
                float(tested.p[i]) if known else None,
                holm[i],
                tested.names[i],
            )
        )
    return tuple(rows)


def better(gap: int, direction: Direction | None) -> str | None:
    """Who is better in a cell: `contender`, `baseline` or `tie`; `None` for a metric without a better end."""
    if direction is None:
        return None
    turned = -gap if direction == "lower" else gap
    return "tie" if turned == 0 else "contender" if turned > 0 else "baseline"


def tests(found: Matched, whole: float | None, alpha: float) -> Tested:
    """What the noise of every cell allows."""
    low, high, p = (np.full(found.count, np.nan) for _ in range(3))
    names: list[str | None] = [None] * found.count
    trials = np.flatnonzero((found.trials > 0).all(axis=0)) if whole else np.empty(0, dtype=np.int64)
    if whole and trials.size:
        (k2, k1), (n2, n1) = successes(found, whole)[:, trials], found.trials[:, trials]
        low[trials], high[trials] = (end * whole for end in newcombe(k1, n1, k2, n2, 1 - alpha))
        p[trials], name = exact_or_normal(k1, n1, k2, n2)
        for i in trials.tolist():
            names[i] = name
    errors: BoolArray = np.asarray((found.stderr > 0).all(axis=0), dtype=np.bool_)
    errors[trials] = False
    repeated = errors & (found.repeats > 1).all(axis=0)
    for name, chosen in (("welch", np.flatnonzero(repeated)), ("z", np.flatnonzero(errors & ~repeated))):
        if chosen.size:
            gaps = found.gaps[chosen] / 10.0**found.decimals
            first, second = found.stderr[:, chosen]
            counts = (found.repeats[0, chosen], found.repeats[1, chosen]) if name == "welch" else None
            p[chosen], reach = gap_test(gaps, (first, second), counts, 1 - alpha)
            low[chosen], high[chosen] = gaps - reach, gaps + reach
            for i in chosen.tolist():
                names[i] = name
    return Tested(low, high, p, names)


def successes(found: Matched, whole: float) -> IntArray:
    """The whole numbers of successes nearest to the values, of the shape of the trials."""
    return np.rint(found.values / whole * found.trials).astype(np.int64)


def exact_or_normal(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> tuple[FloatArray, str]:
    """Fisher's p of each pair in affordable portions, or the pooled z where they would cost too much."""
    most = int(np.minimum(np.minimum(k1 + k2, n1 + n2 - k1 - k2), np.minimum(n1, n2)).max()) + 1
    if int((n1 + n2).max()) > EXACT_TRIALS or most * k1.size > MOST_TABLES:
        return pooled_z_p(k1, n1, k2, n2), "pooled_z"
    portion = max(1, 1_000_000 // most)
    parts = [slice(start, start + portion) for start in range(0, k1.size, portion)]
    return np.concatenate([fisher_p(k1[part], n1[part], k2[part], n2[part]) for part in parts]), "fisher"
