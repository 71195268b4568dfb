"""Statistics as the JSON documents that are stored and served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from registry.grids.grid import Grid
from registry.results.codec import to_document
from registry.results.parameters import Parameters
from workers import statistics


def describe(grid: Grid, parameters: Parameters | None = None) -> Any:
    """All statistics of a grid."""
    return to_document(statistics.describe(grid, parameters))


def gap(baseline: Grid, contender: Grid, differs: Sequence[str] = (), alpha: float = 0.05) -> Any:
    """The gap between two grids."""
    return to_document(statistics.gap(baseline, contender, differs, alpha))


def sweet_spot(grids: Sequence[Grid]) -> Any:
    """One coordinate for several grids."""
    return to_document(statistics.sweet_spot(grids))
