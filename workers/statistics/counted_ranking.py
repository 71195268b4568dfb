"""A ranking from sums of pairs: the same estimates as from the cells, for any number of grids.

The p-values are those of the sign-flip test in its normal limit (Fisher 1935, section 21): with differences d and
weights w, the sum of w d has variance sum of (w d)^2 when every sign could as well have been the other one. Intervals
are Student's, as `pairs.t_interval` has them. What needs the cells themselves is named in `left_out`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import erfc, stdtrit

from workers.statistics import pair_sums as ps
from workers.statistics.contest import Rank, letters_of
from workers.statistics.document import plain
from workers.statistics.multiplicity import holm
from workers.statistics.orders import Method
from workers.statistics.pairs import Pair, Target
from workers.statistics.potentials import potentials
from workers.statistics.ranking import MOST_NAMES, Omission, Ranking, Slots, Stable, asked
from workers.statistics.ranks import shared_ranks
from workers.statistics.separation import groups, letters, parts, rank_interval
from workers.statistics.stability import Agreement, OtherRank, PolicySensitivity, tau
from workers.statistics.strengths import Strengths, bradley_terry
from workers.statistics.terms import SMALLEST_P, BoolArray, FloatArray, IntArray, Interval

MOST_COUNTED = 1_000
"""Names that a ranking from sums compares."""
_OF_CELLS = "needs every cell; ask about fewer models, benchmarks or variants"


@dataclass(frozen=True)
class Counted:
    """What was counted: `rows` are FIELDS x names x names, `unit` is the size of a tick in the metric's unit,
    `sign` 1 where higher is better and -1 where lower is."""

    names: tuple[str, ...]
    cells: tuple[int, ...]
    rows: IntArray
    unit: float
    sign: int
    slots: Slots

    @cached_property
    def benchmarks(self) -> FloatArray:
        """Benchmarks in which two names meet."""
        return ps.of_pairs(self.rows, ps.BENCHMARKS).astype(np.float64)

    @cached_property
    def common(self) -> IntArray:
        """Slots that two names share."""
        return ps.of_pairs(self.rows, ps.COMMON)

    @cached_property
    def linked(self) -> BoolArray:
        """Which two different names met at all."""
        linked = self.common > 0
        np.fill_diagonal(linked, False)
        return linked

    @cached_property
    def mean(self) -> FloatArray:
        """Mean differences in ticks, row less column; benchmarks weigh equally, slots equally within."""
        return ps.of_pairs(self.rows, ps.MEAN) / np.maximum(self.benchmarks, 1)

    @cached_property
    def wins(self) -> FloatArray:
        """Wins plus half the ties, weighted so that benchmarks count equally while the sum stays in slots."""
        lead = self.sign * ps.of_pairs(self.rows, ps.LEAD) / ps.SHARES
        return np.asarray((1 + lead / np.maximum(self.benchmarks, 1)) / 2 * self.common * self.linked)


@dataclass(frozen=True)
class _Evidence:
    """Names x names: p-values (NaN where two never met), those corrected by Holm, half-widths of the intervals in
    ticks (NaN where undefined) and the smallest p-values that there could be."""

    p: FloatArray
    p_holm: FloatArray
    reach: FloatArray
    least: FloatArray


def rank_counted(counted: Counted, method: str, missing: str, alpha: float, target: str) -> dict[str, Any]:
    """The JSON-ready ranking of what was counted, in the shape of `ranking.rank`."""
    answer: dict[str, Any] = plain(_ranking(counted, asked(counted.slots, method, missing, alpha, target)))
    return answer


def _ranking(counted: Counted, frame: Ranking) -> Ranking:
    if not counted.names:
        return replace(frame, status="insufficient", reason="nobody to rank")
    if len(counted.names) > MOST_COUNTED:
        reason = f"more than {MOST_COUNTED:,} names; name up to {MOST_COUNTED:,} of them with model=…"
        return replace(frame, status="undefined", reason=reason)
    if frame.method not in _ORDERS or frame.missing not in ("matched", "observed"):
        return replace(frame, status="undefined", reason=f"{frame.method} with missing={frame.missing} {_OF_CELLS}")
    evidence = _evidence(counted, frame.alpha, frame.target)
    ahead = np.where(evidence.p_holm < frame.alpha, np.sign(counted.mean) * counted.sign, 0).astype(np.int64)
    members = parts(counted.linked)
    found, order = frame, list[int]()
    for number, part in enumerate(members):
        found, sequence = _with_component(found, counted, ahead, part, number)
        order += sequence
    few = len(counted.names) <= MOST_NAMES
    couples = list(itertools.combinations(range(len(counted.names)), 2) if few else itertools.pairwise(order))
    return replace(
        found,
        pairs=tuple(_pair(counted, evidence, i, j, frame) for i, j in couples),
        components=tuple(tuple(counted.names[i] for i in part) for part in members),
        left_out=_left_out(few),
        mle_exists=_mle_exists(counted, members) if frame.method == "bradley_terry" else None,
    )


def _left_out(few: bool) -> tuple[Omission, ...]:
    cells = [Omission(f"stability.{name}", _OF_CELLS) for name in ("leave_one_out", "resampling")]
    cells.append(Omission("policy_sensitivity", f"in part: {_OF_CELLS}"))
    many = f"more than {MOST_NAMES} names; name up to {MOST_NAMES} of them with model=…"
    names = [Omission("groups", many), Omission("pairs", f"only neighbours in the order: {many}")]
    return tuple(cells if few else cells + names)


def _evidence(counted: Counted, alpha: float, target: Target) -> _Evidence:
    rows, benchmarks, mean = counted.rows, counted.benchmarks, counted.mean
    total = mean * benchmarks
    with np.errstate(divide="ignore", invalid="ignore"):
        if target == "fixed_cells":
            units = counted.common.astype(np.float64)
            null = ps.wide_of_pairs(rows, ps.SPREAD)
            part = ps.of_pairs(rows, ps.PART) / ps.SHARES
            square = null - 2 * mean * ps.of_pairs(rows, ps.PART_MEAN) + mean**2 * part
        else:
            units, null = benchmarks, ps.wide_of_pairs(rows, ps.MEAN2)
            square = null - mean * total
        error = np.sqrt(np.maximum(square, 0) * units / (units - 1)) / benchmarks
        reach = np.where(units > 1, stdtrit(np.maximum(units - 1, 1), 1 - alpha / 2) * error, np.nan)
        p = np.where(total == 0, 1.0, erfc(np.abs(total) / np.sqrt(null) / math.sqrt(2)))
    least = np.exp2(np.maximum(1 - units, -1000))
    p = np.where(counted.linked, np.clip(p, np.maximum(least, SMALLEST_P), 1.0), np.nan)
    upper = np.triu_indices(len(p), 1)
    known = np.isfinite(p[upper])
    corrected = np.full(p.shape, np.nan)
    corrected[upper[0][known], upper[1][known]] = holm(p[upper][known].tolist())
    return _Evidence(p, np.fmin(corrected, corrected.T), reach, least)


def _with_component(
    frame: Ranking, counted: Counted, ahead: IntArray, part: Sequence[int], number: int
) -> tuple[Ranking, list[int]]:
    """The ranking with one more component, and the component's members, best first."""
    place = {i: p for p, i in enumerate(part)}
    orders = {method: _ORDERS[method](counted, part) for method in _ORDERS}
    scores, errors = orders[frame.method]
    # A score in the metric's unit is turned where lower is better; the others count wins already.
    turned = {m: s * counted.sign if m == "mean_difference" else s for m, (s, _) in orders.items()}
    ranks = {method: shared_ranks(values) for method, values in turned.items()}
    own = ranks[frame.method]
    sequence = [part[p] for p in np.argsort(own, kind="stable").tolist()]
    few = len(counted.names) <= MOST_NAMES
    cliques = groups(ahead, sequence) if few else []
    lettered = {letters(len(frame.groups) + g): set(clique) for g, clique in enumerate(cliques)}
    rows = tuple(
        Rank(
            int(own[place[i]]),
            counted.names[i],
            None if len(part) == 1 and frame.method != "mean_difference" else float(scores[place[i]]),
            *rank_interval(ahead, sequence, i),
            letters_of(lettered, i),
            number,
            counted.cells[i],
            *_record(counted, i),
            None if errors is None else float(errors[place[i]]),
        )
        for i in sequence
    )
    policies = tuple(_policy(counted.names[i], place[i], frame.method, ranks) for i in part)
    others = (method for method in _ORDERS if method != frame.method)
    taus = tuple(Agreement(method, "matched", tau(own, ranks[method])) for method in others)
    largest = max((len(one) for one in parts(counted.linked)), default=0) == len(part)
    return replace(
        frame,
        ranking=frame.ranking + rows,
        groups=frame.groups + tuple(tuple(counted.names[i] for i in clique) for clique in cliques),
        policy_sensitivity=frame.policy_sensitivity + policies,
        stability=Stable((), taus, ()) if largest and not frame.stability.agreement else frame.stability,
    ), sequence


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


