"""Cells as they are sent: in blocks or at coordinates, and what a proportion among them cannot be.

Tidy cells: values at named coordinates. Undeclared levels are added; a coordinate given twice is a repeat.

Find what a proportion cannot be: off the lattice k / n of its n trials, or without noise between its bounds. A value
printed with d decimals is on the lattice when some whole k has |scale k / n - value| <= 10^-d / 2.
"""

import itertools
import math
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import isfinite
from types import NoneType
from typing import Any, TypeVar

import orjson

from registry.grids.grid import REASONS, Axis, Grid, Position
from registry.grids.intake.faults import MOST_TRIALS, NO_VALUE, Limits, Report, escaped, is_rounded, number, whole
from registry.grids.intake.levels import LevelIndex

T = TypeVar("T")
_FRACTION = re.compile(rb"\.(\d+)")


def flatten(block: Any, shape: Sequence[int], pointer: str, report: Report) -> list[Any] | None:
    """Leaves of `block` in row-major order; `None` after a fault about its shape."""
    if not shape:
        if isinstance(block, (list, dict)):
            report.fault(pointer, "with no axes this is one number")
            return None
        return [block]
    return _rows(block, shape, pointer, report)


def _rows(block: Any, shape: Sequence[int], pointer: str, report: Report) -> list[Any] | None:
    if not isinstance(block, list):
        report.fault(pointer, f"expected a list of {shape[0]}, nested to the depth of the axes")
        return None
    if len(block) != shape[0]:
        report.fault(pointer, f"has {len(block)} entries, but its axis has {shape[0]} levels")
        return None
    if len(shape) == 1:
        return block
    leaves: list[Any] = []
    is_whole = True
    for place, row in enumerate(block):
        found = _rows(row, shape[1:], f"{pointer}/{place}", report)
        is_whole = is_whole and found is not None
        leaves += found or ()
    return leaves if is_whole else None


def leaf_pointer(pointer: str, index: int, shape: Sequence[int]) -> str:
    """JSON pointer of a leaf of a nested block."""
    parts = []
    for size in reversed(shape):
        index, place = divmod(index, size)
        parts.append(str(place))
    return "/".join([pointer, *reversed(parts)])


def read_leaves(
    leaves: Sequence[Any],
    read: Callable[[Any], T | None],
    wanted: str,
    at: Callable[[int], str],
    report: Report,
) -> tuple[T | None, ...]:
    """Leaves converted by `read`. null stays `None`; a leaf that `read` refuses is a fault, a rounded one a warning."""
    if read is number and set(map(type, leaves)) <= {float, NoneType} and all(map(isfinite, filter(None, leaves))):
        return tuple(leaves)
    values = tuple(None if leaf is None else read(leaf) for leaf in leaves)
    if values.count(None) != list(leaves).count(None):
        for index, (leaf, value) in enumerate(zip(leaves, values, strict=True)):
            if leaf is not None and value is None:
                report.fault(
                    at(index), "is a list: nested deeper than there are axes" if type(leaf) is list else wanted
                )
    elif values != tuple(leaves):
        for index, leaf in enumerate(leaves):
            if is_rounded(leaf):
                report.rounded(leaf, at(index))
    return values


def in_numeric_order(grid: Grid) -> Grid:
    """The same grid with the levels of every numeric axis in ascending order."""
    orders = [_order(axis) for axis in grid.axes]
    if all(order == sorted(order) for order in orders):
        return grid
    sources = [grid.index(at) for at in itertools.product(*orders)]
    axes = tuple(
        replace(axis, levels=tuple(axis.levels[place] for place in order))
        for axis, order in zip(grid.axes, orders, strict=True)
    )
    moved: dict[str, Any] = {
        name: tuple(given[source] for source in sources)
        for name in ("values", "trials", "stderr", "repeats", "sd")
        if isinstance(given := getattr(grid, name), tuple)
    }
    target = {source: index for index, source in enumerate(sources)} if grid.reasons else {}
    return replace(grid, axes=axes, reasons={target[index]: reason for index, reason in grid.reasons.items()}, **moved)


