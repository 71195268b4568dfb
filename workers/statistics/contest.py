"""One connected component of a ranking: its names in order, its groups, and how its order holds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workers.statistics.orders import Method, Missing, Scores, of
from workers.statistics.pairs import Pair
from workers.statistics.ranks import shared_ranks
from workers.statistics.separation import groups, letters, rank_interval
from workers.statistics.stability import Stability, stability
from workers.statistics.standings import Standings
from workers.statistics.terms import IntArray


@dataclass(frozen=True, slots=True)
class Rank:
    """One name. Equal scores share a rank; `component` is an index into the ranking's components, and ranks
    count within it. `score` is `None` for a name without rivals or cells where the method needs them. `cells`
    are the slots that it has; wins, ties and losses are summed over all opponents; `stderr` is that of a
    Bradley–Terry strength."""

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
    stderr: float | None


@dataclass(frozen=True)
class Contest:
    """What all components share: standings as posted and under the missing policy, the pairs among the latter,
    and `ahead[i, j]`: 1 where i is significantly better than j, -1 where worse."""

    posted: Standings
    kept: Standings
    pairs: tuple[Pair, ...]
    ahead: IntArray
    method: Method
    missing: Missing
    alpha: float


@dataclass(frozen=True, slots=True)
class Component:
    """The rows of a component, best first, and its groups."""

    names: tuple[str, ...]
    rows: tuple[Rank, ...]
    groups: tuple[tuple[str, ...], ...]
    stability: Stability


def component(contest: Contest, part: Sequence[int], scores: Scores, number: int, first_letter: int) -> Component:
    """Ranks the members of one component; its groups are lettered from `first_letter` on."""
    ranks = shared_ranks(scores.goodness)
    sequence = np.argsort(ranks, kind="stable").tolist()
    members = [part[p] for p in sequence]
    cliques = groups(contest.ahead, members)
    lettered = {letters(first_letter + g): set(clique) for g, clique in enumerate(cliques)}
    kept = contest.kept
    records = record(contest.pairs)
    errors = scores.extra.get("stderr")
    rows = tuple(
        Rank(
            int(ranks[p]),
            kept.names[i],
            float(scores.values[p]) if np.isfinite(scores.values[p]) else None,
            *rank_interval(contest.ahead, members, i),
            letters_of(lettered, i),
            number,
            int(contest.posted.present[i].sum()),
            *records.get(kept.names[i], (0, 0, 0)),
            None if errors is None else float(errors[p]),
        )
        for p, i in zip(sequence, members, strict=True)
    )
    return Component(
        tuple(kept.names[i] for i in part),
        rows,
        tuple(tuple(kept.names[i] for i in clique) for clique in cliques),
        stability(of(contest.posted, part), contest.method, contest.missing, ranks, contest.alpha, number),
    )


def letters_of(lettered: Mapping[str, set[int]], i: int) -> tuple[str, ...]:
    """The groups that a name belongs to."""
    return tuple(letter for letter, clique in lettered.items() if i in clique)


def record(pairs: Sequence[Pair]) -> dict[str, tuple[int, int, int]]:
    """Wins, ties and losses of every name over all opponents."""
    found: dict[str, tuple[int, int, int]] = {}
    for pair in pairs:
        for name, wins, losses in ((pair.a, pair.wins, pair.losses), (pair.b, pair.losses, pair.wins)):
            before = found.get(name, (0, 0, 0))
            found[name] = before[0] + wins, before[1] + pair.ties, before[2] + losses
    return found
