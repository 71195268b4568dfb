"""Whether the effect of one axis depends on the level of another.

The means by two axes are an effect of each added up, and what is left over: row and column means off, the mean of all
on (the residual of a two-way table: Tukey 1977, Exploratory Data Analysis, chapter 10). These leftovers are sums of
cells, of which the furthest from 0 is judged. It is in points: near the bounds of a metric effects shrink, which in
points is an interaction like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from registry.claims.claim import Effect
from workers.claims.scene import Found, Scene, undecided
from workers.claims.widths import within_reach
from workers.claims.worlds import Terms
from workers.statistics.judging import opposite

MOST_TERMS = 100_000
_NO_TABLE = "its two axes have no full table of measured cells in common; where can choose one"
Tables = Mapping[tuple[int, int], Sequence[int]]
"""The cells of each place of the table of two axes, one of each slot."""


def judge_interaction(says: Effect, scene: Scene) -> Found:
    """How far the means by two axes are from being additive."""
    if any(axis not in scene.facts.levels for axis in says.axes):
        return undecided("vague")
    table, shape = _table(says.axes, scene)
    if min(shape) < 2 or not table:
        return undecided("missing_cells", _NO_TABLE if min(shape) > 1 else "")
    if sum(map(len, table.values())) * len(table) > MOST_TERMS:
        return undecided("too_large")
    found = within_reach(list(_residuals(table, shape)), says.within, scene)
    return Found(opposite(found.answer) if says.is_ == "present" else found.answer, found.span, found.reason)


def _table(axes: Sequence[str], scene: Scene) -> tuple[Tables, tuple[int, int]]:
    """The cells by the levels of both axes that have any, in the slots where all of these are there."""
    cells = scene.cells
    columns = [scene.facts.column(axis)[cells] for axis in axes]
    cells, columns = cells[kept := np.all([column >= 0 for column in columns], axis=0)], [one[kept] for one in columns]
    first, second = (np.unique(column, return_inverse=True) for column in columns)
    shape = first[0].size, second[0].size
    rest = [place for place, name in enumerate(scene.facts.dimensions) if name not in axes]
    slots: dict[tuple[int, ...], dict[tuple[int, int], int]] = {}
    for cell, *at in zip(cells.tolist(), first[1].ravel().tolist(), second[1].ravel().tolist(), strict=True):
        slots.setdefault(tuple(scene.facts.codes[cell, rest].tolist()), {})[at[0], at[1]] = cell
    full = [slot for slot in slots.values() if len(slot) == shape[0] * shape[1]]
    return {at: [slot[at] for slot in full] for at in (full[0] if full else ())}, shape


def _residuals(table: Tables, shape: tuple[int, int]) -> Iterator[Terms]:
    """What is left over at each place, as sums of cells. Of an axis with two levels the second has the leftovers of the
    first with the other sign, and is not asked for."""
    rows, columns = shape
    slots = max(map(len, table.values()))
    factors = {
        (here, there): (here - Fraction(1, rows)) * (there - Fraction(1, columns)) / slots
        for here, there in product((False, True), repeat=2)
    }
    for row in range(rows if rows > 2 else 1):
        for column in range(columns if columns > 2 else 1):
            yield [(cell, factors[at[0] == row, at[1] == column]) for at, cells in table.items() for cell in cells]
