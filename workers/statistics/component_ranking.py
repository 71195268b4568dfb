"""A ranking from the orders of its connected components: rows, groups, and how far each order holds up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from registry.results.inputs import Warning
from registry.results.policies import Method, Missing
from registry.results.ranking import Omission, Ranked, Ranking
from registry.results.stability import LeaveOneOut, OtherRank, PolicyAgreement, PolicySensitivity, Stability
from workers.statistics.rank_groups import TOO_LONG, groups, in_order, letters, rank_interval, strangers
from workers.statistics.ranking_methods import Scores
from workers.statistics.ranks import shared_ranks
from workers.statistics.stability import tau
from workers.statistics.terms import BoolArray, FloatArray, IntArray

RELATIVE = ("mean_difference", "bradley_terry")
"""Methods whose scores have a mean of 0 over the names of a component."""
MOST_CONTRADICTED = 20
"""Pairs of a component whose test contradicts the order, as far as each has a warning of its own."""


@dataclass(frozen=True)
class Contest:
    """What all components share. By name: its `cells`, those that are compared (None: unknown), its wins, ties and
    losses, and whether a test spoke about it. By pair: who met, and `apart[i, j]`: 1 where i is significantly better
    than j, -1 where worse; None where no pair was looked at."""

    names: Sequence[str]
    cells: Sequence[int]
    compared: Sequence[int] | None
    records: Sequence[tuple[int, int, int]]
    tested: BoolArray
    met: BoolArray | None
    apart: IntArray | None


@dataclass(frozen=True)
class Orders:
    """The order of the members of a component that was asked for, and the errors of its scores; the goodness of the
    members in other orders, None where nobody asks how the order holds up; and the ranks without each benchmark."""

    own: Scores
    stderr: FloatArray | None = None
    others: Mapping[tuple[Method, Missing], FloatArray] | None = None
    leave_one_out: tuple[LeaveOneOut, ...] = ()


@dataclass(frozen=True, slots=True)
class _Component:
    """The rows of a component, best first, and what else is told of it."""

    names: tuple[str, ...]
    rows: tuple[Ranked, ...]
    groups: tuple[tuple[str, ...], ...] = ()
    never_met: tuple[tuple[str, str], ...] = ()
    warnings: tuple[Warning, ...] = ()
    left_out: tuple[Omission, ...] = ()
    policies: tuple[PolicySensitivity, ...] = ()
    agreement: tuple[PolicyAgreement, ...] = ()


def assembled(frame: Ranking, contest: Contest, parts: Sequence[Sequence[int]], orders: Sequence[Orders]) -> Ranking:
    """The frame with all components, each in its order; their groups are lettered from A on. Names with whom no other
    shares a slot have no place, unless gaps are filled, and come last; `insufficient` where nobody has one."""
    found: list[_Component] = []
    for number, (part, order) in enumerate(zip(parts, orders, strict=True)):
        found.append(_component(frame, contest, part, order, (number, sum(len(other.groups) for other in found))))
    strengths = [one.own.strengths for one in orders if one.own.strengths is not None]
    rows = sorted((row for one in found for row in one.rows), key=lambda row: row.rank is None)
    if rows[0].rank is None:
        frame = replace(frame, status="insufficient", reason="no two names share a slot")
    return replace(
        frame,
        ranking=tuple(rows),
        groups=tuple(group for one in found for group in one.groups),
        never_met=tuple(pair for one in found for pair in one.never_met),
        components=tuple(one.names for one in found),
        policy_sensitivity=tuple(name for one in found for name in one.policies),
        stability=Stability(
            tuple(name for one in orders for name in one.leave_one_out),
            max(found, key=lambda one: len(one.names)).agreement,
        ),
        left_out=tuple(dict.fromkeys(part for one in found for part in one.left_out)),
        warnings=frame.warnings + tuple(warning for one in found for warning in one.warnings),
        mle_exists=len(strengths) == 1 and strengths[0].mle_exists if strengths else None,
        prior="half_tie" if any(not one.mle_exists for one in strengths) else None,
    )


def _component(
    frame: Ranking, contest: Contest, part: Sequence[int], orders: Orders, first: tuple[int, int]
) -> _Component:
    """One component with its number and the first of its letters."""
    ranks, names = shared_ranks(orders.own.goodness), contest.names
    sequence: list[int] = np.argsort(ranks, kind="stable").tolist()
    members = [part[p] for p in sequence]
    told = _Component(tuple(names[i] for i in part), ())
    alone = len(part) == 1 and frame.missing != "worst"
    ranges, lettered = dict.fromkeys(members, (1, len(part))), dict[str, set[int]]()
    if contest.met is not None and contest.apart is not None:
        tested = len(part) < 2 or bool(contest.tested[part].any())
        cliques = groups(contest.apart, contest.met, members) if tested and not alone else []
        apart_for_ever = strangers(contest.met, part)
        ahead, against = in_order(contest.apart, members, ranks[sequence])
        ranges = {i: rank_interval(ahead, members, i) for i in members}
        lettered = {letters(first[1] + g): set(clique) for g, clique in enumerate(cliques or ())}
        listed = (("groups", cliques), ("never_met", apart_for_ever))
        told = replace(
            told,
            groups=tuple(tuple(names[i] for i in clique) for clique in cliques or ()),
            never_met=tuple((names[i], names[j]) for i, j in apart_for_ever or ()),
            warnings=tuple(_contradictions(names, against)),
            left_out=tuple(TOO_LONG[name] for name, one in listed if one is None),
        )
    scores, errors, compared = orders.own.values, orders.stderr, contest.compared
    rows = tuple(
        Ranked(
            int(ranks[p]),
            names[i],
            float(scores[p]) if np.isfinite(scores[p]) else None,
            *ranges[i],
            tuple(letter for letter, clique in lettered.items() if i in clique),
            first[0],
            contest.cells[i],
            *contest.records[i],
            None if errors is None else float(errors[p]),
            len(part) if frame.method in RELATIVE else None,
            None if compared is None else compared[i],
        )
        for p, i in zip(sequence, members, strict=True)
    )
    if alone:
        rows = (replace(rows[0], rank=None, score=None, rank_low=None, rank_high=None),)
    if orders.others is None:
        return replace(told, rows=rows)
    others = {key: shared_ranks(goodness) for key, goodness in orders.others.items()}
    policies = tuple(_policy(names[i], p, ranks, others) for p, i in enumerate(part))
    taus = tuple(PolicyAgreement(*key, tau(ranks, other)) for key, other in others.items())
    return replace(told, rows=rows, policies=policies, agreement=taus)


def _policy(name: str, p: int, own: IntArray, others: Mapping[tuple[Method, Missing], IntArray]) -> PolicySensitivity:
    moved = tuple(OtherRank(*key, int(ranks[p])) for key, ranks in others.items())
    places = [int(own[p]), *(one.rank for one in moved)]
    return PolicySensitivity(name, int(own[p]), min(places), max(places), moved)


def _contradictions(names: Sequence[str], against: Sequence[tuple[int, int]]) -> Iterator[Warning]:
    """Pairs whose test says the opposite of the order that was asked for."""
    for better, worse in against[:MOST_CONTRADICTED]:
        detail = f'"{names[better]}" is significantly better than "{names[worse]}", but not ahead of it in this order.'
        yield Warning("order_contradicts_pair", detail)
    if (more := len(against) - MOST_CONTRADICTED) > 0:
        detail = f"{more:,} more pairs are significantly the other way round than this order has them."
        yield Warning("order_contradicts_pair", detail)
