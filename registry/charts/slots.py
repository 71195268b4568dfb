"""Cells of several grids by name, level and slot: what may be averaged together, and what may be compared.

A slot is what all else is at which a name has a cell at a level: the benchmark, the other one of model and variant, and
the coordinates on the other axes, as in a ranking. Levels with a number are one where their numbers are.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from registry.charts.design_effects import with_effect
from registry.charts.means import Reference
from registry.grids.grid import Axis, Grid, Level

KINDS = ("model", "variant", "benchmark")
LevelKey = str | float
"""The number of a level if it has one, else its label."""
Cells = dict[int, Reference]
"""The cell of each slot, by the slot's number."""


@dataclass(frozen=True, slots=True)
class Source:
    """A grid at the revision that was read, with names in which aliases are replaced by what they stand for."""

    id: str
    revision: int
    digest: str
    names: Mapping[str, str]
    grid: Grid


@dataclass(slots=True)
class Placed:
    """Cells by name and level; levels as they were first met, and the sources without one of the axes."""

    cells: dict[str, dict[LevelKey, Cells]] = field(default_factory=dict)
    levels: dict[LevelKey, Level] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    """Names in the order of the axis that they are levels of; else as they come."""
    outside: list[Source] = field(default_factory=list)


def key_of(level: Level) -> LevelKey:
    """What makes two levels one."""
    return level.label if level.number is None else level.number


def placed(sources: Iterable[Source], by: str, along: str | None) -> Placed:
    """The measured cells of the sources; of two in one slot the later counts. Without `along` all are at one level, the
    empty text."""
    found, numbers, known = Placed(), dict[Hashable, int](), dict[Hashable, Any]()
    for source in sources:
        axes = {axis.name: place for place, axis in enumerate(source.grid.axes)}
        named_by = by.removeprefix("axis:") if by.startswith("axis:") else None
        if any(one is not None and one not in axes for one in (along, named_by)):
            found.outside.append(source)
            continue
        rest = tuple(source.names[kind] for kind in KINDS if kind != by)
        key = (rest, source.grid.axes)
        if key not in known:
            known[key] = list(_coordinates(source.grid.axes, along, named_by, rest, numbers))
        _put(found, replace(source, grid=with_effect(source.grid)), by, along, known[key])
    return found


_Place = tuple[int, LevelKey, str]


def _coordinates(
    axes: Sequence[Axis], along: str | None, named_by: str | None, rest: Hashable, numbers: dict[Hashable, int]
) -> Iterator[_Place]:
    """For each cell, row-major: the number of its slot, its level, and the level that names it."""
    order = sorted(range(len(axes)), key=lambda place: axes[place].name)
    others = [place for place in order if axes[place].name not in (along, named_by)]
    standing = next((place for place, axis in enumerate(axes) if axis.name == along), None)
    naming = next((place for place, axis in enumerate(axes) if axis.name == named_by), None)
    for at in itertools.product(*(axis.levels for axis in axes)):
        slot = (rest, tuple((axes[place].name, key_of(at[place])) for place in others))
        level = "" if standing is None else key_of(at[standing])
        name = "" if naming is None else at[naming].label
        yield numbers.setdefault(slot, len(numbers)), level, name


def _put(found: Placed, source: Source, by: str, along: str | None, places: Sequence[_Place]) -> None:
    grid, own = source.grid, "" if by.startswith("axis:") else source.names[by]
    for axis in grid.axes:
        if axis.name == along:
            for level in axis.levels:
                found.levels.setdefault(key_of(level), level)
        elif by == f"axis:{axis.name}":
            for level in axis.levels:
                found.names.setdefault(level.label, len(found.names))
    if not by.startswith("axis:"):
        found.names.setdefault(own, len(found.names))
    for index, (value, (slot, at, name)) in enumerate(zip(grid.values, places, strict=True)):
        if value is not None:
            found.cells.setdefault(name or own, {}).setdefault(at, {})[slot] = (grid, index)


def shared_slots(cells: Iterable[Cells]) -> set[int]:
    """The slots in which all of these have a cell."""
    sets = [one.keys() for one in cells]
    return set(sets[0]).intersection(*sets[1:]) if sets else set()


def all_slots(cells: Iterable[Cells]) -> set[int]:
    """The slots in which any of these has a cell."""
    return set().union(*(one.keys() for one in cells))
