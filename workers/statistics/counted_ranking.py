"""A ranking from sums of pairs: the same estimates as from the cells, for any number of grids.

What needs the cells themselves is named in `left_out`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from registry.results.pairs import Pair
from registry.results.policies import Method
from registry.results.ranking import Omission, Ranked, Ranking
from registry.results.stability import OtherRank, PolicyAgreement, PolicySensitivity, Stability
from registry.results.terms import Interval
from workers.statistics import pair_sums as ps
from workers.statistics.component_ranking import RELATIVE, letters_of
from workers.statistics.counted import Counted, SumEvidence, evidence_of
from workers.statistics.least_squares_scores import potentials
from workers.statistics.pairs import APART, estimand_of
from workers.statistics.rank_groups import groups, in_order, letters, parts, rank_interval, strangers
from workers.statistics.ranking import MOST_NAMES, asked, contradicted
from workers.statistics.ranks import shared_ranks
from workers.statistics.stability import tau
from workers.statistics.strengths import Strengths, bradley_terry
from workers.statistics.terms import FloatArray, IntArray, detectable

MOST_COUNTED = 1_000
"""Names that a ranking from sums compares."""
_LOOSE = "fewer than half of the pairs share a slot; ask with method=win_rate"
_OF_CELLS = "needs every cell; ask about fewer models, benchmarks or variants"


def rank_counted(counted: Counted, method: str, missing: str, alpha: float, target: str) -> Ranking:
    """The ranking of what was counted, as `ranking.rank` gives it."""
    return _ranking(counted, asked(counted.slots, method, missing, alpha, target))


def _ranking(counted: Counted, frame: Ranking) -> Ranking:
    if not counted.names:
        return replace(frame, status="insufficient", reason="nobody to rank")
    if len(counted.names) > MOST_COUNTED:
        reason = f"more than {MOST_COUNTED:,} names; name up to {MOST_COUNTED:,} of them with model=…"
        return replace(frame, status="undefined", reason=reason)
    if frame.method not in _ORDERS or frame.missing not in ("matched", "observed"):
        return replace(frame, status="undefined", reason=f"{frame.method} with missing={frame.missing} {_OF_CELLS}")
    if frame.target == "new_questions":
        return replace(frame, status="undefined", reason=f"target=new_questions {_OF_CELLS}")
    members = parts(counted.linked)
    if frame.method == "mean_difference" and counted.bounded and any(_is_loose(counted, part) for part in members):
        return replace(frame, status="undefined", reason=_LOOSE)
    estimand = estimand_of(frame.method, mixed=False)
    evidence = evidence_of(counted, estimand, frame.target)
    size = counted.lead if estimand == "lead" else counted.mean * counted.sign
    apart = np.where(evidence.p_holm < frame.alpha, np.sign(size), 0).astype(np.int64)
    found, order = frame, list[int]()
    for number, part in enumerate(members):
        found, sequence = _with_component(found, counted, apart, part, number)
        order += sequence
    few = len(counted.names) <= MOST_NAMES
    couples = list(itertools.combinations(range(len(counted.names)), 2) if few else itertools.pairwise(order))
    strengths = [_strengths(counted, part) for part in members] if frame.method == "bradley_terry" else []
    return replace(
        found,
        pairs=tuple(_pair(counted, evidence, i, j, frame) for i, j in couples),
        components=tuple(tuple(counted.names[i] for i in part) for part in members),
        left_out=_left_out(few),
        mle_exists=len(strengths) == 1 and strengths[0].mle_exists if strengths else None,
        prior="half_tie" if any(not one.mle_exists for one in strengths) else None,
        assumes=("exchangeable_cells",) if frame.target == "rerun" else (),
    )


def _is_loose(counted: Counted, part: Sequence[int]) -> bool:
    """Return whether fewer than half of the pairs of a component met."""
    return int(counted.linked[np.ix_(part, part)].sum()) * 2 < len(part) * (len(part) - 1)


def _left_out(few: bool) -> tuple[Omission, ...]:
    cells = [Omission(f"stability.{name}", _OF_CELLS) for name in ("leave_one_out", "resampling")]
    cells.append(Omission("pairs.interval", f"in part: {_OF_CELLS}"))
    cells.append(Omission("policy_sensitivity", f"in part: {_OF_CELLS}"))
    many = f"more than {MOST_NAMES} names; name up to {MOST_NAMES} of them with model=…"
    names = [Omission(part, many) for part in ("groups", "never_met")]
    names.append(Omission("pairs", f"only neighbours in the order: {many}"))
    return tuple(cells if few else cells + names)


def _with_component(
    frame: Ranking, counted: Counted, apart: IntArray, part: Sequence[int], number: int
) -> tuple[Ranking, list[int]]:
    """The ranking with one more component, and the component's members, best first."""
    place = {i: p for p, i in enumerate(part)}
    orders = {method: _ORDERS[method](counted, part) for method in _ORDERS}
    scores = orders[frame.method]
    # A score in the metric's unit is turned where lower is better; the others count wins already.
    turned = {m: s * counted.sign if m == "mean_difference" else s for m, s in orders.items()}
    ranks = {method: shared_ranks(values) for method, values in turned.items()}
    own = ranks[frame.method]
    sequence = [part[p] for p in np.argsort(own, kind="stable").tolist()]
    few = len(counted.names) <= MOST_NAMES
    cliques = groups(apart, counted.linked, sequence) if few else []
    ahead, against = in_order(apart, sequence, own[[place[i] for i in sequence]])
    apart_for_ever = strangers(counted.linked, part) if few else []
    lettered = {letters(len(frame.groups) + g): set(clique) for g, clique in enumerate(cliques)}
    rows = tuple(
        Ranked(
            int(own[place[i]]),
            counted.names[i],
            None if len(part) == 1 and frame.method != "mean_difference" else float(scores[place[i]]),
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
    return replace(
        frame,
        ranking=frame.ranking + rows,
        groups=frame.groups + tuple(tuple(counted.names[i] for i in clique) for clique in cliques),
        never_met=frame.never_met + tuple((counted.names[i], counted.names[j]) for i, j in apart_for_ever),
        warnings=frame.warnings + tuple(contradicted(counted.names[i], counted.names[j]) for i, j in against),
        policy_sensitivity=frame.policy_sensitivity
        + tuple(_policy(counted.names[i], place[i], frame.method, ranks) for i in part),
        stability=_stable(frame, counted, part, ranks),
    ), sequence


def _stable(frame: Ranking, counted: Counted, part: Sequence[int], ranks: dict[Method, IntArray]) -> Stability:
    """The agreement with the other orders, of the component with the most names."""
    largest = max((len(one) for one in parts(counted.linked)), default=0) == len(part)
    if not largest or frame.stability.agreement:
        return frame.stability
    others = (method for method in _ORDERS if method != frame.method)
    return Stability(
        (), tuple(PolicyAgreement(other, "matched", tau(ranks[frame.method], ranks[other])) for other in others), ()
    )


def _policy(name: str, p: int, method: Method, ranks: dict[Method, IntArray]) -> PolicySensitivity:
    places = [int(one[p]) for one in ranks.values()]
    others = tuple(OtherRank(other, "matched", int(one[p])) for other, one in ranks.items() if other != method)
    return PolicySensitivity(name, int(ranks[method][p]), min(places), max(places), others)


def _record(counted: Counted, i: int) -> tuple[int, int, int]:
    """Wins, ties and losses of a name over all opponents."""
    mine, theirs = counted.rows[:, i, :], counted.rows[:, :, i]
    common = int(mine[ps.COMMON].sum() + theirs[ps.COMMON].sum())
    ties = int(mine[ps.EQUAL].sum() + theirs[ps.EQUAL].sum())
    smaller = theirs[ps.COMMON] - theirs[ps.LARGER] - theirs[ps.EQUAL]
    larger = int(mine[ps.LARGER].sum() + smaller.sum())
    return _seen(counted, larger, ties, common - ties - larger)


def _seen(counted: Counted, larger: int, ties: int, smaller: int) -> tuple[int, int, int]:
    """Wins, ties and losses: where lower is better, smaller values win."""
    return (larger, ties, smaller) if counted.sign > 0 else (smaller, ties, larger)


def _mean_difference(counted: Counted, part: Sequence[int]) -> FloatArray:
    here = np.ix_(part, part)
    return potentials(counted.mean[here], counted.linked[here]) * counted.unit


def _win_rate(counted: Counted, part: Sequence[int]) -> FloatArray:
    here = np.ix_(part, part)
    games = (counted.common * counted.linked)[here].sum(axis=1)
    return np.asarray(counted.wins[here].sum(axis=1) / np.maximum(games, 1), dtype=np.float64)


def _bradley_terry(counted: Counted, part: Sequence[int]) -> FloatArray:
    return _strengths(counted, part).values


def _strengths(counted: Counted, part: Sequence[int]) -> Strengths:
    here = np.ix_(part, part)
    return bradley_terry(counted.wins[here], counted.linked[here])


_ORDERS: dict[Method, Callable[[Counted, Sequence[int]], FloatArray]] = {
    "mean_difference": _mean_difference,
    "win_rate": _win_rate,
    "bradley_terry": _bradley_terry,
}


def _pair(counted: Counted, evidence: SumEvidence, i: int, j: int, frame: Ranking) -> Pair:
    """One pair as `pairs.compare` writes it."""
    names, estimand = (counted.names[i], counted.names[j]), estimand_of(frame.method, mixed=False)
    if not counted.linked[i, j]:
        return Pair(*names, "not_comparable", 0, 0, 0, 0, 0, None, frame.target, estimand, reason=APART)
    first, second = counted.rows[:, i, j], counted.rows[:, j, i]
    common, ties = int(first[ps.COMMON] + second[ps.COMMON]), int(first[ps.EQUAL] + second[ps.EQUAL])
    larger = int(first[ps.LARGER] + second[ps.COMMON] - second[ps.LARGER] - second[ps.EQUAL])
    possible = bool(evidence.least[i, j] < frame.alpha)
    base = Pair(
        *names,
        "ok" if possible else "insufficient",
        common,
        int(counted.benchmarks[i, j]),
        *_seen(counted, larger, ties, common - ties - larger),
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
