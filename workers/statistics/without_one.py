"""A claim about the first name with one benchmark after the other left out: whether a single one carries it."""

from __future__ import annotations

import numpy as np

from registry.results.policies import Method, Missing, Target
from registry.results.stability import WithoutOne
from workers.statistics.pairs import estimand_of, pair_table
from workers.statistics.rank_groups import separated
from workers.statistics.ranking_methods import prepared
from workers.statistics.score_matrix import ScoreMatrix, only
from workers.statistics.signs import WORK

MOST_PAIRS = 5_000
"""Pairs that are compared again, over all benchmarks that are left out; above it none is."""
MOST_VALUES = 20_000_000
"""Values that these compare, each with that of every name."""
ALL_WORK = 100_000_000
"""Additions that the exact laws of all these pairs may cost together."""


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
