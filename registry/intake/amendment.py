"""A stored grid and new cells -> the grid of the next revision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from registry.grid import Grid, Position
from registry.intake import lattice
from registry.intake.blocks import in_numeric_order, size_of
from registry.intake.coordinates import Entry, read_cells
from registry.intake.faults import Doubt, Findings, Limits
from registry.intake.submission import build, check_values


def amend(grid: Grid, cells: Sequence[Mapping[str, Any]], limits: Limits) -> tuple[Grid, tuple[Doubt, ...]]:
    """`grid` with the cells added or replaced, levels added where needed; raises `Invalid`.

    A null value makes a cell unmeasured again. Cells that are not named stay as they are.
    """
    findings = Findings()
    axes, entries = read_cells(cells, grid.axes, limits, findings)
    if size_of(axes) > limits.cells:
        findings.fault("/cells", f"these coordinates span {size_of(axes)} cells; a grid holds at most {limits.cells}")
    findings.stop_at_faults()
    uniform = grid.trials if isinstance(grid.trials, int) else None
    amended = build(grid.metric, axes, _stored(grid) | entries, uniform, grid.labels)
    if isinstance(amended.trials, tuple) and uniform is not None and set(amended.trials) <= {uniform, None}:
        amended = replace(amended, trials=uniform)  # cells that repeat the one number of trials say nothing new
    pointers = {amended.index(at): entry.pointer for at, entry in entries.items()}

    def place(index: int) -> str:
        return f"{pointers.get(index, '')}/value"

    check_values(amended, place, findings)
    findings.stop_at_faults()
    lattice.look(amended, place, findings)
    mine = tuple(doubt for doubt in findings.doubts if doubt.pointer != "/value")
    return in_numeric_order(amended), mine


def _stored(grid: Grid) -> dict[Position, Entry]:
    own = isinstance(grid.trials, tuple)
    stored = {
        cell.at: Entry(cell.value, cell.trials if own else None, cell.stderr, cell.repeats, cell.sd)
        for cell in grid.cells()
    }
    return stored | {grid.position(index): Entry(None, reason=reason) for index, reason in grid.reasons.items()}
