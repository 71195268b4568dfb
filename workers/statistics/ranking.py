"""A ranking: the pairwise table, and one order of it with what the tests leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workers.statistics.document import plain
from workers.statistics.pairs import Pair, Target, pair_table
from workers.statistics.potentials import potentials
from workers.statistics.separation import components, groups, letters, rank_interval, superiority
from workers.statistics.standings import Standings
from workers.statistics.terms import FloatArray, IntArray, Status


@dataclass(frozen=True, slots=True)
class Rank:
    """One name. Equal scores share a rank; `component` is an index into the ranking's components, and ranks
    count within it. `cells` are the slots that it has; wins, ties and losses are summed over all opponents."""

    rank: int
    name: str
    score: float | None
    rank_low: int
    rank_high: int
    group: tuple[str, ...]
    component: int
    cells: int
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class Member:
    """A name by its index, with its shared rank and its score in one order."""

    index: int
    rank: int
    score: float | None


@dataclass(frozen=True, slots=True)
class Slots:
    """All slots with a cell, and those in which at least two names meet."""

    total: int
    compared: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """The order asked for and everything beside it."""

    status: Status
    method: str
    missing: str
    alpha: float
    ranking: tuple[Rank, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    pairs: tuple[Pair, ...] = ()
    components: tuple[tuple[str, ...], ...] = ()
    policy_sensitivity: tuple[Any, ...] = ()
    slots: Slots = field(default_factory=lambda: Slots(0, 0))
    reason: str | None = None


def rank(
    standings: Standings,
    method: str = "mean_difference",
    missing: str = "matched",
    alpha: float = 0.05,
    target: Target = "fixed_cells",
) -> dict[str, Any]:
    """The JSON-ready ranking of the standings; names keep their order within a shared rank."""
    return {"target": target, **plain(ranking(standings, method, missing, alpha, target))}


def ranking(standings: Standings, method: str, missing: str, alpha: float, target: Target) -> Ranking:
    """The ranking as a value."""
    meets = standings.present.sum(axis=0)
    slots = Slots(int(np.count_nonzero(meets)), int(np.count_nonzero(meets > 1)))
    if standings.direction is None:
        return Ranking("undefined", method, missing, alpha, slots=slots, reason="the metric has no better end")
    if not standings.names:
        return Ranking("insufficient", method, missing, alpha, slots=slots, reason="nobody to rank")
    pairs = pair_table(standings, alpha, target)
    matrix = superiority(standings.names, pairs, standings.sign, alpha)
    rows: list[Rank] = []
    sets: list[tuple[str, ...]] = []
    parts = components(standings)
    for number, part in enumerate(parts):
        order = ordered(standings, pairs, part)
        members = [member.index for member in order]
        found = groups(matrix, members)
        lettered = {letters(len(sets) + g): set(group) for g, group in enumerate(found)}
        rows.extend(row_of(standings, pairs, matrix, members, member, lettered, number) for member in order)
        sets.extend(tuple(standings.names[i] for i in group) for group in found)
    named = tuple(tuple(standings.names[i] for i in part) for part in parts)
    return Ranking("ok", method, missing, alpha, tuple(rows), tuple(sets), pairs, named, (), slots)


def ordered(standings: Standings, pairs: Sequence[Pair], part: Sequence[int]) -> list[Member]:
    """The members of a component, best first."""
    scores = potentials(standings.names, pairs, part)
    ranks = shared_ranks(scores * standings.sign)
    order = np.argsort(ranks, kind="stable").tolist()
    return [Member(part[p], int(ranks[p]), float(scores[p])) for p in order]


def row_of(
    standings: Standings,
    pairs: Sequence[Pair],
    matrix: IntArray,
    members: Sequence[int],
    member: Member,
    lettered: Mapping[str, set[int]],
    component: int,
) -> Rank:
    """One name with what the tests leave open about it."""
    name = standings.names[member.index]
    low, high = rank_interval(matrix, members, member.index)
    return Rank(
        member.rank,
        name,
        member.score,
        low,
        high,
        tuple(letter for letter, group in lettered.items() if member.index in group),
        component,
        int(standings.present[member.index].sum()),
        *record(name, pairs),
    )


def record(name: str, pairs: Sequence[Pair]) -> tuple[int, int, int]:
    """Wins, ties and losses of a name over all opponents."""
    ahead = [(p.wins, p.ties, p.losses) for p in pairs if p.a == name]
    behind = [(p.losses, p.ties, p.wins) for p in pairs if p.b == name]
    wins, ties, losses = (sum(part) for part in zip((0, 0, 0), *ahead, *behind, strict=True))
    return wins, ties, losses


def shared_ranks(goodness: FloatArray) -> IntArray:
    """Ranks from 1 for the largest; what differs by rounding only shares the better rank (1, 1, 3)."""
    slack = 1e-9 * max(1e-300, float(np.max(np.abs(goodness), initial=0.0)))
    order = np.argsort(-goodness, kind="stable")
    ranks = np.empty(goodness.size, dtype=np.int64)
    leader = 0
    for position, i in enumerate(order.tolist()):
        if position and goodness[order[position - 1]] - goodness[i] > slack:
            leader = position
        ranks[i] = leader + 1
    return ranks
