"""A ranking of a leaderboard: too many names or cells for exact tests of every pair, few enough to have all cells at
hand. Every method and policy has its order; pairs are tested by the sign flip in its normal limit, as from sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from registry.results.inputs import Warning
from registry.results.policies import Method, Missing
from registry.results.ranking import Omission, Ranked, Ranking, Slots
from workers.statistics.board_left_out import without_each_benchmark
from workers.statistics.component_ranking import RELATIVE
from workers.statistics.counted import Counted
from workers.statistics.counted_cells import counted_cells, zero_vote_tally
from workers.statistics.counted_ranking import (
    LOOSE,
    Orders,
    is_loose,
    mean_difference,
    ranked,
    strengths,
    unanswered,
    win_rate,
)
from workers.statistics.dominance import dominance_of_benchmarks
from workers.statistics.pairs import estimand_of
from workers.statistics.rank_groups import components
from workers.statistics.ranking import asked
from workers.statistics.ranking_methods import Refused, Scores, order, prepared, refusal, shares_beaten
from workers.statistics.ranks import shared_ranks
from workers.statistics.score_matrix import ScoreMatrix, of
from workers.statistics.strengths import bradley_terry
from workers.statistics.terms import FloatArray, computable

MOST_PAIRED = 1_500
"""Names up to which each is tested against every other one; what is kept of the pairs grows with their square."""
OF_PAIRS: tuple[Method, ...] = ("mean_difference", "win_rate", "bradley_terry")
_UNPAIRED = f"more than {MOST_PAIRED:,} names are not tested against each other; name those to compare with model=…"
_LEFT_OUT = (
    Omission("noise", "trials, repeats and standard errors are not used for so many names; ask about fewer of them"),
    Omission("pairs.interval", "in part: needs every cell's noise; ask about fewer names"),
    Omission("policy_sensitivity", "in part: ask about fewer names"),
    Omission(
        "stability.leave_one_out", "in part: of an order that is no average over benchmarks; ask about fewer names"
    ),
    Omission("by_benchmark", "ask about fewer names or benchmarks"),
)


def rank_board(
    standings: ScoreMatrix, method: str, missing: str, alpha: float, target: str, pairs_of: str | None = None
) -> Ranking:
    """The ranking of many names: as `ranking.rank` orders them when nothing is known of their cells' noise.

    Raises `ValueError` for a method, policy or target that does not exist.
    """
    meets = standings.present.sum(axis=0)
    slots = Slots(int(np.count_nonzero(meets)), int(np.count_nonzero(meets > 1)))
    frame = asked(slots, method, missing, alpha, target, pairs_of)
    if refused := unanswered(standings.names, frame) or _obstacle(standings, frame):
        return refused
    kept = prepared(standings, frame.missing)
    if not kept.present.any():
        return replace(frame, status="insufficient", reason="no slot has all names")
    if len(standings.names) > MOST_PAIRED:
        return _without_pairs(standings, kept, frame)
    counted = replace(counted_cells(kept), slots=slots, cells=tuple(standings.present.sum(axis=1).tolist()))
    if estimand_of(frame.method, kept.mixed) == "difference" and (said := dominance_of_benchmarks(kept)):
        frame = replace(frame, warnings=(Warning("one_benchmark_dominates", said),))

    def orders_of(part: Sequence[int]) -> Orders:
        return _orders(standings, kept, counted, frame, part)

    return ranked(counted, frame, orders_of, _LEFT_OUT, mixed=kept.mixed)


def _without_pairs(posted: ScoreMatrix, kept: ScoreMatrix, frame: Ranking) -> Ranking:
    """The order alone of very many names: sorting takes n log n for each slot, and no test narrows a range of ranks."""
    members = components(kept)
    orders = list[Scores]()
    for part in members:
        found = _unpaired(of(kept, part), frame.method, frame.missing)
        if isinstance(found, Refused):
            return replace(frame, status="undefined", reason=found.reason)
        orders.append(found)
    records, cells = _records(kept), posted.present.sum(axis=1)
    rows = list[Ranked]()
    for number, (part, scores) in enumerate(zip(members, orders, strict=True)):
        ranks, pool = shared_ranks(scores.goodness), len(part) if frame.method in RELATIVE else None
        for p in np.argsort(ranks, kind="stable").tolist():
            i, score = part[p], float(scores.values[p])
            wins, ties, losses = records[i]
            shown = score if np.isfinite(score) else None
            place = int(ranks[p]), kept.names[i], shown, 1, len(part), (), number, int(cells[i])
            rows.append(Ranked(*place, wins, ties, losses, None, pool))
    return replace(
        frame,
        ranking=tuple(rows),
        components=tuple(tuple(kept.names[i] for i in part) for part in members),
        left_out=(*_LEFT_OUT, *(Omission(part, _UNPAIRED) for part in ("pairs", "groups", "never_met"))),
    )


def _unpaired(here: ScoreMatrix, method: Method, missing: Missing) -> Scores | Refused:
    """One order of the members of a component without a table of their pairs."""
    if (refused := refusal(here, method, missing)) is not None or method not in OF_PAIRS:
        return refused or order(here, method, missing)
    if method == "bradley_terry" or not here.present.all():
        many = f"it compares pairs, and {len(here.names):,} names have too many"
        other = "method=borda and missing=zero_points"
        return Refused(f"{many}; ask with {other}, or about up to {MOST_PAIRED:,} names with model=…")
    weights = here.weights(np.arange(here.values.shape[1]))
    if method == "win_rate":
        return Scores(shares_beaten(here) @ weights)
    means = here.values @ weights
    return Scores(means - means.mean(), here.sign > 0)


def _records(standings: ScoreMatrix) -> list[list[int]]:
    """Wins, ties and losses of each name over all others that are there, summed over the slots."""
    found = np.zeros((len(standings.names), 3), dtype=np.int64)
    for slot in range(standings.values.shape[1]):
        there = np.flatnonzero(standings.present[:, slot])
        ticks = standings.ticks[there, slot] * standings.sign
        _, place, counts = np.unique(ticks, return_inverse=True, return_counts=True)
        below = np.cumsum(counts) - counts
        wins, ties = below[place], counts[place] - 1
        found[there] += np.stack([wins, ties, there.size - 1 - wins - ties], axis=1)
    return found.tolist()


def _obstacle(standings: ScoreMatrix, frame: Ranking) -> Ranking | None:
    """Why no method ranks these standings, or None."""
    if not standings.present.any():
        return replace(frame, status="insufficient", reason="no cell was measured")
    if standings.direction is None:
        return replace(frame, status="undefined", reason="the metric has no better end")
    if not computable(standings.values):
        reason = "values are not all between 10^-100 and 10^100 in size"
        return replace(frame, status="undefined", reason=reason)
    return None


def _orders(posted: ScoreMatrix, kept: ScoreMatrix, counted: Counted, frame: Ranking, part: Sequence[int]) -> Orders:
    """The order that was asked for and those beside it, of the members of one component."""
    here, method, missing = of(kept, part), frame.method, frame.missing
    own = _order(here, counted, part, method, missing)
    if isinstance(own, Refused) or frame.pairs_of is not None:
        return Orders(own)
    others = _others(of(posted, part), here, counted, part, frame)
    return Orders(own, others, without_each_benchmark(here, counted, part, own, method, missing))


def _others(
    posted: ScoreMatrix, here: ScoreMatrix, counted: Counted, part: Sequence[int], frame: Ranking
) -> dict[tuple[Method, Missing], FloatArray]:
    """The goodness of the members under other policies, as far as these have an order."""
    changed = frame.missing in ("complete", "worst")
    label: Missing = frame.missing if changed else "matched"
    found = {(method, label): _order(here, counted, part, method, label) for method in OF_PAIRS}
    found["mean", "available"] = order(posted, "mean", "available")
    found["borda", "zero_points"] = order(posted, "borda", "zero_points")
    own = (frame.method, frame.missing)
    return {
        key: scores.goodness
        for key, scores in found.items()
        if isinstance(scores, Scores) and key != own and np.isfinite(scores.values).all()
    }


def _order(
    here: ScoreMatrix, counted: Counted, part: Sequence[int], method: Method, missing: Missing
) -> Scores | Refused:
    """One order of the members of a component, from what was counted where that has it."""
    refused = refusal(here, method, missing)
    if refused is None and method == "mean_difference" and here.bounded and is_loose(counted.linked, part):
        refused = Refused(LOOSE)
    if refused is not None:
        return refused
    if method == "mean_difference":
        return mean_difference(counted, part)
    if method not in ("win_rate", "bradley_terry"):
        return order(here, method, missing)
    if missing == "zero_votes":
        return _of_votes(here, method)
    return win_rate(counted, part) if method == "win_rate" else strengths(counted, part)


def _of_votes(here: ScoreMatrix, method: Method) -> Scores:
    """The orders of wins in which a missing name loses to every name that is there."""
    votes = zero_vote_tally(here)
    if method == "bradley_terry":
        found = bradley_terry(votes.wins, votes.linked)
        return Scores(found.values, True, {"strengths": found})
    games = votes.meets.sum(axis=1)
    return Scores(np.divide(votes.wins.sum(axis=1), games, out=np.full(games.size, np.nan), where=games > 0))
