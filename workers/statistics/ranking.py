"""A ranking: the pairwise table, and one order of it with what the tests leave open.

A ranking from the orders of its connected components: rows, groups, and how far each order holds up.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast, get_args

import numpy as np

from registry.results.pairs import (
    Friedman,
    LeaveOneOut,
    OtherRank,
    PolicyAgreement,
    PolicySensitivity,
    Stability,
    WithoutOne,
)
from registry.results.ranking import Omission, Ranked, Ranking, Slots
from registry.results.terms import NOBODY, Method, Missing, Target, Warning, common_to_all
from workers.statistics.means import benchmark_scores, means_of
from workers.statistics.pairs import PairTable, couples, estimand_of, pair_table, pairs_left_out
from workers.statistics.rank_groups import (
    TOO_LONG,
    alternatives,
    components,
    dominance,
    groups,
    in_order,
    leave_one_out,
    letters,
    rank_interval,
    strangers,
    tau,
    without_one,
)
from workers.statistics.ranking_methods import (
    METHODS,
    MISSING,
    Refused,
    Scores,
    block_goodness,
    order,
    prepared,
    sandwich,
)
from workers.statistics.ranks import friedman, shared_ranks
from workers.statistics.score_matrix import ScoreMatrix, of, only
from workers.statistics.terms import BoolArray, FloatArray, IntArray, computable

MOST_NAMES = 300
"""Names that a ranking compares cell by cell; the pairwise table grows with their square."""
MOST_WORK = 16_000_000
"""Values that a ranking compares cell by cell, each with that of every name: up to ten seconds."""


def rank(
    standings: ScoreMatrix,
    method: str = "mean_difference",
    missing: str = "matched",
    alpha: float = 0.05,
    target: str = "rerun",
    pairs_of: str | None = None,
    set_aside: Sequence[str] = (),
) -> Ranking:
    """The ranking of the standings; names keep their order within a shared rank. Of many names the pairs of neighbours
    are listed, or those of `pairs_of`. `set_aside` are names without a mean (see `Selection.set_aside`).

    Raises `ValueError` for a method, policy or target that does not exist.
    """
    frame = asked(standings.slots, method, missing, alpha, target, pairs_of)
    if answer := obstacle(standings, frame) or _too_large(standings, frame):
        return answer
    kept = prepared(standings, frame.missing)
    if not kept.present.any():
        return replace(frame, status="insufficient", reason="no slot has all names")
    frame = replace(frame, slots=compared_slots(standings, kept, frame.missing))
    parts = components(kept)
    own = [order(of(kept, part), frame.method, frame.missing) for part in parts]
    estimand = estimand_of(frame.method, kept.mixed)
    table = pair_table(kept, frame.alpha, frame.target, estimand)
    frame = replace(frame, assumes=table.assumes)
    refused = next((score.reason for score in own if isinstance(score, Refused)), None)
    if refused is not None:
        pairs = table.pairs(couples(kept.names, range(len(kept.names)), frame.pairs_of))
        return replace(frame, status="undefined", reason=refused, pairs=pairs)
    frame = replace(frame, warnings=dominance(kept) if estimand == "difference" else ())
    orders = [
        _orders(standings, kept, frame, part, score)
        for part, score in zip(parts, own, strict=True)
        if isinstance(score, Scores)
    ]
    aside = NOBODY if common_to_all(frame.method, frame.missing) else set_aside  # there they are gone already
    return _completed(
        standings, kept, assembled(frame, _contest(standings, kept, table, frame), parts, orders), table, aside
    )


def asked(slots: Slots, method: str, missing: str, alpha: float, target: str, pairs_of: str | None = None) -> Ranking:
    """A ranking that says what was asked for and holds nothing else yet.

    Raises `ValueError` for a method, policy or target that does not exist.
    """
    for word, known in ((method, METHODS), (missing, MISSING), (target, get_args(Target))):
        if word not in known:
            raise ValueError(f"{word!r} is none of {', '.join(known)}")
    return Ranking(
        by="",
        experiment="",
        metric="",
        benchmarks=(),
        suite=None,
        variant=(),
        status="ok",
        method=cast(Method, method),
        missing=cast(Missing, missing),
        alpha=alpha,
        target=cast(Target, target),
        slots=slots,
        pairs_of=pairs_of,
    )


def compared_slots(posted: ScoreMatrix, kept: ScoreMatrix, missing: Missing) -> Slots:
    """How many slots any name has, and how many are compared: with `complete` those that all have."""
    return replace(posted.slots, compared=kept.values.shape[1]) if missing == "complete" else posted.slots


def refused(reason: str, method: str, missing: str, alpha: float, target: str) -> Ranking:
    """The answer to a question that is not computed at all, and why."""
    return replace(asked(Slots(0, 0), method, missing, alpha, target), status="undefined", reason=reason)


def _contest(posted: ScoreMatrix, kept: ScoreMatrix, table: PairTable, frame: Ranking) -> "Contest":
    found = table.contrasts
    common = posted.present & (posted.present.sum(axis=0) > 1) if frame.missing != "complete" else kept.present
    wins, ties, losses = found.wins.sum(axis=1), found.ties.sum(axis=1) - np.diag(found.ties), found.wins.sum(axis=0)
    return Contest(
        names=kept.names,
        cells=posted.present.sum(axis=1).tolist(),
        compared=common.sum(axis=1).tolist(),
        records=list(zip(wins.tolist(), ties.tolist(), losses.tolist(), strict=True)),
        tested=np.asarray(np.isfinite(table.p).any(axis=1), dtype=np.bool_),
        met=found.common > 0,
        apart=table.apart,
    )


def _orders(posted: ScoreMatrix, kept: ScoreMatrix, frame: Ranking, part: Sequence[int], own: Scores) -> "Orders":
    """The order of the members of a component, and how it holds up unless the pairs of one name are asked for."""
    stderr, there, policy = None, of(posted, part), (frame.method, frame.missing)
    if own.strengths is not None:
        over = frame.target == "new_benchmarks"
        stderr = sandwich(of(kept, part), own.strengths, frame.missing == "zero_votes", over)
    if frame.pairs_of is not None:
        return Orders(own, stderr)
    return Orders(own, stderr, alternatives(there, *policy), leave_one_out(there, *policy, own))


def unasked(frame: Ranking, names: Sequence[str]) -> Ranking | None:
    """The answer where there are no names, or not the one whose pairs are asked for."""
    if not names:
        return replace(frame, status="insufficient", reason="nobody to rank")
    if frame.pairs_of is not None and frame.pairs_of not in names:
        return replace(frame, status="undefined", reason=f'there is no "{frame.pairs_of}" among the names')
    return None


def obstacle(standings: ScoreMatrix, frame: Ranking) -> Ranking | None:
    """The answer where no method ranks these standings."""
    errors = [] if standings.stderr is None else [standings.stderr]
    if standings.names and not standings.present.any():
        return replace(frame, status="insufficient", reason="no cell was measured")
    if standings.names and standings.direction is None:
        return replace(frame, status="undefined", reason="the metric has no better end")
    if not computable(standings.values, *errors):
        reason = "values are not all between 10^-100 and 10^100 in size"
        return replace(frame, status="undefined", reason=reason)
    return unasked(frame, standings.names)


def _too_large(standings: ScoreMatrix, frame: Ranking) -> Ranking | None:
    if len(standings.names) > MOST_NAMES:
        return replace(frame, status="undefined", reason=f"more than {MOST_NAMES} names")
    if len(standings.names) * standings.values.size > MOST_WORK:
        reason = f"more than {MOST_WORK:,} comparisons; ask about fewer of them"
        return replace(frame, status="undefined", reason=reason)
    return None


def _completed(
    posted: ScoreMatrix, kept: ScoreMatrix, found: Ranking, table: PairTable, aside: Sequence[str]
) -> Ranking:
    """The ranking with what comes from the cells themselves."""
    policy = found.alpha, found.missing, aside
    shared = (
        only(kept, np.flatnonzero(kept.present.all(axis=0))) if common_to_all(found.method, found.missing) else kept
    )
    means, place = means_of(shared, *policy), {name: i for i, name in enumerate(kept.names)}
    order = [place[row.name] for row in found.ranking]
    by_benchmark, lacking = benchmark_scores(kept, *policy) if found.pairs_of is None else ((), ())
    return replace(
        found,
        pairs=table.pairs(couples(kept.names, order, found.pairs_of)),
        by_benchmark=by_benchmark,
        left_out=(*found.left_out, *pairs_left_out(len(order), found.pairs_of), *lacking),
        ranking=tuple(
            replace(row, mean=own.mean, mean_interval=own.interval, adjusted=own.adjusted) if own else row
            for row in found.ranking
            for own in [means.get(row.name)]
        ),
        stability=replace(found.stability, without=_without(posted, found)),
        friedman=_blocks(kept, found) if found.method == "borda" else None,
    )


def _without(posted: ScoreMatrix, found: Ranking) -> tuple[WithoutOne, ...]:
    """The first name against the next one without each benchmark, where one name is first of all."""
    rows = found.ranking
    if found.pairs_of is not None or len(found.components) != 1 or len(rows) < 2 or rows[1].rank == 1:
        return ()
    return without_one(posted, rows[0].name, rows[1].name, found.alpha, found.method, found.missing, found.target)


def _blocks(kept: ScoreMatrix, found: Ranking) -> Friedman | None:
    """Friedman's test over the benchmarks, where they are complete blocks of all names."""
    goodness = block_goodness(kept, found.missing)
    return None if isinstance(goodness, Refused) else friedman(goodness, found.alpha)


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
    for number, (part, one) in enumerate(zip(parts, orders, strict=True)):
        found.append(_component(frame, contest, part, one, (number, sum(len(other.groups) for other in found))))
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
