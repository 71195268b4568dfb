"""Find what a proportion cannot be: off the lattice k / n of its n trials, or without noise between its bounds.

A value printed with d decimals is on the lattice when some whole k has |scale k / n - value| <= 10^-d / 2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from decimal import Decimal

import orjson

from registry.grids.grid import Grid
from registry.grids.intake.faults import Report

_FRACTION = re.compile(rb"\.(\d+)")


def decimals(values: Sequence[float]) -> int:
    """Largest number of decimals in the shortest notation of any of the values."""
    text = orjson.dumps(values)
    if b"e" in text:
        return max(max(0, -int(Decimal(repr(value)).normalize().as_tuple().exponent)) for value in values)
    return max((0 if part == b"0" else len(part) for part in _FRACTION.findall(text)), default=0)


def warn_off_lattice(grid: Grid, place: Callable[[int], str], report: Report) -> None:
    """Warn of every value that no count out of its trials can produce.

    The mean of repeats may lie between two counts, each of them rounded: it is as coarse as the other values.
    """
    scale = grid.metric.proportion_of
    if grid.trials is None or scale is None:
        return
    measured = [value for value in grid.values if value is not None]
    repeats = grid.repeats or (None,) * len(grid.values)
    printed = [value for value, count in zip(grid.values, repeats, strict=True) if value is not None and not count]
    slack = 0.5 * 10.0 ** -decimals(printed) + 1e-9
    if isinstance(grid.trials, int):
        per = grid.trials / scale
        suspects = {value for value in set(measured) if abs(round(value * per) / per - value) > slack}
        off = [(i, value, grid.trials) for i, value in enumerate(grid.values) if value in suspects] if suspects else []
    else:
        each = zip(grid.values, grid.trials, strict=True)
        off = [
            (i, value, trials)
            for i, (value, trials) in enumerate(each)
            if value is not None and trials and abs(round(value * trials / scale) * scale / trials - value) > slack
        ]
    for index, value, trials in off:
        report.warn("off_lattice", place(index), f"{value} is not a whole count out of {trials} trials")


def without_false_exactness(
    grid: Grid, place: Callable[[int], str], report: Report, only: Container[int] | None = None
) -> Grid:
    """The grid without standard errors of exactly 0 beside proportions strictly between their bounds, each with a
    warning: the noise is then that of the trials, or unknown. `only`: indexes of the cells that are looked at.

    Some programs write 0 where they computed no standard error.
    """
    scale = grid.metric.proportion_of
    if scale is None or grid.stderr is None or 0 not in grid.stderr:
        return grid
    kept = list(grid.stderr)
    for index, (value, error) in enumerate(zip(grid.values, grid.stderr, strict=True)):
        if error != 0 or value is None or not 0 < value < scale or (only is not None and index not in only):
            continue
        kept[index] = None
        trials = grid.trials[index] if isinstance(grid.trials, tuple) else grid.trials
        noise = "its noise is unknown" if trials is None else f"its noise is that of {trials} trials"
        detail = f"the standard error of {value:g} is 0, which no proportion between 0 and {scale:g} has"
        report.warn("stderr_zero", place(index), f"{detail}: it was left out, and {noise}")
    return replace(grid, stderr=tuple(kept) if kept.count(None) < len(kept) else None)
