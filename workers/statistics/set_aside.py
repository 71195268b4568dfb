"""Set names aside that would cost the others slots, where rankings and tables compare only slots that all have.

The usual slots are those that more than half of the names have. A name that lacks more than a fifth of them is set
aside: left in, it takes them from everybody. Of two names both have every usual slot, and none is. Where that would be
more than half of the names, the holes are everybody's, and nobody is.

Cells of many grids as a long table, and the same cells sorted into the entries and slots of a question.

An entry is a combination of levels of the dimensions that are grouped by; a slot is one of all other dimensions. Two
values are comparable only in the same slot.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from registry.grids.grid import Direction
from registry.results.aggregates import Remedy
from registry.results.terms import NOBODY, Place, SetAside
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.terms import BoolArray, FloatArray, IntArray

MOST_NAMED = 12
MOST_WITHOUT = 100
_SHARE = 5


@dataclass(frozen=True)
class Sharing:
    """Count the measured entries that have each slot, and find the slots that all of their column have.

    The column of an entry is what it has of all dimensions but the first; a slot is of one column.
    """

    found: "SortedCells"
    columns: int
    measured: IntArray
    held: IntArray
    column: IntArray
    """The column of each slot."""
    wanted: IntArray
    """Number of measured entries in the column of each slot."""

    @classmethod
    def of(cls, found: "SortedCells", columns: int) -> "Sharing":
        measured, column = np.flatnonzero(found.counts), np.zeros(found.slots, dtype=np.int64)
        column[found.slot] = found.entry % columns
        held = np.bincount(found.slot, minlength=found.slots).astype(np.int64)
        return cls(found, columns, measured, held, column, np.bincount(measured % columns, minlength=columns)[column])

    @property
    def shared(self) -> BoolArray:
        """Mask of the slots that every measured entry of their column has."""
        return np.asarray(self.held == self.wanted, dtype=np.bool_)

    @property
    def meets(self) -> bool:
        """Whether two rows have any slot in common, or there are no two."""
        return bool(np.any(self.held > 1)) or np.unique(self.measured // self.columns).size < 2

    @property
    def missing(self) -> IntArray:
        """Number of slots of its column that each entry lacks."""
        there = np.bincount(self.column, minlength=self.columns)
        return there[np.arange(self.found.entries) % self.columns] - self.found.counts


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


def usual_slots(present: BoolArray) -> BoolArray:
    """Mask of the slots that more than half of the names have that have any."""
    return np.asarray(2 * present.sum(axis=0) > np.count_nonzero(present.any(axis=1)), dtype=np.bool_)


def of_names(standings: ScoreMatrix, wanted: Sequence[str]) -> IntArray:
    """The names that are set aside, as rows of the standings: whom `wanted` says (see `Selection.set_aside`)."""
    if wanted:
        return np.flatnonzero([name in wanted for name in standings.names] if wanted != NOBODY else [])
    usual = usual_slots(standings.present)
    missing = np.count_nonzero(usual & ~standings.present, axis=1)
    costly = (missing * _SHARE > np.count_nonzero(usual)) & standings.present.any(axis=1)
    many = 2 * np.count_nonzero(costly) > np.count_nonzero(standings.present.any(axis=1))
    return np.flatnonzero(costly & ~many)


def of_entries(sharing: Sharing, wanted: Sequence[str], names: Sequence[str]) -> BoolArray:
    """Mask of the entries of a table that are set aside in their column; `names` are those of the rows."""
    found, columns = sharing.found, sharing.columns
    if wanted:
        listed = np.array([name in wanted and wanted != NOBODY for name in names], dtype=np.bool_)
        return np.asarray(np.repeat(listed, columns) & (found.counts > 0), dtype=np.bool_)
    usual = 2 * sharing.held > sharing.wanted
    column = np.arange(found.entries) % columns
    there = np.bincount(sharing.column[usual], minlength=columns)[column]
    missing = there - np.bincount(found.entry[usual[found.slot]], minlength=found.entries)
    costly = (missing * _SHARE > there) & (found.counts > 0)
    many = 2 * np.bincount(column[costly], minlength=columns) > np.bincount(column[found.counts > 0], minlength=columns)
    return np.asarray(costly & ~many[column], dtype=np.bool_)


def told_of_entries(
    sharing: Sharing, aside: BoolArray, places: Mapping[int, Mapping[str, Place]], others: Sequence[str]
) -> Iterator[SetAside]:
    """The entries that are set aside, with the levels of the other dimensions that they lack."""
    found, usual = sharing.found, 2 * sharing.held > sharing.wanted
    first = np.zeros(found.slots, dtype=np.int64)
    first[found.slot] = np.arange(found.slot.size)
    for entry in np.flatnonzero(aside).tolist():
        own = np.zeros(found.slots, dtype=np.bool_)
        own[found.slot[found.entry == entry]] = True
        there = usual & (sharing.column == entry % sharing.columns)
        (_, name), *column = places[entry].items()
        levels = tuple(
            str(level) for kind in others for level in _lacking(found, kind, first[there], first[there & own])
        )
        missing, size = int(np.count_nonzero(there & ~own)), int(np.count_nonzero(there))
        yield SetAside(str(name), levels, missing, size, dict(column) or None)


def _lacking(found: "SortedCells", kind: str, usual: IntArray, own: IntArray) -> Iterator[Place]:
    """The levels of a dimension of which some slot is usual, and none is among one's own; cells stand for slots."""
    codes = found.cells.codes[kind]
    lacking = np.setdiff1d(codes[usual], codes[own])
    return (found.cells.levels[kind][code] for code in lacking.tolist() if code >= 0)


