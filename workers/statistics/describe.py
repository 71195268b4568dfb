"""Compute all statistics of a grid, or of many at once: one document out of what each module here says."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from registry.grids.grid import Grid
from registry.results.courses import Series
from registry.results.parameters import Parameters
from registry.results.sensitivity import Sensitivity
from registry.results.statistics import (
    AxisCoverage,
    Coverage,
    GridStatistics,
    LevelCoverage,
    OffLattice,
    Opened,
    Precision,
)
from registry.results.terms import OF_REPEATS, ROUNDED, Place
from registry.results.trend_tests import GridTrend
from workers.statistics.best_cells import noisy_peaks, peaks
from workers.statistics.common_direction import grid_trends
from workers.statistics.noise import assumed_of_effect
from workers.statistics.sensitivity import sensitivity
from workers.statistics.series import Asked, Judged, curves_of, reports
from workers.statistics.table import Curve, Table, by_level, known_noise, stderr_of
from workers.statistics.terms import MOST_WRITTEN_LEVELS, BoolArray, FloatArray, IntArray

OUT_OF_REACH = "the values, errors or axis numbers are not all between 10^-100 and 10^100 in size"
ALONE = 20.0
"""An interaction beyond one in so many of the errors of a report is said even where no axis opens."""
MOST_COMPONENT_LEVELS = 1_000
"""Levels in all up to which components are written out."""
MOST_HOLES = 100
"""Holes of a level that are written out; `hole_count` counts them all."""
MOST_TRIALS = 10_000
MOST_VALUES = 5_000
MOST_OFF = 100
_AT_ONCE = 2_000
"""Pairs of a value and a number of trials that are looked at together."""


def describe(grid: Grid, parameters: Parameters | None = None) -> GridStatistics:
    """All statistics of a grid.

    Works for any number of axes, ragged and empty grids. Deterministic; no NaN or Infinity; bounded in time and
    size by the limits that the modules state. A grid of astronomic numbers keeps its coverage, precision and
    peaks and loses what needs squares: `series_reason` and the sensitivity's `reason` say so.
    """
    return describe_all([grid], parameters)[0]


def describe_all(grids: Sequence[Grid], parameters: Parameters | None = None) -> list[GridStatistics]:
    """The same of each grid, to the last bit. Series of one length are computed together, which takes a fraction of
    the time that they take one by one."""
    tables = [Table.of(grid) for grid in grids]
    wholes = [_Whole.of(table, parameters or Parameters.of(table.metric)) for table in tables]
    along = [curves_of(table) if table.computable else ([], 0) for table in tables]
    found = reports([whole.families(curves) for whole, (curves, _) in zip(wholes, along, strict=True)])
    return [
        _description(grid, whole, judged, left_out)
        for grid, whole, judged, (_, left_out) in zip(grids, wholes, found, along, strict=True)
    ]


@dataclass(frozen=True)
class _Whole:
    """What is said of a grid beside its series, before it is known at which p the report opens."""

    table: Table
    parameters: Parameters
    sensitivity: Sensitivity
    trends: Mapping[str, GridTrend]

    @classmethod
    def of(cls, table: Table, parameters: Parameters) -> "_Whole":
        reach, alpha = table.computable, parameters.alpha
        found = sensitivity(table, alpha) if reach else Sensitivity("undefined", reason=OUT_OF_REACH)
        return cls(table, parameters, found, grid_trends(table, alpha))

    def families(self, curves: Sequence[Sequence[Curve]]) -> list[Asked]:
        """What the report says along each axis; a nominal one has no series."""
        along, metric = iter(curves), self.table.metric
        rest = self.parameters, metric.direction, metric.proportion_of
        return [
            Asked(next(along, ()) if axis.ordered else (), *rest, self._beside(axis.name)) for axis in self.table.axes
        ]

    def _beside(self, axis: str) -> tuple[float | None, ...]:
        trend, share = self.trends.get(axis), (self.sensitivity.axes or {}).get(axis)
        common = trend.p if trend and trend.status == "ok" and trend.rows > 1 else None
        return common, share.p if share else None

    def opened(self, judged: Judged) -> tuple[Opened, Sensitivity, dict[str, GridTrend]]:
        """What is said of the grid, no p of an axis less than that at which its family opens, and no p of an
        interaction less than that of any axis, or than `ALONE` times its own: a nominal axis is tested against the
        interaction, and need not open where that is all there is."""
        families = dict(zip([axis.name for axis in self.table.axes], judged.families, strict=True))
        trends = {
            name: found if found.p is None else replace(found, p=max(found.p, families[name] or 0.0))
            for name, found in self.trends.items()
        }
        axes = self.sensitivity.axes and {
            name: share if share.p is None else replace(share, p=max(share.p, families[name] or 0.0))
            for name, share in self.sensitivity.axes.items()
        }
        rest, every = self.sensitivity.residual, max((p for p in families.values() if p is not None), default=0.0)
        if rest is not None and rest.p is not None:
            rest = replace(rest, p=max(rest.p, min(every, ALONE * rest.p)))
        if rest is not None and rest.logit is not None:
            rest = replace(rest, logit=replace(rest.logit, p=max(rest.logit.p, min(every, ALONE * rest.logit.p))))
        return (
            Opened(judged.opened, families),
            replace(self.sensitivity, axes=axes, residual=rest),
            trends,
        )


def _description(grid: Grid, whole: _Whole, judged: Judged, left_out: int) -> GridStatistics:
    table, parameters, reach = whole.table, whole.parameters, whole.table.computable
    exact = Precision("ok", table.decimals) if grid.derived and table.cells else precision(table)
    opened, shares, trends = whole.opened(judged)
    return GridStatistics(
        params=parameters,
        design_effect=grid.design_effect,
        assumes=assumptions(grid, table, judged.series, trends.values(), shares, exact),
        opened=opened,
        coverage=coverage(table),
        series=judged.series,
        series_left_out=left_out,
        series_reason=None if reach else OUT_OF_REACH,
        peaks=noisy_peaks(table, 1 - parameters.alpha) if reach else replace(peaks(table), noise_reason=OUT_OF_REACH),
        sensitivity=shares,
        precision=exact,
        grid_trend=trends,
    )


def assumptions(
    grid: Grid,
    table: Table,
    series: Sequence[Series],
    trends: Iterable[GridTrend],
    shares: Sensitivity,
    exact: Precision,
) -> tuple[str, ...]:
    """Assumptions of the tests, of a grid as a whole and of each of its series: `independent_trials` where they rest on
    trials, and no design effect says how far the trials of a cell depend on each other, `design_effect_of_repeats`
    where repeats say so, `nearest_counts` where values are no whole counts of them; `equal_noise` where repeats do and
    steps, sets and thresholds pool their variance; `exact_errors` where they rest on submitted errors, and
    `equal_scatter` where no noise is known and axes are tested by what they leave; `independent_levels` where the tests
    of a course rest on the scatter about it; `rows_share_nothing` where series are judged together. None of one cell,
    of which nothing is tested."""
    together = any(one.status == "ok" and one.rows > 1 for one in trends)
    tested = [one for one in series if one.q is not None]
    kinds = {one.noise for one in series if one.count > 1 and (one.noise != "unknown" or together)}
    kinds |= {one.noise for one in tested}
    whole = known_noise(table)
    kinds |= {whole} - {"unknown"} if table.cells > 1 and table.computable else set()
    of_trials = "trials" in kinds or ("stderr" in kinds and has_trials_alone(grid, table))
    unsaid = assumed_of_effect(grid)
    words = {
        OF_REPEATS if OF_REPEATS in unsaid else "independent_trials": grid.design_effect is None and of_trials,
        ROUNDED: ROUNDED in unsaid and of_trials,
        "equal_noise": "repeats" in kinds,
        "exact_errors": "stderr" in kinds,
        "equal_scatter": whole == "unknown" and any(one.p is not None for one in (shares.axes or {}).values()),
        "independent_levels": "unknown" in kinds,
        "nearest_counts": "trials" in kinds and bool(exact.off_lattice_count),
        "rows_share_nothing": len(tested) > 1 or together,
    }
    return tuple(word for word, holds in words.items() if holds)


def has_trials_alone(grid: Grid, table: Table) -> bool:
    """Whether a measured cell of a grid with submitted errors has none, and rests on its trials."""
    given, _ = stderr_of(grid)
    if table.counts is not None or table.trials is None or given is None:
        return False
    return bool(np.any(table.present & (table.trials > 0) & np.isnan(given)))


def coverage(table: Table) -> Coverage:
    """The coverage of a grid of any number of axes."""
    cells, possible = table.cells, int(table.values.size)
    count, parts = components(table)
    return Coverage(
        status="ok" if cells else "insufficient",
        cells=cells,
        possible=possible,
        fraction=cells / possible if possible else None,
        by={axis.name: axis_coverage(table, place) for place, axis in enumerate(table.axes)},
        component_count=count,
        components=parts,
        reason=None if cells else "no cell was measured",
    )


def axis_coverage(table: Table, place: int) -> AxisCoverage:
    rows = by_level(table.present, place)
    counts = rows.sum(axis=1).tolist()
    names = table.levels[place]
    others = table.levels[1 - place] if len(table.axes) == 2 else None
    written = min(len(names), MOST_WRITTEN_LEVELS)
    levels = tuple(level_coverage(names[i], rows[i], counts[i], others) for i in range(written))
    return AxisCoverage(
        levels,
        len(names) - written,
        tuple(name for name, count in zip(names, counts, strict=True) if count == 0),
        tuple(name for name, count in zip(names, counts, strict=True) if count and count == rows.shape[1]),
    )


def level_coverage(name: Place, row: BoolArray, count: int, others: Sequence[Place] | None) -> LevelCoverage:
    if others is None or count == 0:
        return LevelCoverage(name, count, None, None, (), 0)
    if count == row.size:
        return LevelCoverage(name, count, others[0], others[-1], (), 0)
    found = np.flatnonzero(row)
    first, last = int(found[0]), int(found[-1])
    holes = (np.flatnonzero(~row[first:last]) + first).tolist() if count < last - first + 1 else []
    return LevelCoverage(
        name, count, others[first], others[last], tuple(others[i] for i in holes[:MOST_HOLES]), len(holes)
    )


def components(table: Table) -> tuple[int, tuple[Mapping[str, tuple[Place, ...]], ...] | None]:
    """Connected components of the levels, each as axis name -> levels, largest in levels first."""
    if not table.axes:
        return table.cells, () if not table.cells else ({},)
    labels = component_labels(table)
    sizes = np.unique(labels[labels >= 0], return_counts=True)
    count = int(sizes[0].size)
    if labels.size > MOST_COMPONENT_LEVELS:
        return count, None
    order = [int(sizes[0][i]) for i in np.argsort(-sizes[1], kind="stable")]
    offsets = np.cumsum([0, *table.values.shape])
    return count, tuple(
        {
            axis.name: tuple(levels[p] for p in np.flatnonzero(part == label).tolist())
            for axis, levels, part in zip(table.axes, table.levels, np.split(labels, offsets[1:-1]), strict=True)
        }
        for label in order
    )


def component_labels(table: Table) -> IntArray:
    """A label for every level of every axis in turn, -1 for a level without a cell.

    On a single axis nothing has to be told apart: all measured levels are one component.
    """
    if len(table.axes) == 1:
        return np.where(table.present, 0, -1).astype(np.int64)
    if table.cells and table.present.all():
        return np.zeros(sum(table.values.shape), dtype=np.int64)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    offsets = np.cumsum([0, *table.values.shape])
    at = np.nonzero(table.present)
    # Each cell links its levels. Edges from its first level to all others (and itself) suffice; a complete graph of
    # them would connect no more.
    joined = [at[0]] * len(at)
    nodes = [index + offsets[i] for i, index in enumerate(at)]
    size = int(offsets[-1])
    rows, columns = np.concatenate(joined), np.concatenate(nodes)
    edges = coo_array((np.ones(rows.size, dtype=np.int32), (rows, columns)), shape=(size, size))
    _, labels = connected_components(edges, directed=False)
    used = np.zeros(size, dtype=np.bool_)
    used[columns] = True
    return np.where(used, labels, -1).astype(np.int64)


def precision(table: Table) -> Precision:
    """The precision of a grid; lattices only for proportions."""
    if table.cells == 0:
        return Precision("insufficient", None, reason="no cell was measured")
    whole = table.metric.proportion_of
    if whole is None:
        return Precision("ok", table.decimals)
    candidates = implied(np.unique(table.values[table.present]), whole, table.decimals)
    smallest = candidates[0] if candidates else None
    count, off = off_lattice(table, whole)
    chance = None if smallest is None else min(1.0, (smallest + 1) / (whole * 10.0**table.decimals + 1))
    return Precision("ok", table.decimals, smallest, candidates, chance, count, off)


def implied(values: FloatArray, whole: float, decimals: int) -> tuple[int, ...]:
    """The five smallest numbers of trials, below the printed resolution, on whose lattice every value lies."""
    finest = min(MOST_TRIALS, round(whole * 10.0 ** min(decimals, 6)))
    trials = np.arange(1, finest, dtype=np.int64)
    left = values[np.linspace(0, values.size - 1, min(values.size, MOST_VALUES)).astype(np.int64)]
    # The first values leave few candidates, and more values are then looked at together.
    while left.size and trials.size:
        count = max(1, _AT_ONCE // trials.size)
        trials = trials[on_lattice(left[:count, None], trials, whole, decimals).all(axis=0)]
        left = left[count:]
    return tuple(trials[:5].tolist())


def on_lattice(values: FloatArray, trials: IntArray, whole: float, decimals: int) -> BoolArray:
    """Return whether some whole number of successes rounds to each value."""
    nearest = np.rint(values * trials / whole) * whole / trials
    return np.asarray(np.abs(nearest - values) <= 0.5 * 10.0**-decimals + 1e-11 * whole)


def off_lattice(table: Table, whole: float) -> tuple[int | None, tuple[OffLattice, ...] | None]:
    """The values that contradict their trials; `None` without trials."""
    if table.trials is None:
        return None, None
    known = table.present & (table.trials > 0)
    fits = np.ones(table.values.shape, dtype=np.bool_)
    fits[known] = on_lattice(table.values[known], table.trials[known], whole, table.decimals)
    found = np.flatnonzero(~fits)
    first = found[:MOST_OFF]
    rows = zip(table.places_at(first), table.values.ravel()[first].tolist(), strict=True)
    return int(found.size), tuple(OffLattice(*row) for row in rows)
