"""Tally of wins in every slot: the matrices behind all orders that are made of wins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.terms import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Tally:
    """Square matrices over the names, row against column, on common slots.

    `meets` counts the slots; `wins` are wins plus half the ties, weighted so that benchmarks count equally while
    a row's sum stays in slots.
    """

    meets: FloatArray
    wins: FloatArray

    @property
    def linked(self) -> BoolArray:
        """Mask of the pairs of different names that met at all."""
        linked = self.meets > 0
        np.fill_diagonal(linked, False)
        return linked


def tally(standings: ScoreMatrix, zero_votes: bool = False) -> Tally:
    """Counts all slots. With `zero_votes` a name that skipped a slot loses there to every name that did not."""
    size = len(standings.names)
    meets, wins, benchmarks = (np.zeros((size, size)) for _ in range(3))
    for benchmark in np.unique(standings.benchmarks).tolist():
        met, won = one_benchmark(standings, np.flatnonzero(standings.benchmarks == benchmark), zero_votes)
        meets += met
        benchmarks += met > 0
        wins += np.divide(won, met, out=np.zeros_like(won), where=met > 0)
    share = np.divide(1.0, benchmarks, out=np.zeros_like(benchmarks), where=benchmarks > 0)
    return Tally(meets, wins * share * meets)


def one_benchmark(standings: ScoreMatrix, slots: IntArray, zero_votes: bool) -> tuple[FloatArray, FloatArray]:
    """Slots in common, and wins plus half ties, on the slots of one benchmark."""
    present = standings.present[:, slots].astype(np.float64)
    ticks = standings.ticks[:, slots]
    met = present @ present.T
    won = np.zeros_like(met)
    for i, own in enumerate(present):
        # 2 for a win, 1 for a tie, 0 for a loss: whole numbers until the last step.
        halves = 1 + np.sign(ticks[i] - ticks) * standings.sign
        won[i] = (halves * present) @ own / 2
    if zero_votes:
        absent = 1 - present
        alone = present @ absent.T
        won += alone
        met = met + alone + alone.T
    np.fill_diagonal(met, 0)
    np.fill_diagonal(won, 0)
    return met, won
