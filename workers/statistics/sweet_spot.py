"""One coordinate for several grids of an experiment: which cell serves all of them, and whether they agree.

Everything is computed on the cells that all grids have. Regret is how far a cell lies below the best of its grid
(Savage 1951); the Pareto set holds the cells that no other cell matches everywhere and beats somewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from registry.grids.grid import Grid
from registry.results.sweet_spot import Compromise, Favourite, SharedPeak, SweetSpotMargin
from registry.results.terms import Place
from workers.statistics.ranks import friedman, ranks_of
from workers.statistics.table import Table, place_of
from workers.statistics.terms import FloatArray, IntArray

MOST_CELLS = 10_000
"""Common cells up to which grids are compared."""
MOST_LISTED = 100


def sweet_spot(grids: Sequence[Grid]) -> Compromise:
    """The sweet spot of grids that share their axes; `not_comparable` when they do not."""
    if len(grids) < 2:
        return Compromise("insufficient", len(grids), 0, reason="one grid has its own peaks")
    if not any(grid.axes for grid in grids):
        return Compromise("undefined", len(grids), 0, reason="single scores have no coordinate to choose")
    if any(names(grid) != names(grids[0]) for grid in grids):
        return Compromise("not_comparable", len(grids), 0, reason="the grids do not share their axes")
    if any(grid.metric.direction is None for grid in grids):
        return Compromise("undefined", len(grids), 0, reason="a metric has no better end")
    tables = [Table.of(grid) for grid in grids]
    cells = common(tables)
    count = cells[0].size
    if count < 2 or count > MOST_CELLS:
        limit = f"more than {MOST_CELLS} cells in common" if count > 2 else "fewer than two cells in common"
        return Compromise("not_comparable" if count < 2 else "undefined", len(grids), int(count), reason=limit)
    return compromise(tables, cells)


def names(grid: Grid) -> list[str]:
    """The names of the axes in their order."""
    return [axis.name for axis in grid.axes]


def common(tables: Sequence[Table]) -> list[IntArray]:
    """Flat indices, for each grid, of the cells that all grids have, in the order of the first grid.

    Levels are the same when their labels are.
    """
    keys = []
    for table in tables:
        labels = [np.array([level.label for level in axis.levels], dtype=object) for axis in table.axes]
        at = np.nonzero(table.present)
        columns = [names[index].tolist() for names, index in zip(labels, at, strict=True)]
        keys.append(dict(zip(zip(*columns, strict=True), np.flatnonzero(table.present).tolist(), strict=True)))
    shared = [key for key in keys[0] if all(key in other for other in keys[1:])]
    return [np.array([own[key] for key in shared], dtype=np.int64) for own in keys]


def compromise(tables: Sequence[Table], cells: Sequence[IntArray]) -> Compromise:
    """All criteria on the common cells."""
    signs = [-1 if table.metric.direction == "lower" else 1 for table in tables]
    both = list(zip(tables, cells, signs, strict=True))
    ticks = np.array([sign * table.ticks.ravel()[index] for table, index, sign in both])
    values = np.array([sign * table.values.ravel()[index] for table, index, sign in both])
    first = tables[0], cells[0]
    ranks = ranks_of(ticks)
    regret = values.max(axis=1, keepdims=True) - values
    extent = np.maximum(np.ptp(values, axis=1, keepdims=True), 1e-300)
    spread = np.maximum(values.std(axis=1, ddof=1, keepdims=True), 1e-300)
    z = np.where(np.ptp(ticks, axis=1, keepdims=True) > 0, (values - values.mean(axis=1, keepdims=True)) / spread, 0.0)
    mean_rank = ranks.mean(axis=0)
    front = pareto(ticks)
    return Compromise(
        "ok",
        len(tables),
        int(cells[0].size),
        lowest(*first, mean_rank),
        best_rank_p(ranks),
        highest(*first, z.mean(axis=0)),
        lowest(*first, regret.mean(axis=0)),
        lowest(*first, (regret / extent).mean(axis=0)),
        lowest(*first, (regret / extent).max(axis=0)),
        tuple(place(*first, int(i)) for i in front[:MOST_LISTED]),
        int(front.size),
        agreement(*first, ticks),
        friedman(ticks),
        {
            axis.name: margin
            for a, axis in enumerate(tables[0].axes)
            if (margin := margin_of(tables[0], cells[0], values, a))
        },
    )


def place(table: Table, index: IntArray, i: int) -> dict[str, Place]:
    """The coordinate of the i-th common cell."""
    return table.places(tuple(int(p) for p in np.unravel_index(int(index[i]), table.values.shape)))


def lowest(table: Table, index: IntArray, criterion: FloatArray) -> Favourite:
    """The cells with the least of a criterion; rounding does not break ties."""
    least = float(criterion.min())
    slack = 1e-9 * max(1e-300, float(np.max(np.abs(criterion))))
    at = np.flatnonzero(criterion <= least + slack)[:MOST_LISTED]
    return Favourite(least, tuple(place(table, index, int(i)) for i in at))


def highest(table: Table, index: IntArray, criterion: FloatArray) -> Favourite:
    """The cells with the most of a criterion."""
    turned = lowest(table, index, -criterion)
    return Favourite(-turned.value, turned.at)


def pareto(ticks: IntArray) -> IntArray:
    """The cells that no other dominates, grids x cells of which more is better."""
    kept = [
        i
        for i, own in enumerate(ticks.T)
        if not np.any(np.all(ticks >= own[:, None], axis=0) & np.any(ticks > own[:, None], axis=0))
    ]
    return np.array(kept, dtype=np.int64)


def best_rank_p(ranks: FloatArray) -> float:
    """The chance that any cell reaches the lowest sum of ranks seen: Bonferroni over one cell's exact law."""
    # Middle ranks are halves; doubled, sums of ranks are the indices of a convolution.
    doubled = np.rint(2 * ranks).astype(np.int64)
    law: FloatArray = np.ones(1)
    for row in doubled:
        law = np.convolve(law, np.bincount(row) / row.size)
    reached = float(law[: int(doubled.sum(axis=0).min()) + 1].sum())
    return min(1.0, int(ranks.shape[1]) * reached)


