"""The whole document of one grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from registry.grids.grid import Grid
from registry.results.parameters import Parameters
from registry.results.sensitivity import Sensitivity
from registry.results.series import Series
from registry.results.statistics import GridStatistics
from registry.results.terms import OF_REPEATS
from workers.statistics.best_cells import noisy_peaks
from workers.statistics.coverage import coverage
from workers.statistics.grid_trend import grid_trends
from workers.statistics.peaks import peaks
from workers.statistics.precision import precision
from workers.statistics.sensitivity import sensitivity
from workers.statistics.series import Asked, curves_of, families
from workers.statistics.splits import grid_splits
from workers.statistics.table import Curve, Table
from workers.statistics.table_noise import known_noise

OUT_OF_REACH = "the values, errors or axis numbers are not all between 10^-100 and 10^100 in size"


def describe(grid: Grid, parameters: Parameters | None = None) -> GridStatistics:
    """All statistics of a grid.

    Works for any number of axes, ragged and empty grids. Deterministic; no NaN or Infinity; bounded in time and
    size by the limits that the modules state. A grid of astronomic numbers keeps its coverage, precision and
    peaks and loses what needs squares: `series_reason` and the sensitivity's `reason` say so.
    """
    return describe_all([grid], parameters)[0]


def describe_all(grids: Sequence[Grid], parameters: Parameters | None = None) -> list[GridStatistics]:
    """The same of each grid, to the last bit. Series of one length are computed together, which takes a fraction of
    the time that they take one by one."""
    tables = [Table.of(grid) for grid in grids]
    settings = [parameters or Parameters.of(grid.metric) for grid in grids]
    found = all_series(tables, settings)
    return [_description(*row) for row in zip(grids, tables, settings, found, strict=True)]


@dataclass(frozen=True, slots=True)
class AllSeries:
    """The series of a grid along every ordered axis, and how many were left out."""

    series: tuple[Series, ...]
    left_out: int


def all_series(tables: Sequence[Table], settings: Sequence[Parameters]) -> list[AllSeries]:
    """The series of each grid axis by axis; none of a grid of astronomic numbers."""
    along: list[list[list[Curve]]] = []
    left_out: list[int] = []
    for table in tables:
        curves, rest = curves_of(table) if table.computable else ([], 0)
        along.append(curves)
        left_out.append(rest)
    asked = [
        Asked(curves, parameters, table.metric.direction, table.metric.proportion_of)
        for table, parameters, axes in zip(tables, settings, along, strict=True)
        for curves in axes
    ]
    judged = iter(families(asked))
    return [
        AllSeries(tuple(chain.from_iterable(next(judged) for _ in axes)), rest)
        for axes, rest in zip(along, left_out, strict=True)
    ]


def _description(grid: Grid, table: Table, parameters: Parameters, found: AllSeries) -> GridStatistics:
    """The parts of one grid together."""
    reach = table.computable
    return GridStatistics(
        params=parameters,
        design_effect=grid.design_effect,
        assumes=assumptions(grid, table),
        coverage=coverage(table),
        series=found.series,
        series_left_out=found.left_out,
        series_reason=None if reach else OUT_OF_REACH,
        peaks=noisy_peaks(table, 1 - parameters.alpha) if reach else replace(peaks(table), noise_reason=OUT_OF_REACH),
        sensitivity=sensitivity(table, parameters.alpha) if reach else Sensitivity("undefined", reason=OUT_OF_REACH),
        precision=precision(table),
        grid_split=None if parameters.split is None else grid_splits(found.series, 1 - parameters.alpha),
        grid_trend=grid_trends(table, parameters.alpha),
    )


def assumptions(grid: Grid, table: Table) -> tuple[str, ...]:
    """Assumptions of the tests: `independent_trials` where they rest on trials, and no design effect says how
    far the trials of a cell depend on each other, `design_effect_of_repeats` where repeats say so;
    `independent_levels` where no noise is known and the tests of a course rest on the scatter about it."""
    noise = known_noise(table)
    ordered = any(axis.kind != "nominal" and len(axis.levels) > 2 for axis in table.axes)
    if noise == "unknown":
        return ("independent_levels",) if ordered else ()
    if noise != "trials" or grid.design_effect is not None:
        return ()
    return ("independent_trials" if table.design_effect == 1.0 else OF_REPEATS,)
