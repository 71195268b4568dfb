"""Grid, Axis, Level, Cell, Metric: frozen values, their canonical form and its digest.

A grid's values are flat and in row-major order (the last axis runs fastest), `None` where a cell is unmeasured.
`Grid.cells()` iterates over the measured cells only.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, cast

import orjson

from registry.grids.protocol import Protocol

Kind = Literal["numeric", "ordinal", "nominal"]
Scale = Literal["linear", "log"]
Direction = Literal["higher", "lower"]
Position = tuple[int, ...]

REASONS = ("failed", "not_applicable", "pending")


@dataclass(frozen=True, slots=True)
class Metric:
    """The measured quantity. `direction` is the better end, `None` if neither is. Bounds are inclusive."""

    name: str
    unit: str | None = None
    direction: Direction | None = None
    lower: float | None = None
    upper: float | None = None

    @property
    def range(self) -> float | None:
        """Upper minus lower bound, in the metric's unit; `None` when a bound is open."""
        return None if self.lower is None or self.upper is None else self.upper - self.lower

    @property
    def proportion_of(self) -> float | None:
        """1.0 or 100.0 when the metric is a proportion on that scale, else `None`."""
        return self.upper if self.lower == 0 and self.upper in (1, 100) else None


@dataclass(frozen=True, slots=True)
class Level:
    """One position on an axis: a label and, on a numeric axis, its number ("32b" = 32e9)."""

    label: str
    number: float | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """A named direction of a grid. Levels of a numeric axis are in numeric order, others as posted."""

    name: str
    kind: Kind
    levels: tuple[Level, ...]
    unit: str | None = None
    scale: Scale = "linear"

    @property
    def ordered(self) -> bool:
        """True if a trend along the axis has a meaning."""
        return self.kind != "nominal"

    @property
    def numbers(self) -> tuple[float, ...]:
        """Axis values for slopes: the levels' numbers, or 0, 1, 2 … on an axis without numbers."""
        if self.kind == "numeric":
            return tuple(cast(float, level.number) for level in self.levels)
        return tuple(map(float, range(len(self.levels))))


@dataclass(frozen=True, slots=True)
class Cell:
    """A measured value at one coordinate; `at` holds a position on each axis, in the order of the axes."""

    at: Position
    value: float
    trials: int | None = None
    stderr: float | None = None
    repeats: int | None = None
    sd: float | None = None


@dataclass(frozen=True)
class Grid:
    """The values of one metric over zero to four axes.

    `values`, `stderr`, `repeats`, `sd` and a tuple of `trials` are flat, row-major and as long as the product of the
    shape; one integer of `trials` holds for every cell. `reasons` maps a flat index of an unmeasured cell to why it is
    missing.

    `questions`: number of questions behind the trials of a cell (trials = questions × samples). `design_effect`:
    variance of a cell as a multiple of that of independent trials. `derived`: whether the values are computed from
    other grids, or the names of what they are made of. `protocol`: how the values were measured, as
    `registry.grids.intake` reads it.
    """

    metric: Metric
    axes: tuple[Axis, ...]
    values: tuple[float | None, ...]
    trials: int | tuple[int | None, ...] | None = None
    stderr: tuple[float | None, ...] | None = None
    repeats: tuple[int | None, ...] | None = None
    sd: tuple[float | None, ...] | None = None
    reasons: Mapping[int, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    questions: int | None = None
    design_effect: float | None = None
    derived: bool | tuple[str, ...] = False
    protocol: Protocol | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.levels) for axis in self.axes)

    @cached_property
    def cell_count(self) -> int:
        """Number of measured cells."""
        return len(self.values) - self.values.count(None)

    def position(self, index: int) -> Position:
        """Position on each axis of a flat index."""
        at = []
        for size in reversed(self.shape):
            index, place = divmod(index, size)
            at.append(place)
        return tuple(reversed(at))

    def index(self, at: Position) -> int:
        """Flat index of a position."""
        index = 0
        for size, place in zip(self.shape, at, strict=True):
            index = index * size + place
        return index

    def cell(self, index: int) -> Cell | None:
        """Cell at a flat index, `None` when it is unmeasured."""
        value = self.values[index]
        if value is None:
            return None
        return Cell(
            self.position(index),
            value,
            self.trials[index] if isinstance(self.trials, tuple) else self.trials,
            self.stderr[index] if self.stderr else None,
            self.repeats[index] if self.repeats else None,
            self.sd[index] if self.sd else None,
        )

    def cells(self) -> Iterator[Cell]:
        """Measured cells in row-major order."""
        return (cell for index in range(len(self.values)) if (cell := self.cell(index)) is not None)

    @property
    def members(self) -> dict[str, Any]:
        """Those of `questions`, `design_effect`, `derived` and `protocol` that were given, as sent and digested."""
        named = list(self.derived) if isinstance(self.derived, tuple) else self.derived or None
        given: dict[str, Any] = {
            "questions": self.questions,
            "design_effect": self.design_effect,
            "derived": named,
            "protocol": None if self.protocol is None else dict(self.protocol),
        }
        return {name: value for name, value in given.items() if value is not None}

    def canonical(self) -> bytes:
        """Content as UTF-8 JSON: equal bytes exactly for equal content, the input of `digest`.

        The keys of the object, its labels and its protocol are sorted; axes, levels and the metric have theirs in the
        order of the classes above.
        """
        content: dict[str, Any] = {
            "metric": self.metric,
            "axes": self.axes,
            "values": self.values,
            "labels": dict(self.labels),
        }
        for name in ("trials", "stderr", "repeats", "sd"):
            if (given := getattr(self, name)) is not None:
                content[name] = given
        content |= self.members
        if self.reasons:
            content["reasons"] = sorted(self.reasons.items())
        return orjson.dumps(content, option=orjson.OPT_SORT_KEYS)

    @cached_property
    def digest(self) -> str:
        """`sha256:` and the hexadecimal SHA-256 of the canonical form."""
        return "sha256:" + hashlib.sha256(self.canonical()).hexdigest()


def plain_label(number: float) -> str:
    """Label of a level that was given as a number: `2000`, `0.1`."""
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)
