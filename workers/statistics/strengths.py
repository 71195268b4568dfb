"""Bradley–Terry strengths of one connected component, by Newton's method on the table of wins, and their errors.

Bradley and Terry (1952); ties count half for either side. The maximum of the likelihood exists exactly when wins
connect the names in both directions (Ford 1957). Where it does not, every compared pair gets one virtual tie, which
keeps a name that wins everything finite (Caron and Doucet 2012 discuss such priors).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.terms import BoolArray, FloatArray, IntArray

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
    exists = strongly_connected(wins > 0)
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


def strongly_connected(beats: BoolArray) -> bool:
    """Return whether every name reaches every other one along wins."""
    return reaches_all(beats) and reaches_all(beats.T)


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