def _mean_difference(counted: Counted, part: Sequence[int]) -> tuple[FloatArray, FloatArray | None]:
    here = np.ix_(part, part)
    return potentials(counted.mean[here], counted.linked[here]) * counted.unit, None


def _win_rate(counted: Counted, part: Sequence[int]) -> tuple[FloatArray, FloatArray | None]:
    here = np.ix_(part, part)
    games = (counted.common * counted.linked)[here].sum(axis=1)
    return counted.wins[here].sum(axis=1) / np.maximum(games, 1), None


def _bradley_terry(counted: Counted, part: Sequence[int]) -> tuple[FloatArray, FloatArray | None]:
    found = _strengths(counted, part)
    return found.values, found.stderr


def _strengths(counted: Counted, part: Sequence[int]) -> Strengths:
    here = np.ix_(part, part)
    return bradley_terry(counted.wins[here], counted.linked[here])


_ORDERS: dict[Method, Callable[[Counted, Sequence[int]], tuple[FloatArray, FloatArray | None]]] = {
    "mean_difference": _mean_difference,
    "win_rate": _win_rate,
    "bradley_terry": _bradley_terry,
}


def _mle_exists(counted: Counted, members: Sequence[Sequence[int]]) -> bool:
    return len(members) == 1 and _strengths(counted, members[0]).mle_exists