def _order(axis: Axis) -> list[int]:
    places = list(range(len(axis.levels)))
    return sorted(places, key=axis.numbers.__getitem__) if axis.kind == "numeric" else places


def size_of(axes: Sequence[Axis]) -> int:
    """Number of cells that a grid over these axes can hold."""
    return math.prod(len(axis.levels) for axis in axes)


@dataclass(frozen=True, slots=True)
class Entry:
    """Content of one coordinate: a measurement (over `repeats`), or the reason why there is none."""

    value: float | None
    trials: int | None = None
    stderr: float | None = None
    repeats: int | None = None
    sd: float | None = None
    reason: str | None = None
    pointer: str = ""


def read_cells(
    cells: Sequence[Mapping[str, Any]], axes: Sequence[Axis], limits: Limits, report: Report
) -> tuple[tuple[Axis, ...], dict[Position, Entry]]:
    """Axes, extended by undeclared levels, and one entry for each coordinate."""
    indexes = {axis.name: LevelIndex(axis, limits) for axis in axes}
    met: dict[Position, list[Entry]] = {}
    for place, cell in enumerate(cells):
        pointer = f"/cells/{place}"
        at = _position(cell["at"], indexes, f"{pointer}/at", report)
        entry = _entry(cell, pointer, report)
        if at is not None and entry is not None:
            met.setdefault(at, []).append(entry)
    _warn_of_repeats([together[1] for together in met.values() if len(together) > 1], report)
    entries = {at: together[0] if len(together) == 1 else _repeats(together, report) for at, together in met.items()}
    return tuple(index.grown() for index in indexes.values()), entries


def _warn_of_repeats(again: Sequence[Entry], report: Report) -> None:
    """Warn how many coordinates came several times, at the first cell whose coordinate had come before."""
    if again:
        many = "1 coordinate was" if len(again) == 1 else f"{len(again)} coordinates were"
        detail = f"{many} given several times: the cell's value is their mean, with repeats and their sd kept"
        first = min(again, key=lambda entry: int(entry.pointer.rpartition("/")[2]))
        report.warn("repeats_read", first.pointer, detail)


def _position(
    given: Mapping[str, Any], indexes: Mapping[str, LevelIndex], pointer: str, report: Report
) -> Position | None:
    for name in given.keys() - indexes.keys():
        axes = f"its axes are {', '.join(indexes)}" if indexes else "it has none"
        report.fault(f"{pointer}/{escaped(name)}", f'the grid has no axis "{name}"; {axes}')
    for name in indexes.keys() - given.keys():
        report.fault(pointer, f'a level of the axis "{name}" is missing')
    if given.keys() != indexes.keys():
        return None
    places = [index.find(given[name], f"{pointer}/{escaped(name)}", report) for name, index in indexes.items()]
    found = tuple(place for place in places if place is not None)
    return found if len(found) == len(places) else None


def _entry(cell: Mapping[str, Any], pointer: str, report: Report) -> Entry | None:
    value, trials, stderr = number(cell["value"]), whole(cell.get("trials")), number(cell.get("stderr"))
    before = report.met
    for name in ("value", "stderr"):
        if is_rounded(cell.get(name)):
            report.rounded(cell[name], f"{pointer}/{name}")
    if value is None and cell["value"] is not None:
        report.fault(f"{pointer}/value", NO_VALUE)
    if trials is None and cell.get("trials") is not None:
        report.fault(f"{pointer}/trials", "must be a positive whole number")
    if cell.get("stderr") is not None and (stderr is None or stderr < 0):
        report.fault(f"{pointer}/stderr", "must be a number that is not negative")
    reason = cell.get("reason")
    if reason is not None and (reason not in REASONS or value is not None):
        report.fault(f"{pointer}/reason", f"goes with a null value and is one of {', '.join(REASONS)}")
    if value is None and (trials is not None or stderr is not None):
        report.fault(pointer, "a cell without a value has neither trials nor stderr")
    return Entry(value, trials, stderr, reason=reason, pointer=pointer) if report.met == before else None


