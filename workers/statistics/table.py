"""A grid as arrays: its values, the noise of its cells, and its series as curves, from which most statistics begin."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from registry.grids.grid import Axis, Grid, Metric, Position
from registry.results.courses import XScale
from registry.results.terms import KnownNoise, Place
from workers.statistics.noise import CellErrors, Noise, Scores, binomial_errors, effect_of, kind_of, noise_of_cells
from workers.statistics.terms import (
    ROUNDING,
    SMALL,
    BoolArray,
    FloatArray,
    IntArray,
    computable,
    decimals_of,
    ticks_by_row,
    ticks_of,
)

MOST_POINTS = 100_000
"""Points of series analysed of one grid; what lies beyond, in row-major order of each axis, is only counted."""
MOST_NAMED = 3
"""Cells of unknown noise that are named; the rest is counted."""
Scalar = TypeVar("Scalar", bound=np.generic)


def place_of(axis: Axis, position: int) -> Place:
    """The level at a position as an answer names it; whole numbers come as integers."""
    level = axis.levels[position]
    if axis.kind != "numeric" or level.number is None:
        return level.label
    whole = level.number == int(level.number) and abs(level.number) < 1e15
    return int(level.number) if whole else float(level.number)


def abscissa_of(axis: Axis) -> tuple[FloatArray, XScale]:
    """Abscissa by which a slope divides: numbers, their log10 on a logarithmic axis of positive numbers, or positions.

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

    @cached_property
    def noise_kind(self) -> KnownNoise:
        """Source of the errors of the cells."""
        return kind_of(self.trials, self.stderr, self.repeats, self.whole)

    @cached_property
    def places(self) -> Sequence[Place]:
        """The levels of the measured cells."""
        if self.count == len(self.levels):
            return self.levels
        return [self.levels[position] for position in self.positions.tolist()]


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
    def of(cls, grid: Grid, beside: Scores | None = None) -> "Table":
        """A grid; `beside` says how mute values were printed."""
        values = np.array(grid.values, dtype=np.float64).reshape(grid.shape)
        decimals = decimals_of(values)
        ticks, trials, effect = ticks_of(values, decimals), trials_of(grid), effect_of(grid, beside) or 1.0
        stderr, repeats = stderr_of(grid)
        counts = trials
        if grid.stderr is not None and trials is not None and stderr is not None and np.any(np.isfinite(stderr)):
            stderr, counts = with_binomial_errors(stderr, values, trials, grid.metric.proportion_of, effect), None
        return cls(grid.metric, grid.axes, values, ticks, decimals, trials, stderr, repeats, effect, counts)

    @cached_property
    def present(self) -> BoolArray:
        return np.isfinite(self.values)

    @cached_property
    def small(self) -> BoolArray:
        """Mask of the cells that are so small beside the largest that they may need digits of their own."""
        sizes = np.where(self.present, np.abs(self.values), 0.0)
        return np.asarray((sizes > 0) & (sizes < SMALL * sizes.max(initial=0.0)), dtype=np.bool_)

    @cached_property
    def computable(self) -> bool:
        """True if all magnitudes lie within 10^-100 and 10^100, so that squares neither overflow nor vanish."""
        errors = [] if self.stderr is None else [self.stderr[self.present]]
        return computable(self.values, *errors, *(np.asarray(axis.numbers, dtype=np.float64) for axis in self.axes))

    @cached_property
    def noise(self) -> Noise | None:
        """The noise of all measured cells, in row-major order."""
        return noise_at(self, np.flatnonzero(self.present))

    @property
    def cells(self) -> int:
        """Number of cells that were measured."""
        return int(np.count_nonzero(self.present))

    @cached_property
    def levels(self) -> tuple[tuple[Place, ...], ...]:
        """The levels of every axis as answers name them."""
        return tuple(tuple(place_of(axis, position) for position in range(len(axis.levels))) for axis in self.axes)

    def places(self, position: Position) -> dict[str, Place]:
        """A coordinate as an answer writes it: axis name -> level."""
        return {axis.name: levels[p] for axis, levels, p in zip(self.axes, self.levels, position, strict=True)}

    def places_at(self, flat: IntArray) -> list[dict[str, Place]]:
        """The coordinates of cells, from their positions in row-major order."""
        if not self.axes:
            return [{} for _ in flat]
        names, at = [axis.name for axis in self.axes], np.unravel_index(flat, self.values.shape)
        columns = [[levels[p] for p in index.tolist()] for levels, index in zip(self.levels, at, strict=True)]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def ticks_along(self, along: int) -> tuple[IntArray, list[int]]:
        """The values as all coordinates of the other axes x levels of one, in units of the last decimal of each row,
        and these decimals."""
        ticks = by_row(self.ticks, along)
        if not self.small.any():
            return ticks, [self.decimals] * len(ticks)
        ticks, decimals = ticks_by_row(by_row(self.values, along), ticks, self.decimals)
        return ticks, decimals.tolist()

    def curves(self, along: int) -> Iterator[Curve]:
        """Every series along an axis that has a cell, in row-major order of the other axes."""
        axis, rows = self.axes[along], _Rows.of(self, along)
        x, scale = abscissa_of(axis)
        others = [a for i, a in enumerate(self.axes) if i != along]
        sizes = [len(a.levels) for a in others]
        full, every = np.all(rows.present, axis=1).tolist(), np.arange(x.size)
        whole, levels = self.metric.proportion_of, self.levels[along]
        for row in np.flatnonzero(rows.present.any(axis=1)).tolist():
            measured = slice(None) if full[row] else np.flatnonzero(rows.present[row])
            at = row if full[row] else (row, measured)
            yield Curve(
                axis,
                tuple(zip(others, position_of(row, sizes), strict=True)),
                every[measured],
                x[measured],
                scale,
                rows.values[at],
                rows.ticks[at],
                rows.decimals[row],
                rows.trials[at] if rows.trials is not None and rows.has_trials[row] else None,
                rows.stderr[at] if rows.stderr is not None and rows.has_stderr[row] else None,
                rows.repeats[at] if rows.repeats is not None and rows.has_repeats[row] else None,
                whole,
                levels,
                self.design_effect,
            )


