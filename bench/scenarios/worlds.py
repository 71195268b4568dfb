"""Grids drawn from a known truth."""

from dataclasses import replace

import numpy as np

from bench.scenarios import Chance
from registry.grids.grid import Axis, Grid, Kind, Level, Metric
from registry.results.courses import Direction, Series
from workers.statistics import Parameters, describe
from workers.statistics.curves import Curves
from workers.statistics.table import Table

PERCENT = Metric("accuracy", "%", "higher", 0, 100)
LOSS = Metric("loss", None, "lower")


def axis(name: str, size: int, kind: Kind = "numeric") -> Axis:
    levels = tuple(Level(str(i), float(i) if kind == "numeric" else None) for i in range(size))
    return Axis(name, kind, levels)


def flat(grid: np.ndarray) -> tuple[float, ...]:
    return tuple(float(value) for value in grid.ravel())


def axes_of(shape: tuple[int, ...], rows: Kind = "nominal") -> tuple[Axis, ...]:
    """Rows x columns; the columns have numbers, the rows are types unless another kind is named."""
    return axis("row", shape[0], rows), axis("x", shape[1])


def hits(chance: Chance, truth: np.ndarray, n: int | np.ndarray, spread: float = 1.0) -> np.ndarray:
    """Successes of n trials; with `spread` above 1 the variance is so many times the binomial one."""
    if spread == 1.0:
        return chance.binomial(n, truth)
    size = (n - 1) / (spread - 1) - 1  # of the beta law behind beta-binomial counts
    return chance.binomial(n, chance.beta(truth * size, (1 - truth) * size))


def proportions(
    chance: Chance,
    truth: np.ndarray,
    n: int | np.ndarray,
    spread: float = 1.0,
    effect: float | None = None,
    rows: Kind = "nominal",
) -> Grid:
    """Rows x columns of proportions with trials, alike or those of each cell."""
    values = 100 * hits(chance, truth, n, spread) / n
    trials = n if isinstance(n, int) else tuple(int(one) for one in n.ravel())
    return Grid(PERCENT, axes_of(truth.shape, rows), flat(values), trials, design_effect=effect)


def with_errors(chance: Chance, truth: np.ndarray, errors: np.ndarray, rows: Kind = "nominal") -> Grid:
    """Rows x columns of losses with normal noise of these standard errors, which are posted."""
    return Grid(
        LOSS, axes_of(truth.shape, rows), flat(truth + errors * chance.normal(size=truth.shape)), stderr=flat(errors)
    )


def without_trials(grid: Grid) -> Grid:
    return Grid(grid.metric, grid.axes, grid.values)


def repeated(
    chance: Chance, truth: np.ndarray, repeats: int, noise: float | np.ndarray = 1.0, rows: Kind = "nominal"
) -> Grid:
    """Rows x columns of losses with normal noise of this standard deviation, each the mean of so many repeats."""
    runs = truth[..., None] + np.broadcast_to(noise, truth.shape)[..., None] * chance.normal(
        size=(*truth.shape, repeats)
    )
    count, sd = (repeats,) * truth.size, flat(runs.std(axis=-1, ddof=1))
    return Grid(LOSS, axes_of(truth.shape, rows), flat(runs.mean(axis=-1)), repeats=count, sd=sd)


def repeated_trials(chance: Chance, truth: np.ndarray, repeats: int, n: int, spread: float) -> Grid:
    """Rows x columns of proportions out of repeats of n trials, which vary by so many times the binomial variance."""
    runs = 100 * hits(chance, np.repeat(truth[..., None], repeats, axis=-1), n, spread) / n
    count, sd = (repeats,) * truth.size, flat(runs.std(axis=-1, ddof=1))
    return Grid(PERCENT, axes_of(truth.shape), flat(runs.mean(axis=-1)), n * repeats, repeats=count, sd=sd)


def curves_of(grid: Grid) -> Curves:
    """The series along the last axis of a full grid."""
    return Curves.of(list(Table.of(grid).curves(len(grid.axes) - 1)))


def series_of(grid: Grid) -> list[Series]:
    """The series along the last axis, as a report has them, but for their thresholds."""
    found = describe(grid, replace(Parameters.of(grid.metric), thresholds=()))
    return [one for one in found.series if one.along == grid.axes[-1].name]


def directions(grid: Grid) -> list[Direction]:
    """The words of the series along the last axis."""
    return [one.direction for one in series_of(grid)]


def breaks(grid: Grid) -> int:
    """How many steps of the series along the last axis are sharp, and how many declines set in."""
    return sum(breaks_of(one) for one in series_of(grid))


def breaks_of(one: Series) -> int:
    """The same of one series."""
    return sum(bool(step.sharp) for step in one.changes) + int(one.onset is not None and one.onset.by is not None)


def words_of(grid: Grid, alpha: float = 0.05) -> set[str]:
    """What a report says of a grid: the trends, variations and breaks of its series, a common direction, an axis that
    matters, an interaction."""
    found = describe(grid, replace(Parameters.of(grid.metric), thresholds=()))
    said = {one.direction for one in found.series}
    words = {"trend"} if any("creasing" in word for word in said) else set()
    words |= said & {"varies_without_trend"}
    words |= {"break"} if any(breaks_of(one) for one in found.series) else set()
    common = (one.p for one in found.grid_trend.values() if one.status == "ok" and one.rows > 1)
    words |= {"common direction"} if any(p is not None and p < alpha for p in common) else set()
    shares = found.sensitivity and found.sensitivity.axes
    words |= {"axis"} if any(one.p is not None and one.p < alpha for one in (shares or {}).values()) else set()
    rest = found.sensitivity and found.sensitivity.residual
    return words | ({"interaction"} if rest and rest.logit and rest.logit.p < alpha else set())
