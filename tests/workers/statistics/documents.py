"""Statistics as the JSON documents that are stored and served."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from registry.grids.grid import Grid, Metric
from registry.results.codec import to_document
from registry.results.parameters import Parameters
from workers import statistics
from workers.statistics import ScoreMatrix, board
from workers.statistics.counted import Counted


def describe(grid: Grid, parameters: Parameters | None = None) -> Any:
    """All statistics of a grid, by the usual settings in full."""
    return to_document(statistics.describe(grid, parameters or in_full(grid.metric)))


def in_full(metric: Metric) -> Parameters:
    """The usual settings of a metric, with every step, and of proportions with four levels."""
    levels = [(metric.proportion_of or 0.0) * share for share in (0.5, 0.75, 0.9, 0.95)]
    return replace(Parameters.of(metric), detail="full", thresholds=tuple(filter(None, levels)))


def gap(baseline: Grid, contender: Grid, differs: Sequence[str] = (), alpha: float = 0.05) -> Any:
    """The gap between two grids."""
    return to_document(statistics.gap(baseline, contender, differs, alpha))


def rank(standings: ScoreMatrix, *policy: Any, **more: Any) -> Any:
    """The ranking of the standings."""
    return to_document(statistics.rank(standings, *policy, **more))


def rank_counted(counted: Counted, *policy: Any) -> Any:
    """The ranking of what was counted."""
    return to_document(board.rank_counted(counted, *policy))


def standings(values: Any, owners: Any = None, names: Any = None, **more: Any) -> ScoreMatrix:
    """Names m0, m1 ... in percent over slots of the benchmarks b0, b1 ... that own them: of one unless told."""
    table = np.array(values, dtype=np.float64)
    owned = np.zeros(table.shape[1], dtype=np.int64) if owners is None else np.array(owners, dtype=np.int64)
    chosen = tuple(f"m{i}" for i in range(len(table))) if names is None else tuple(names)
    benchmarks = tuple(f"b{i}" for i in range(int(owned.max(initial=-1)) + 1))
    return ScoreMatrix(chosen, table, owned, benchmarks, **{"direction": "higher", "lower": 0, "upper": 100} | more)


def ends(interval: Any) -> tuple[float, float] | None:
    """The ends of an interval of a document or of a result."""
    if interval is None:
        return None
    return (interval["low"], interval["high"]) if isinstance(interval, dict) else (interval.low, interval.high)
