"""The whole document of one grid."""

from __future__ import annotations

from typing import Any

from registry.grids.grid import Grid
from workers.statistics.best_cells import NoisyPeaks, noisy_peaks
from workers.statistics.coverage import coverage
from workers.statistics.document import plain
from workers.statistics.grid_trend import grid_trends
from workers.statistics.peaks import peaks
from workers.statistics.precision import precision
from workers.statistics.sensitivity import Sensitivity, sensitivity
from workers.statistics.series import AllSeries, all_series
from workers.statistics.table import Table
from workers.statistics.table_noise import known_noise
from workers.statistics.terms import Parameters

OUT_OF_REACH = "the values, errors or axis numbers are not all between 10^-100 and 10^100 in size"


def describe(grid: Grid, parameters: Parameters | None = None) -> dict[str, Any]:
    """All statistics of a grid as JSON-ready values, with the names of the contract.

    Works for any number of axes, ragged and empty grids. Deterministic; no NaN or Infinity; bounded in time and
    size by the limits that the modules state. A grid of astronomic numbers keeps its coverage, precision and
    peaks and loses what needs squares: `series_reason` and the sensitivity's `reason` say so.
    """
    parameters = parameters or Parameters.of(grid.metric)
    table = Table.of(grid)
    reach = table.computable
    found = all_series(table, parameters) if reach else AllSeries((), 0)
    noisy = noisy_peaks(table, 1 - parameters.alpha) if reach else NoisyPeaks("unknown", "undefined", OUT_OF_REACH)
    return {
        "params": plain(parameters),
        "design_effect": grid.design_effect,
        "assumes": assumptions(table),
        "coverage": plain(coverage(table)),
        "series": plain(found.series),
        "series_left_out": found.left_out,
        "series_reason": None if reach else OUT_OF_REACH,
        "peaks": plain(peaks(table)) | plain(noisy),
        "sensitivity": plain(
            sensitivity(table, parameters.alpha) if reach else Sensitivity("undefined", reason=OUT_OF_REACH)
        ),
        "precision": plain(precision(table)),
        "grid_trend": plain(grid_trends(table, parameters.alpha)),
    }


def assumptions(table: Table) -> list[str]:
    """What the tests take for granted: `independent_trials` where they rest on trials, and no design effect says how
    far the trials of a cell depend on each other; `independent_levels` where no noise is known and the tests of a
    course rest on the scatter about it."""
    noise = known_noise(table)
    ordered = any(axis.kind != "nominal" and len(axis.levels) > 2 for axis in table.axes)
    if noise == "unknown":
        return ["independent_levels"] if ordered else []
    return ["independent_trials"] if noise == "trials" and table.design_effect == 1.0 else []
