"""Two names against each other over all benchmarks: the pair of a ranking of these two, with the first less the second.

The estimate and its tests are those of `pairs`; beside it stands the same pair for other benchmarks.
"""

from __future__ import annotations

from dataclasses import dataclass

from registry.results.pairs import Pair
from registry.results.policies import Target
from registry.results.stability import WithoutOne
from registry.results.terms import Status
from workers.statistics.pairs import APART, estimand_of, pair_table
from workers.statistics.score_matrix import ScoreMatrix, of
from workers.statistics.terms import computable
from workers.statistics.without_one import without_one


@dataclass(frozen=True, slots=True)
class Versus:
    """A pair for `rerun` and for `new_benchmarks`; of the former, what its tests assume and what it is without each
    benchmark."""

    rerun: Pair
    new_benchmarks: Pair
    assumes: tuple[str, ...]
    without: tuple[WithoutOne, ...] = ()


def versus(standings: ScoreMatrix, a: str, b: str, alpha: float) -> Versus:
    """The pair of two names, which may be missing; not_comparable without a slot in common."""
    estimand = estimand_of("mean_difference", standings.mixed)

    def nothing(target: Target, reason: str) -> Pair:
        status: Status = "not_comparable" if reason == APART else "undefined"
        return Pair(a, b, status, 0, 0, 0, 0, 0, None, target, estimand, reason=reason)

    if a not in standings.names or b not in standings.names:
        return Versus(nothing("rerun", APART), nothing("new_benchmarks", APART), ())
    both = of(standings, [standings.names.index(a), standings.names.index(b)])
    errors = [] if both.stderr is None else [both.stderr]
    if not computable(both.values, *errors):
        reason = "values are not all between 10^-100 and 10^100 in size"
        return Versus(nothing("rerun", reason), nothing("new_benchmarks", reason), ())
    again = pair_table(both, alpha, "rerun", estimand)
    others = pair_table(both, alpha, "new_benchmarks", estimand).pairs[0]
    return Versus(again.pairs[0], others, again.assumes, without_one(both, a, b, alpha))
