"""The whole document of one grid."""

from __future__ import annotations

from dataclasses import replace

from registry.grids.grid import Grid
from registry.results.parameters import Parameters
from registry.results.sensitivity import Sensitivity
from registry.results.statistics import GridStatistics
from workers.statistics.best_cells import noisy_peaks
from workers.statistics.coverage import coverage
from workers.statistics.grid_trend import grid_trends
from workers.statistics.peaks import peaks
from workers.statistics.precision import precision
from workers.statistics.sensitivity import sensitivity
from workers.statistics.series import AllSeries, all_series
from workers.statistics.table import Table
from workers.statistics.table_noise import known_noise

OUT_OF_REACH = "the values, errors or axis numbers are not all between 10^-100 and 10^100 in size"


def describe(grid: Grid, parameters: Parameters | None = None) -> GridStatistics:
    """All statistics of a grid.

    Works for any number of axes, ragged and empty grids. Deterministic; no NaN or Infinity; bounded in time and
    size by the limits that the modules state. A grid of astronomic numbers keeps its coverage, precision and
    peaks and loses what needs squares: `series_reason` and the sensitivity's `reason` say so.
    """
    parameters = parameters or Parameters.of(grid.metric)
    table = Table.of(grid)
    reach = table.computable
    found = all_series(table, parameters) if reach else AllSeries((), 0)
    return GridStatistics(
        params=parameters,
        design_effect=grid.design_effect,
        assumes=assumptions(table),
        coverage=coverage(table),
        series=found.series,
        series_left_out=found.left_out,
        series_reason=None if reach else OUT_OF_REACH,
        peaks=noisy_peaks(table, 1 - parameters.alpha) if reach else replace(peaks(table), noise_reason=OUT_OF_REACH),
        sensitivity=sensitivity(table, parameters.alpha) if reach else Sensitivity("undefined", reason=OUT_OF_REACH),
        precision=precision(table),
        grid_trend=grid_trends(table, parameters.alpha),
    )


def assumptions(table: Table) -> tuple[str, ...]:
    """What the tests take for granted: `independent_trials` where they rest on trials, and no design effect says how
    far the trials of a cell depend on each other; `independent_levels` where no noise is known and the tests of a
    course rest on the scatter about it."""
    noise = known_noise(table)
    ordered = any(axis.kind != "nominal" and len(axis.levels) > 2 for axis in table.axes)
    if noise == "unknown":
        return ("independent_levels",) if ordered else ()
    return ("independent_trials",) if noise == "trials" and table.design_effect == 1.0 else ()
