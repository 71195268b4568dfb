"""The trends of a grid as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from registry.renderings import splits
from registry.renderings.tidy import harmless, tidy
from registry.results.series import Series
from registry.results.statistics import Statistics
from registry.results.terms import Interval

COLUMNS = (
    *("count", "from", "to", "first", "last", "slope", "slope_low", "slope_high"),
    *("change", "change_low", "change_high", "retained", "retained_low", "retained_high", "detectable", "noise"),
    *("mann_kendall_s", "mann_kendall_p", "min_attainable_p", "mann_kendall_status"),
    *("trend_p", "q", "direction", "shape", "shape_at"),
)
"""What a table says of a series, besides which one it is."""


def csv(document: Statistics) -> str:
    """One row a series."""
    axes = list(dict.fromkeys(name for one in document.series for name in one.at))
    split = document.params.split is not None
    left = document.series_left_out
    rows = ([*_row(document, one, axes), *(splits.cells_of(one) if split else ()), left] for one in document.series)
    after = (*COLUMNS, *(splits.COLUMNS if split else ()), "series_left_out")
    return tidy(["grid", "revision", "along"], rows, axes, after, only=document.slice)


def _row(document: Statistics, one: Series, axes: Sequence[str]) -> list[Any]:
    cells = [document.grid, document.revision, one.along, *(one.at.get(name) for name in axes), *cells_of(one)]
    return [harmless(cell) for cell in cells]


def cells_of(one: Series) -> tuple[Any, ...]:
    """The cells of a series in `COLUMNS`."""
    change, test, left = one.fitted_change, one.mann_kendall, one.retained
    return (
        *(one.count, one.from_, one.to, one.first, one.last, one.slope, *_ends(one.slope_interval)),
        *(change.value if change else None, *_ends(change.interval if change else None)),
        *(left.value if left else None, *_ends(left.interval if left else None)),
        *(one.detectable, one.noise, test.s, test.p, test.min_attainable_p, test.status),
        *(one.trend_p, one.q, one.direction, one.shape.kind, one.shape.at),
    )


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if interval else (None, None)
