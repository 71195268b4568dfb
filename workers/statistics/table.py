"""A grid as arrays, and the curves that its series draw."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from registry.grids.grid import Axis, Grid, Metric, Position
from registry.results.series import XScale
from registry.results.terms import Place
from workers.statistics.decimals import decimals_of, ticks_of
from workers.statistics.noise import CellErrors, Noise, binomial_errors, noise_of_cells
from workers.statistics.terms import BoolArray, FloatArray, IntArray, computable

Scalar = TypeVar("Scalar", bound=np.generic)
Given = TypeVar("Given", FloatArray, IntArray)


def place_of(axis: Axis, position: int) -> Place:
    """The level at a position as an answer names it; whole numbers come as integers."""
    level = axis.levels[position]
    if axis.kind != "numeric" or level.number is None:
        return level.label
    whole = level.number == int(level.number) and abs(level.number) < 1e15
    return int(level.number) if whole else float(level.number)


def abscissa_of(axis: Axis) -> tuple[FloatArray, XScale]:
    """What a slope divides by: numbers, their log10 on a logarithmic axis of positive numbers, or positions.

    Positions also where two levels share a number ("32b" and "32B"): nothing could be divided by their distance.
    """
    numbers = np.asarray(axis.numbers, dtype=np.float64)
    if np.any(np.diff(numbers) <= 0):
        return np.arange(numbers.size, dtype=np.float64), "linear"
    if axis.kind == "numeric" and axis.scale == "log" and numbers.size and numbers.min() > 0:
        return np.log10(numbers), "log10"
    return numbers, "linear"


@dataclass(frozen=True)
class Curve:
    """The measured cells of one series as arrays of one length m >= 1, in the order of the axis.

    `ticks` are the values as integers of 10^-`decimals`. `trials` is `None` unless every cell has some, `stderr`
    likewise, and `repeats` unless every error was estimated from two or more. `whole` is 1 or 100 when the
    values are proportions on that scale, whose variance is `design_effect` times the binomial one. `levels` are those
    of the whole axis.
    """

    axis: Axis
    at: tuple[tuple[Axis, int], ...]
    positions: IntArray
    x: FloatArray
    x_scale: XScale
    y: FloatArray
    ticks: IntArray
    decimals: int
    trials: IntArray | None
    stderr: FloatArray | None
    repeats: IntArray | None
    whole: float | None
    levels: tuple[Place, ...]
    design_effect: float = 1.0

    @property
    def count(self) -> int:
        return int(self.y.size)

    @property
    def span(self) -> float:
        """The distance from the first to the last abscissa."""
        return float(self.x[-1] - self.x[0])

    @property
    def moves(self) -> FloatArray:
        """The m - 1 differences between neighbours, rounded to the submitted decimals: -5.6, not -5.59999."""
        return np.asarray(np.diff(self.ticks) / 10.0**self.decimals, dtype=np.float64)

    @cached_property
    def noise(self) -> Noise | None:
        """What is known of the cells' errors; `None` unless it is known of all of them."""
        given = CellErrors(self.y, self.trials, self.stderr, self.repeats, self.whole, self.design_effect)
        return noise_of_cells(given)

    @cached_property
    def places(self) -> list[Place]:
        """The levels of the measured cells."""
        return [self.levels[position] for position in self.positions.tolist()]

    def place(self, index: int) -> Place:
        """The level of the index-th measured cell."""
        return self.places[index]


