"""Confidence limits of cells by themselves.

Where trials speak for the noise: Clopper and Pearson (1934), Biometrika 26, 404-413. Their limits miss with at most the
stated probability at every share and every number of trials, also far out in the tails that many cells at once ask for,
where score intervals do not; trials and successes are divided by a posted design effect. A posted standard error is
taken as known, also one of 0: then the value is exact. The error of a cell with repeats is estimated from its own, with
r - 1 degrees of freedom of Student's t, since cells may differ in their noise. Three or more repeats without any spread
make a value exact, as in gates; two say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from registry.grids.grid import Grid
from workers.statistics.gate_estimates import SURE_REPEATS
from workers.statistics.noise import successes_of
from workers.statistics.table import Table
from workers.statistics.terms import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class CellErrors:
    """N cells: `values` (NaN: not measured), successes `k` of `n` trials (0: none) on a scale of `whole`, standard
    errors (NaN: unknown, 0: exact) with their degrees of freedom, infinite where they are known; `span` is the range of
    the metric (NaN: unbounded)."""

    values: FloatArray
    k: FloatArray
    n: FloatArray
    whole: FloatArray
    stderr: FloatArray
    df: FloatArray
    span: FloatArray

    @property
    def is_exact(self) -> BoolArray:
        """Which cells have no noise."""
        return np.asarray((self.stderr == 0) & (self.n == 0), dtype=np.bool_)

    def at(self, cells: IntArray) -> CellErrors:
        """Those of some cells."""
        columns = (self.values, self.k, self.n, self.whole, self.stderr, self.df, self.span)
        return CellErrors(*(column[cells] for column in columns))

    def limits(self, level: float, beyond: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Low and high end of the two-sided interval of each cell, NaN where its noise is unknown; so many standard
        errors `beyond` those of the level."""
        tail = (1 - level) / 2
        if beyond:
            tail = float(ndtr(ndtri(tail) - beyond))
        known = np.isfinite(self.stderr)
        reach = np.full(self.values.shape, np.nan)
        free = np.where(np.isfinite(self.df), self.df, 1.0)
        quantile = np.where(np.isfinite(self.df), -stdtrit(free, tail), -ndtri(tail))
        reach[known] = (quantile * self.stderr)[known]
        low, high = self.values - reach, self.values + reach
        counted = self.n > 0
        k, n, whole = self.k[counted], self.n[counted], self.whole[counted]
        low[counted] = np.where(k > 0, betaincinv(np.maximum(k, 1e-12), n - k + 1, tail), 0.0) * whole
        high[counted] = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1e-12), 1 - tail), 1.0) * whole
        # A value that no number of successes gives still lies within its own interval.
        return np.minimum(low, self.values), np.maximum(high, self.values)


def errors_of(grids: Sequence[Grid]) -> CellErrors:
    """The cells of all grids, one grid after the other, each row-major."""
    parts = [_of_grid(grid) for grid in grids]
    names = ("values", "k", "n", "whole", "stderr", "df", "span")
    return CellErrors(*(np.concatenate([np.empty(0), *(getattr(one, name) for one in parts)]) for name in names))


def _of_grid(grid: Grid) -> CellErrors:
    table = Table.of(grid)
    values, whole = table.values.ravel(), grid.metric.proportion_of or 1.0
    k, n = np.zeros(values.size), np.zeros(values.size)
    stderr, df = np.full(values.size, np.nan), np.full(values.size, np.inf)
    if table.stderr is not None and table.repeats is not None:
        given, repeats = table.stderr.ravel(), table.repeats.ravel()
        measured = np.isfinite(given) & table.present.ravel()
        known = measured & ((repeats == 0) | ((given == 0) & (repeats >= SURE_REPEATS)))
        estimated = measured & (given > 0) & (repeats > 1)
        stderr[known | estimated] = given[known | estimated]
        df[estimated] = repeats[estimated] - 1
    if table.trials is not None:
        trials = np.where(table.present.ravel(), table.trials.ravel(), 0)
        if table.counts is None:
            # Beside trials a posted error of 0 is what harnesses write for 0 or 100 %, and says nothing.
            trials = np.where((stderr > 0) | (df < np.inf), 0, trials)
        at = np.flatnonzero(trials > 0)
        k[at] = successes_of(values[at], trials[at], whole, table.decimals) / table.design_effect
        n[at] = trials[at] / table.design_effect
        stderr[at] = np.nan
    span = np.full(values.size, np.nan if grid.metric.range is None else grid.metric.range)
    return CellErrors(values, k, n, np.full(values.size, whole), stderr, df, span)
