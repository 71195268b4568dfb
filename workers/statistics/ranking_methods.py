"""Orders of names, for `ranking.py`: every method is a view of the same slots, computed for one component.

`mean_difference` is the default. Ties count half everywhere.

Bradley–Terry strengths of one connected component, by Newton's method on the table of wins, and their errors.

Bradley and Terry (1952); ties count half for either side. The maximum of the likelihood exists exactly when wins
connect the names in both directions (Ford 1957). Where it does not, every compared pair gets one virtual tie, which
keeps a name that wins everything finite (Caron and Doucet 2012 discuss such priors).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import numpy as np
from scipy.special import expit

from registry.results.terms import OF_UNITS, Method, Missing, unordered
from workers.statistics.contrasts import contrasts_of
from workers.statistics.counted import Tally, counted_cells, zero_vote_tally
from workers.statistics.ranks import rank_rows, ranks_of
from workers.statistics.score_matrix import ScoreMatrix, filled, only
from workers.statistics.terms import BoolArray, FloatArray, IntArray

METHODS: tuple[Method, ...] = get_args(Method)
MISSING: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True)
class Scores:
    """One score per name, whether more of it is better, and the strengths that scores are."""

    values: FloatArray
    more_is_better: bool = True
    strengths: "Strengths | None" = None

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
    return of_differences(found.difference, linked, standings.sign, bounded=standings.bounded)


def of_differences(difference: FloatArray, linked: BoolArray, sign: int, *, bounded: bool) -> Scores | Refused:
    """The potentials of mean differences between connected names, row less column."""
    size, met = len(linked), int(linked.sum()) // 2
    if bounded and met * 4 < size * (size - 1):
        return Refused(
            f"only {met:,} of {size * (size - 1) // 2:,} pairs share a slot: differences of a bounded metric do not "
            "add up over so long chains; ask with the method win rate"
        )
    return Scores(potentials(difference, linked), sign > 0)


def potentials(difference: FloatArray, met: BoolArray) -> FloatArray:
    """Least-squares scores (Jiang, Lim, Yao and Ye 2011, eq. 4) of connected names from their mean differences.

    The score s minimises the sum over compared pairs of (s_i - s_j - d_ij)^2, each pair once, with mean 0. On complete
    slots it is the name's mean minus the mean of means; on ragged ones nobody gains by having skipped the hard slots.
    """
    size = len(difference)
    scores = np.zeros(size)
    if size > 1:
        laplacian = np.diag(met.sum(axis=1)) - met.astype(np.float64)
        flow = np.sum(np.where(met, difference, 0.0), axis=1)
        scores[1:] = np.linalg.solve(laplacian[1:, 1:], flow[1:])
    return np.asarray(scores - scores.mean(), dtype=np.float64)


def mean(standings: ScoreMatrix, missing: Missing) -> Scores | Refused:
    """Weighted means over the slots that all names have; over each name's own slots under `available`."""
    if missing == "available":
        own = [np.flatnonzero(row) for row in standings.present]
        means = [float(standings.weights(slots) @ standings.values[i, slots]) for i, slots in enumerate(own)]
        return Scores(np.array(means), standings.sign > 0)
    slots = np.flatnonzero(standings.present.all(axis=0))
    if slots.size == 0:
        return Refused("no slot has all names")
    return Scores(standings.values[:, slots] @ standings.weights(slots), standings.sign > 0)


def win_rate(standings: ScoreMatrix, missing: Missing) -> Scores | Refused:
    """Wins plus half the ties over all comparisons."""
    return win_rates(tally_of(standings, missing))


def win_rates(tally: Tally) -> Scores:
    """The win rates of a tally; NaN of a name that meets nobody."""
    games = tally.meets.sum(axis=1)
    return Scores(np.divide(tally.wins.sum(axis=1), games, out=np.full(games.size, np.nan), where=games > 0))