@dataclass(frozen=True)
class Table:
    """A grid as arrays of the grid's shape: `values` with NaN where nobody measured, `ticks` as integers.

    `trials` (0 = unknown) exists only for proportions; `stderr` (NaN = unknown) is the submitted one, or
    sd / sqrt(repeats) where a cell was repeated; `repeats` counts those behind such an estimate, else 0.
    A submitted error goes before trials, because who posts both knows something that a number of trials does not:
    then `counts` is `None`, and cells with trials alone have their binomial error. `design_effect` multiplies
    binomial variances.
    """

    metric: Metric
    axes: tuple[Axis, ...]
    values: FloatArray
    ticks: IntArray
    decimals: int
    trials: IntArray | None
    stderr: FloatArray | None
    repeats: IntArray | None
    design_effect: float = 1.0
    counts: IntArray | None = None

    @classmethod
    def of(cls, grid: Grid) -> Table:
        values = np.array(grid.values, dtype=np.float64).reshape(grid.shape)
        decimals = decimals_of(values)
        ticks, trials, effect = ticks_of(values, decimals), trials_of(grid), grid.design_effect or 1.0
        stderr, repeats = stderr_of(grid)
        counts = trials
        if grid.stderr is not None and trials is not None and stderr is not None and np.any(np.isfinite(stderr)):
            stderr, counts = with_binomial_errors(stderr, values, trials, grid.metric.proportion_of, effect), None
        return cls(grid.metric, grid.axes, values, ticks, decimals, trials, stderr, repeats, effect, counts)

    @cached_property
    def present(self) -> BoolArray:
        return np.isfinite(self.values)

    @property
    def computable(self) -> bool:
        """Whether all magnitudes lie within 10^-100 and 10^100, so that squares neither overflow nor vanish."""
        errors = [] if self.stderr is None else [self.stderr[self.present]]
        return computable(self.values, *errors, *(np.asarray(axis.numbers, dtype=np.float64) for axis in self.axes))

    @property
    def cells(self) -> int:
        """How many cells were measured."""
        return int(np.count_nonzero(self.present))

    def places(self, position: Position) -> dict[str, Place]:
        """A coordinate as an answer writes it: axis name -> level."""
        return {axis.name: place_of(axis, int(p)) for axis, p in zip(self.axes, position, strict=True)}

    def curves(self, along: int) -> Iterator[Curve]:
        """Every series along an axis that has a cell, in row-major order of the other axes."""
        axis = self.axes[along]
        x, scale = abscissa_of(axis)
        rows = np.moveaxis(self.present, along, -1)
        others = [a for i, a in enumerate(self.axes) if i != along]
        levels = tuple(place_of(axis, position) for position in range(len(axis.levels)))
        for at in np.argwhere(rows.any(axis=-1)):
            index = tuple(int(p) for p in at)
            mask = rows[index]
            yield Curve(
                axis,
                tuple(zip(others, index, strict=True)),
                np.flatnonzero(mask),
                x[mask],
                scale,
                np.moveaxis(self.values, along, -1)[index][mask],
                np.moveaxis(self.ticks, along, -1)[index][mask],
                self.decimals,
                known(self.counts, along, index, mask),
                measured(self.stderr, along, index, mask),
                known(self.repeats, along, index, mask),
                self.metric.proportion_of,
                levels,
                self.design_effect,
            )


def by_level(array: npt.NDArray[Scalar], place: int) -> npt.NDArray[Scalar]:
    """An array of the grid's shape as levels of one axis x all coordinates of the others."""
    size = array.shape[place]
    return np.moveaxis(array, place, 0).reshape(size, math.prod(array.shape) // size if size else 0)


def known(given: Given | None, along: int, index: Position, mask: BoolArray) -> Given | None:
    """The part of an optional array that belongs to a series; `None` unless every cell of it is positive."""
    if given is None:
        return None
    part = np.moveaxis(given, along, -1)[index][mask]
    return part if np.all(part > 0) else None


def measured(given: FloatArray | None, along: int, index: Position, mask: BoolArray) -> FloatArray | None:
    """The same for errors, of which one that was estimated may be 0; `None` unless every cell of the series has one."""
    if given is None:
        return None
    part = np.moveaxis(given, along, -1)[index][mask]
    return part if np.all(np.isfinite(part)) else None


def trials_of(grid: Grid) -> IntArray | None:
    """The trials behind each cell of a proportion, 0 where unknown; `None` when nobody gave any."""
    if grid.trials is None or grid.metric.proportion_of is None:
        return None
    if isinstance(grid.trials, int):
        return np.full(grid.shape, grid.trials, dtype=np.int64)
    return np.array([n or 0 for n in grid.trials], dtype=np.int64).reshape(grid.shape)


def with_binomial_errors(
    stderr: FloatArray, values: FloatArray, trials: IntArray, whole: float | None, effect: float
) -> FloatArray:
    """The errors, and the binomial one where a cell has only trials."""
    if whole is None:
        return stderr
    alone = np.isnan(stderr) & (trials > 0) & np.isfinite(values)
    errors = stderr.copy()
    errors[alone] = binomial_errors(np.rint(values[alone] * trials[alone] / whole), trials[alone], whole, effect)
    return errors


def stderr_of(grid: Grid) -> tuple[FloatArray | None, IntArray | None]:
    """The standard error of each cell, NaN where unknown, and the repeats it was estimated from, 0 where it was
    submitted; `None` when nobody gave either."""
    if grid.stderr is None and (grid.sd is None or grid.repeats is None):
        return None, None
    errors = np.full(math.prod(grid.shape), np.nan)
    counts = np.zeros(errors.size, dtype=np.int64)
    if grid.sd is not None and grid.repeats is not None:
        sd = np.array(grid.sd, dtype=np.float64)
        repeats = np.array([n or 0 for n in grid.repeats], dtype=np.int64)
        np.divide(sd, np.sqrt(np.maximum(repeats, 1)), out=errors, where=repeats > 1)
        counts = np.where(repeats > 1, repeats, 0)
    if grid.stderr is not None:
        given = np.array(grid.stderr, dtype=np.float64)
        errors = np.where(np.isfinite(given), given, errors)
        counts = np.where(np.isfinite(given), 0, counts)
    return errors.reshape(grid.shape), counts.reshape(grid.shape)
