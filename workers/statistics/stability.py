"""Dependence of an order on the choice of method, of policy and of benchmarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from registry.results.policies import Method, Missing
from registry.results.resampling import Resampling
from registry.results.stability import LeaveOneOut, OtherRank, PolicyAgreement, PolicySensitivity
from workers.statistics.kendall import tie_pattern, untied_pairs
from workers.statistics.rank_groups import components
from workers.statistics.ranking_methods import METHODS, MISSING, Scores, order, prepared
from workers.statistics.ranks import shared_ranks
from workers.statistics.resampling import ranks_again, resampling
from workers.statistics.score_matrix import ScoreMatrix, only
from workers.statistics.terms import IntArray

MOST_WORK = 200_000_000
"""Comparisons that all alternative orders of a ranking may cost together; above it they are not computed."""


@dataclass(frozen=True, slots=True)
class ComponentStability:
    """Everything about one component's order. `leave_one_out` is empty with fewer than two benchmarks, and leaves
    out benchmarks without which the names fall apart."""

    policies: tuple[PolicySensitivity, ...]
    agreement: tuple[PolicyAgreement, ...]
    leave_one_out: tuple[LeaveOneOut, ...]
    resampling: Resampling


def stability(
    standings: ScoreMatrix, method: Method, missing: Missing, ranks: IntArray, alpha: float, number: int
) -> ComponentStability:
    """The stability of the ranks of names that form the component of this number."""
    size, slots = standings.values.shape
    others = alternatives(standings, method, missing) if size**2 * slots * 12 <= MOST_WORK else {}
    policies = []
    for i, name in enumerate(standings.names):
        moved = tuple(OtherRank(*key, int(other[i])) for key, other in others.items())
        places = [int(ranks[i]), *(other.rank for other in moved)]
        policies.append(PolicySensitivity(name, int(ranks[i]), min(places), max(places), moved))
    taus = tuple(PolicyAgreement(*key, tau(ranks, other)) for key, other in others.items())
    return ComponentStability(
        tuple(policies),
        taus,
        left_out(standings, method, missing, ranks),
        resampling(standings, method, missing, ranks, 1 - alpha, number),
    )


def alternatives(standings: ScoreMatrix, method: Method, missing: Missing) -> dict[tuple[Method, Missing], IntArray]:
    """The ranks under every other method with the same policy, and every other policy with the same method."""
    asked: list[tuple[Method, Missing]] = [(other, missing) for other in METHODS if other != method]
    asked += [(method, other) for other in MISSING if other != missing]
    if method != "mean" and missing != "available":
        asked.append(("mean", "available"))
    found = {}
    for key in asked:
        scores = ordered(standings, *key)
        if scores is not None:
            found[key] = shared_ranks(scores.goodness)
    return found


def ordered(standings: ScoreMatrix, method: Method, missing: Missing) -> Scores | None:
    """The scores under a policy, where the names stay connected and the order exists."""
    changed = prepared(standings, missing)
    if len(components(changed)) != 1:
        return None
    scores = order(changed, method, missing)
    return scores if isinstance(scores, Scores) else None


def left_out(standings: ScoreMatrix, method: Method, missing: Missing, ranks: IntArray) -> tuple[LeaveOneOut, ...]:
    """Leaves out each benchmark once."""
    benchmarks = np.unique(standings.benchmarks).tolist()
    size, slots = standings.values.shape
    if len(benchmarks) < 2 or size < 2 or size**2 * slots * len(benchmarks) > MOST_WORK:
        return ()
    again = without_each(standings, method, missing, benchmarks)
    defined = again[(again > 0).all(axis=1)]
    low, high = (np.vstack([ranks, defined]).min(axis=0), np.vstack([ranks, defined]).max(axis=0))
    return tuple(
        LeaveOneOut(name, int(best), int(worst)) for name, best, worst in zip(standings.names, low, high, strict=True)
    )


def without_each(standings: ScoreMatrix, method: Method, missing: Missing, benchmarks: list[int]) -> IntArray:
    """The ranks without each benchmark, benchmarks x names; zeros where the names fall apart or have no order."""
    if method != "adjusted_mean":
        return ranks_again(standings, method, missing, 1 - np.eye(len(benchmarks), dtype=np.int64))
    found = np.zeros((len(benchmarks), len(standings.names)), dtype=np.int64)
    for row, benchmark in enumerate(benchmarks):
        scores = ordered(only(standings, np.flatnonzero(standings.benchmarks != benchmark)), method, missing)
        if scores is not None:
            found[row] = shared_ranks(scores.goodness)
    return found


def tau(first: IntArray, second: IntArray) -> float | None:
    """Kendall's tau-b of two rankings with ties; `None` when one is constant."""
    sizes = [untied_pairs(ranks.size, tie_pattern(ranks)) for ranks in (first, second)]
    if min(sizes) == 0:
        return None
    signs = [np.sign(ranks[:, None] - ranks) for ranks in (first, second)]
    return float(np.sum(np.triu(signs[0] * signs[1], 1)) / np.sqrt(float(sizes[0]) * float(sizes[1])))
