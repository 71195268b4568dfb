"""Cells of many grids as a long table, and the same cells sorted into the entries and slots of a question.

An entry is a combination of levels of the dimensions that are grouped by; a slot is one of all other dimensions. Two
values are comparable only in the same slot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from registry.grids.grid import Direction
from registry.results.terms import Place
from workers.statistics.terms import BoolArray, FloatArray, IntArray

Codes = npt.NDArray[np.int32]
_MOST_CODE = 2**62


@dataclass(frozen=True)
class CellTable:
    """N measured cells. `codes` gives each cell's level of every dimension as a position in `levels`, -1 where the grid
    of the cell has no such axis. Of cells with equal codes the last one counts.

    `n` and `k` are effective trials and successes, 0 where the noise of a cell is not binomial, and `whole` is 1 or 100
    where they exist; `variance` is NaN where unknown, `df` its degrees of freedom, infinite unless estimated from
    repeats (`workers.statistics.cells.noise`). `independent`: trials of some cell are taken as independent, for no
    design effect was posted.
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
    independent: bool = False

    def taken(self, index: IntArray | BoolArray) -> CellTable:
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

    def kept(self, mask: BoolArray) -> SortedCells:
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