Codes = npt.NDArray[np.int32]
_MOST_CODE = 2**62


@dataclass(frozen=True)
class CellTable:
    """N measured cells. `codes` gives each cell's level of every dimension as a position in `levels`, -1 where the grid
    of the cell has no such axis. Of cells with equal codes the last one counts.

    `n` and `k` are effective trials and successes, 0 where the noise of a cell is not binomial, and `whole` is 1 or 100
    where they exist; `variance` is NaN where unknown, `df` its degrees of freedom, infinite unless estimated from
    repeats (`workers.statistics.cells.noise`). `assumes`: what is taken for granted of
    trials without a posted design effect.
    """

    levels: Mapping[str, Sequence[Place]]
    codes: Mapping[str, Codes]
    values: FloatArray
    variance: FloatArray
    df: FloatArray
    n: FloatArray
    k: FloatArray
    whole: float = 1.0
    direction: Direction | None = None
    lower: float | None = None
    upper: float | None = None
    assumes: tuple[str, ...] = ()

    def taken(self, index: IntArray | BoolArray) -> "CellTable":
        """The table with some of its cells, in the order of the index."""
        columns = {one.name: getattr(self, one.name)[index] for one in fields(self) if one.name in _COLUMNS}
        codes = {name: column[index] for name, column in self.codes.items()}
        return replace(self, codes=codes, **columns)


_COLUMNS = ("values", "variance", "df", "n", "k")


@dataclass(frozen=True)
class SortedCells:
    """Cells sorted by `entry`, then by the level of `over`, then by `slot`; no entry has two cells in one slot.

    `entry` is the position among all combinations of the levels that are grouped by (`entries` of them), `over` and
    `slot` are numbered from 0 without gaps; `slots` is the number of slots.
    """

    cells: CellTable
    entry: IntArray
    over: IntArray
    slot: IntArray
    entries: int
    slots: int

    def kept(self, mask: BoolArray) -> "SortedCells":
        """The cells of a mask; slots keep their numbers."""
        if mask.all():
            return self
        return replace(
            self, cells=self.cells.taken(mask), entry=self.entry[mask], over=self.over[mask], slot=self.slot[mask]
        )

    @property
    def counts(self) -> IntArray:
        """The number of cells of every entry."""
        return np.bincount(self.entry, minlength=self.entries).astype(np.int64)


def sorted_cells(table: CellTable, group_by: Sequence[str], over: Sequence[str], rest: Sequence[str]) -> SortedCells:
    """The cells by entries and slots. Every cell must have a level of the dimensions in `group_by` and `over`."""
    entry = np.zeros(table.values.size, dtype=np.int64)
    for name in group_by:
        entry = entry * len(table.levels[name]) + table.codes[name]
    _, above = np.unique(code_of(table, over), return_inverse=True)
    found, slot = np.unique(code_of(table, (*over, *rest)), return_inverse=True)
    # Slots are numbered level by level of `over`, so that sorting by slot sorts by `over` first.
    order = np.argsort(entry * max(1, found.size) + slot, kind="stable")
    entry, slot, above = entry[order], slot[order], above[order]
    last = np.ones(entry.size, dtype=np.bool_)
    last[:-1] = (entry[1:] != entry[:-1]) | (slot[1:] != slot[:-1])
    size = int(np.prod([len(table.levels[name]) for name in group_by], dtype=object))
    return SortedCells(table.taken(order[last]), entry[last], above[last], slot[last], size, int(found.size))


def code_of(table: CellTable, names: Sequence[str]) -> IntArray:
    """One number for each combination of levels, in the order of the levels, the first dimension slowest."""
    code, most = np.zeros(table.values.size, dtype=np.int64), 1
    for name in names:
        size = len(table.levels[name]) + 1
        if most * size > _MOST_CODE:
            found, code = np.unique(code, return_inverse=True)
            most = int(found.size)
        code, most = code * size + table.codes[name] + 1, most * size
    return code
