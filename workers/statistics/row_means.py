"""How good each row of a table is over its columns, and the rows in order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from registry.grids.grid import Direction
from registry.results.aggregates import Aggregation, Entry, RowMean
from registry.results.terms import Interval
from workers.statistics.aggregate_intervals import Groups
from workers.statistics.benchmark_scores import OwnCells, weighted_mean

OF_COLUMNS = 2
"""Dimensions of a table whose rows have means: names by something else."""


def row_means(entries: Sequence[Entry], filled: Sequence[int], groups: Groups, alpha: float | None) -> list[RowMean]:
    """The mean of each row, over the columns in which another row has a value too, each with the same weight; `filled`
    are the places of the entries that `groups` are of, `alpha` None for what has no interval.

    With columns of benchmarks it is the mean of a ranking of the same selection, to the last bit and with the same
    interval, where in each column all rows that have cells have the same ones. Of holes a ranking keeps what two names
    share, a table what all of the column do (`matched`) or what each has (`available`).
    """
    cells = groups.cells
    down, _ = entries[0].at
    rows = list(dict.fromkeys(one.at[down] for one in entries))
    width = len(entries) // len(rows)
    valued = np.array([one.value is not None for one in entries], dtype=np.bool_).reshape(len(rows), width)
    compared = valued & (valued.sum(axis=0) > 1)
    last = np.cumsum(groups.counts)
    spans = {place: np.arange(end - count, end) for place, end, count in zip(filled, last, groups.counts, strict=True)}
    found = []
    for i, level in enumerate(rows):
        places = [i * width + column for column in np.flatnonzero(compared[i]).tolist()]
        mean: tuple[float | None, Interval | None] = (None, None)
        if places and alpha is None:
            mean = math.fsum(entries[one].value or 0.0 for one in places) / len(places), None
        elif places and alpha is not None:
            own = np.concatenate([spans[one] for one in places])
            of_cells = OwnCells(*(column[own] for column in (cells.values, cells.variance, cells.df, cells.n, cells.k)))
            parts, ends = groups.parts[own] * len(places), (cells.lower, cells.upper)
            mean = weighted_mean(of_cells, parts, alpha, ends, cells.whole)
        found.append(RowMean(level, mean[0], len(places), mean[1]))
    return found


def in_order(table: Aggregation, sort: str, direction: Direction | None) -> Aggregation:
    """The table with its rows in order: `name` leaves them, `mean` goes by their means (by the values of a table of one
    dimension), another word by that column; the better first, or the larger where neither end is better. Rows that are
    equal keep their order, those without a number come last. `undefined` where there is no such column."""
    if sort == "name" or not table.entries:
        return table
    down = table.dimensions[0]
    width = len(table.entries) // len(down.levels)
    keys: Sequence[float | None]
    if len(table.dimensions) == 1:
        keys = [one.value for one in table.entries]
    elif sort == "mean":
        keys = [one.mean for one in table.rows]
    else:
        column = next((i for i, level in enumerate(table.dimensions[1].levels) if str(level) == sort), None)
        if column is None:
            return replace(Aggregation("undefined", reason=f'there is no column "{sort}"'), reduced=table.reduced)
        keys = [one.value for one in table.entries[column::width]]
    sign = 1 if direction == "lower" else -1
    order = sorted(range(len(keys)), key=lambda i: (keys[i] is None, sign * (keys[i] or 0.0)))
    return replace(
        table,
        dimensions=(replace(down, levels=tuple(down.levels[i] for i in order)), *table.dimensions[1:]),
        entries=tuple(one for i in order for one in table.entries[i * width : (i + 1) * width]),
        rows=tuple(table.rows[i] for i in order) if table.rows else (),
    )
