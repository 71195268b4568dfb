"""Delta of the pair sums when the grids of one benchmark change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from workers.rankings.matrices import Floats, GridMatrix
from workers.rankings.pair_sums.read import BenchmarkChange
from workers.rankings.slots import Slots
from workers.statistics.all_pair_sums import all_meetings
from workers.statistics.pair_sums import MOST_TICKS, Side, empty, meeting

Aliases = Mapping[tuple[str, str], str]
Integers = NDArray[np.int64]


class TooLarge(Exception):
    """Raised when a value has more ticks than the sums can hold; `largest` is its size."""

    def __init__(self, largest: float) -> None:
        super().__init__(f"{largest} does not fit into the sums")
        self.largest = largest


@dataclass
class SumsDelta:
    """Change of a scope by one benchmark: for each name its sums with every name of `names`, its cells; slots."""

    names: list[str]
    sums: dict[str, Integers] = field(default_factory=dict)
    cells: dict[str, int] = field(default_factory=dict)
    slots: int = 0
    compared: int = 0


@dataclass(frozen=True)
class _Updates:
    """Values of grids over the same slots, with the row of each in a `Side` and the order of its update."""

    variant: str
    rows: Integers
    slots: Integers
    order: Integers
    values: Floats

    def at(self, picked: NDArray[Any]) -> _Updates:
        return _Updates(self.variant, self.rows[picked], self.slots, self.order[picked], self.values[picked])


def _empty_side(shape: tuple[int, int]) -> Side:
    return Side(np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape, dtype=np.bool_))


def _copy(side: Side) -> Side:
    return Side(side.ticks.copy(), side.values.copy(), side.present.copy())


def _copy_rows(side: Side, rows: Any, other: Side) -> None:
    """Replace rows of a side by those of another."""
    side.ticks[rows], side.values[rows], side.present[rows] = other.ticks[rows], other.values[rows], other.present[rows]


def sums_delta(change: BenchmarkChange, aliases: Aliases, exponent: int) -> SumsDelta:
    """Delta from replacing the grids `before` by those `after`, in units of 10^-exponent.

    Exact: the deltas from A to B and from B to C add up to that from A to C. Raises `TooLarge`.
    """
    affected = {name for matrix in chain(change.before, change.after) for name in _canonical_names(matrix, aliases)}
    names = sorted(affected.union(*(_canonical_names(matrix, aliases) for matrix in change.unchanged)))
    places, slots = {name: i for i, name in enumerate(names)}, Slots()
    unchanged, removed, added = (
        [_updates_of(matrix, places, aliases, slots) for matrix in matrices]
        for matrices in (change.unchanged, change.before, change.after)
    )
    shape = (len(names), slots.size)
    old = _empty_side(shape)
    _scatter(old, [*unchanged, *removed], exponent)
    new, touched = _copy(old), np.array(sorted(places[name] for name in affected), dtype=np.int64)
    # Emptied and written again with the unchanged grids of these names: where aliases put several grids on one cell,
    # the removed one may have covered a value that now counts.
    _copy_rows(new, touched, _empty_side(shape))
    _scatter(new, [*(one.at(np.isin(one.rows, touched)) for one in unchanged), *added], exponent)
    delta = SumsDelta(names)
    delta.slots, delta.compared = (
        int(np.count_nonzero(new.present.sum(axis=0) > least) - np.count_nonzero(old.present.sum(axis=0) > least))
        for least in (0, 1)
    )
    if not change.before and not change.unchanged and (every := all_meetings(new)) is not None:
        for i in touched.tolist():
            if new.present[i].any():
                delta.sums[names[i]], delta.cells[names[i]] = every[:, i], int(new.present[i].sum())
        return delta
    # The rivals turn from old to new row by row. So a pair of two changed names is counted in two steps that add up to
    # its whole change: the first name moves against the old values of the second, the second against the new of the
    # first.
    rivals = _copy(old)
    for i in touched.tolist():
        if np.array_equal(old.present[i], new.present[i]) and np.array_equal(old.values[i], new.values[i]):
            continue
        delta.sums[names[i]] = _sums_with_rivals(rivals, new, i) - _sums_with_rivals(rivals, old, i)
        delta.cells[names[i]] = int(new.present[i].sum() - old.present[i].sum())
        _copy_rows(rivals, i, new)
    return delta


def _sums_with_rivals(rivals: Side, side: Side, i: int) -> Integers:
    """Sums of row i of a side with every rival except itself."""
    total = empty(len(rivals.ticks))
    others = np.asarray(rivals.present.any(axis=1), dtype=np.bool_)
    others[i] = False
    if others.any() and side.present[i].any():
        total[:, others] = meeting(rivals.rows(others), side.rows(slice(i, i + 1)))
    return total


def _canonical_names(matrix: GridMatrix, aliases: Aliases) -> Iterable[str]:
    return (aliases.get(("model", model), model) for model in matrix.models)


def _updates_of(matrix: GridMatrix, places: Mapping[str, int], aliases: Aliases, slots: Slots) -> _Updates:
    benchmark = aliases.get(("benchmark", matrix.benchmark), matrix.benchmark)
    variant = aliases.get(("variant", matrix.variant), matrix.variant)
    numbers = slots.numbers(benchmark, (variant,), orjson.loads(matrix.axes))
    rows = np.array([places[name] for name in _canonical_names(matrix, aliases)], dtype=np.int64)
    return _Updates(variant, rows, numbers, np.array(matrix.order, dtype=np.int64), matrix.values)


def _scatter(side: Side, updates: Sequence[_Updates], exponent: int) -> None:
    """Write the values into their rows and slots; of several for one slot of a name, the last update counts."""
    for one in updates if _are_disjoint(updates) else _in_order(updates):
        measured = np.isfinite(one.values)
        ticks = np.where(measured, one.values, 0.0) * 10.0**exponent
        if np.max(np.abs(ticks), initial=0.0) > MOST_TICKS:
            raise TooLarge(float(np.nanmax(np.abs(one.values))))
        block = np.ix_(one.rows, one.slots)
        side.ticks[block] = np.where(measured, np.rint(ticks).astype(np.int64), side.ticks[block])
        side.values[block] = np.where(measured, one.values, side.values[block])
        side.present[block] |= measured


def _are_disjoint(updates: Sequence[_Updates]) -> bool:
    """Return whether every name has one grid for each variant, so that no slot is written twice; aliases can break
    this."""
    written = [(one.variant, row) for one in updates for row in one.rows.tolist()]
    return len(set(written)) == len(written)


def _in_order(updates: Sequence[_Updates]) -> Iterable[_Updates]:
    each = [one.at(np.array([i])) for one in updates for i in range(len(one.rows))]
    return sorted(each, key=lambda one: int(one.order[0]))
