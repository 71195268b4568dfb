"""A ranking: the pairwise table, and one order of it with what the tests leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast, get_args

import numpy as np

from registry.results.blocks import Friedman
from registry.results.policies import Method, Missing, Target
from registry.results.ranking import Ranking, Slots
from registry.results.stability import WithoutOne
from registry.results.terms import Interval
from workers.statistics.benchmark_scores import benchmark_scores, means_of
from workers.statistics.blocks import friedman
from workers.statistics.component_ranking import Contest, Orders, assembled
from workers.statistics.pairs import PairTable, estimand_of, listed, pair_table, pairs_left_out
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
from workers.statistics.stability import alternatives, dominance, leave_one_out, without_one
from workers.statistics.strengths import sandwich
from workers.statistics.terms import computable

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
    frame = asked(standings.slots, method, missing, alpha, target, pairs_of)
    if answer := obstacle(standings, frame) or _too_large(standings, frame):
        return answer
    kept = prepared(standings, frame.missing)
    if not kept.present.any():
        return replace(frame, status="insufficient", reason="no slot has all names")
    parts = components(kept)
    own = [order(of(kept, part), frame.method, frame.missing) for part in parts]
    estimand = estimand_of(frame.method, kept.mixed)
    table = pair_table(kept, frame.alpha, frame.target, estimand)
    frame = replace(frame, pairs=table.pairs, assumes=table.assumes)
    refused = next((score.reason for score in own if isinstance(score, Refused)), None)
    if refused is not None:
        return replace(frame, status="undefined", reason=refused)
    frame = replace(frame, warnings=dominance(kept) if estimand == "difference" else ())
    orders = [
        _orders(standings, kept, frame, part, score)
        for part, score in zip(parts, own, strict=True)
        if isinstance(score, Scores)
    ]
    return _completed(standings, kept, assembled(frame, _contest(standings, kept, frame, table), parts, orders))


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


def _contest(posted: ScoreMatrix, kept: ScoreMatrix, frame: Ranking, table: PairTable) -> Contest:
    found, met_slots = table.contrasts, posted.present.sum(axis=0) > 1
    spoke = {name for one in table.pairs if one.p is not None or one.status == "undefined" for name in (one.a, one.b)}
    wins, ties, losses = found.wins.sum(axis=1), found.ties.sum(axis=1) - np.diag(found.ties), found.wins.sum(axis=0)
    return Contest(
        names=kept.names,
        cells=posted.present.sum(axis=1).tolist(),
        compared=(posted.present & met_slots).sum(axis=1).tolist(),
        records=list(zip(wins.tolist(), ties.tolist(), losses.tolist(), strict=True)),
        tested=np.array([name in spoke for name in kept.names], dtype=np.bool_),
        met=found.common > 0,
        apart=separated(kept.names, table.pairs, kept.sign, frame.alpha),
    )


def _orders(posted: ScoreMatrix, kept: ScoreMatrix, frame: Ranking, part: Sequence[int], own: Scores) -> Orders:
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


def _completed(posted: ScoreMatrix, kept: ScoreMatrix, found: Ranking) -> Ranking:
    """The ranking with what comes from the cells themselves."""
    order, means = [row.name for row in found.ranking], means_of(kept, found.alpha)
    nothing: tuple[float | None, Interval | None] = (None, None)
    by_benchmark, lacking = benchmark_scores(kept, found.alpha) if found.pairs_of is None else ((), ())
    return replace(
        found,
        pairs=listed(found.pairs, order, found.pairs_of),
        by_benchmark=by_benchmark,
        left_out=(*found.left_out, *pairs_left_out(len(order), found.pairs_of), *lacking),
        ranking=tuple(
            replace(row, mean=mean, mean_interval=interval)
            for row in found.ranking
            for mean, interval in [means.get(row.name, nothing)]
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
