"""The scores of names on each benchmark: means over the slots in which at least two names meet.

Where the noise of every cell is known, an interval: the normal law, or Student's with Satterthwaite's (1946) degrees of
freedom where errors were estimated. It ends where the metric ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from registry.results.ranking import BenchmarkScore, BenchmarkScores, Omission
from registry.results.terms import Interval
from workers.statistics.cells import noise
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
    return tuple(
        BenchmarkScores(kept.benchmark_names[one], tuple(_scores(kept, one, alpha))) for one in used.tolist()
    ), ()


def means_of(standings: ScoreMatrix, alpha: float) -> Mapping[str, tuple[float, Interval | None]]:
    """The mean of each name over the slots in which it meets another one, with its interval: slots of a benchmark weigh
    the same, and benchmarks do. Nothing over several scales."""
    kept = only(standings, np.flatnonzero(standings.present.sum(axis=0) > 1))
    if kept.mixed or not kept.present.any():
        return {}
    _, _, variance, df, _ = noise(kept)
    found = dict[str, tuple[float, Interval | None]]()
    for i, name in enumerate(kept.names):
        own = np.flatnonzero(kept.present[i])
        if own.size:
            counts = np.bincount(kept.benchmarks[own])
            parts = counts[kept.benchmarks[own]] * np.count_nonzero(counts)
            cells = kept.values[i, own], variance[i, own], df[i, own]
            found[name] = weighted_mean(*cells, parts, alpha, (kept.lower, kept.upper))
    return found


def weighted_mean(
    values: FloatArray,
    variance: FloatArray,
    df: FloatArray,
    parts: IntArray,
    alpha: float,
    ends: tuple[float | None, float | None],
) -> tuple[float, Interval | None]:
    """The sum of values that each weigh 1 / `parts`, which make 1 together, and its interval within the ends of the
    metric; none where the noise of a cell is unknown, or all is 0. Equal for any order of the cells."""
    weights = 1.0 / parts
    mean = math.fsum((weights * values).tolist())
    spread = weights**2 * variance
    total = math.fsum(spread.tolist()) if np.isfinite(spread).all() else 0.0
    if not total:
        return mean, None
    estimated = math.fsum((spread**2 / df).tolist())
    reach = reach_of(1 - alpha, total**2 / estimated if estimated else None) * math.sqrt(total)
    return mean, within(Interval(1 - alpha, mean - reach, mean + reach), *ends)


def left_out(reason: str) -> Omission:
    """Scores by benchmark that a ranking does without."""
    return Omission("by_benchmark", reason)


def _scores(standings: ScoreMatrix, benchmark: int, alpha: float) -> Iterator[BenchmarkScore]:
    """Each name with a cell on a benchmark, in the order of the names."""
    slots = np.flatnonzero(standings.benchmarks == benchmark)
    _, _, variance, df, _ = noise(only(standings, slots))
    for i, name in enumerate(standings.names):
        at = np.flatnonzero(standings.present[i, slots])
        if at.size:
            cells = standings.values[i, slots[at]], variance[i, at], df[i, at]
            parts = np.full(at.size, at.size)
            score, interval = weighted_mean(*cells, parts, alpha, (standings.lower, standings.upper))
            yield BenchmarkScore(name, score, int(at.size), interval)