def _pair(counted: Counted, evidence: _Evidence, i: int, j: int, frame: Ranking) -> Pair:
    """One pair as `pairs.compare` writes it."""
    names = counted.names[i], counted.names[j]
    if not counted.linked[i, j]:
        return Pair(*names, "not_comparable", 0, 0, 0, 0, frame.target, reason="the two have no slot in common")
    first, second = counted.rows[:, i, j], counted.rows[:, j, i]
    common, ties = int(first[ps.COMMON] + second[ps.COMMON]), int(first[ps.EQUAL] + second[ps.EQUAL])
    larger = int(first[ps.LARGER] + second[ps.COMMON] - second[ps.LARGER] - second[ps.EQUAL])
    wins, _, losses = _seen(counted, larger, ties, common - ties - larger)
    difference = float(counted.mean[i, j]) * counted.unit
    reach = float(evidence.reach[i, j]) * counted.unit
    possible = bool(evidence.least[i, j] < frame.alpha)
    return Pair(
        *names,
        "ok" if possible else "insufficient",
        common,
        wins,
        ties,
        losses,
        frame.target,
        difference,
        difference,
        Interval(1 - frame.alpha, difference - reach, difference + reach) if math.isfinite(reach) else None,
        float(evidence.p[i, j]),
        float(evidence.p_holm[i, j]),
        float(evidence.least[i, j]),
        "sign_flip_normal" + ("_over_benchmarks" if frame.target == "new_benchmarks" else ""),
        None if possible else f"no signs of these differences have a p below {frame.alpha}",
    )
