"""Two grids on the coordinates that both have: the slots of a comparison.

Axes are the same by name, in whatever order; levels by their number where they have one, else by their label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from registry.grids.grid import Axis, Metric
from registry.results.comparison import OnlyIn
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.table import Table
from workers.statistics.terms import BoolArray, FloatArray, IntArray, decimals_of, ticks_of

MOST_LISTED = 100
"""Coordinates that only one of the grids has, as far as an answer lists them; the rest is counted."""


@dataclass(frozen=True)
class Matched:
    """The cells of two grids that lie at the same coordinates.

    `axes` are the baseline's, with the levels that both grids declare. `present` says over these axes where both
    have a cell. The other arrays are flat, m cells in row-major order, the contender in row 0 and the baseline in
    row 1; `flat` is the index of a cell in its own grid, `trials` is 0 and `stderr` NaN where unknown, `repeats` 0
    where an error was not estimated from any.
    `design_effect` is that of each grid, NaN where none was posted.
    """

    axes: tuple[Axis, ...]
    present: BoolArray
    flat: IntArray
    values: FloatArray
    trials: IntArray
    stderr: FloatArray
    repeats: IntArray
    design_effect: FloatArray
    only_in_baseline: OnlyIn
    only_in_contender: OnlyIn

    @property
    def count(self) -> int:
        """Number of cells that both have."""
        return int(self.values.shape[1])

    @cached_property
    def decimals(self) -> int:
        """The submitted decimals of both grids together."""
        return decimals_of(self.values)

    @cached_property
    def ticks(self) -> IntArray:
        """The values as integers of 10^-decimals; ties are ties of these."""
        return ticks_of(self.values, self.decimals)

    @cached_property
    def gaps(self) -> IntArray:
        """Contender less baseline, in ticks."""
        return np.asarray(self.ticks[0] - self.ticks[1], dtype=np.int64)

    @cached_property
    def positions(self) -> IntArray:
        """The position of each cell on each axis: m x axes."""
        return np.argwhere(self.present).reshape(self.count, len(self.axes))

    def standings(self, metric: Metric) -> ScoreMatrix:
        """The contender against the baseline, as a ranking compares two names on one benchmark."""
        return ScoreMatrix(
            ("contender", "baseline"),
            self.values,
            np.zeros(self.count, dtype=np.int64),
            ("",),
            self.trials if self.trials.any() else None,
            metric.direction,
            metric.lower,
            metric.upper,
            stderr=self.stderr if np.isfinite(self.stderr).any() else None,
            repeats=self.repeats,
            design_effect=np.broadcast_to(self.design_effect[:, None], self.values.shape),
        )


def matched(
    baseline: Table, contender: Table, effects: tuple[float | None, float | None] = (None, None)
) -> Matched | None:
    """The common cells; `None` when the grids do not have axes of the same names. `effects` are the posted design
    effects of baseline and contender."""
    names = [axis.name for axis in contender.axes]
    if {axis.name for axis in baseline.axes} != set(names):
        return None
    order = [names.index(axis.name) for axis in baseline.axes]
    pairs = [common_levels(axis, contender.axes[i]) for axis, i in zip(baseline.axes, order, strict=True)]
    mine, theirs = np.ix_(*(first for first, _ in pairs)), np.ix_(*(second for _, second in pairs))
    both = picked(contender, theirs, order), picked(baseline, mine, list(range(len(order))))
    present = np.isfinite(both[0].values) & np.isfinite(both[1].values)
    inside = [np.zeros(table.values.shape, dtype=np.bool_) for table in (baseline, contender)]
    inside[0][mine] = present
    # A view: what is written to the transposed array lands in the contender's own order of axes.
    inside[1].transpose(order)[theirs] = present
    return Matched(
        tuple(
            replace(axis, levels=tuple(axis.levels[i] for i in first))
            for axis, (first, _) in zip(baseline.axes, pairs, strict=True)
        ),
        present,
        np.stack([one.flat[present] for one in both]),
        np.stack([one.values[present] for one in both]),
        np.stack([one.trials[present] for one in both]),
        np.stack([one.stderr[present] for one in both]),
        np.stack([one.repeats[present] for one in both]),
        np.array([np.nan if one is None else one for one in reversed(effects)], dtype=np.float64),
        only_in(baseline, inside[0]),
        only_in(contender, inside[1]),
    )


@dataclass(frozen=True)
class Picked:
    """Some levels of a table, its axes in another order."""

    flat: IntArray
    values: FloatArray
    trials: IntArray
    stderr: FloatArray
    repeats: IntArray


def picked(table: Table, levels: tuple[IntArray, ...], order: Sequence[int]) -> Picked:
    """The arrays of a table at some levels of each axis; absent ones filled with what stands for unknown."""
    shape = table.values.shape
    none, unknown = np.zeros(shape, dtype=np.int64), np.full(shape, np.nan)
    given = (
        np.arange(table.values.size).reshape(shape),
        table.values,
        none if table.trials is None else table.trials,
        unknown if table.stderr is None else table.stderr,
        none if table.repeats is None else table.repeats,
    )
    flat, values, trials, stderr, repeats = (np.asarray(array.transpose(order)[levels]) for array in given)
    return Picked(flat, values, trials, stderr, repeats)


def common_levels(first: Axis, second: Axis) -> tuple[IntArray, IntArray]:
    """The positions, on either axis, of the levels that both have, in the order of the first."""
    by_number = all(len(set(axis.numbers)) == len(axis.levels) for axis in (first, second))
    keys = [level_keys(axis, by_number) for axis in (first, second)]
    places = {key: i for i, key in enumerate(keys[1])}
    mine = [i for i, key in enumerate(keys[0]) if key in places]
    theirs = [places[keys[0][i]] for i in mine]
    return np.array(mine, dtype=np.int64), np.array(theirs, dtype=np.int64)


def level_keys(axis: Axis, by_number: bool) -> list[str | float]:
    """Keys by which levels are the same; labels where an axis has two of one number ("32b" and "32B")."""
    return [level.number if by_number and level.number is not None else level.label for level in axis.levels]


def only_in(table: Table, shared: BoolArray) -> OnlyIn:
    """The cells of a table that are not shared."""
    rest = table.present & ~shared
    count = int(np.count_nonzero(rest))
    first = np.stack(np.unravel_index(np.flatnonzero(rest)[:MOST_LISTED], rest.shape), axis=-1) if rest.ndim else ()
    places = [table.places(tuple(map(int, at))) for at in first] if rest.ndim else [{}] * count
    return OnlyIn(count, tuple(places))
