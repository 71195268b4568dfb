"""Amendment of a stored grid, for PATCH: apply new cells, which gives the grid of the next revision."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from registry.grids.grid import Axis, Grid, Position
from registry.grids.intake import sent_cells
from registry.grids.intake.faults import IntakeWarning, Limits, Report, escaped
from registry.grids.intake.members import check_amended
from registry.grids.intake.sent_cells import Entry, in_numeric_order, read_cells, size_of
from registry.grids.intake.submission import check_values


def amend(
    grid: Grid, cells: Sequence[Mapping[str, Any]], limits: Limits, *, may_grow: bool = True
) -> tuple[Grid, tuple[IntakeWarning, ...]]:
    """`grid` with the cells added or replaced, and levels added where needed, each with a warning; raises `Invalid`.

    A null value makes a cell unmeasured again. Other cells stay as they are. A new level is a fault unless the axes
    `may_grow`.
    """
    report = Report()
    axes, entries = read_cells(cells, grid.axes, limits, report)
    _warn_of_growth(grid.axes, axes, entries, report, may_grow=may_grow)
    if size_of(axes) > limits.cells:
        report.fault("/cells", f"these coordinates span {size_of(axes)} cells; a grid holds at most {limits.cells}")
    report.stop_at_faults()
    amended = _replaced(_widened(grid, axes), entries)
    pointers = {amended.index(at): entry.pointer for at, entry in entries.items()}

    def place(index: int) -> str:
        return f"{pointers.get(index, '')}/value"

    check_values(amended, place, report)
    check_amended(amended, lambda index: f"{pointers.get(index, '')}/trials", report)
    report.stop_at_faults()
    amended = sent_cells.without_false_exactness(amended, place, report, pointers)
    sent_cells.warn_off_lattice(amended, place, report)
    mine = tuple(warning for warning in report.all_warnings() if warning.pointer != "/value")
    return in_numeric_order(amended), mine


def _warn_of_growth(
    before: Sequence[Axis],
    after: Sequence[Axis],
    entries: Mapping[Position, Entry],
    report: Report,
    *,
    may_grow: bool,
) -> None:
    """Warn of every level that an axis did not have, at the first cell that brings it."""
    brought: dict[tuple[int, int], str] = {}
    if before != tuple(after):
        for position, entry in entries.items():
            for place, level in enumerate(position):
                if level >= len(before[place].levels):
                    brought.setdefault((place, level), entry.pointer)
    for (place, level), cell in brought.items():
        axis = after[place]
        pointer, label = f"{cell}/at/{escaped(axis.name)}", axis.levels[level].label
        if may_grow:
            report.warn("level_added", pointer, f'the axis "{axis.name}" had no level "{label}": it was added')
        else:
            report.fault(pointer, f'the axis "{axis.name}" has no level "{label}", and levels=fixed adds none')


_COLUMNS = ("values", "trials", "stderr", "repeats", "sd")


def _widened(grid: Grid, axes: tuple[Axis, ...]) -> Grid:
    """The same cells over axes that have grown at their ends."""
    if axes == grid.axes:
        return grid
    wide = Grid(grid.metric, axes, ())
    run = grid.shape[-1]
    starts = [wide.index((*at, 0)) for at in itertools.product(*map(range, grid.shape[:-1]))]

    def moved(column: tuple[Any, ...]) -> tuple[Any, ...]:
        found: list[Any] = [None] * size_of(axes)
        for number, start in enumerate(starts):
            found[start : start + run] = column[number * run : (number + 1) * run]
        return tuple(found)

    columns: dict[str, Any] = {
        name: moved(given) for name in _COLUMNS if isinstance(given := getattr(grid, name), tuple)
    }
    reasons = {wide.index(grid.position(index)): reason for index, reason in grid.reasons.items()}
    return replace(grid, axes=axes, reasons=reasons, **columns)


def _replaced(grid: Grid, entries: Mapping[Position, Entry]) -> Grid:
    placed = {grid.index(at): entry for at, entry in entries.items()}
    uniform = grid.trials if isinstance(grid.trials, int) else None
    columns: dict[str, Any] = {}
    for name in _COLUMNS:
        new = {index: getattr(entry, "value" if name == "values" else name) for index, entry in placed.items()}
        if name == "trials" and uniform is not None:
            if set(new.values()) <= {uniform, None}:
                continue  # cells that repeat the one number of trials say nothing new
            new = {index: own or uniform if placed[index].value is not None else None for index, own in new.items()}
            grid = replace(grid, trials=tuple(None if value is None else uniform for value in grid.values))
        given = getattr(grid, name)
        if given is None and not any(one is not None for one in new.values()):
            continue
        column = [None] * len(grid.values) if given is None else list(given)
        for index, one in new.items():
            column[index] = one
        kept = name == "values" or tuple(column) == given or column.count(None) < len(column)
        columns[name] = tuple(column) if kept else None
    reasons = {index: reason for index, reason in grid.reasons.items() if index not in placed}
    reasons |= {index: entry.reason for index, entry in placed.items() if entry.reason is not None}
    return replace(grid, reasons=reasons, **columns)
