"""Orders of names: every method is a view of the same slots, computed for one connected component.

`mean_difference` is the default. `helm_win_rate` is that of Liang et al. (2023), section 5: the share of present
rivals that a name beats in a slot, averaged over its slots. Ties count half everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from scipy.special import expit

from registry.results.policies import Method, Missing, unordered
from workers.statistics.additive import Layout, logistic, normal_matrix, solve, totals, two_way
from workers.statistics.blocks import ranks_of
from workers.statistics.cells import spreads
from workers.statistics.contrasts import contrasts_of
from workers.statistics.least_squares_scores import potentials
from workers.statistics.ranks import rank_rows
from workers.statistics.score_matrix import ScoreMatrix, filled, only
from workers.statistics.sensitivity import MOST_LEVELS
from workers.statistics.strengths import bradley_terry
from workers.statistics.tally import tally
from workers.statistics.terms import FloatArray, IntArray

METHODS: tuple[Method, ...] = get_args(Method)
MISSING: tuple[Missing, ...] = get_args(Missing)
OF_UNITS = ("mean_difference", "mean", "adjusted_mean")


@dataclass(frozen=True)
class Scores:
    """One score per name and whether more of it is better; `extra` are arrays or values worth reporting beside."""

    values: FloatArray
    more_is_better: bool = True
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def goodness(self) -> FloatArray:
        """The scores turned so that more is better."""
        return self.values if self.more_is_better else -self.values


@dataclass(frozen=True, slots=True)
class Refused:
    """Reason why an order does not exist for these slots."""

    reason: str


def prepared(standings: ScoreMatrix, missing: Missing) -> ScoreMatrix:
    """The standings under a policy for missing cells.

    `complete` keeps the slots that every name has. `worst` fills a gap with the bound that is worse, or with the
    worst value of the slot where that end is open; filled cells have no trials. The others change no cell.
    """
    if missing == "complete":
        return only(standings, np.flatnonzero(standings.present.all(axis=0)))
    if missing == "worst":
        return filled(standings)
    return standings


def order(standings: ScoreMatrix, method: Method, missing: Missing) -> Scores | Refused:
    """The scores of names that form one connected component, or why there are none.

    A score is NaN for a name alone, where the method needs a rival or a slot.
    """
    if (refused := refusal(standings, method, missing)) is not None:
        return refused
    if standings.values.shape[1] == 0:
        return Scores(np.full(len(standings.names), np.nan))
    return VIEWS[method](standings, missing)


def refusal(standings: ScoreMatrix, method: Method, missing: Missing) -> Refused | None:
    """Why a method has no order of such standings under a policy, whatever the values are; or None."""
    if method in OF_UNITS and standings.mixed:
        return Refused("slots of different units have wins and ranks, but no means")
    reason = unordered(method, missing)
    return None if reason is None else Refused(reason)


def mean_difference(standings: ScoreMatrix, missing: Missing) -> Scores | Refused:
    """Potentials of the matched mean differences, in the metric's unit."""
    found = contrasts_of(standings)
    linked = (found.common > 0) & ~np.eye(len(standings.names), dtype=np.bool_)
    size = len(standings.names)
    if standings.bounded and standings.divisor is None and int(linked.sum()) * 2 < size * (size - 1):
        return Refused(
            f"only {int(linked.sum()) // 2} of {size * (size - 1) // 2} pairs share a slot: differences of a bounded "
            "metric do not add up over so long chains; ask with method=adjusted_mean or method=win_rate"
        )
    return Scores(potentials(found.difference, linked), standings.sign > 0)


def standardised_difference(standings: ScoreMatrix, missing: Missing) -> Scores | Refused:
    """The same in units of each benchmark's own spread between names."""
    return mean_difference(standardised(standings), missing)


def standardised(standings: ScoreMatrix) -> ScoreMatrix:
    """The standings with differences in units of each benchmark's spread."""
    return standings if standings.divisor is not None else replace(standings, divisor=spreads(standings))


