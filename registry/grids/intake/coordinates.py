"""Tidy cells: values at named coordinates. Undeclared levels are added; a coordinate given twice is a repeat."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.grids.grid import REASONS, Axis, Position
from registry.grids.intake.faults import MOST_TRIALS, NO_VALUE, Limits, Report, escaped, is_rounded, number, whole
from registry.grids.intake.levels import LevelIndex


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
