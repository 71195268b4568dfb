"""Dependence of an order, and of the claim that one name is first, on the choice of method, policy and benchmarks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from registry.results.inputs import Warning
from registry.results.policies import Method, Missing, Target
from registry.results.stability import LeaveOneOut, WithoutOne
from workers.statistics.counted_cells import blocks_of
from workers.statistics.kendall import tie_pattern, untied_pairs
from workers.statistics.pairs import estimand_of, pair_table
from workers.statistics.rank_groups import components, separated
from workers.statistics.ranking_methods import METHODS, MISSING, Scores, order, prepared
from workers.statistics.ranks import shared_ranks
from workers.statistics.score_matrix import ScoreMatrix, only
from workers.statistics.signs import WORK
from workers.statistics.terms import FloatArray, IntArray

MOST_WORK = 200_000_000
"""Comparisons that all alternative orders of a ranking may cost together; above it they are not computed."""
MOST_PAIRS = 5_000
"""Pairs that are compared again, over all benchmarks that are left out; above it none is."""
MOST_VALUES = 20_000_000
"""Values that these compare, each with that of every name."""
ALL_WORK = 100_000_000
"""Additions that the exact laws of all these pairs may cost together."""
FEWEST = 3
"""Benchmarks from which one can dominate."""


def alternatives(standings: ScoreMatrix, method: Method, missing: Missing) -> dict[tuple[Method, Missing], FloatArray]:
    """The goodness of names that form a component under every other method with the same policy, and every other policy
    with the same method."""
    size, slots = standings.values.shape
    if size**2 * slots * 12 > MOST_WORK:
        return {}
    asked: list[tuple[Method, Missing]] = [(other, missing) for other in METHODS if other != method]
    asked += [(method, other) for other in MISSING if other != missing]
    if method != "mean" and missing != "available":
        asked.append(("mean", "available"))
    found = {key: ordered(standings, *key) for key in asked}
    return {key: scores.goodness for key, scores in found.items() if scores is not None}


def ordered(standings: ScoreMatrix, method: Method, missing: Missing) -> Scores | None:
    """The scores under a policy, where the names stay connected and the order exists."""
    changed = prepared(standings, missing)
    if len(components(changed)) != 1:
        return None
    scores = order(changed, method, missing)
    return scores if isinstance(scores, Scores) else None


def leave_one_out(standings: ScoreMatrix, method: Method, missing: Missing, own: Scores) -> tuple[LeaveOneOut, ...]:
    """The range of the ranks of names that form a component when each benchmark is left out once; empty with fewer than
    two, and without those without which the names fall apart."""
    benchmarks = np.unique(standings.benchmarks).tolist()
    size, slots = standings.values.shape
    if len(benchmarks) < 2 or size < 2 or size**2 * slots * len(benchmarks) > MOST_WORK:
        return ()
    found = [shared_ranks(own.goodness)]
    for benchmark in benchmarks:
        scores = ordered(only(standings, np.flatnonzero(standings.benchmarks != benchmark)), method, missing)
        if scores is not None:
            found.append(shared_ranks(scores.goodness))
    return ranges(standings.names, np.vstack(found))


def ranges(names: Sequence[str], ranks: IntArray) -> tuple[LeaveOneOut, ...]:
    """The best and the worst of each name's ranks, which are the columns."""
    ends = zip(names, ranks.min(axis=0).tolist(), ranks.max(axis=0).tolist(), strict=True)
    return tuple(LeaveOneOut(name, best, worst) for name, best, worst in ends)


def tau(first: IntArray, second: IntArray) -> float | None:
    """Kendall's tau-b of two rankings with ties; `None` when one is constant."""
    sizes = [untied_pairs(ranks.size, tie_pattern(ranks)) for ranks in (first, second)]
    if min(sizes) == 0:
        return None
    signs = [np.sign(ranks[:, None] - ranks) for ranks in (first, second)]
    return float(np.sum(np.triu(signs[0] * signs[1], 1)) / np.sqrt(float(sizes[0]) * float(sizes[1])))


def without_one(
    standings: ScoreMatrix,
    first: str,
    second: str,
    alpha: float,
    method: Method = "mean_difference",
    missing: Missing = "matched",
    target: Target = "rerun",
) -> tuple[WithoutOne, ...]:
    """The pair of two of these names on the other benchmarks, for each benchmark without which they still meet; Holm
    is over all pairs of the standings. Empty with one benchmark, and where it would cost too much."""
    benchmarks = np.unique(standings.benchmarks).tolist()
    size, slots = standings.values.shape
    again = size * (size - 1) // 2 * len(benchmarks)
    if len(benchmarks) < 2 or again > MOST_PAIRS or size**2 * slots * len(benchmarks) > MOST_VALUES:
        return ()
    found = []
    for benchmark in benchmarks:
        rest = prepared(only(standings, np.flatnonzero(standings.benchmarks != benchmark)), missing)
        if not rest.present.any():
            continue
        table = pair_table(rest, alpha, target, estimand_of(method, rest.mixed), min(WORK, ALL_WORK // again))
        [pair] = [one for one in table.pairs if {one.a, one.b} == {first, second}]
        if pair.n_common == 0:
            continue
        worse = separated(rest.names, table.pairs, rest.sign, alpha)[rest.names.index(first)] > 0
        found.append(WithoutOne.of(standings.benchmark_names[benchmark], pair, first, int(worse.sum())))
    return tuple(found)


def dominance(standings: ScoreMatrix) -> tuple[Warning, ...]:
    """Warning where one of three benchmarks or more carries over half of the sum, over all pairs, of the squared
    differences: its scale, not its evidence, then makes the order. None where the metric has two ends: then all
    benchmarks are on one scale, and between two names of much the same strength some benchmark always stands out."""
    if standings.bounded:
        return ()
    found = blocks_of(standings)
    there = found.held > 0
    means = np.add.reduceat(found.values, found.starts, axis=1) / np.maximum(found.held, 1)
    count, total = there.sum(axis=0), np.where(there, means, 0.0).sum(axis=0)
    # Over all pairs of m names the squared differences sum to m times those of the distances from the mean.
    squares = np.maximum(count * np.where(there, means**2, 0.0).sum(axis=0) - total**2, 0.0)
    if squares.size < FEWEST or 2 * squares.max() <= squares.sum():
        return ()
    used = np.unique(standings.benchmarks[standings.present.any(axis=0)])
    name, share = standings.benchmark_names[used[np.argmax(squares)]], float(squares.max() / squares.sum())
    detail = (
        f'The {standings.group} "{name}" carries {share:.0%} of the squared differences; '
        "method=win_rate and method=borda count only who is ahead."
    )
    return (Warning("one_benchmark_dominates", detail),)
