"""A ranking from sums of pairs: the same estimates as from the cells, for any number of grids.

What needs the cells themselves is named in `left_out`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from registry.results.pairs import Pair
from registry.results.policies import Method
from registry.results.ranking import Omission, Ranking
from registry.results.terms import Interval
from workers.statistics.component_ranking import Contest, Orders, assembled
from workers.statistics.counted import Counted, SumEvidence, evidence_of
from workers.statistics.pairs import APART, couples, estimand_of, pairs_left_out
from workers.statistics.rank_groups import parts
from workers.statistics.ranking import asked, unasked
from workers.statistics.ranking_methods import Refused, Scores, log_strengths, of_differences, win_rates
from workers.statistics.terms import detectable

MOST_COUNTED = 1_000
"""Names that a ranking from sums compares."""
OF_PAIRS: tuple[Method, ...] = ("mean_difference", "win_rate", "bradley_terry")
"""Methods whose order comes from pairs."""
OF_CELLS = "needs every cell; ask about fewer models, benchmarks or variants"


OrdersOf = Callable[[Sequence[int]], Orders | Refused]
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
    few += [Omission(name, f"in part: {OF_CELLS}") for name in ("pairs.interval", "policy_sensitivity")]
    few.append(Omission("by_benchmark", OF_CELLS))
    return ranked(counted, frame, lambda part: _orders(counted, frame, part), tuple(few))


def sums_have_order(method: str, missing: str) -> bool:
    """Return whether sums of pairs give an order by this method and policy."""
    return method in OF_PAIRS and missing in ("matched", "available")


def unanswered(names: Sequence[str], frame: Ranking) -> Ranking | None:
    """The answer where the target asks for the noise of the cells, or where nobody was asked about."""
    if frame.target == "new_questions":
        return replace(frame, status="undefined", reason=f"target=new_questions {OF_CELLS}")
    return unasked(frame, names)


def ranked(
    counted: Counted, frame: Ranking, orders_of: OrdersOf, left_out: tuple[Omission, ...], *, mixed: bool = False
) -> Ranking:
    """Fills the frame: each component in its order, and the pairs."""
    members = parts(counted.linked)
    orders = [orders_of(part) for part in members]
    refused = next((one.reason for one in orders if isinstance(one, Refused)), None)
    if refused is not None:
        return replace(frame, status="undefined", reason=refused)
    estimand = estimand_of(frame.method, mixed)
    evidence = evidence_of(counted, estimand, frame.target)
    size = counted.lead if estimand == "lead" else counted.mean * counted.sign
    apart = np.where(evidence.p_holm < frame.alpha, np.sign(size), 0).astype(np.int64)
    every = np.ones(len(counted.names), dtype=np.bool_)
    contest = Contest(counted.names, counted.cells, None, counted.records, every, counted.linked, apart)
    found = assembled(frame, contest, members, [one for one in orders if isinstance(one, Orders)])
    place = {name: i for i, name in enumerate(counted.names)}
    order = [place[row.name] for row in found.ranking]
    return replace(
        found,
        pairs=_listed(counted, evidence, frame, order),
        left_out=(*left_out, *found.left_out, *pairs_left_out(len(order), frame.pairs_of)),
        assumes=("exchangeable_cells",) if frame.target == "rerun" else (),
    )


def _orders(counted: Counted, frame: Ranking, part: Sequence[int]) -> Orders | Refused:
    """The orders that sums give."""
    own = order_of(counted, part, frame.method)
    if isinstance(own, Refused) or frame.pairs_of is not None:
        return own if isinstance(own, Refused) else Orders(own)
    found = {method: order_of(counted, part, method) for method in OF_PAIRS if method != frame.method}
    return Orders(own, others={(one, "matched"): s.goodness for one, s in found.items() if isinstance(s, Scores)})


def order_of(counted: Counted, part: Sequence[int], method: Method) -> Scores | Refused:
    """The order of the members of a component by one of the methods that compare pairs."""
    if method != "mean_difference":
        return (win_rates if method == "win_rate" else log_strengths)(counted.tally.of(part))
    here = np.ix_(part, part)
    difference = counted.mean[here] * counted.unit
    return of_differences(difference, counted.linked[here], counted.sign, bounded=counted.bounded)


def _listed(counted: Counted, evidence: SumEvidence, frame: Ranking, order: Sequence[int]) -> tuple[Pair, ...]:
    """The pairs that a ranking lists, in this order of the names."""
    chosen = couples(counted.names, order, frame.pairs_of)
    return tuple(_pair(counted, evidence, i, j, frame) for i, j in chosen)


def _pair(counted: Counted, evidence: SumEvidence, i: int, j: int, frame: Ranking) -> Pair:
    """One pair as `pairs.Desk` writes it from cells."""
    names, estimand = (counted.names[i], counted.names[j]), evidence.estimand
    if not counted.linked[i, j]:
        return Pair(*names, "not_comparable", 0, 0, 0, 0, 0, None, frame.target, estimand, reason=APART)
    common, ties, larger = (int(one[i, j]) for one in (counted.common, counted.equal, counted.larger))
    ends = (larger, common - ties - larger)[:: counted.sign]
    possible = bool(evidence.least[i, j] < frame.alpha)
    base = Pair(
        *names,
        "ok" if possible else "insufficient",
        common,
        int(counted.benchmarks[i, j]),
        ends[0],
        ties,
        ends[1],
        float(counted.lead[i, j]),
        frame.target,
        estimand,
        p=float(evidence.p[i, j]),
        p_holm=float(evidence.p_holm[i, j]),
        min_attainable_p=float(evidence.least[i, j]),
        test="sign_flip_normal" + ("_over_benchmarks" if frame.target == "new_benchmarks" else ""),
        reason=None if possible else f"no signs of these differences have a p below {frame.alpha}",
    )
    return _estimated(base, counted, evidence, i, j, frame.alpha) if estimand == "difference" else base


def _estimated(base: Pair, counted: Counted, evidence: SumEvidence, i: int, j: int, alpha: float) -> Pair:
    """Adds the difference and, where there is one, its standard error."""
    difference = float(counted.mean[i, j]) * counted.unit
    error, df = float(evidence.stderr[i, j]) * counted.unit, float(evidence.df[i, j])
    if not math.isfinite(error):
        return replace(base, difference=difference)
    reach = float(stdtrit(df, 1 - alpha / 2)) * error
    return replace(
        base,
        difference=difference,
        interval=Interval(1 - alpha, difference - reach, difference + reach),
        stderr=error,
        df=df,
        detectable=detectable(error, alpha) if base.status == "ok" else None,
    )
