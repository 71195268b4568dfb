"""How the ranks of a leaderboard move when each benchmark is left out in turn.

Where a score is an average of what each benchmark gives a name, leaving benchmarks out is a product of matrices.
Least-squares scores of pairs are one where every name has every benchmark; with gaps they are replaced by their
linear part in the benchmarks' weights (the infinitesimal jackknife, Efron 1982, The Jackknife, the Bootstrap and Other
Resampling Plans, section 6.2), which is exact without gaps: the weights change the mean differences of pairs, whose
system of equations stays that of all benchmarks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from registry.results.policies import Method, Missing
from registry.results.stability import LeaveOneOut
from workers.statistics.blocks import ranks_of
from workers.statistics.counted import Counted
from workers.statistics.counted_cells import Blocks, blocks_of, difference_within
from workers.statistics.ranking_methods import Refused, Scores, block_goodness, borda_points, shares_beaten
from workers.statistics.ranks import rank_rows, shared_ranks
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.stability import ranges
from workers.statistics.terms import FloatArray


@dataclass(frozen=True)
class Averages:
    """Benchmarks x names: what each benchmark gives, of which more is better, and its weight. A score is the sum of the
    first over that of the second."""

    given: FloatArray
    weight: FloatArray

    def goodness(self, counts: FloatArray) -> FloatArray:
        """Rows of counts x names: the scores with benchmarks counted so often; NaN where a name has none of them."""
        weight = counts @ self.weight
        return np.asarray(
            np.divide(counts @ self.given, weight, out=np.full(weight.shape, np.nan), where=weight > 0),
            dtype=np.float64,
        )


def without_each_benchmark(
    here: ScoreMatrix, counted: Counted, part: Sequence[int], own: Scores, method: Method, missing: Missing
) -> tuple[LeaveOneOut, ...]:
    """The range of ranks of each member of a component when each benchmark is left out; empty where the order is no
    average over benchmarks."""
    if len(part) < 2 or np.unique(here.benchmarks).size < 2:
        return ()
    found = averages(here, counted, part, own, method, missing)
    if found is None:
        return ()
    again = found.goodness(1 - np.eye(len(found.given)))
    defined = rank_rows(again[np.isfinite(again).all(axis=1)])
    return ranges(here.names, np.vstack([shared_ranks(own.goodness), defined]))


def averages(
    here: ScoreMatrix, counted: Counted, part: Sequence[int], own: Scores, method: Method, missing: Missing
) -> Averages | None:
    """What the benchmarks give in an order that is an average of them, or None."""
    if method == "mean_difference":
        return _of_differences(here, counted, part, own)
    if method == "borda":
        return _of_ranks(here, missing)
    if method == "win_rate" and here.present.all():
        return _of_cells(here, shares_beaten(here), 1)
    if method != "mean":
        return None
    usable = here.present if missing == "available" else here.present.all(axis=0)
    return _of_cells(here, np.where(usable, here.values, np.nan), here.sign)


def _of_cells(here: ScoreMatrix, values: FloatArray, sign: int) -> Averages:
    """The mean of a name's values within each benchmark; the weight is 1 where it has any."""
    order = np.argsort(here.benchmarks, kind="stable")
    starts = np.unique(here.benchmarks[order], return_index=True)[1]
    there = np.isfinite(values[:, order])
    held = np.add.reduceat(there, starts, axis=1, dtype=np.int64)
    total = np.add.reduceat(np.where(there, values[:, order], 0.0), starts, axis=1)
    return Averages((sign * total / np.maximum(held, 1)).T, (held > 0).T.astype(np.float64))


def _of_ranks(here: ScoreMatrix, missing: Missing) -> Averages | None:
    if missing == "zero_points":
        points = borda_points(here)
        return Averages(points, np.ones(points.shape))
    goodness = block_goodness(here, missing)
    if isinstance(goodness, Refused):
        return None
    return Averages(-ranks_of(goodness), np.ones(goodness.shape))


def _of_differences(here: ScoreMatrix, counted: Counted, part: Sequence[int], own: Scores) -> Averages:
    """What each benchmark adds to the least-squares scores, to first order in its weight."""
    at = np.ix_(part, part)
    linked, mean = counted.linked[at], counted.mean[at]
    share = np.where(linked, 1 / np.maximum(counted.benchmarks[at], 1), 0.0)
    found = blocks_of(here)
    flow = _flows(found, share, mean)
    laplacian = np.diag(linked.sum(axis=1)) - linked.astype(np.float64)
    moved = np.zeros(flow.shape)
    moved[1:] = np.linalg.solve(laplacian[1:, 1:], flow[1:])
    moved -= moved.mean(axis=0)
    size = flow.shape[1]
    given = here.sign * (own.values[:, None] + size * moved)
    return Averages(given.T, np.ones((size, len(part))))


def _flows(found: Blocks, share: FloatArray, mean: FloatArray) -> FloatArray:
    """Names x benchmarks: the sum over rivals of (difference in the benchmark less mean difference) / benchmarks."""
    flow = np.zeros(found.held.shape)
    chosen = np.flatnonzero(found.whole)
    has = (found.held[:, chosen] > 0).astype(np.float64)
    values = np.add.reduceat(found.values, found.starts, axis=1)[:, chosen] / found.sizes[chosen]
    flow[:, chosen] = has * (values * (share @ has) - share @ values - (share * mean) @ has)
    for benchmark in np.flatnonzero(~found.whole).tolist():
        rows, common, means = difference_within(found, benchmark)
        at = np.ix_(rows, rows)
        flow[rows, benchmark] = np.where(common > 0, (means - mean[at]) * share[at], 0.0).sum(axis=1)
    return flow