def tally_of(standings: ScoreMatrix, missing: Missing) -> Tally:
    """Wins in all slots; as votes, a name that skipped a slot loses there to every name that did not."""
    return zero_vote_tally(standings) if missing == "zero_votes" else counted_cells(standings).tally


def shares_beaten(standings: ScoreMatrix) -> FloatArray:
    """The share of the others that each name beats in each slot, where all names have all slots; NaN of a name alone.
    Means over slots and benchmarks are then win rates."""
    size = len(standings.names)
    ranks = ranks_of(standings.ticks.T * standings.sign).T
    return np.asarray((size - ranks) / (size - 1) if size > 1 else np.full(ranks.shape, np.nan))


def bradley_terry_order(standings: ScoreMatrix, missing: Missing) -> Scores | Refused:
    """Log-strengths, with the half-tie prior only where they would not exist without."""
    return log_strengths(tally_of(standings, missing))


def log_strengths(tally: Tally) -> Scores:
    """The strengths of a tally of connected names."""
    found = bradley_terry(tally.wins, tally.meets > 0)
    return Scores(found.values, True, found)


def block_goodness(standings: ScoreMatrix, missing: Missing) -> IntArray | Refused:
    """Benchmarks x names, of which more is better, where all slots have all names.

    Within a benchmark the values are averaged; where they have no mean (other scales, missing votes), the ranks.
    """
    if not standings.present.all() and missing != "zero_votes":
        if missing == "zero_points":
            return Refused("points are counted where a name is missing; ranks need complete blocks")
        return Refused("ranks need complete blocks: some name lacks some slot (the policy complete keeps the rest)")
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


def borda(standings: ScoreMatrix, missing: Missing) -> Scores | Refused:
    """Borda counts: rivals beaten, summed over benchmarks."""
    if missing == "zero_points":
        return Scores(borda_points(standings).sum(axis=0))
    goodness = block_goodness(standings, missing)
    if isinstance(goodness, Refused):
        return goodness
    return Scores((len(standings.names) - ranks_of(goodness).mean(axis=0)) * len(goodness))


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
    "mean": mean,
    "win_rate": win_rate,
    "bradley_terry": bradley_terry_order,
    "borda": borda,
}


PRIOR = 0.5


@dataclass(frozen=True)
class Strengths:
    """Log-strengths with mean 0, the inverse of Fisher's information, and whether there was need of no prior."""

    values: FloatArray
    inverse: FloatArray
    mle_exists: bool


def bradley_terry(wins: FloatArray, met: BoolArray) -> Strengths:
    """Fits M names that are connected through `met`; `wins` holds wins plus half the ties, row over column."""
    size = len(wins)
    if size < 2:
        return Strengths(np.zeros(size), np.zeros((size, size)), True)
    exists = reaches_all(wins > 0) and reaches_all(wins.T > 0)
    table = wins if exists else wins + PRIOR * met
    games, won = table + table.T, table.sum(axis=1)
    values = np.zeros(size)
    information = curvature(games, values)
    for _ in range(200):
        gradient = won - np.sum(games * expit(values[:, None] - values), axis=1)
        step = np.zeros(size)
        # The information is singular by a constant: solved with the first strength held, then centred.
        step[1:] = np.linalg.solve(information[1:, 1:], gradient[1:])
        step -= step.mean()
        # No strength moves by more than 2 at once: far out the curvature vanishes, and Newton's step overshoots.
        values = values + step / max(1.0, float(np.max(np.abs(step))) / 2)
        information = curvature(games, values)
        if float(np.max(np.abs(step))) < 1e-12:
            break
    # Adding the projection on constants makes the Laplacian regular; taking it off again leaves the pseudo-inverse.
    centre = np.ones((size, size)) / size
    return Strengths(values - values.mean(), np.linalg.inv(information + centre) - centre, exists)


