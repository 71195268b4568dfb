"""One benchmark's grids as they were counted and as they are now -> what that changes in the sums of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from workers.rankings.pair_sums.read import Floats, Sheet, Taken
from workers.rankings.ranking_input import Slots, slot_numbers
from workers.statistics.pair_sums import MOST_TICKS, Side, empty, meeting

Aliases = Mapping[tuple[str, str], str]
Integers = NDArray[np.int64]


class TooLarge(Exception):
    """A value has more ticks than the sums can hold; `largest` is its size."""

    def __init__(self, largest: float) -> None:
        super().__init__(f"{largest} does not fit into the sums")
        self.largest = largest


@dataclass
class Change:
    """What one benchmark adds to a scope: by name the sums with every name of `names` and the cells; slots."""

    names: list[str]
    sums: dict[str, Integers] = field(default_factory=dict)
    cells: dict[str, int] = field(default_factory=dict)
    slots: int = 0
    compared: int = 0


@dataclass(frozen=True)
class _Updates:
    """Grids over the same slots: the row of each in a side, whose turn it is, and its values."""

    variant: str
    rows: Integers
    slots: Integers
    turns: Integers
    values: Floats

    def at(self, picked: NDArray[Any]) -> _Updates:
        return _Updates(self.variant, self.rows[picked], self.slots, self.turns[picked], self.values[picked])


def _blank(shape: tuple[int, int]) -> Side:
    return Side(np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape, dtype=np.bool_))


def _copy(side: Side) -> Side:
    return Side(side.ticks.copy(), side.values.copy(), side.present.copy())


def _put(side: Side, rows: Any, other: Side) -> None:
    """Replace rows by those of another side."""
    side.ticks[rows], side.values[rows], side.present[rows] = other.ticks[rows], other.values[rows], other.present[rows]


def changed(taken: Taken, aliases: Aliases, exponent: int) -> Change:
    """What replacing the grids that are gone by those that have come changes; in units of 10^-exponent.

    Exact: the change from A to B and the change from B to C add up to that from A to C. Raises `TooLarge`.
    """
    moved = {name for sheet in chain(taken.gone, taken.come) for name in _names(sheet, aliases)}
    names = sorted(moved.union(*(_names(sheet, aliases) for sheet in taken.kept)))
    places, slots, cache = {name: i for i, name in enumerate(names)}, Slots(), dict[tuple[Any, ...], Any]()
    kept, gone, come = (
        [_strokes(sheet, places, aliases, slots, cache) for sheet in sheets]
        for sheets in (taken.kept, taken.gone, taken.come)
    )
    shape = (len(names), len(slots.places))
    old = _blank(shape)
    _scatter(old, [*kept, *gone], exponent)
    new, touched = _copy(old), np.array(sorted(places[name] for name in moved), dtype=np.int64)
    _put(new, touched, _blank(shape))
    _scatter(new, [*(one.at(np.isin(one.rows, touched)) for one in kept), *come], exponent)
    change = Change(names)
    change.slots, change.compared = (
        int(np.count_nonzero(new.present.sum(axis=0) > least) - np.count_nonzero(old.present.sum(axis=0) > least))
        for least in (0, 1)
    )
    rivals = _copy(old)
    for i in touched.tolist():
        if np.array_equal(old.present[i], new.present[i]) and np.array_equal(old.values[i], new.values[i]):
            continue
        change.sums[names[i]] = _met(rivals, new, i) - _met(rivals, old, i)
        change.cells[names[i]] = int(new.present[i].sum() - old.present[i].sum())
        _put(rivals, i, new)
    return change


def _met(rivals: Side, side: Side, i: int) -> Integers:
    """The sums of row i of a side with every rival but itself."""
    total = empty(len(rivals.ticks))
    others = np.asarray(rivals.present.any(axis=1), dtype=np.bool_)
    others[i] = False
    if others.any() and side.present[i].any():
        total[:, others] = meeting(rivals.rows(others), side.rows(slice(i, i + 1)))
    return total


def _names(sheet: Sheet, aliases: Aliases) -> Iterable[str]:
    return (aliases.get(("model", model), model) for model in sheet.models)


def _strokes(
    sheet: Sheet, places: Mapping[str, int], aliases: Aliases, slots: Slots, cache: dict[tuple[Any, ...], Any]
) -> _Updates:
    benchmark = aliases.get(("benchmark", sheet.benchmark), sheet.benchmark)
    variant = aliases.get(("variant", sheet.variant), sheet.variant)
    numbers = slot_numbers(slots, cache, benchmark, (variant,), orjson.loads(sheet.axes), None)
    rows = np.array([places[name] for name in _names(sheet, aliases)], dtype=np.int64)
    return _Updates(variant, rows, numbers, np.array(sheet.turns, dtype=np.int64), sheet.values)


def _scatter(side: Side, updates: Sequence[_Updates], exponent: int) -> None:
    """Put the values into their rows and slots; where several of a name meet, the last turn is seen."""
    for one in updates if _are_apart(updates) else _one_by_one(updates):
        measured = np.isfinite(one.values)
        ticks = np.where(measured, one.values, 0.0) * 10.0**exponent
        if np.max(np.abs(ticks), initial=0.0) > MOST_TICKS:
            raise TooLarge(float(np.nanmax(np.abs(one.values))))
        block = np.ix_(one.rows, one.slots)
        side.ticks[block] = np.where(measured, np.rint(ticks).astype(np.int64), side.ticks[block])
        side.values[block] = np.where(measured, one.values, side.values[block])
        side.present[block] |= measured


def _are_apart(updates: Sequence[_Updates]) -> bool:
    """Whether every name has one grid for a variant: then no slot is painted twice. Aliases can make it more."""
    painted = [(one.variant, row) for one in updates for row in one.rows.tolist()]
    return len(set(painted)) == len(painted)


def _one_by_one(updates: Sequence[_Updates]) -> Iterable[_Updates]:
    each = [one.at(np.array([i])) for one in updates for i in range(len(one.rows))]
    return sorted(each, key=lambda one: int(one.turns[0]))
