"""Grids drawn from a known truth."""

from __future__ import annotations

import numpy as np

from bench.scenarios import Chance
from registry.grids.grid import Axis, Grid, Level, Metric
from registry.results.courses import Direction
from workers.statistics import Parameters
from workers.statistics.changes import holm_of_family, judged, listed, onsets, steps_of
from workers.statistics.curves import Curves
from workers.statistics.judging import adjusted
from workers.statistics.series import direction_of
from workers.statistics.table import Table
from workers.statistics.trend import trends_of

PERCENT = Metric("accuracy", "%", "higher", 0, 100)
LOSS = Metric("loss", None, "lower")


def axis(name: str, size: int, kind: str = "numeric") -> Axis:
    levels = tuple(Level(str(i), float(i) if kind == "numeric" else None) for i in range(size))
    return Axis(name, kind, levels)  # type: ignore[arg-type]


def flat(grid: np.ndarray) -> tuple[float, ...]:
    return tuple(float(value) for value in grid.ravel())


def hits(chance: Chance, truth: np.ndarray, n: int, spread: float = 1.0) -> np.ndarray:
    """Successes of n trials; with `spread` above 1 the variance is so many times the binomial one."""
    if spread == 1.0:
        return chance.binomial(n, truth)
    size = (n - 1) / (spread - 1) - 1  # of the beta law behind beta-binomial counts
    return chance.binomial(n, chance.beta(truth * size, (1 - truth) * size))


def proportions(chance: Chance, truth: np.ndarray, n: int, spread: float = 1.0, effect: float | None = None) -> Grid:
    """Rows x columns of proportions with trials; the columns have numbers, the rows are types."""
    values = 100 * hits(chance, truth, n, spread) / n
    rows, columns = truth.shape
    axes = (axis("row", rows, "nominal"), axis("x", columns))
    return Grid(PERCENT, axes, flat(values), n, design_effect=effect)


def without_trials(grid: Grid) -> Grid:
    return Grid(grid.metric, grid.axes, grid.values)


def repeated(chance: Chance, truth: np.ndarray, repeats: int) -> Grid:
    """Rows x columns of losses with normal noise of variance 1, each the mean of so many repeats."""
    runs = truth[..., None] + chance.normal(size=(*truth.shape, repeats))
    axes = (axis("row", truth.shape[0], "nominal"), axis("x", truth.shape[1]))
    count, sd = (repeats,) * truth.size, flat(runs.std(axis=-1, ddof=1))
    return Grid(LOSS, axes, flat(runs.mean(axis=-1)), repeats=count, sd=sd)


def curves_of(grid: Grid) -> Curves:
    """The series along the last axis of a full grid."""
    return Curves.of(list(Table.of(grid).curves(len(grid.axes) - 1)))


def directions(grid: Grid) -> list[Direction]:
    """The words of the series along the last axis, as `along_axis` gives them, without the statistics beside them."""
    curves, parameters = curves_of(grid), Parameters.of(grid.metric)
    trends = trends_of(curves, parameters.alpha)
    q = adjusted([trend.p for trend in trends], "bh")
    differ = adjusted([trend.heterogeneity.p if trend.heterogeneity else None for trend in trends], "bh")
    return [
        direction_of(curve, trend, q[i], differ[i], parameters)
        for i, (curve, trend) in enumerate(zip(curves.rows, trends, strict=True))
    ]


def breaks(grid: Grid) -> int:
    """How many steps of the series along the last axis are sharp, and how many declines set in."""
    curves, parameters = curves_of(grid), Parameters.of(grid.metric)
    steps = steps_of(curves, 1 - parameters.alpha)
    corrected = holm_of_family([steps.p_of(row) for row in range(len(curves))])
    sharp = sum(
        bool(step.sharp)
        for one, p in zip(listed(curves, steps, parameters.alpha), corrected, strict=True)
        for step in one.changes(p, parameters)
    )
    declines = judged(onsets(curves, parameters, grid.metric.direction), parameters.alpha)
    return sharp + sum(bool(one and one.level is not None) for one in declines)
