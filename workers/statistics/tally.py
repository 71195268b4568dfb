"""Who beat whom, and by how much, in every slot: the matrices behind all orders of names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workers.statistics.standings import Standings
from workers.statistics.terms import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Tally:
    """Square matrices over the names, row against column, on common slots.

    `meets` counts the slots; `wins` are wins plus half the ties, weighted so that benchmarks count equally while
    a row's sum stays in slots; `difference` is the mean difference (row minus column) in the metric's unit with
    the same weights, 0 where two names never met.
    """

    meets: FloatArray
    wins: FloatArray
    difference: FloatArray

    @property
    def linked(self) -> BoolArray:
        """Which two different names met at all."""
        linked = self.meets > 0
        np.fill_diagonal(linked, False)
        return linked


def tally(standings: Standings, zero_votes: bool = False) -> Tally:
    """Counts all slots. With `zero_votes` a name that skipped a slot loses there to every name that did not."""
    size = len(standings.names)
    meets, wins, difference, benchmarks = (np.zeros((size, size)) for _ in range(4))
    for benchmark in np.unique(standings.benchmarks).tolist():
        slots = np.flatnonzero(standings.benchmarks == benchmark)
        met, won, gap = one_benchmark(standings, slots, zero_votes)
        meets += met
        benchmarks += met > 0
        wins += np.divide(won, met, out=np.zeros_like(won), where=met > 0)
        difference += np.divide(gap, met, out=np.zeros_like(gap), where=met > 0)
    share = np.divide(1.0, benchmarks, out=np.zeros_like(benchmarks), where=benchmarks > 0)
    return Tally(meets, wins * share * meets, difference * share / 10.0**standings.decimals)


@dataclass(frozen=True)
class Parts:
    """The same by benchmark, B x M x M: slots in common, the share of them won, the mean difference in ticks."""

    meets: FloatArray
    wins: FloatArray
    gaps: FloatArray


def parts_of(standings: Standings, zero_votes: bool, benchmarks: IntArray) -> Parts:
    """The tables of each of these benchmarks."""
    found = [
        one_benchmark(standings, np.flatnonzero(standings.benchmarks == benchmark), zero_votes)
        for benchmark in benchmarks.tolist()
    ]
    meets, won, gap = (np.stack(tables) for tables in zip(*found, strict=True))
    several = np.maximum(meets, 1)
    return Parts(meets, won / several, gap / several)


def one_benchmark(standings: Standings, slots: IntArray, zero_votes: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Slots in common, wins plus half ties, and summed differences in ticks, on the slots of one benchmark."""
    present = standings.present[:, slots].astype(np.float64)
    ticks = standings.ticks[:, slots]
    met = present @ present.T
    level = ticks * present
    gap = level @ present.T - present @ level.T
    won = np.zeros_like(met)
    for i, own in enumerate(present):
        halves = 1 + np.sign(ticks[i] - ticks) * standings.sign
        won[i] = (halves * present) @ own / 2
    if zero_votes:
        absent = 1 - present
        alone = present @ absent.T
        won += alone
        met = met + alone + alone.T
    np.fill_diagonal(met, 0)
    np.fill_diagonal(won, 0)
    return met, won, gap
