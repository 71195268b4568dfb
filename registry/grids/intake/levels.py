"""Read axes and their levels, as a publication, a claim or a file has them."""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

import orjson

from registry.grids.grid import Axis, Kind, Level, Scale, plain_label
from registry.grids.intake.faults import Limits, Report, is_rounded, number, unsigned_zero

MAX_AXES = 4
_SUFFIXES = {"": 0, "k": 3, "m": 6, "b": 9, "t": 12}
_REMEMBERED = 4096
_NUMBER = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:e([+-]?\d{1,9}))?\s*+([kmbt]?)", re.IGNORECASE)


def read_number(label: str) -> float | None:
    """Number that a label denotes, with k, m, b, t for 10^3 … 10^12: "32b" is 32e9; `None` if it denotes none."""
    match = _NUMBER.fullmatch(label.strip())
    if match is None:
        return None
    # The point moves in the text: a product of doubles would be off by a bit, and so another level.
    value = float(f"{match[1]}e{int(match[2] or 0) + _SUFFIXES[match[3].lower()]}") + 0.0
    return value if math.isfinite(value) else None


def read_level(given: Any, kind: Kind, pointer: str, limits: Limits, report: Report) -> Level | None:
    """One level: a number, a label, or `{"label", "number"}`; `None` after a fault."""
    level = _level(given)
    if level is None:
        report.fault(pointer, "a level is a number, a non-empty string, or {label, number}")
        return None
    exact = given.get("number") if isinstance(given, Mapping) else given
    if is_rounded(exact):
        report.rounded(exact, pointer)
    if len(level.label) > limits.name or has_control(level.label):
        report.fault(pointer, f"a level's label has at most {limits.name} characters and no control characters")
        return None
    if kind == "numeric" and level.number is None:
        value = read_number(level.label)
        if value is None:
            report.fault(
                pointer,
                f'"{level.label}" is not a number; give {{"label", "number"}} or make the axis ordinal',
            )
            return None
        if plain_label(value) != level.label:
            report.warn("level_number_read", pointer, f'"{level.label}" was read as the number {plain_label(value)}')
        return Level(level.label, value)
    return Level(level.label, level.number if kind == "numeric" else None)


def _level(given: Any) -> Level | None:
    if isinstance(given, str):
        return Level(given) if given else None
    if (value := unsigned_zero(number(given))) is not None:
        return Level(plain_label(value), value)
    if isinstance(given, Mapping) and set(given) <= {"label", "number"}:
        label, value = given.get("label"), unsigned_zero(number(given.get("number")))
        if isinstance(label, str) and label and (value is not None or given.get("number") is None):
            return Level(label, value)
    return None


def read_axes(given: Sequence[Mapping[str, Any]], limits: Limits, report: Report) -> list[Axis]:
    """Declared axes, levels in the order given (not yet sorted)."""
    if len(given) > MAX_AXES:
        report.fault("/axes", f"a grid has at most {MAX_AXES} axes, not {len(given)}")
    axes: list[Axis] = []
    for place, declared in enumerate(given[:MAX_AXES]):
        if any(axis.name == declared["name"] for axis in axes):
            report.fault(f"/axes/{place}/name", f'there is already an axis named "{declared["name"]}"')
        axes.append(_read_axis(declared, f"/axes/{place}", limits, report))
    return axes


def _read_axis(declared: Mapping[str, Any], pointer: str, limits: Limits, report: Report) -> Axis:
    """One axis. The grids of an experiment share theirs, so an axis read without a fault or a warning is cached."""
    try:
        text = orjson.dumps(declared)
    except TypeError:  # a whole number of more than 64 bits
        return _read_declared(declared, pointer, limits, report)
    axis = _read_quietly(text, limits) if len(text) <= _REMEMBERED else None
    return axis or _read_declared(declared, pointer, limits, report)


