"""Statistics as the JSON documents that are stored and served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from registry.grids.grid import Grid
from registry.results.codec import to_document
from registry.results.parameters import Parameters
from workers import statistics
from workers.statistics import counted_ranking
from workers.statistics.counted import Counted


def describe(grid: Grid, parameters: Parameters | None = None) -> Any:
    """All statistics of a grid."""
    return to_document(statistics.describe(grid, parameters))


def gap(baseline: Grid, contender: Grid, differs: Sequence[str] = (), alpha: float = 0.05) -> Any:
    """The gap between two grids."""
    return to_document(statistics.gap(baseline, contender, differs, alpha))


def sweet_spot(grids: Sequence[Grid]) -> Any:
    """One coordinate for several grids."""
    return to_document(statistics.sweet_spot(grids))


def rank(standings: statistics.ScoreMatrix, *policy: Any, **more: Any) -> Any:
    """The ranking of the standings."""
    return to_document(statistics.rank(standings, *policy, **more))


def rank_counted(counted: Counted, *policy: Any) -> Any:
    """The ranking of what was counted."""
    return to_document(counted_ranking.rank_counted(counted, *policy))
