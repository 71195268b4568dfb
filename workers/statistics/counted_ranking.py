"""A ranking from sums of pairs: the same estimates as from the cells, for any number of grids.

What needs the cells themselves is named in `left_out`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from registry.results.inputs import Warning
from registry.results.policies import Method, Missing
from registry.results.ranking import Omission, Ranked, Ranking
from registry.results.stability import LeaveOneOut, OtherRank, PolicyAgreement, PolicySensitivity, Stability
from workers.statistics.component_ranking import RELATIVE, letters_of
from workers.statistics.counted import Counted, evidence_of
from workers.statistics.counted_pairs import listed_pairs, record_of
from workers.statistics.least_squares_scores import potentials
from workers.statistics.pairs import estimand_of, pairs_left_out
from workers.statistics.rank_groups import TOO_LONG, groups, in_order, letters, parts, rank_interval, strangers
from workers.statistics.ranking import asked, contradicted
from workers.statistics.ranking_methods import Refused, Scores
from workers.statistics.ranks import shared_ranks
from workers.statistics.stability import tau
from workers.statistics.strengths import bradley_terry
from workers.statistics.terms import BoolArray, FloatArray, IntArray

MOST_COUNTED = 1_000
"""Names that a ranking from sums compares."""
MOST_CONTRADICTED = 20
"""Pairs whose test contradicts the order, as far as each has a warning of its own."""
LOOSE = "fewer than half of the pairs share a slot; ask with method=win_rate"
OF_CELLS = "needs every cell; ask about fewer models, benchmarks or variants"


@dataclass(frozen=True)
class Orders:
    """The order of the members of a component that was asked for, or why there is none; the goodness of the members in
    other orders; and the ranks without each benchmark, where these are known."""

    own: Scores | Refused
    others: Mapping[tuple[Method, Missing], FloatArray] = field(default_factory=dict)
    leave_one_out: tuple[LeaveOneOut, ...] = ()


OrdersOf = Callable[[Sequence[int]], Orders]
"""From the members of a component."""


def rank_counted(
    counted: Counted, method: str, missing: str, alpha: float, target: str, pairs_of: str | None = None
) -> Ranking:
    """The ranking of what was counted, as `ranking.rank` gives it."""
    frame = asked(counted.slots, method, missing, alpha, target, pairs_of)
    if len(counted.names) > MOST_COUNTED:
        reason = f"more than {MOST_COUNTED:,} names; name up to {MOST_COUNTED:,} of them with model=…"
        return replace(frame, status="undefined", reason=reason)
    if refused := unanswered(counted.names, frame):
        return refused
    if not sums_have_order(method, missing):
        return replace(frame, status="undefined", reason=f"{frame.method} with missing={frame.missing} {OF_CELLS}")
    few = [Omission("stability.leave_one_out", OF_CELLS)]
    few += [Omission(f"{name}", f"in part: {OF_CELLS}") for name in ("pairs.interval", "policy_sensitivity")]
    few.append(Omission("by_benchmark", OF_CELLS))
    return ranked(counted, frame, lambda part: _orders(counted, frame, part), tuple(few))


def sums_have_order(method: str, missing: str) -> bool:
    """Return whether sums of pairs give an order by this method and policy."""
    return method in _ORDERS and missing in ("matched", "available")


def unanswered(names: Sequence[str], frame: Ranking) -> Ranking | None:
    """The answer where there are no names, not the one that is asked for, or where the target asks for the cells'
    noise."""
    if not names:
        return replace(frame, status="insufficient", reason="nobody to rank")
    if frame.target == "new_questions":
        return replace(frame, status="undefined", reason=f"target=new_questions {OF_CELLS}")
    if frame.pairs_of is not None and frame.pairs_of not in names:
        return replace(frame, status="undefined", reason=f'there is no "{frame.pairs_of}" among the names')
    return None


def ranked(
    counted: Counted, frame: Ranking, orders_of: OrdersOf, left_out: tuple[Omission, ...], *, mixed: bool = False
) -> Ranking:
    """Fills the frame: each component in its order, and the pairs."""
    members = parts(counted.linked)
    orders = [orders_of(part) for part in members]
    refused = next((one.own.reason for one in orders if isinstance(one.own, Refused)), None)
    if refused is not None:
        return replace(frame, status="undefined", reason=refused)
    estimand = estimand_of(frame.method, mixed)
    evidence = evidence_of(counted, estimand, frame.target)
    size = counted.lead if estimand == "lead" else counted.mean * counted.sign
    apart = np.where(evidence.p_holm < frame.alpha, np.sign(size), 0).astype(np.int64)
    found, order = frame, list[int]()
    for number, (part, its) in enumerate(zip(members, orders, strict=True)):
        found, sequence = _with_component(found, counted, apart, part, its, number)
        order += sequence
    own = [one.own for one in orders if isinstance(one.own, Scores)]
    strengths = [score.extra["strengths"] for score in own if "strengths" in score.extra]
    return replace(
        found,
        pairs=listed_pairs(counted, evidence, frame, order),
        components=tuple(tuple(counted.names[i] for i in part) for part in members),
        left_out=(*left_out, *dict.fromkeys(found.left_out), *pairs_left_out(len(order), frame.pairs_of)),
        mle_exists=len(strengths) == 1 and strengths[0].mle_exists if strengths else None,
        prior="half_tie" if any(not one.mle_exists for one in strengths) else None,
        assumes=("exchangeable_cells",) if frame.target == "rerun" else (),
    )


def is_loose(linked: BoolArray, part: Sequence[int]) -> bool:
    """Return whether fewer than half of the pairs of a component met."""
    return int(linked[np.ix_(part, part)].sum()) * 2 < len(part) * (len(part) - 1)


def _with_component(
    frame: Ranking, counted: Counted, apart: IntArray, part: Sequence[int], orders: Orders, number: int
) -> tuple[Ranking, list[int]]:
    """The ranking with one more component, and the component's members, best first."""
    if isinstance(orders.own, Refused):
        raise TypeError(orders.own.reason)
    place = {i: p for p, i in enumerate(part)}
    own = shared_ranks(orders.own.goodness)
    sequence = [part[p] for p in np.argsort(own, kind="stable").tolist()]
    cliques, apart_for_ever = groups(apart, counted.linked, sequence), strangers(counted.linked, part)
    left_out = [TOO_LONG[name] for name, one in (("groups", cliques), ("never_met", apart_for_ever)) if one is None]
    ahead, against = in_order(apart, sequence, own[[place[i] for i in sequence]])
    lettered = {letters(len(frame.groups) + g): set(clique) for g, clique in enumerate(cliques or ())}
    scores = orders.own.values
    rows = tuple(
        Ranked(
            int(own[place[i]]),
            counted.names[i],
            float(scores[place[i]]) if np.isfinite(scores[place[i]]) else None,
            *rank_interval(ahead, sequence, i),
            letters_of(lettered, i),
            number,
            counted.cells[i],
            *_record(counted, i),
            None,
            len(part) if frame.method in RELATIVE else None,
        )
        for i in sequence
    )
    others = {key: shared_ranks(goodness) for key, goodness in orders.others.items()}
    return replace(
        frame,
        ranking=frame.ranking + rows,
        groups=frame.groups + tuple(tuple(counted.names[i] for i in clique) for clique in cliques or ()),
        never_met=frame.never_met + tuple((counted.names[i], counted.names[j]) for i, j in apart_for_ever or ()),
        left_out=(*frame.left_out, *left_out),
        warnings=frame.warnings + _contradictions(counted.names, against),
        policy_sensitivity=frame.policy_sensitivity
        + tuple(_policy(counted.names[i], place[i], own, others) for i in part),
        stability=_stable(frame.stability, counted, part, orders, own, others),
    ), sequence


