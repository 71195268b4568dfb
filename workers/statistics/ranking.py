"""A ranking: the pairwise table, and one order of it with what the tests leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast, get_args

import numpy as np

from workers.statistics.blocks import Friedman, friedman
from workers.statistics.contest import Component, Contest, Rank, component
from workers.statistics.document import plain
from workers.statistics.orders import (
    METHODS,
    MISSING,
    Method,
    Missing,
    Refused,
    Scores,
    block_goodness,
    of,
    order,
    prepared,
)
from workers.statistics.pairs import Pair, Target, pair_table
from workers.statistics.separation import components, superiority
from workers.statistics.stability import Agreement, LeftOut, PolicySensitivity
from workers.statistics.standings import Standings
from workers.statistics.terms import Status, computable

MOST_NAMES = 300
"""Names that a ranking compares; the pairwise table grows with their square."""


@dataclass(frozen=True, slots=True)
class Slots:
    """All slots with a cell, and those in which at least two names meet."""

    total: int
    compared: int


@dataclass(frozen=True, slots=True)
class Stable:
    """How an order holds up: the ranks without each benchmark in turn, and tau with the other orders (of the
    component with the most names)."""

    leave_one_out: tuple[LeftOut, ...]
    agreement: tuple[Agreement, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The order asked for and everything beside it. A refused order leaves `ranking` empty and the pairs in place.

    `mle_exists` belongs to `bradley_terry`, `friedman` to `mean_rank` and `borda`; else they are `None`.
    """

    status: Status
    method: Method
    missing: Missing
    alpha: float
    target: Target
    slots: Slots
    ranking: tuple[Rank, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    pairs: tuple[Pair, ...] = ()
    components: tuple[tuple[str, ...], ...] = ()
    policy_sensitivity: tuple[PolicySensitivity, ...] = ()
    stability: Stable = field(default_factory=lambda: Stable((), ()))
    mle_exists: bool | None = None
    friedman: Friedman | None = None
    reason: str | None = None


def rank(
    standings: Standings,
    method: str = "mean_difference",
    missing: str = "matched",
    alpha: float = 0.05,
    target: str = "fixed_cells",
) -> dict[str, Any]:
    """The JSON-ready ranking of the standings; names keep their order within a shared rank.

    Raises `ValueError` for a method, policy or target that does not exist.
    """
    for word, known in ((method, METHODS), (missing, MISSING), (target, get_args(Target))):
        if word not in known:
            raise ValueError(f"{word!r} is none of {', '.join(known)}")
    meets = standings.present.sum(axis=0)
    slots = Slots(int(np.count_nonzero(meets)), int(np.count_nonzero(meets > 1)))
    frame = Ranking("ok", cast(Method, method), cast(Missing, missing), alpha, cast(Target, target), slots)
    answer: dict[str, Any] = plain(ranking(standings, frame))
    return answer


def ranking(standings: Standings, frame: Ranking) -> Ranking:
    """Fills the frame, which says what was asked for."""
    if found := obstacle(standings):
        return replace(frame, status=found[0], reason=found[1])
    kept = prepared(standings, frame.missing)
    if standings.present.any() and not kept.present.any():
        return replace(frame, status="insufficient", reason="no slot has all names")
    pairs = pair_table(kept, frame.alpha, frame.target)
    parts = components(kept)
    scores = [order(of(kept, part), frame.method, frame.missing) for part in parts]
    refused = next((score.reason for score in scores if isinstance(score, Refused)), None)
    if refused is not None:
        return replace(frame, status="undefined", reason=refused, pairs=pairs)
    ahead = superiority(kept.names, pairs, kept.sign, frame.alpha)
    contest = Contest(standings, kept, pairs, ahead, frame.method, frame.missing)
    return assembled(frame, contest, parts, [score for score in scores if isinstance(score, Scores)])


def obstacle(standings: Standings) -> tuple[Status, str] | None:
    """Why these standings cannot be ranked by any method, if so."""
    if standings.direction is None:
        return "undefined", "the metric has no better end"
    if not standings.names:
        return "insufficient", "nobody to rank"
    if len(standings.names) > MOST_NAMES:
        return "undefined", f"more than {MOST_NAMES} names"
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
    return replace(
        frame,
        ranking=tuple(row for one in found for row in one.rows),
        groups=tuple(group for one in found for group in one.groups),
        pairs=contest.pairs,
        components=tuple(one.names for one in found),
        policy_sensitivity=tuple(name for one in found for name in one.stability.policies),
        stability=Stable(
            tuple(name for one in found for name in one.stability.leave_one_out), largest.stability.agreement
        ),
        mle_exists=mle_exists(scores) if frame.method == "bradley_terry" else None,
        friedman=blocks(contest, frame.alpha) if frame.method in ("mean_rank", "borda") else None,
    )


def mle_exists(scores: Sequence[Scores]) -> bool:
    """Whether the strengths of all names would exist, on one scale, without the prior."""
    return len(scores) == 1 and bool(scores[0].extra.get("mle_exists", True))


def blocks(contest: Contest, alpha: float) -> Friedman | None:
    """Friedman's test over the slots, where they are complete blocks of all names."""
    goodness = block_goodness(contest.kept, contest.missing)
    return None if isinstance(goodness, Refused) else friedman(goodness, alpha)
