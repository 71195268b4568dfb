"""Standard errors of Bradley–Terry strengths whose comparisons hang together.

All comparisons in a slot share its values, so that they are no independent games. The sandwich of Huber (1967) and
White (1982), with the slots (or the benchmarks) as clusters and the factor G / (G - 1), takes each cluster's part of
the score as one observation (Liang and Zeger 1986, eq. 5).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.strengths import Strengths
from workers.statistics.tally import tally
from workers.statistics.terms import BoolArray, FloatArray, IntArray


def sandwich(standings: ScoreMatrix, found: Strengths, zero_votes: bool, by_benchmark: bool) -> FloatArray | None:
    """The standard errors of the strengths; `None` where there are no two clusters."""
    clusters = standings.benchmarks if by_benchmark else np.arange(standings.values.shape[1], dtype=np.int64)
    parts = scores(standings, found.values, zero_votes)
    met = parts.any(axis=1) | (standings.present.sum(axis=0) > 1)
    # Clusters in which nobody was compared say nothing, and must not count in the small-sample factor below.
    used, place = np.unique(clusters[met], return_inverse=True)
    if used.size < 2:
        return None
    summed = np.zeros((used.size, len(standings.names)))
    np.add.at(summed, place, parts[met])
    middle = summed @ found.inverse
    return np.asarray(np.sqrt(np.sum(middle**2, axis=0) * used.size / (used.size - 1)), dtype=np.float64)


def scores(standings: ScoreMatrix, strengths: FloatArray, zero_votes: bool) -> FloatArray:
    """Contribution of each slot to the gradient of the log-likelihood: slots x names.

    A slot of a pair weighs as in `tally`: benchmarks equally, and all slots of the pair together their number.
    """
    chance = expit(strengths[:, None] - strengths)
    meets = tally(standings, zero_votes).meets
    present, ticks = standings.present, standings.ticks
    own = [met_in(standings, benchmark, zero_votes) for benchmark in np.unique(standings.benchmarks).tolist()]
    several = np.maximum(np.sum([met > 0 for met in own], axis=0), 1)
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
