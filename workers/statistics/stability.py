"""Dependence of an order on the choice of method, of policy and of benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from registry.results.policies import Method, Missing
from registry.results.stability import LeaveOneOut, OtherRank, PolicyAgreement, PolicySensitivity
from workers.statistics.kendall import tie_pattern, untied_pairs
from workers.statistics.rank_groups import components
from workers.statistics.ranking_methods import METHODS, MISSING, Scores, order, prepared
from workers.statistics.ranks import shared_ranks
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


def stability(standings: ScoreMatrix, method: Method, missing: Missing, ranks: IntArray) -> ComponentStability:
    """The stability of the ranks of names that form a component."""
    size, slots = standings.values.shape
    others = alternatives(standings, method, missing) if size**2 * slots * 12 <= MOST_WORK else {}
    policies = []
    for i, name in enumerate(standings.names):
        moved = tuple(OtherRank(*key, int(other[i])) for key, other in others.items())
        places = [int(ranks[i]), *(other.rank for other in moved)]
        policies.append(PolicySensitivity(name, int(ranks[i]), min(places), max(places), moved))
    taus = tuple(PolicyAgreement(*key, tau(ranks, other)) for key, other in others.items())
    return ComponentStability(tuple(policies), taus, left_out(standings, method, missing, ranks))


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
    found = [ranks]
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