def curvature(games: FloatArray, values: FloatArray) -> FloatArray:
    """Fisher's information: a Laplacian weighted by games and the uncertainty of their outcome."""
    chance = expit(values[:, None] - values)
    weight = games * chance * (1 - chance)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight, dtype=np.float64)


def reaches_all(beats: BoolArray) -> bool:
    """Return whether the first name reaches all others."""
    reached = np.zeros(len(beats), dtype=np.bool_)
    reached[:1] = True
    while True:
        more = reached | beats[reached].any(axis=0)
        if np.array_equal(more, reached):
            return bool(reached.all())
        reached = more


def sandwich(standings: ScoreMatrix, found: Strengths, zero_votes: bool, by_benchmark: bool) -> FloatArray | None:
    """The standard errors of the strengths; `None` where there are no two clusters.

    All comparisons in a slot share its values, so that they are no independent games. The sandwich of Huber (1967) and
    White (1982), with the slots (or the benchmarks) as clusters and the factor G / (G - 1), takes each cluster's part
    of the score as one observation (Liang and Zeger 1986, eq. 5).
    """
    clusters = standings.benchmarks if by_benchmark else np.arange(standings.values.shape[1], dtype=np.int64)
    parts = slot_scores(standings, found.values, zero_votes)
    met = parts.any(axis=1) | (standings.present.sum(axis=0) > 1)
    # Clusters in which nobody was compared say nothing, and must not count in the small-sample factor below.
    used, place = np.unique(clusters[met], return_inverse=True)
    if used.size < 2:
        return None
    summed = np.zeros((used.size, len(standings.names)))
    np.add.at(summed, place, parts[met])
    middle = summed @ found.inverse
    return np.asarray(np.sqrt(np.sum(middle**2, axis=0) * used.size / (used.size - 1)), dtype=np.float64)


def slot_scores(standings: ScoreMatrix, strengths: FloatArray, zero_votes: bool) -> FloatArray:
    """Contribution of each slot to the gradient of the log-likelihood: slots x names.

    A slot of a pair weighs as in a `Tally`: benchmarks equally, and all slots of the pair together their number.
    """
    chance = expit(strengths[:, None] - strengths)
    present, ticks = standings.present, standings.ticks
    own = [met_in(standings, benchmark, zero_votes) for benchmark in np.unique(standings.benchmarks).tolist()]
    meets, several = np.sum(own, axis=0), np.maximum(np.sum([met > 0 for met in own], axis=0), 1)
    found = np.zeros((present.shape[1], len(present)))
    for met, benchmark in zip(own, np.unique(standings.benchmarks).tolist(), strict=True):
        weight = meets / several / np.maximum(met, 1)
        for slot in np.flatnonzero(standings.benchmarks == benchmark).tolist():
            found[slot] = one_slot(present[:, slot], ticks[:, slot] * standings.sign, weight, chance, zero_votes)
    return found


def met_in(standings: ScoreMatrix, benchmark: int, zero_votes: bool) -> FloatArray:
    """Number of slots of a benchmark in which two names were compared."""
    present = standings.present[:, standings.benchmarks == benchmark].astype(np.float64)
    both = present @ present.T
    alone = present @ (1 - present).T
    return np.asarray(both + alone + alone.T if zero_votes else both, dtype=np.float64)


def one_slot(
    here: BoolArray, goodness: IntArray, weight: FloatArray, chance: FloatArray, zero_votes: bool
) -> FloatArray:
    """The part of one slot: outcomes less what the strengths expect, summed over the opponents."""
    outcome = (1 + np.sign(goodness[:, None] - goodness)) / 2
    compared = here[:, None] & here
    if zero_votes:
        outcome = np.where(compared, outcome, np.where(here[:, None], 1.0, 0.0))
        compared = here[:, None] | here
    np.fill_diagonal(compared, False)
    return np.asarray(np.sum(np.where(compared, weight * (outcome - chance), 0.0), axis=1), dtype=np.float64)
