"""A ranking: the pairwise table, and one order of it with what the tests leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast, get_args

import numpy as np

from registry.results.blocks import Friedman
from registry.results.inputs import Warning
from registry.results.policies import Method, Missing, Target
from registry.results.ranking import Ranking, Slots
from registry.results.stability import Stability, WithoutOne
from registry.results.terms import Interval, Status
from workers.statistics.benchmark_scores import benchmark_scores, means_of
from workers.statistics.blocks import friedman
from workers.statistics.component_ranking import Component, Contest, component
from workers.statistics.dominance import dominance
from workers.statistics.pairs import estimand_of, listed, pair_table, pairs_left_out
from workers.statistics.rank_groups import components, separated
from workers.statistics.ranking_methods import (
    METHODS,
    MISSING,
    Refused,
    Scores,
    block_goodness,
    order,
    prepared,
)
from workers.statistics.score_matrix import ScoreMatrix, of
from workers.statistics.terms import computable
from workers.statistics.without_one import without_one

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
) -> Ranking:
    """The ranking of the standings; names keep their order within a shared rank. Of many names the pairs of neighbours
    are listed, or those of `pairs_of`.

    Raises `ValueError` for a method, policy or target that does not exist.
    """
    meets = standings.present.sum(axis=0)
    slots = Slots(int(np.count_nonzero(meets)), int(np.count_nonzero(meets > 1)))
    return ranking(standings, asked(slots, method, missing, alpha, target, pairs_of))


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


def refused(reason: str, method: str, missing: str, alpha: float, target: str) -> Ranking:
    """The answer to a question that is not computed at all, and why."""
    return replace(asked(Slots(0, 0), method, missing, alpha, target), status="undefined", reason=reason)


def ranking(standings: ScoreMatrix, frame: Ranking) -> Ranking:
    """Fills the frame, which says what was asked for."""
    if found := obstacle(standings):
        return replace(frame, status=found[0], reason=found[1])
    if frame.pairs_of is not None and frame.pairs_of not in standings.names:
        return replace(frame, status="undefined", reason=f'there is no "{frame.pairs_of}" among the names')
    kept = prepared(standings, frame.missing)
    if standings.present.any() and not kept.present.any():
        return replace(frame, status="insufficient", reason="no slot has all names")
    table = pair_table(kept, frame.alpha, frame.target, estimand_of(frame.method, kept.mixed))
    frame = replace(frame, pairs=table.pairs, assumes=table.assumes)
    parts = components(kept)
    scores = [order(of(kept, part), frame.method, frame.missing) for part in parts]
    refused = next((score.reason for score in scores if isinstance(score, Refused)), None)
    if refused is not None:
        return replace(frame, status="undefined", reason=refused)
    if said := dominance(table.contrasts, kept) if estimand_of(frame.method, kept.mixed) == "difference" else None:
        frame = replace(frame, warnings=(Warning("one_benchmark_dominates", said),))
    apart = separated(kept.names, table.pairs, kept.sign, frame.alpha)
    met = table.contrasts.common > 0
    policy = (frame.method, frame.missing, frame.alpha, frame.target)
    contest = Contest(standings, kept, table.pairs, met, apart, *policy, complete=frame.pairs_of is None)
    return assembled(frame, contest, parts, [score for score in scores if isinstance(score, Scores)])


def obstacle(standings: ScoreMatrix) -> tuple[Status, str] | None:
    """Reason why these standings cannot be ranked by any method, or None."""
    if not standings.present.any():
        return "insufficient", "no cell was measured" if standings.names else "nobody to rank"
    if standings.direction is None:
        return "undefined", "the metric has no better end"
    if len(standings.names) > MOST_NAMES:
        return "undefined", f"more than {MOST_NAMES} names"
    if len(standings.names) * standings.values.size > MOST_WORK:
        return "undefined", f"more than {MOST_WORK:,} comparisons; ask about fewer of them"
    errors = [] if standings.stderr is None else [standings.stderr]
    if not computable(standings.values, *errors):
        return "undefined", "values are not all between 10^-100 and 10^100 in size"
    return None


def assembled(frame: Ranking, contest: Contest, parts: Sequence[Sequence[int]], scores: Sequence[Scores]) -> Ranking:
    """Joins the components."""
    found: list[Component] = []
    for number, (part, score) in enumerate(zip(parts, scores, strict=True)):
        found.append(component(contest, part, score, number, sum(len(other.groups) for other in found)))
    largest = max(found, key=lambda one: len(one.names))
    stable = [one.stability for one in found if one.stability is not None]
    order = [row.name for one in found for row in one.rows]
    means = means_of(contest.kept, frame.alpha)
    nothing: tuple[float | None, Interval | None] = (None, None)
    by_benchmark, lacking = benchmark_scores(contest.kept, frame.alpha) if contest.complete else ((), ())
    return replace(
        frame,
        pairs=listed(contest.pairs, order, frame.pairs_of),
        by_benchmark=by_benchmark,
        left_out=(*pairs_left_out(len(order), frame.pairs_of), *lacking),
        ranking=tuple(
            replace(row, mean=mean, mean_interval=interval)
            for one in found
            for row in one.rows
            for mean, interval in [means.get(row.name, nothing)]
        ),
        groups=tuple(group for one in found for group in one.groups),
        never_met=tuple(pair for one in found for pair in one.never_met),
        components=tuple(one.names for one in found),
        policy_sensitivity=tuple(name for one in stable for name in one.policies),
        stability=Stability(
            tuple(name for one in stable for name in one.leave_one_out),
            largest.stability.agreement if largest.stability else (),
            _without(contest, found) if contest.complete else (),
        ),
        warnings=frame.warnings + tuple(contradicted(*pair) for one in found for pair in one.against),
        mle_exists=mle_exists(scores) if frame.method == "bradley_terry" else None,
        prior="half_tie" if any(needs_prior(score) for score in scores) else None,
        friedman=blocks(contest, frame.alpha) if frame.method == "borda" else None,
    )


def _without(contest: Contest, found: Sequence[Component]) -> tuple[WithoutOne, ...]:
    """The first name against the next one without each benchmark, where one name is first of all."""
    rows = found[0].rows
    if len(found) != 1 or len(rows) < 2 or rows[0].rank != 1 or rows[1].rank == 1:
        return ()
    policy = (contest.method, contest.missing, contest.target)
    return without_one(contest.posted, rows[0].name, rows[1].name, contest.alpha, *policy)


def contradicted(better: str, worse: str) -> Warning:
    """A pair whose test says the opposite of the order that was asked for."""
    detail = f'"{better}" is significantly better than "{worse}", but not ahead of it in this order.'
    return Warning("order_contradicts_pair", detail)


def needs_prior(score: Scores) -> bool:
    """Return whether some strength would be infinite without a prior."""
    found = score.extra.get("strengths")
    return found is not None and not found.mle_exists


def mle_exists(scores: Sequence[Scores]) -> bool:
    """Return whether the strengths of all names would exist, on one scale, without the prior."""
    return len(scores) == 1 and not needs_prior(scores[0])


def blocks(contest: Contest, alpha: float) -> Friedman | None:
    """Friedman's test over the benchmarks, where they are complete blocks of all names."""
    goodness = block_goodness(contest.kept, contest.missing)
    return None if isinstance(goodness, Refused) else friedman(goodness, alpha)
