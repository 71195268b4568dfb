"""The scores of names on each benchmark: means over the slots in which at least two names meet.

Where the noise of every cell is known, an interval, by the method of a table's entries: Wilson's (1927) where all cells
have trials, else the normal law, or Student's with Satterthwaite's (1946) degrees of freedom where errors were
estimated. It ends where the metric ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from registry.results.ranking import BenchmarkScore, BenchmarkScores, Omission
from registry.results.terms import Interval
from workers.statistics.cells import noise
from workers.statistics.score_matrix import ScoreMatrix, only
from workers.statistics.terms import FloatArray, IntArray, normal_quantile, reach_of, within

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
    n, k, variance, df, _ = noise(kept)
    found = dict[str, tuple[float, Interval | None]]()
    for i, name in enumerate(kept.names):
        own = np.flatnonzero(kept.present[i])
        if own.size:
            counts = np.bincount(kept.benchmarks[own])
            parts = counts[kept.benchmarks[own]] * np.count_nonzero(counts)
            cells = OwnCells(*(column[i, own] for column in (kept.values, variance, df, n, k)))
            found[name] = weighted_mean(cells, parts, alpha, (kept.lower, kept.upper), kept.proportion_of or 1.0)
    return found


@dataclass(frozen=True)
class OwnCells:
    """The cells that a mean is of. `n` and `k` are effective trials and successes, 0 where noise is not binomial."""

    values: FloatArray
    variance: FloatArray
    df: FloatArray
    n: FloatArray
    k: FloatArray


def weighted_mean(
    cells: OwnCells, parts: IntArray, alpha: float, ends: tuple[float | None, float | None], whole: float
) -> tuple[float, Interval | None]:
    """The sum of values that each weigh 1 / `parts`, which make 1 together, and its interval within the ends of the
    metric; none where the noise of a cell is unknown, or all is 0. Equal for any order of the cells."""
    weights = 1.0 / parts
    mean = math.fsum((weights * cells.values).tolist())
    spread = weights**2 * cells.variance
    total = math.fsum(spread.tolist()) if np.isfinite(spread).all() else 0.0
    if not total:
        return mean, None
    if (cells.n > 0).all():
        # The variance of these cells is taken at these shares (`cells.noise`).
        middle = math.fsum((weights * (cells.k + 0.5) / (cells.n + 1)).tolist())
        p, of_share, z2 = np.array([mean / whole]), np.array([total / whole**2]), normal_quantile(1 - alpha / 2) ** 2
        low, high = (float(end[0]) * whole for end in wilson_limits(p, np.array([middle]), of_share, z2))
        return mean, within(Interval(1 - alpha, low, high), *ends)
    estimated = math.fsum((spread**2 / cells.df).tolist())
    reach = reach_of(1 - alpha, total**2 / estimated if estimated else None) * math.sqrt(total)
    return mean, within(Interval(1 - alpha, mean - reach, mean + reach), *ends)


def wilson_limits(p: FloatArray, middle: FloatArray, variance: FloatArray, z2: float) -> tuple[FloatArray, FloatArray]:
    """Wilson's (1927) limits of mean shares p with the trials of one share that has the same variance at `middle`
    (Korn and Graubard 1998)."""
    n = middle * (1 - middle) / variance
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(np.maximum(z2 * p * (1 - p) / n + (z2 / (2 * n)) ** 2, 0.0)) / (1 + z2 / n)
    return np.minimum(centre - half, p), np.maximum(centre + half, p)


def left_out(reason: str) -> Omission:
    """Scores by benchmark that a ranking does without."""
    return Omission("by_benchmark", reason)


def _scores(standings: ScoreMatrix, benchmark: int, alpha: float) -> Iterator[BenchmarkScore]:
    """Each name with a cell on a benchmark, in the order of the names."""
    here = only(standings, np.flatnonzero(standings.benchmarks == benchmark))
    cells = dict(zip(here.names, here.present.sum(axis=1).tolist(), strict=True))
    for name, (score, interval) in means_of(here, alpha).items():
        yield BenchmarkScore(name, score, cells[name], interval)
