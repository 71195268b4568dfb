"""The trends of a grid as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from registry.renderings.tidy import harmless, tidy
from registry.results.series import Series
from registry.results.statistics import Statistics
from registry.results.terms import Interval


def csv(document: Statistics) -> str:
    """One row a series."""
    axes = list(dict.fromkeys(name for one in document.series for name in one.at))
    after = ["count", "from", "to", "first", "last", "slope", "slope_low", "slope_high"]
    after += ["change", "change_low", "change_high", "detectable", "noise"]
    after += ["mann_kendall_s", "mann_kendall_p", "min_attainable_p", "mann_kendall_status"]
    after += ["trend_p", "q", "direction", "shape", "shape_at"]
    return tidy(["grid", "revision", "along"], (_row(document, one, axes) for one in document.series), axes, after)


def _row(document: Statistics, one: Series, axes: Sequence[str]) -> list[Any]:
    change, test = one.fitted_change, one.mann_kendall
    cells = [document.grid, document.revision, one.along, *(one.at.get(name) for name in axes)]
    cells += [one.count, one.from_, one.to, one.first, one.last, one.slope, *_ends(one.slope_interval)]
    cells += [change.value if change else None, *_ends(change.interval if change else None)]
    cells += [one.detectable, one.noise, test.s, test.p, test.min_attainable_p, test.status]
    cells += [one.trend_p, one.q, one.direction, one.shape.kind, one.shape.at]
    return [harmless(cell) for cell in cells]


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if interval else (None, None)