def mean(standings: ScoreMatrix, missing: Missing) -> Scores | Refused:
    """Weighted means over the slots that all names have; over each name's own slots under `available`."""
    if missing == "available":
        own = [np.flatnonzero(row) for row in standings.present]
        means = [float(standings.weights(slots) @ standings.values[i, slots]) for i, slots in enumerate(own)]
        return Scores(np.array(means), standings.sign > 0)
    slots = np.flatnonzero(standings.present.all(axis=0))
    if slots.size == 0:
        return Refused("no slot has all names")
    return Scores(standings.values[:, slots] @ standings.weights(slots), standings.sign > 0, {"slots": int(slots.size)})


def adjusted_mean(standings: ScoreMatrix, missing: Missing) -> Scores | Refused:
    """Means as if every name had every slot: name and slot effects add up, on the logit scale for proportions of
    trials that are all known."""
    names, slots = np.nonzero(standings.present)
    layout = Layout((names, slots), standings.values.shape)
    weights = standings.weights(np.arange(standings.values.shape[1]))
    split = [layout.sizes[0]]
    counted = votes(standings, names, slots)
    if sum(layout.sizes) > 4 * MOST_LEVELS:
        if counted is not None:
            return Refused(f"more than {4 * MOST_LEVELS} names and slots, whose trials are known")
        effects = two_way(standings.values)
        return Scores(effects[0] + float(weights @ effects[1]), standings.sign > 0)
    if counted is None:
        values = standings.values[names, slots]
        centre = float(values.mean())
        matrix = normal_matrix(layout, np.ones(values.size))
        effects = np.split(solve(layout, matrix, totals(layout, values - centre)), split)
        return Scores(centre + effects[0] + float(weights @ effects[1]), standings.sign > 0)
    k, n = counted
    found = logistic(layout, k + 0.5, n + 1)
    if found is None:
        return Refused("the logit-additive model does not settle")
    effects = np.split(found, split)
    fitted = expit(effects[0][:, None] + effects[1]) * (standings.proportion_of or 1.0)
    return Scores(np.asarray(fitted @ weights, dtype=np.float64), standings.sign > 0)


def votes(standings: ScoreMatrix, names: IntArray, slots: IntArray) -> tuple[FloatArray, FloatArray] | None:
    """Successes and trials of the cells of proportions; `None` where some are unknown."""
    if standings.successes is None or standings.trials is None or not np.all(standings.trials[names, slots] > 0):
        return None
    return standings.successes[names, slots].astype(np.float64), standings.trials[names, slots].astype(np.float64)


def win_rate(standings: ScoreMatrix, missing: Missing) -> Scores | Refused:
    """Wins plus half the ties over all comparisons."""
    counted = tally(standings, missing == "zero_votes")
    games = counted.meets.sum(axis=1)
    return Scores(np.divide(counted.wins.sum(axis=1), games, out=np.full(games.size, np.nan), where=games > 0))


def helm_win_rate(standings: ScoreMatrix, missing: Missing) -> Scores | Refused:
    """The mean share of present rivals beaten, over a name's slots with rivals."""
    rates = helm_rates(standings, missing)
    own = [np.flatnonzero(np.isfinite(row)) for row in rates]
    means = [float(standings.weights(slots) @ rates[i, slots]) if slots.size else np.nan for i, slots in enumerate(own)]
    return Scores(np.array(means))


def helm_rates(standings: ScoreMatrix, missing: Missing) -> FloatArray:
    """The share of present rivals that each name beats in each slot; NaN where it has none."""
    present = standings.present
    rivals = np.maximum(present.sum(axis=0) - 1, 1)
    # Absent ones come last and tie with nobody, so that the rank among those present stays the middle one.
    ticks = np.where(present, standings.ticks * standings.sign, np.iinfo(np.int64).min + 1)
    beaten = (present.sum(axis=0) - ranks_of(ticks.T).T) / rivals
    rates = np.where(present, beaten, 0.0 if missing == "zero_votes" else np.nan)
    rates[:, present.sum(axis=0) < 2] = np.nan
    return rates


