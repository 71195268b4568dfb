"""The cells that a claim may be about, as one table: names of grids and axes alike are dimensions.

Each cell has confidence limits of its own. Where trials speak for the noise: Clopper and Pearson (1934), Biometrika 26,
404-413. Their limits miss with at most the stated probability at every share and every number of trials, also far out
in the tails that many cells at once ask for, where score intervals do not; trials and successes are divided by a posted
design effect. A posted standard error is taken as known, also one of 0: then the value is exact. The error of a cell
with repeats is estimated from its own, with r - 1 degrees of freedom of Student's t, since cells may differ in their
noise. Three or more repeats without any spread make a value exact, as in gates; two say nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from registry.claims.claim import FACETS, About, decimals_of, exact
from registry.grids.grid import Axis, Grid, Level, Metric
from registry.grids.protocol import NO_RULES, Rules
from registry.grids.slices import Slice, kept_levels
from workers.statistics.margins import SURE_REPEATS
from workers.statistics.noise import Scores, beside_each, successes_of
from workers.statistics.table import Table
from workers.statistics.terms import BoolArray, FloatArray, IntArray

Terms = Sequence[tuple[int, Fraction]]
"""A sum of cells, each with its factor."""
_MOST_READ = 200
"""Cells whose decimals are looked at."""


@dataclass(frozen=True)
class CellErrors:
    """N cells: `values` (NaN: not measured), successes `k` of `n` trials (0: none) on a scale of `whole`, standard
    errors (NaN: unknown, 0: exact) with their degrees of freedom, infinite where they are known."""

    values: FloatArray
    k: FloatArray
    n: FloatArray
    whole: FloatArray
    stderr: FloatArray
    df: FloatArray

    @property
    def is_exact(self) -> BoolArray:
        """Mask of the cells that have no noise."""
        return np.asarray((self.stderr == 0) & (self.n == 0), dtype=np.bool_)

    def at(self, cells: IntArray) -> "CellErrors":
        """Those of some cells."""
        return CellErrors(*(getattr(self, one.name)[cells] for one in fields(self)))

    def limits(self, level: float, beyond: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Low and high end of the two-sided interval of each cell, NaN where its noise is unknown; so many standard
        errors `beyond` those of the level."""
        tail = _tail(level, beyond)
        known = np.isfinite(self.stderr)
        reach = np.full(self.values.shape, np.nan)
        free = np.where(np.isfinite(self.df), self.df, 1.0)
        quantile = np.where(np.isfinite(self.df), -stdtrit(free, tail), -ndtri(tail))
        reach[known] = (quantile * self.stderr)[known]
        low, high = self.values - reach, self.values + reach
        counted = self.n > 0
        ends = share_limits(self.k[counted], self.n[counted], tail)
        low[counted], high[counted] = (end * self.whole[counted] for end in ends)
        # A value that no number of successes gives still lies within its own interval.
        return np.minimum(low, self.values), np.maximum(high, self.values)

    def pooled(self, factor: FloatArray, level: float, beyond: float = 0.0) -> tuple[IntArray, FloatArray, FloatArray]:
        """How far weighted sums of the first of these cells, so many of them, may be below and above what was observed,
        by the limits of one share with the variance of the sum (Korn and Graubard 1998, Survey Methodology 24, 193-201)
        or with that which it has if cells are alike (Kish 1965), whichever is less. All are counted, those first whose
        trials weigh most; those whose trials weigh the same are together."""
        weight, share = factor / self.n, self.k / self.n
        sizes = 1 + np.flatnonzero(np.append(weight[1:] < (1 - 1e-9) * weight[:-1], True))
        parts = (
            factor,
            factor * share,
            factor**2 / self.n,
            factor**2 * share * (1 - share) / np.maximum(self.n - 1, 1.0),
        )
        total, hits, alike, own = (np.cumsum(part)[sizes - 1] for part in parts)
        share = hits / total
        own = np.divide(own, share * (1 - share), out=np.zeros(own.shape), where=own > 0)
        trials = total**2 / np.where(own > 0, np.minimum(own, alike), alike)
        low, high = share_limits(trials * share, trials, _tail(level, beyond))
        whole = float(self.whole[0])
        return sizes, whole * np.maximum(hits - total * low, 0.0), whole * np.maximum(total * high - hits, 0.0)


