"""Slots of a score matrix: two values are comparable only in the same one.

A slot is (scale, benchmark, variant, coordinates) when models are ranked; for variants, benchmarks and the levels of an
axis the roles are exchanged. Slots of one group weigh together: a group is a benchmark, or a model where benchmarks are
ranked.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
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


@dataclass
class Slots:
    """Slots, numbered in the order in which they first occur."""

    places: dict[Hashable, int] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)

    def number(self, group: str, rest: tuple[Hashable, ...]) -> int:
        place = self.places.setdefault((group, *rest), len(self.places))
        if place == len(self.groups):
            self.groups.append(group)
        return place


def slot_numbers(
    slots: Slots,
    cache: dict[tuple[Any, ...], Any],
    group: str,
    rest: tuple[str, ...],
    axes: Sequence[dict[str, Any]],
    left_out: int | None,
    scale: Scale | None = None,
) -> Integers:
    """Slot of each cell, row-major without the axis `left_out`; grids over equal axes share the result."""
    kind = scale.key if scale else None
    key = (group, rest, orjson.dumps(axes), left_out, kind)
    if key not in cache:
        kept = [axis for i, axis in enumerate(axes) if i != left_out]
        order = sorted(range(len(kept)), key=lambda i: kept[i]["name"])
        levels = [[_level(level) for level in axis["levels"]] for axis in kept]
        found = []
        for at in np.ndindex(*[len(each) for each in levels]):
            coordinates = tuple((kept[i]["name"], levels[i][at[i]]) for i in order)
            found.append(slots.number(group, (kind, *rest, *coordinates)))
        cache[key] = np.array(found, dtype=np.int64)
    numbers: Integers = cache[key]
    return numbers


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
        worst = np.full(len(slots.places), np.nan)
        for numbers, scale in placed:
            bound = scale.upper if scale.direction == "lower" else scale.lower
            worst[numbers] = np.nan if bound is None else self.sign(scale) * bound
        groups = sorted(set(slots.groups))
        owner = {name: i for i, name in enumerate(groups)}
        return ScoreMatrix(
            names=tuple(names),
            benchmarks=np.array([owner[name] for name in slots.groups], dtype=np.int64),
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
    known = dict[Hashable, int]()
    found = []
    for key in slots.places:
        group, _, *rest = key if isinstance(key, tuple) else (key, None)
        found.append(known.setdefault((group, *rest), len(known)))
    return np.array(found, dtype=np.int64)