@dataclass(frozen=True)
class _Rows:
    """The arrays of a table with one axis as columns, and which rows have trials, errors and repeats in every cell that
    was measured."""

    present: BoolArray
    values: FloatArray
    ticks: IntArray
    decimals: list[int]
    trials: IntArray | None
    stderr: FloatArray | None
    repeats: IntArray | None
    has_trials: list[bool]
    has_stderr: list[bool]
    has_repeats: list[bool]

    @classmethod
    def of(cls, table: Table, along: int) -> "_Rows":
        present = by_row(table.present, along)
        trials = None if table.counts is None else by_row(table.counts, along)
        stderr = None if table.stderr is None else by_row(table.stderr, along)
        repeats = None if table.repeats is None else by_row(table.repeats, along)
        return cls(
            present,
            by_row(table.values, along),
            *table.ticks_along(along),
            trials,
            stderr,
            repeats,
            [] if trials is None else known(trials > 0, present),
            [] if stderr is None else known(np.isfinite(stderr), present),
            [] if repeats is None else known(repeats > 0, present),
        )


def by_row(array: npt.NDArray[Scalar], along: int) -> npt.NDArray[Scalar]:
    """An array of the grid's shape as all coordinates of the other axes x levels of one axis, rows contiguous."""
    return np.ascontiguousarray(by_level(array, along).T)


def known(given: BoolArray, present: BoolArray) -> list[bool]:
    """Mask of the rows of which every measured cell has what was asked for."""
    return [bool(every) for every in np.all(given | ~present, axis=1).tolist()]


def position_of(flat: int, sizes: Sequence[int]) -> Position:
    """The coordinate of a position in row-major order."""
    position = []
    for size in reversed(sizes):
        flat, p = divmod(flat, size)
        position.append(p)
    return tuple(reversed(position))