@lru_cache(maxsize=256)
def _read_quietly(declared: bytes, limits: Limits) -> Axis | None:
    report = Report()
    axis = _read_declared(orjson.loads(declared), "", limits, report)
    return None if report.faults or report.warnings else axis


def _read_declared(declared: Mapping[str, Any], pointer: str, limits: Limits, report: Report) -> Axis:
    given = declared.get("levels", [])
    if len(given) > limits.levels:
        report.fault(f"{pointer}/levels", f"an axis has at most {limits.levels} levels, not {len(given)}")
        given = []
    kind = cast(Kind, declared.get("kind") or guess_kind(given))
    read = [read_level(level, kind, f"{pointer}/levels/{i}", limits, report) for i, level in enumerate(given)]
    levels = [level for level in read if level is not None]
    scale = cast(Scale, declared.get("scale") or "linear")
    if scale == "log" and kind != "numeric":
        report.fault(f"{pointer}/scale", "only a numeric axis has a log scale")
    _refuse_repeats(levels, kind, pointer, report)
    return Axis(declared["name"], kind, tuple(levels), declared.get("unit"), scale)


def guess_kind(levels: Sequence[Any]) -> Kind:
    """Kind of an axis declared without one: numeric when every level has a number, else nominal."""
    numeric = all(
        number(level) is not None or (isinstance(level, Mapping) and level.get("number") is not None)
        for level in levels
    )
    return "numeric" if levels and numeric else "nominal"


def _refuse_repeats(levels: Sequence[Level], kind: Kind, pointer: str, report: Report) -> None:
    labels: set[str] = set()
    numbers: set[float] = set()
    for place, level in enumerate(levels):
        if level.label in labels or (kind == "numeric" and level.number in numbers):
            report.fault(f"{pointer}/levels/{place}", f'the level "{level.label}" stands on this axis already')
        labels.add(level.label)
        if level.number is not None:
            numbers.add(level.number)


def has_control(text: str) -> bool:
    """Tell whether a text contains a control character (general category Cc)."""
    return not text.isprintable() and any(ord(c) < 32 or 127 <= ord(c) < 160 for c in text)


class LevelIndex:
    """Positions of an axis's levels by the names that a coordinate may use; grows when a level is added."""

    def __init__(self, axis: Axis, limits: Limits) -> None:
        self.axis = axis
        self.levels = list(axis.levels)
        self._limits = limits
        self._by_label = {level.label: place for place, level in enumerate(self.levels)}
        self._by_number = {level.number: place for place, level in enumerate(self.levels) if level.number is not None}

    def find(self, given: Any, pointer: str, report: Report) -> int | None:
        """Position of the level, added at the end if it is new; `None` after a fault."""
        if isinstance(given, str) and given in self._by_label:
            return self._by_label[given]
        if self.axis.kind == "numeric" and (value := number(given)) is not None and value in self._by_number:
            if is_rounded(given):
                report.rounded(given, pointer)
            return self._by_number[value]
        level = read_level(given, self.axis.kind, pointer, self._limits, report)
        return None if level is None else self._place(level, pointer, report)

    def _place(self, level: Level, pointer: str, report: Report) -> int | None:
        known = self._by_label.get(level.label)
        if known is None and level.number is not None:
            known = self._by_number.get(level.number)
        if known is not None:
            if self.levels[known].number != level.number:
                report.fault(pointer, f'the level "{level.label}" stands on this axis with another number')
                return None
            self._by_label[level.label] = known  # the next cell gives no further warning
            return known
        if len(self.levels) >= self._limits.levels:
            report.fault(pointer, f"an axis has at most {self._limits.levels} levels")
            return None
        place = len(self.levels)
        self.levels.append(level)
        self._by_label[level.label] = place
        if level.number is not None:
            self._by_number[level.number] = place
        return place

    def grown(self) -> Axis:
        """The axis with its present levels."""
        return Axis(self.axis.name, self.axis.kind, tuple(self.levels), self.axis.unit, self.axis.scale)