def _repeats(together: Sequence[Entry], report: Report) -> Entry:
    """Several measurements of one cell as one: mean, count, sample standard deviation (ddof 1)."""
    first = together[0]
    values = [entry.value for entry in together if entry.value is not None]
    if len(values) < len(together):
        report.fault(together[-1].pointer, "this coordinate is given several times, and not always with a value")
        return first
    for name in ("trials", "stderr"):
        if len({getattr(entry, name) is None for entry in together}) == 2:
            report.fault(together[-1].pointer, f"repeats of one cell all carry {name}, or none does")
            return first
    if len({entry.trials for entry in together}) > 1:
        report.fault(together[-1].pointer, "repeats of one cell must have the same number of trials")
        return first
    count = len(values)
    trials = first.trials * count if first.trials is not None else None
    if trials is not None and trials > MOST_TRIALS:
        report.fault(together[-1].pointer, f"repeats of one cell have at most {MOST_TRIALS} trials together")
        return first
    errors = [entry.stderr for entry in together if entry.stderr is not None]
    try:
        mean = math.fsum(values) / count
        sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
        stderr = math.sqrt(math.fsum(error**2 for error in errors)) / count if errors else None
    except OverflowError:
        report.fault(together[-1].pointer, "the mean or the spread of these repeats is too large for a number")
        return first
    return Entry(mean, trials, stderr, count, sd, pointer=first.pointer)


def decimals(values: Sequence[float]) -> int:
    """Largest number of decimals in the shortest notation of any of the values."""
    text = orjson.dumps(values)
    if b"e" in text:
        return max(max(0, -int(Decimal(repr(value)).normalize().as_tuple().exponent)) for value in values)
    return max((0 if part == b"0" else len(part) for part in _FRACTION.findall(text)), default=0)


def warn_off_lattice(grid: Grid, place: Callable[[int], str], report: Report) -> None:
    """Warn of every value that no count out of its trials can produce.

    The mean of repeats may lie between two counts, each of them rounded: it is as coarse as the other values.
    """
    scale = grid.metric.proportion_of
    if grid.trials is None or scale is None:
        return
    measured = [value for value in grid.values if value is not None]
    repeats = grid.repeats or (None,) * len(grid.values)
    printed = [value for value, count in zip(grid.values, repeats, strict=True) if value is not None and not count]
    slack = 0.5 * 10.0 ** -decimals(printed) + 1e-9
    if isinstance(grid.trials, int):
        per = grid.trials / scale
        suspects = {value for value in set(measured) if abs(round(value * per) / per - value) > slack}
        off = [(i, value, grid.trials) for i, value in enumerate(grid.values) if value in suspects] if suspects else []
    else:
        each = zip(grid.values, grid.trials, strict=True)
        off = [
            (i, value, trials)
            for i, (value, trials) in enumerate(each)
            if value is not None and trials and abs(round(value * trials / scale) * scale / trials - value) > slack
        ]
    for index, value, trials in off:
        report.warn("off_lattice", place(index), f"{value} is not a whole count out of {trials} trials")


def without_false_exactness(
    grid: Grid, place: Callable[[int], str], report: Report, only: Container[int] | None = None
) -> Grid:
    """The grid without standard errors of exactly 0 beside proportions strictly between their bounds, each with a
    warning: the noise is then that of the trials, or unknown. `only`: indexes of the cells that are looked at.

    Some programs write 0 where they computed no standard error.
    """
    scale = grid.metric.proportion_of
    if scale is None or grid.stderr is None or 0 not in grid.stderr:
        return grid
    kept = list(grid.stderr)
    for index, (value, error) in enumerate(zip(grid.values, grid.stderr, strict=True)):
        if error != 0 or value is None or not 0 < value < scale or (only is not None and index not in only):
            continue
        kept[index] = None
        trials = grid.trials[index] if isinstance(grid.trials, tuple) else grid.trials
        noise = "its noise is unknown" if trials is None else f"its noise is that of {trials} trials"
        detail = f"the standard error of {value:g} is 0, which no proportion between 0 and {scale:g} has"
        report.warn("stderr_zero", place(index), f"{detail}: it was left out, and {noise}")
    return replace(grid, stderr=tuple(kept) if kept.count(None) < len(kept) else None)