def by_level(array: npt.NDArray[Scalar], place: int) -> npt.NDArray[Scalar]:
    """An array of the grid's shape as levels of one axis x all coordinates of the others."""
    size = array.shape[place]
    axes = (place, *range(place), *range(place + 1, array.ndim))
    return array.transpose(axes).reshape(size, array.size // size if size else 0)


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
    # The spread of equal values, summed in floats; of a value of 0 those of its neighbours were.
    sizes = np.abs(np.nan_to_num(np.array(grid.values, dtype=np.float64)))
    errors[errors <= np.where(sizes > 0, ROUNDING * sizes, 4e-16 * sizes.max(initial=0.0))] = 0.0
    return errors.reshape(grid.shape), counts.reshape(grid.shape)


@dataclass(frozen=True)
class CellNoise:
    """The measured cells as flat arrays in row-major order: `y` turned so that more is better, its variance `v`, and
    their indices `flat`. `noise` has successes of the better outcome where it is binomial."""

    y: FloatArray
    v: FloatArray
    noise: Noise
    flat: IntArray
    sign: float


def cell_noise(table: Table) -> CellNoise | None:
    """The noise of a grid; `None` unless that of every measured cell is known in the same way."""
    flat = np.flatnonzero(table.present)
    sign = -1.0 if table.metric.direction == "lower" else 1.0
    found = table.noise
    if found is None:
        return None
    # Where lower is better, the failures are the better outcomes.
    if sign < 0 and found.k is not None and found.n is not None:
        counted = None if found.counted is None else (found.counted[1] - found.counted[0], found.counted[1])
        found = Noise(found.kind, found.error, None, found.n - found.k, found.n, found.whole, counted)
    return CellNoise(sign * table.values.ravel()[flat], found.error**2, found, flat, sign)


def noise_at(table: Table, flat: IntArray) -> Noise | None:
    """The noise of some cells, in the metric's own direction."""
    given = errors_at(table, flat)
    return None if given is None else noise_of_cells(given)


def errors_at(table: Table, flat: IntArray) -> CellErrors | None:
    """Noise of some cells as it was submitted; `None` where there are none."""
    if not flat.size:
        return None
    trials = None if table.counts is None else table.counts.ravel()[flat]
    stderr = None if table.stderr is None else table.stderr.ravel()[flat]
    return CellErrors(
        table.values.ravel()[flat],
        trials if trials is not None and np.all(trials > 0) else None,
        stderr if stderr is not None and np.all(np.isfinite(stderr)) else None,
        None if table.repeats is None else table.repeats.ravel()[flat],
        table.metric.proportion_of,
        table.design_effect,
    )


def known_noise(table: Table) -> KnownNoise:
    """Name of the noise on which the tests of a whole grid rest."""
    given = errors_at(table, np.flatnonzero(table.present))
    return "unknown" if given is None else kind_of(given.trials, given.stderr, given.repeats, given.whole)


def unknown_noise(table: Table) -> str:
    """Why a grid has no noise of all its cells: which of them lack it, the first by name."""
    kinds = [] if table.counts is None or table.metric.proportion_of is None else [table.counts > 0]
    if table.stderr is not None and table.repeats is not None:
        kinds.append(np.isfinite(table.stderr) & ((table.stderr > 0) | (table.repeats > 1)))
    lacking = min((np.flatnonzero(table.present & ~one) for one in kinds), key=len, default=np.empty(0, dtype=np.int64))
    if lacking.size in (0, table.cells):
        return "no cell has trials, an error above 0, or repeats that differ"
    named = [", ".join(f"{axis} {level}" for axis, level in at.items()) for at in table.places_at(lacking[:MOST_NAMED])]
    more = [f"{lacking.size - MOST_NAMED} more"] if lacking.size > MOST_NAMED else []
    return f"the noise of {lacking.size} of {table.cells} cells is unknown: {'; '.join([*named, *more])}"
