"""One connected component of a ranking: its names in order, its groups, and how its order holds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from registry.results.pairs import Pair
from registry.results.policies import Method, Missing, Target
from registry.results.ranking import Ranked
from workers.statistics.rank_groups import groups, in_order, letters, rank_interval, strangers
from workers.statistics.ranking_methods import Scores
from workers.statistics.ranks import shared_ranks
from workers.statistics.sandwich import sandwich
from workers.statistics.score_matrix import ScoreMatrix, of
from workers.statistics.stability import ComponentStability, stability
from workers.statistics.terms import BoolArray, FloatArray, IntArray

RELATIVE = ("mean_difference", "bradley_terry")
"""Methods whose scores have a mean of 0 over the names of a component."""


@dataclass(frozen=True)
class Contest:
    """Input that all components share: standings as posted and under the missing policy, the pairs among the latter,
    who met, and `apart[i, j]`: 1 where i is significantly better than j, -1 where worse. `complete` says that how the
    order holds up is asked too."""

    posted: ScoreMatrix
    kept: ScoreMatrix
    pairs: tuple[Pair, ...]
    met: BoolArray
    apart: IntArray
    method: Method
    missing: Missing
    alpha: float
    target: Target
    complete: bool


@dataclass(frozen=True, slots=True)
class Component:
    """The rows of a component, best first, its groups, the pairs that never met, and those (better, worse) whose
    test contradicts the order."""

    names: tuple[str, ...]
    rows: tuple[Ranked, ...]
    groups: tuple[tuple[str, ...], ...]
    never_met: tuple[tuple[str, str], ...]
    against: tuple[tuple[str, str], ...]
    stability: ComponentStability | None


def component(contest: Contest, part: Sequence[int], scores: Scores, number: int, first_letter: int) -> Component:
    """Ranks the members of one component; its groups are lettered from `first_letter` on."""
    ranks = shared_ranks(scores.goodness)
    sequence = np.argsort(ranks, kind="stable").tolist()
    members = [part[p] for p in sequence]
    names = contest.kept.names
    cliques = (groups(contest.apart, contest.met, members) or []) if is_tested(contest, part) else []
    lettered = {letters(first_letter + g): set(clique) for g, clique in enumerate(cliques)}
    ahead, against = in_order(contest.apart, members, ranks[sequence])
    records, errors = record(contest.pairs), errors_of(contest, part, scores)
    measured = bool(contest.kept.present[part].any())
    met_slots = contest.posted.present.sum(axis=0) > 1
    nowhere: tuple[int | None, int | None] = (None, None)
    rows = tuple(
        Ranked(
            int(ranks[p]) if measured else None,
            names[i],
            float(scores.values[p]) if measured and np.isfinite(scores.values[p]) else None,
            *(rank_interval(ahead, members, i) if measured else nowhere),
            letters_of(lettered, i),
            number,
            int(contest.posted.present[i].sum()),
            *records.get(names[i], (0, 0, 0)),
            None if errors is None else float(errors[p]),
            len(part) if contest.method in RELATIVE else None,
            int((contest.posted.present[i] & met_slots).sum()),
        )
        for p, i in zip(sequence, members, strict=True)
    )
    return Component(
        tuple(names[i] for i in part),
        rows,
        tuple(tuple(names[i] for i in clique) for clique in cliques),
        tuple((names[i], names[j]) for i, j in strangers(contest.met, part) or ()),
        tuple((names[i], names[j]) for i, j in against),
        stability(of(contest.posted, part), contest.method, contest.missing, ranks) if contest.complete else None,
    )


def is_tested(contest: Contest, part: Sequence[int]) -> bool:
    """Return whether a test spoke about any two of the members, or there is only one: else no group can be claimed."""
    names = {contest.kept.names[i] for i in part}
    spoke = (pair.p is not None or pair.status == "undefined" for pair in contest.pairs if pair.a in names)
    return len(part) < 2 or any(spoke)


def errors_of(contest: Contest, part: Sequence[int], scores: Scores) -> FloatArray | None:
    """The standard errors of Bradley–Terry strengths."""
    found = scores.extra.get("strengths")
    if found is None:
        return None
    over = contest.target == "new_benchmarks"
    return sandwich(of(contest.kept, part), found, contest.missing == "zero_votes", over)


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