def bradley_terry_order(standings: ScoreMatrix, missing: Missing) -> Scores | Refused:
    """Log-strengths, with the half-tie prior only where they would not exist without."""
    counted = tally(standings, missing == "zero_votes")
    found = bradley_terry(counted.wins, counted.linked)
    return Scores(found.values, True, {"strengths": found})


def block_goodness(standings: ScoreMatrix, missing: Missing) -> IntArray | Refused:
    """Benchmarks x names, of which more is better, where all slots have all names.

    Within a benchmark the values are averaged; where they have no mean (other scales, missing votes), the ranks.
    """
    if not standings.present.all() and missing != "zero_votes":
        if missing == "zero_points":
            return Refused("points are counted where a name is missing; ranks need complete blocks")
        return Refused("ranks need complete blocks: some name lacks some slot (missing=complete keeps the rest)")
    ticks = standings.ticks.T * standings.sign
    if standings.mixed or missing == "zero_votes":
        # A name that is absent comes last.
        within = -ranks_of(np.where(standings.present.T, ticks, ticks.min(initial=0) - 1))
    else:
        within = ticks / 10.0 ** standings.decimals[:, None]
    owners, place, counts = np.unique(standings.benchmarks, return_inverse=True, return_counts=True)
    means = np.zeros((owners.size, len(standings.names)))
    np.add.at(means, place, within)
    return -rank_rows(means / counts[:, None])


def mean_rank(standings: ScoreMatrix, missing: Missing) -> Scores | Refused:
    """Mean ranks over benchmarks, 1 for the best."""
    goodness = block_goodness(standings, missing)
    if isinstance(goodness, Refused):
        return goodness
    return Scores(ranks_of(goodness).mean(axis=0), False, {"blocks": len(goodness)})


def borda(standings: ScoreMatrix, missing: Missing) -> Scores | Refused:
    """Borda counts: rivals beaten, summed over benchmarks."""
    if missing == "zero_points":
        return Scores(borda_points(standings).sum(axis=0))
    ranks = mean_rank(standings, missing)
    if isinstance(ranks, Refused):
        return ranks
    return Scores((len(standings.names) - ranks.values) * ranks.extra["blocks"])


def borda_points(standings: ScoreMatrix) -> FloatArray:
    """Benchmarks x names: all names less the middle rank among those that have every slot of the benchmark; 0 for the
    others. On one slot a benchmark this is the count of mteb's leaderboards (Enevoldsen and others 2025,
    arXiv 2502.13595, section 2.4), where a missing score beats nobody and is beaten by those that are there."""
    owners = np.unique(standings.benchmarks)
    goodness = np.full((owners.size, len(standings.names)), np.nan)
    for row, benchmark in enumerate(owners.tolist()):
        chosen = np.flatnonzero((standings.benchmarks == benchmark) & standings.present.any(axis=0))
        here = np.flatnonzero(standings.present[:, chosen].all(axis=1))
        ticks = standings.ticks[np.ix_(here, chosen)] * standings.sign
        within = -ranks_of(ticks.T).T if standings.mixed else ticks / 10.0 ** standings.decimals[chosen]
        goodness[row, here] = within.mean(axis=1)
    there = np.isfinite(goodness)
    # Whoever is absent stands behind everyone else, which leaves the ranks among those present as they are.
    size = np.max(np.abs(np.nan_to_num(goodness)), axis=1, keepdims=True, initial=0.0)
    ranks = ranks_of(-rank_rows(np.where(there, goodness, -1.5 * size - 1e-300)))
    return np.asarray(np.where(there, len(standings.names) - ranks, 0.0), dtype=np.float64)


VIEWS: dict[Method, Callable[[ScoreMatrix, Missing], Scores | Refused]] = {
    "mean_difference": mean_difference,
    "standardised_difference": standardised_difference,
    "mean": mean,
    "adjusted_mean": adjusted_mean,
    "win_rate": win_rate,
    "helm_win_rate": helm_win_rate,
    "bradley_terry": bradley_terry_order,
    "mean_rank": mean_rank,
    "borda": borda,
}
