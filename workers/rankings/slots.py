"""Slots of a score matrix: two values are comparable only in the same one.

A slot is (scale, benchmark, variant, coordinates) when models are ranked; for variants, benchmarks and the levels of an
axis the roles are exchanged. Slots of one group weigh together: a group is a benchmark, or a model where benchmarks are
ranked.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from registry.grids.grid import Direction
from workers.rankings.scales import Scale
from workers.statistics import ScoreMatrix

Integers = NDArray[np.int64]


class Roles(NamedTuple):
    """What the names of a grid are in a ranking."""

    name: str
    """What is ranked; "" where it is the levels of an axis."""
    group: str
    rest: tuple[str, ...]
    """Names that tell slots of one group and one coordinate apart."""


def roles_of(by: str, benchmark: str, model: str, variant: str) -> Roles:
    """Roles of a grid's names in a ranking of models, variants, benchmarks or the levels of an axis."""
    if by == "model":
        return Roles(model, benchmark, (variant,))
    if by == "variant":
        return Roles(variant, benchmark, (model,))
    if by == "benchmark":
        return Roles(benchmark, model, (variant,))
    return Roles("", benchmark, (model, variant))


Room = tuple[Hashable, ...]
"""Scale, group and the other names of grids whose slots differ in nothing but coordinates."""


@dataclass
class Slots:
    """Slots, numbered in the order in which they first occur.

    Grids of one room over equal axes have equal slots, which are numbered together: no coordinates are looked at, until
    a grid of the room comes over other axes.
    """

    size: int = 0
    rooms: dict[Room, dict[bytes, Integers]] = field(default_factory=dict)
    """The slots of each room by the JSON of the axes of its grids."""
    places: dict[Room, dict[Hashable, int]] = field(default_factory=dict)
    """Slots by their coordinates, of rooms whose grids have different axes."""
    owners: list[tuple[str, int]] = field(default_factory=list)
    """Group of each run of slots, and the length of the run."""

    def numbers(
        self, group: str, rest: tuple[str, ...], axes: Sequence[dict[str, Any]], scale: Scale | None = None
    ) -> Integers:
        """Slot of each cell of a grid over these axes, row-major."""
        room, shape = (scale.key if scale else None, group, *rest), orjson.dumps(axes)
        known = self.rooms.setdefault(room, {})
        if shape not in known:
            before, size = self.size, math.prod(len(axis["levels"]) for axis in axes)
            if not known:
                known[shape] = np.arange(before, before + size)
                self.size += size
            else:
                known[shape] = np.array([self._place(room, at) for at in coordinates(axes)], dtype=np.int64)
            self.owners.append((group, self.size - before))
        return known[shape]

    def _place(self, room: Room, at: Hashable) -> int:
        if room not in self.places:
            self.places[room] = {
                one: number
                for shape, numbers in self.rooms[room].items()
                for one, number in zip(coordinates(orjson.loads(shape)), numbers.tolist(), strict=True)
            }
        found = self.places[room].setdefault(at, self.size)
        self.size = max(self.size, found + 1)
        return found


def coordinates(axes: Sequence[dict[str, Any]]) -> Iterator[frozenset[tuple[str, str | float]]]:
    """Coordinates of each cell of a grid, row-major; the order of its axes does not tell them apart."""
    levels = [[(axis["name"], _level(level)) for level in axis["levels"]] for axis in axes]
    return (frozenset(at) for at in itertools.product(*levels))


def _level(level: Any) -> str | float:
    """Identity of a level: its number if it has one, else its label."""
    if isinstance(level, dict):
        return float(level["number"])
    return level if isinstance(level, str) else float(level)


Placed = tuple[Integers, Scale]
"""Slots, and the scale of their values."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a score matrix says besides its cells: one scale, or several. Over several, slots where lower is better are
    negated, and only wins and ranks have a meaning."""

    scale: Scale
    mixed: bool
    direction: Direction | None

    @classmethod
    def of(cls, classes: Sequence[Scale]) -> Frame:
        """Frame of these scales; those without a direction count only where there is no other."""
        usable = [one for one in classes if one.direction] or list(classes)
        one = usable[0] if len(usable) == 1 else Scale("", None, None, None)
        mixed = len(usable) > 1
        return cls(one, mixed, "higher" if mixed and all(each.direction for each in usable) else one.direction)

    def sign(self, scale: Scale) -> int:
        """-1 where values on this scale are negated, else 1."""
        return -1 if self.mixed and scale.direction == "lower" else 1

    def matrix(
        self, by: str, names: Sequence[str], slots: Slots, placed: Iterable[Placed], cells: Mapping[str, Any]
    ) -> ScoreMatrix:
        """Score matrix of these cells, to rank what `by` says."""
        worst = np.full(slots.size, np.nan)
        for numbers, scale in placed:
            bound = scale.upper if scale.direction == "lower" else scale.lower
            worst[numbers] = np.nan if bound is None else self.sign(scale) * bound
        groups = sorted({group for group, _ in slots.owners})
        owner = {name: i for i, name in enumerate(groups)}
        runs = np.array([(owner[group], length) for group, length in slots.owners], dtype=np.int64).reshape(-1, 2)
        return ScoreMatrix(
            names=tuple(names),
            benchmarks=np.repeat(runs[:, 0], runs[:, 1]),
            benchmark_names=tuple(groups),
            direction=self.direction,
            lower=self.scale.lower,
            upper=self.scale.upper,
            mixed=self.mixed,
            worst=worst,
            places=_places_across_scales(slots) if self.mixed else None,
            group="model" if by == "benchmark" else "benchmark",
            **cells,
        )


def _places_across_scales(slots: Slots) -> Integers:
    """Equal numbers for slots that differ in nothing but their scale."""
    known, found = dict[Hashable, int](), np.empty(slots.size, dtype=np.int64)
    for (_, *names), shapes in slots.rooms.items():
        for shape, numbers in shapes.items():
            found[numbers] = [known.setdefault((*names, at), len(known)) for at in coordinates(orjson.loads(shape))]
    return found