def _tail(level: float, beyond: float) -> float:
    """The probability beyond each end of an interval, so many standard errors beyond those of the level."""
    tail = (1 - level) / 2
    return float(ndtr(ndtri(tail) - beyond)) if beyond else tail


def share_limits(k: FloatArray, n: FloatArray, tail: float) -> tuple[FloatArray, FloatArray]:
    """Clopper and Pearson's limits of shares, beyond each of which is this probability."""
    low = np.where(k > 0, betaincinv(np.maximum(k, 1e-12), n - k + 1, tail), 0.0)
    return low, np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1e-12), 1 - tail), 1.0)


def errors_of(sources: Sequence["Source"]) -> CellErrors:
    """The cells of all grids, one grid after the other, each row-major."""
    scores = [Scores(one.grid.values, one.grid.trials, one.grid.metric.proportion_of) for one in sources]
    beside = beside_each([one.names["benchmark"] for one in sources], scores)
    parts = [_of_grid(one.grid, telling) for one, telling in zip(sources, beside, strict=True)]
    names = [one.name for one in fields(CellErrors)]
    return CellErrors(*(np.concatenate([np.empty(0), *(getattr(one, name) for one in parts)]) for name in names))


def _of_grid(grid: Grid, beside: Scores | None) -> CellErrors:
    table = Table.of(grid, beside)
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
    return CellErrors(values, k, n, np.full(values.size, whole), stderr, df)


class Source(NamedTuple):
    """A grid that was read: its names without aliases, its id, revision and digest, and its content."""

    names: Mapping[str, str]
    id: str
    revision: int
    digest: str
    grid: Grid


@dataclass(frozen=True)
class Facts:
    """N declared cells. `codes` (N x dimensions) are the positions of their levels in `levels`, -1 where a grid has no
    such axis; `index` is the flat index of each in its grid, `owner` the position of that in `sources`."""

    sources: Sequence[Source]
    dimensions: tuple[str, ...]
    levels: Mapping[str, tuple[Level, ...]]
    axes: Mapping[str, Axis]
    codes: IntArray
    owner: IntArray
    index: IntArray
    present: BoolArray
    errors: CellErrors
    rules: Rules
    """Keys of protocols that bind."""
    known: Mapping[str, Collection[str]]
    """The names that there are of each kind, also of grids that were not read."""

    @classmethod
    def of(
        cls, sources: Sequence[Source], rules: Rules = NO_RULES, known: Mapping[str, Collection[str]] | None = None
    ) -> "Facts":
        axes = _axes_of(sources)
        names = {facet: sorted({source.names[facet] for source in sources}) for facet in FACETS}
        levels = {facet: tuple(map(Level, known)) for facet, known in names.items()}
        levels |= {name: one.levels for name, one in axes.items()}
        dimensions = tuple(levels)
        parts = [_codes_of(source, dimensions, levels) for source in sources]
        sizes = [len(source.grid.values) for source in sources]
        values = [value for source in sources for value in source.grid.values]
        return cls(
            sources,
            dimensions,
            levels,
            axes,
            np.concatenate(parts) if parts else np.empty((0, len(dimensions)), dtype=np.int64),
            np.repeat(np.arange(len(sizes)), sizes),
            np.concatenate([np.arange(size) for size in sizes]) if sizes else np.empty(0, dtype=np.int64),
            np.array([value is not None for value in values], dtype=np.bool_),
            errors_of(sources),
            rules,
            known or {facet: [level.label for level in levels[facet]] for facet in FACETS},
        )

    @cached_property
    def _exact(self) -> dict[int, Fraction]:
        return {}

    def value(self, cell: int) -> Fraction:
        """The value of a measured cell, as the decimal number that was posted."""
        if cell not in self._exact:
            posted = self.sources[int(self.owner[cell])].grid.values[int(self.index[cell])]
            if posted is None:
                raise ValueError("this cell was not measured")
            self._exact[cell] = exact(posted)
        return self._exact[cell]

    def metric(self, cell: int) -> Metric:
        """The metric of the grid that a cell is of."""
        return self.sources[int(self.owner[cell])].grid.metric

    def about(self, wanted: About) -> IntArray:
        """The cells of the grids that a statement is about."""
        named = {facet: getattr(wanted, facet) for facet in FACETS if getattr(wanted, facet) not in ("", None)}
        if wanted.variant is not None:
            named["variant"] = wanted.variant
        meant = [
            (not wanted.grid or one.id == wanted.grid)
            and all(one.names[facet] == name for facet, name in named.items())
            for one in self.sources
        ]
        return np.flatnonzero(np.array(meant, dtype=np.bool_)[self.owner]) if meant else np.empty(0, dtype=np.int64)

    def select(self, cells: IntArray, wanted: Slice) -> IntArray:
        """Those of the cells that are at these levels; none where a dimension is missing."""
        for name, conditions in wanted:
            if name not in self.levels:
                return cells[:0]
            kept = kept_levels(self.levels[name], conditions)
            cells = cells[np.isin(self.column(name)[cells], kept)]
        return cells

    def column(self, dimension: str) -> IntArray:
        """The code of every cell on a dimension."""
        return np.asarray(self.codes[:, self.dimensions.index(dimension)], dtype=np.int64)

    def decimals(self, cells: IntArray) -> int:
        """The most decimals with which the first of these cells were posted."""
        measured = cells[self.present[cells]][:_MOST_READ].tolist()
        values = (float(self.value(cell)) for cell in measured)
        return max((decimals_of(value) for value in values if not value.is_integer()), default=0)

    def varying(self, cells: IntArray) -> list[str]:
        """The dimensions in which these cells differ."""
        return [name for name in self.dimensions if np.unique(self.column(name)[cells]).size > 1]

    def place(self, cell: int) -> dict[str, str]:
        """The coordinate of a cell in words: axes, and those names in which the grids of the claim differ."""
        told = {}
        for name, code in zip(self.dimensions, self.codes[cell].tolist(), strict=True):
            if code >= 0 and (name in self.axes or len(self.levels[name]) > 1):
                told[name] = self.levels[name][code].label
        return told


