"""The scores of names on each benchmark: means over the slots in which at least two names meet.

Where the noise of every cell is known, an interval: the normal law, or Student's with Satterthwaite's (1946) degrees of
freedom where errors were estimated. It ends where the metric ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from registry.results.ranking import BenchmarkScore, BenchmarkScores, Omission
from registry.results.terms import Interval
from workers.statistics.cells import Cells, cells_of
from workers.statistics.score_matrix import ScoreMatrix, only
from workers.statistics.terms import FloatArray, IntArray, reach_of, within

MOST_SCORES = 1_000
"""Scores, names times benchmarks, up to which a ranking lists them: there they tell more than the cells themselves."""


def benchmark_scores(standings: ScoreMatrix, alpha: float) -> tuple[tuple[BenchmarkScores, ...], tuple[Omission, ...]]:
    """The scores by benchmark, or what is said in their place; neither where benchmarks themselves are ranked."""
    if standings.group != "benchmark":
        return (), ()
    kept = only(standings, np.flatnonzero(standings.present.sum(axis=0) > 1))
    used = np.unique(kept.benchmarks)
    if len(kept.names) * used.size > MOST_SCORES:
        return (), (left_out(f"more than {MOST_SCORES:,} scores; ask about fewer names or benchmarks"),)
    if kept.mixed:
        return (), (left_out("values on different scales have no mean"),)
    # In the metric's unit, also where differences are counted in units of each benchmark's spread.
    cells = cells_of(replace(kept, divisor=None))
    return tuple(
        BenchmarkScores(kept.benchmark_names[name], tuple(_scores(kept, cells, place, alpha)))
        for place, name in enumerate(cells.benchmarks.tolist())
    ), ()


def means_of(standings: ScoreMatrix, alpha: float) -> Mapping[str, tuple[float, Interval | None]]:
    """The mean of each name over the slots in which it meets another one, with its interval: slots of a benchmark weigh
    the same, and benchmarks do. Nothing over several scales."""
    kept = only(standings, np.flatnonzero(standings.present.sum(axis=0) > 1))
    if kept.mixed or not kept.present.any():
        return {}
    cells = cells_of(replace(kept, divisor=None))
    found = dict[str, tuple[float, Interval | None]]()
    for i, name in enumerate(kept.names):
        own = np.flatnonzero(cells.present[i])
        if own.size:
            counts = np.bincount(cells.owners[own])
            weights = 1.0 / (counts[cells.owners[own]] * np.count_nonzero(counts))
            mean = math.fsum((weights * cells.ticks[i, own] / cells.divisor[own]).tolist())
            found[name] = mean, _interval(kept, cells, i, own, weights, mean, alpha)
    return found


def left_out(reason: str) -> Omission:
    """Scores by benchmark that a ranking does without."""
    return Omission("by_benchmark", reason)


def _scores(standings: ScoreMatrix, cells: Cells, benchmark: int, alpha: float) -> Iterator[BenchmarkScore]:
    """Each name with a cell on a benchmark, in the order of the names."""
    slots = np.flatnonzero(cells.owners == benchmark)
    for i, name in enumerate(standings.names):
        own = slots[cells.present[i, slots]]
        if own.size:
            values = cells.ticks[i, own] / cells.divisor[own]
            score = math.fsum(values.tolist()) / own.size
            weights = np.full(own.size, 1.0 / own.size)
            interval = _interval(standings, cells, i, own, weights, score, alpha)
            yield BenchmarkScore(name, score, int(own.size), interval)


def _interval(
    standings: ScoreMatrix, cells: Cells, name: int, slots: IntArray, weights: FloatArray, score: float, alpha: float
) -> Interval | None:
    """The interval of a mean of the name's cells in these slots, with these weights."""
    variance = weights**2 * cells.variance[name, slots]
    if not np.isfinite(variance).all() or not variance.any():
        return None
    weight = float(np.sum(variance**2 / cells.df[name, slots]))
    reach = reach_of(1 - alpha, float(variance.sum()) ** 2 / weight if weight else None)
    reach *= math.sqrt(float(variance.sum()))
    return within(Interval(1 - alpha, score - reach, score + reach), standings.lower, standings.upper)