def _contradictions(names: Sequence[str], against: Sequence[tuple[int, int]]) -> tuple[Warning, ...]:
    told = tuple(contradicted(names[i], names[j]) for i, j in against[:MOST_CONTRADICTED])
    more = len(against) - len(told)
    detail = f"{more:,} more pairs are significantly the other way round than this order has them."
    return (*told, Warning("order_contradicts_pair", detail)) if more else told


def _stable(
    found: Stability,
    counted: Counted,
    part: Sequence[int],
    orders: Orders,
    own: IntArray,
    others: Mapping[tuple[Method, Missing], IntArray],
) -> Stability:
    """What is known of stability with one more component; the agreement is that of the one with the most names."""
    agreement = found.agreement
    if not agreement and len(part) == max(len(one) for one in parts(counted.linked)):
        agreement = tuple(PolicyAgreement(*key, tau(own, ranks)) for key, ranks in others.items())
    return Stability(found.leave_one_out + orders.leave_one_out, agreement)


def _policy(name: str, p: int, own: IntArray, others: Mapping[tuple[Method, Missing], IntArray]) -> PolicySensitivity:
    moved = tuple(OtherRank(*key, int(ranks[p])) for key, ranks in others.items())
    places = [int(own[p]), *(one.rank for one in moved)]
    return PolicySensitivity(name, int(own[p]), min(places), max(places), moved)


def _record(counted: Counted, i: int) -> tuple[int, int, int]:
    """Wins, ties and losses of a name over all opponents."""
    larger, ties, smaller = (int(matrix[i].sum()) for matrix in (counted.larger, counted.equal, counted.smaller))
    return record_of(counted, larger, ties, smaller)


def _orders(counted: Counted, frame: Ranking, part: Sequence[int]) -> Orders:
    """The orders that sums give."""
    if frame.method == "mean_difference" and counted.bounded and is_loose(counted.linked, part):
        return Orders(Refused(LOOSE))
    found = {method: order(counted, part) for method, order in _ORDERS.items()}
    others: dict[tuple[Method, Missing], FloatArray] = {
        (method, "matched"): scores.goodness for method, scores in found.items() if method != frame.method
    }
    return Orders(found[frame.method], others)


def mean_difference(counted: Counted, part: Sequence[int]) -> Scores:
    """Potentials of the mean differences."""
    here = np.ix_(part, part)
    scores = potentials(counted.mean[here], counted.linked[here]) * counted.unit
    return Scores(scores, counted.sign > 0)


def win_rate(counted: Counted, part: Sequence[int]) -> Scores:
    """Wins plus half the ties over all comparisons; NaN for a name alone."""
    here = np.ix_(part, part)
    games = (counted.common * counted.linked)[here].sum(axis=1)
    won = counted.wins[here].sum(axis=1)
    return Scores(np.divide(won, games, out=np.full(games.size, np.nan), where=games > 0))


def strengths(counted: Counted, part: Sequence[int]) -> Scores:
    """Bradley and Terry's log-strengths."""
    here = np.ix_(part, part)
    found = bradley_terry(counted.wins[here], counted.linked[here])
    alone = np.full(1, np.nan)
    return Scores(alone if len(part) == 1 else found.values, True, {"strengths": found})


_ORDERS: dict[Method, Callable[[Counted, Sequence[int]], Scores]] = {
    "mean_difference": mean_difference,
    "win_rate": win_rate,
    "bradley_terry": strengths,
}