def _axes_of(sources: Sequence[Source]) -> dict[str, Axis]:
    """The axes of all grids by name, each with the levels of all; numbers in their order, labels as first posted."""
    found: dict[str, list[Axis]] = {}
    for source in sources:
        for axis in source.grid.axes:
            found.setdefault(axis.name, []).append(axis)
    return {name: _joined(axes) for name, axes in found.items()}


def _joined(axes: Sequence[Axis]) -> Axis:
    levels: dict[Level, None] = dict.fromkeys(level for axis in axes for level in axis.levels)
    ordered: Any = levels
    if all(level.number is not None for level in levels):
        ordered = sorted(levels, key=lambda level: level.number or 0.0)
    kinds = {axis.kind for axis in axes}
    return Axis(
        axes[0].name, axes[0].kind if len(kinds) == 1 else "nominal", tuple(ordered), axes[0].unit, axes[0].scale
    )


def _codes_of(source: Source, dimensions: Sequence[str], levels: Mapping[str, Sequence[Level]]) -> IntArray:
    shape = source.grid.shape
    own = {axis.name: place for place, axis in enumerate(source.grid.axes)}
    at = np.indices(shape).reshape(len(shape), -1) if shape else np.empty((0, 1), dtype=np.int64)
    codes = np.full((len(source.grid.values), len(dimensions)), -1, dtype=np.int64)
    for place, name in enumerate(dimensions):
        known = {level: code for code, level in enumerate(levels[name])}
        if name in own:
            mine = np.array([known[level] for level in source.grid.axes[own[name]].levels], dtype=np.int64)
            codes[:, place] = mine[at[own[name]]]
        elif name in FACETS:
            codes[:, place] = known[Level(source.names[name])]
    return codes


def trials_of(facts: Facts, cell: int) -> int | None:
    """The trials of a cell; None where it has none."""
    grid, place = facts.sources[int(facts.owner[cell])].grid, int(facts.index[cell])
    return grid.trials[place] if isinstance(grid.trials, tuple) else grid.trials
