"""The gap in each cell that two grids share, with what the cell's noise says about it.

Where only trials speak for the noise of both cells: Newcombe's interval and Fisher's exact test, with trials and
successes over the posted design effect. Where both have a standard error (a posted one goes before trials, these
before one from repeats): z, or Welch's t where an error comes from repeats. Else only the gap. Outcomes of the same
items in both go before all of these (`item_pairs`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erfc, ndtri, stdtr, stdtrit

from registry.grids.grid import Direction, Metric
from registry.results.gaps import Better, CellGap, CellTest
from registry.results.items import CellItems
from registry.results.terms import Interval
from workers.statistics.cells import noise
from workers.statistics.item_pairs import PairedCell, Pairs, cell_pair
from workers.statistics.matching import Matched
from workers.statistics.multiplicity import adjusted
from workers.statistics.proportions import EXACT_TRIALS, fisher_p, newcombe, pooled_z_p
from workers.statistics.table import place_of
from workers.statistics.terms import SMALLEST_P, BoolArray, FloatArray, IntArray

MOST_CELLS = 10_000
"""Cells that an answer lists, in row-major order; the rest is counted and tested."""
MOST_TABLES = 20_000_000
"""2 x 2 tables that all exact tests of one comparison may look at; above it they are normal."""


@dataclass(frozen=True)
class Tested:
    """Tests of m cells as arrays: NaN and an empty name where there is none. Ends in the metric's unit."""

    low: FloatArray
    high: FloatArray
    p: FloatArray
    names: list[CellTest | None]


def cell_gaps(
    found: Matched, whole: float | None, direction: Direction | None, alpha: float, pairs: Pairs
) -> tuple[CellGap, ...]:
    """The cells in row-major order, at most `MOST_CELLS`."""
    tested = tests(found, whole, alpha)
    told = by_items(tested, pairs, alpha)
    holm = adjusted([None if np.isnan(p) else float(p) for p in tested.p], "holm")
    scale, known_ends = 10.0**found.decimals, np.isfinite(tested.low).tolist()
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
                Interval(1 - alpha, float(tested.low[i]), float(tested.high[i])) if known_ends[i] else None,
                float(tested.p[i]) if known else None,
                holm[i],
                tested.names[i],
                told.get(i),
            )
        )
    return tuple(rows)


def by_items(tested: Tested, pairs: Pairs, alpha: float) -> dict[int, CellItems]:
    """Put the paired tests of the cells that have items in the place of the others, and return these items."""
    told = {}
    for i, cell in enumerate(pairs.cells):
        if isinstance(cell, PairedCell):
            found = cell_pair(cell, pairs.whole, alpha)
            ends, p = found.interval, found.p
            tested.low[i], tested.high[i] = (ends.low, ends.high) if ends else (np.nan, np.nan)
            tested.p[i], tested.names[i] = (np.nan, None) if p is None else (p, found.test)
            told[i] = found.items
    return told


def better(gap: int, direction: Direction | None) -> Better | None:
    """Better side in a cell: `contender`, `baseline` or `tie`; `None` for a metric without a better end."""
    if direction is None:
        return None
    turned = -gap if direction == "lower" else gap
    return "tie" if turned == 0 else "contender" if turned > 0 else "baseline"


def tests(found: Matched, whole: float | None, alpha: float) -> Tested:
    """Tests that the noise of every cell allows."""
    low, high, p = (np.full(found.count, np.nan) for _ in range(3))
    names: list[CellTest | None] = [None] * found.count
    trials = np.flatnonzero(of_trials(found).all(axis=0)) if whole else np.empty(0, dtype=np.int64)
    if whole and trials.size:
        counts = (np.rint(array[:, trials]).astype(np.int64) for array in effective(found, whole))
        (k2, k1), (n2, n1) = counts
        low[trials], high[trials] = (end * whole for end in newcombe(k1, n1, k2, n2, 1 - alpha))
        p[trials], name = exact_or_normal(k1, n1, k2, n2)
        for i in trials.tolist():
            names[i] = name
    standings = found.standings(Metric("", None, None, 0.0 if whole else None, whole))
    _, _, variance, df, _ = noise(standings)
    known = np.isfinite(variance).all(axis=0) & (variance.sum(axis=0) > 0)
    known[trials] = False
    chosen = np.flatnonzero(known)
    if chosen.size:
        gaps = found.gaps[chosen] / 10.0**found.decimals
        p[chosen], reach, free = welch(gaps, variance[:, chosen], df[:, chosen], alpha)
        low[chosen], high[chosen] = gaps - reach, gaps + reach
        for i, normal in zip(chosen.tolist(), np.isinf(free).tolist(), strict=True):
            names[i] = "z" if normal else "welch"
    return Tested(low, high, p, names)


def welch(
    gaps: FloatArray, variance: FloatArray, df: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Two-sided p of differences whose two parts have these variances (2 x m), how far the intervals reach, and the
    degrees of freedom of Welch (1947), infinite where both errors are known."""
    total = variance.sum(axis=0)
    weight = np.sum(variance**2 / df, axis=0)
    free = np.divide(total**2, weight, out=np.full(total.size, np.inf), where=weight > 0)
    normal, some = np.isinf(free), np.where(np.isinf(free), 1.0, free)
    size = np.abs(gaps) / np.sqrt(total)
    p = np.where(normal, erfc(size / np.sqrt(2.0)), 2 * stdtr(some, -size))
    quantile = np.where(normal, ndtri(1 - alpha / 2), stdtrit(some, 1 - alpha / 2))
    return np.maximum(p, SMALLEST_P), np.asarray(quantile * np.sqrt(total), dtype=np.float64), free


def of_trials(found: Matched) -> BoolArray:
    """Mask of the cells whose noise is known from trials alone, of the shape of the trials."""
    return np.asarray((found.trials > 0) & ~((found.stderr > 0) & (found.repeats == 0)), dtype=np.bool_)


def effective(found: Matched, whole: float) -> tuple[FloatArray, FloatArray]:
    """Successes (the nearest whole numbers) and trials, over the design effect."""
    effect = np.where(np.isfinite(found.design_effect), found.design_effect, 1.0)[:, None]
    return np.rint(found.values / whole * found.trials) / effect, found.trials / effect


def exact_or_normal(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> tuple[FloatArray, CellTest]:
    """Fisher's p of each pair in affordable portions, or the pooled z where they would cost too much."""
    most = int(np.minimum(np.minimum(k1 + k2, n1 + n2 - k1 - k2), np.minimum(n1, n2)).max()) + 1
    if int((n1 + n2).max()) > EXACT_TRIALS or most * k1.size > MOST_TABLES:
        return pooled_z_p(k1, n1, k2, n2), "pooled_z"
    portion = max(1, 1_000_000 // most)
    parts = [slice(start, start + portion) for start in range(0, k1.size, portion)]
    return np.concatenate([fisher_p(k1[part], n1[part], k2[part], n2[part]) for part in parts]), "fisher"
