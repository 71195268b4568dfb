"""The series of a grid in two parts, where a split was asked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from registry.renderings.numbers import fixed, intervals, level_of, places_of, plain_number, signed
from registry.renderings.sheet import Block
from registry.renderings.table import Column, Table
from registry.renderings.words import isolated, label
from registry.results.courses import Series, Split
from registry.results.statistics import Statistics

COLUMNS = ("before", "after", "difference", "difference_low", "difference_high")


def blocks(document: Statistics) -> Iterator[Block]:
    """A table for each axis that is split, and all of its series together; nothing where no split was asked for."""
    if document.params.split is None:
        return
    at = plain_number(document.params.split)
    there = [(one, one.split) for one in document.series if one.split is not None]
    if not there:
        yield f"No series has cells on both sides of {at}."
    for along, found in itertools.groupby(there, key=lambda pair: pair[0].along):
        yield f"{isolated(along)} beyond {at}, less up to {at}, as means of cells"
        yield _table(list(found))
        whole = (document.grid_split or {}).get(along)
        if whole is not None and document.lost is None:
            yield _together(whole)


def _table(rows: Sequence[tuple[Series, Split]]) -> Table:
    found = [split for _, split in rows]
    within, names = [one.interval for one in found], list(rows[0][0].at)
    means = places_of([mean for one in found for mean in (one.before, one.after)])
    differences = places_of(
        [*(one.difference for one in found), *(end for one in within if one for end in (one.low, one.high))]
    )
    columns = [
        *(Column(name, [label(series.at[name]) for series, _ in rows]) for name in names),
        Column("cells", [str(one.count) for one in found], True),
        Column("up to it", [fixed(one.before, means) for one in found], True),
        Column("beyond", [fixed(one.after, means) for one in found], True),
        Column("difference", [signed(one.difference, differences) for one in found], True),
    ]
    if any(within):
        level = next(level_of(one) for one in within if one)
        columns.append(Column(f"{level} interval", intervals(within, differences)))
    return Table(columns, keys=len(names))


def _together(whole: Split) -> str:
    """All series with both parts as a sentence."""
    places, within = places_of([whole.difference]), whole.interval
    reach = f" {intervals([within], places)[0]} ({level_of(within)})" if within else ", of unknown noise"
    means = f"{fixed(whole.before, places)} → {fixed(whole.after, places)}"
    return f"The {whole.count} with both parts, weighing the same: {means}, {signed(whole.difference, places)}{reach}"


def cells_of(one: Series) -> tuple[float | None, ...]:
    """The cells of a series in `COLUMNS`."""
    split = one.split
    if split is None:
        return (None,) * len(COLUMNS)
    ends = (split.interval.low, split.interval.high) if split.interval else (None, None)
    return (split.before, split.after, split.difference, *ends)