def agreement(table: Table, index: IntArray, ticks: IntArray) -> SharedPeak:
    """Number of grids in which the same cell is a peak."""
    peaks = ticks == ticks.max(axis=1, keepdims=True)
    counts = peaks.sum(axis=0)
    most = int(counts.max())
    law = np.ones(1)
    for share in peaks.mean(axis=1):
        law = np.convolve(law, [1 - share, share])
    at = np.flatnonzero(counts == most)[:MOST_LISTED]
    chance = min(1.0, ticks.shape[1] * float(law[most:].sum()))
    return SharedPeak(most, tuple(place(table, index, int(i)) for i in at), chance)


def margins(table: Table, index: IntArray, values: FloatArray) -> dict[str, SweetSpotMargin]:
    """The margins of all axes that have one."""
    found = {axis.name: margin_of(table, index, values, a) for a, axis in enumerate(table.axes)}
    return {name: margin for name, margin in found.items() if margin is not None}


def margin_of(table: Table, index: IntArray, values: FloatArray, axis: int) -> SweetSpotMargin | None:
    """Levels of one axis as treatments, grids as blocks; `None` unless the common cells form a full grid."""
    at = np.unravel_index(index, table.values.shape)
    levels, code = np.unique(at[axis], return_inverse=True)
    others = np.unique(np.delete(np.array(at), axis, axis=0), axis=1).shape[1] if len(at) > 1 else 1
    if levels.size < 2 or index.size != levels.size * others:
        return None
    means = np.array([np.bincount(code, row) / others for row in values])
    # Friedman's test takes integers: means in units of this slack tie where they differ by rounding alone.
    slack = 1e-9 * np.maximum(np.max(np.abs(means), axis=1, keepdims=True), 1e-300)
    goodness = np.rint((means - means.min(axis=1, keepdims=True)) / slack).astype(np.int64)
    best = np.count_nonzero(goodness == goodness.max(axis=1, keepdims=True), axis=0)
    names = tuple(place_of(table.axes[axis], int(level)) for level in levels)
    return SweetSpotMargin(names, tuple(best.tolist()), friedman(goodness))
