"""What keeps the entries of a table from sharing slots: which entries lack them, and which levels are lost by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from registry.results.aggregates import Costs, EntryCost, LevelCost, Remedy
from registry.results.terms import Place
from workers.statistics.cell_table import SortedCells
from workers.statistics.terms import BoolArray, IntArray

MOST_NAMED = 12
MOST_WITHOUT = 100


@dataclass(frozen=True)
class Sharing:
    """How many of the measured entries have each slot, and which slots all of their column have.

    The column of an entry is what it has of all dimensions but the first; a slot is of one column.
    """

    found: SortedCells
    columns: int
    measured: IntArray
    held: IntArray
    column: IntArray
    """The column of each slot."""
    wanted: IntArray
    """How many measured entries the column of each slot has."""

    @classmethod
    def of(cls, found: SortedCells, columns: int) -> Sharing:
        measured, column = np.flatnonzero(found.counts), np.zeros(found.slots, dtype=np.int64)
        column[found.slot] = found.entry % columns
        held = np.bincount(found.slot, minlength=found.slots).astype(np.int64)
        return cls(found, columns, measured, held, column, np.bincount(measured % columns, minlength=columns)[column])

    @property
    def shared(self) -> BoolArray:
        """Mask of the slots that every measured entry of their column has."""
        return np.asarray(self.held == self.wanted, dtype=np.bool_)

    @property
    def missing(self) -> IntArray:
        """How many slots of its column each entry lacks."""
        there = np.bincount(self.column, minlength=self.columns)
        return there[np.arange(self.found.entries) % self.columns] - self.found.counts


def costs_of(sharing: Sharing, places: Mapping[int, Mapping[str, Place]], others: Sequence[str]) -> Costs:
    """The entries and levels that cost most slots; `places` are the coordinates of the entries, `others` the dimensions
    that are not grouped by."""
    return Costs(tuple(_entries(sharing, places)), tuple(_levels(sharing, others)))


def _entries(sharing: Sharing, places: Mapping[int, Mapping[str, Place]]) -> list[EntryCost]:
    found, measured, missing = sharing.found, sharing.measured, sharing.missing
    gain = np.zeros(found.entries, dtype=np.int64)
    alone = sharing.held == sharing.wanted - 1
    if alone.any():
        # Of the slots that one entry lacks, that one is what the sum of all entries of the column has more than the sum
        # of the others; sums of whole numbers below 2^53 are exact.
        total = np.bincount(found.slot, found.entry, found.slots)
        every = np.bincount(measured % sharing.columns, measured, sharing.columns)[sharing.column]
        lacking = np.rint((every - total)[alone]).astype(np.int64)
        gain = np.bincount(lacking, minlength=found.entries)
    lack = measured[missing[measured] > 0]
    order = lack[np.lexsort([lack, -missing[lack], -gain[lack]])][:MOST_NAMED]
    return [EntryCost(places[one], int(missing[one]), int(gain[one])) for one in order.tolist()]


def _levels(sharing: Sharing, others: Sequence[str]) -> list[LevelCost]:
    found = sharing.found
    # One cell of each slot has the levels of the slot.
    first = np.zeros(found.slots, dtype=np.int64)
    first[found.slot[::-1]] = np.arange(found.slot.size)[::-1]
    costs = []
    for name in others:
        levels, code = found.cells.levels[name], found.cells.codes[name][first]
        there = code >= 0
        size = len(levels)
        slots, lost = (np.bincount(code[mask], minlength=size) for mask in (there, there & ~sharing.shared))
        if np.count_nonzero(slots) > 1:
            costs += [(int(lost[i]), int(slots[i]), name, levels[i]) for i in np.flatnonzero(lost).tolist()]
    # The dearest first; of equally dear ones that with the larger part of its slots lost.
    costs.sort(key=lambda one: (-one[0], one[1]))
    return [LevelCost(name, level, slots, lost) for lost, slots, name, level in costs[:MOST_NAMED]]


def remedy_of(sharing: Sharing, places: Mapping[int, Mapping[str, Place]]) -> Remedy | None:
    """A smallest set of entries without which any slot is shared by the others of its column; `None` where only one
    would be left.

    A slot is shared when all that lack it are left out: those of a slot which the most entries have. Of several such
    sets one is taken that lacks the most slots alone.
    """
    found, most = sharing.found, int(sharing.held.max(initial=0))
    if most < 2 or sharing.shared.any():
        return None
    widest = sharing.held[found.slot] == most
    by_slot = np.argsort(found.slot[widest], kind="stable")
    # Sorted by slot, then by entry: `most` entries for each of these slots.
    owners = found.entry[widest][by_slot].reshape(-1, most)
    counted = Counter(row.tobytes() for row in owners)
    # The first of the most frequent ones, in the order of the slots.
    having, shared = max(counted.items(), key=lambda one: one[1])
    kept = np.frombuffer(having, dtype=owners.dtype)
    column = sharing.measured[sharing.measured % sharing.columns == kept[0] % sharing.columns]
    without = np.setdiff1d(column, kept)
    named = tuple(places[one] for one in without[:MOST_WITHOUT].tolist())
    return Remedy(named, int(without.size), shared)
