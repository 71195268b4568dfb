"""Where the series of a grid cross asked levels, falling and rising."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.numbers import UNDEFINED, fixed, level_of, places_of, plain_number, rounded
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table, members, tidy
from registry.renderings.words import counted, label, measure, place, slice_line
from registry.results.courses import Crossing, CrossingInterval, Threshold
from registry.results.statistics import SeriesThresholds, Thresholds
from registry.results.terms import Place

_LISTED = 3
"""Crossings of a series that text names; CSV and JSON have all."""
_COLUMNS = ("level", "side", "first_failing", "first_reaching", "sustained_from", "sustained_until", "recovers")


def thresholds_csv(document: Thresholds) -> str:
    """One row a series and level; the crossings in one field, `falling 3.4; rising 7.1`."""
    rows = (_row(one, found) for one, found in _crossings(document))
    return tidy(["along", "at", *_COLUMNS, "crossings", "low", "high"], rows, only=document.slice)


def _row(one: SeriesThresholds, found: Threshold) -> list[Any]:
    at = ", ".join(f"{name} {label(level)}" for name, level in one.at.items())
    crossings = "; ".join(f"{cross.direction} {cross.at!r}" for cross in found.crossings)
    return [one.along, at, *members(found, *_COLUMNS), crossings, *members(found.interval, "low", "high")]


def _crossings(document: Thresholds) -> list[tuple[SeriesThresholds, Threshold]]:
    return [(one, found) for one in document.series for found in one.thresholds]


def page(document: Thresholds) -> Iterator[Block]:
    """The crossings' page."""
    yield Heading(f"Thresholds — {measure(document.metric)}", 1)
    yield from slice_line(document.slice)
    yield f"grid {document.grid} · revision {document.revision}"
    crossings = _crossings(document)
    if not crossings:
        yield "No series: no axis with an order has a measured cell."
        return
    found = [each for _, each in crossings]
    within = [each.interval for each in found]
    names = {axis["name"]: axis["levels"] for axis in document.axes if axis["kind"] == "ordinal"}
    columns = [
        Column("along", [one.along for one, _ in crossings]),
        Column("at", [place(one.at) or UNDEFINED for one, _ in crossings]),
        Column("level", [plain_number(each.level) for each in found], True),
        Column("first failing", [_shown(each.first_failing) for each in found], True),
        Column("first reaching", [_shown(each.first_reaching) for each in found], True),
        Column("passes from", [_shown(each.sustained_from) for each in found], True),
        Column("crosses", [_where(each.crossings, names.get(one.along)) for one, each in crossings]),
    ]
    if any(within):
        level = next(level_of(one) for one in within if one)
        columns.append(Column(f"{level} interval", [_range(one) for one in within]))
    yield Table(columns, keys=2)
    yield Lines(tuple(_legend(crossings)))


def _where(crossings: Sequence[Crossing], names: Sequence[Any] | None) -> str:
    named = [f"{cross.direction} {_place(cross.at, names)}{_over(cross)}" for cross in crossings[:_LISTED]]
    more = f" and {len(crossings) - _LISTED} more" if len(crossings) > _LISTED else ""
    return ", ".join(named) + more or UNDEFINED


def _over(cross: Crossing) -> str:
    return f" (over {counted(cross.holes, 'level', 'levels')} without a cell)" if cross.holes else ""


def _place(at: float, names: Sequence[Any] | None) -> str:
    """Where a number lies, which counts the levels of an axis from 0 where these are names."""
    if names is None:
        return f"at {rounded(at if at == int(at) else float(fixed(at, places_of([at]))))}"
    near = round(at, 9)
    low, high = (label(names[one]) for one in (math.floor(near), math.ceil(near)))
    return f"at {low}" if near.is_integer() else f"between {low} and {high}"


def _range(within: CrossingInterval | None) -> str:
    """Between which levels a monotone truth crosses; an open end lies beyond the axis."""
    if within is None:
        return UNDEFINED
    low, high = (None if end is None else _shown(end) for end in (within.low, within.high))
    if low is None:
        return "anywhere" if high is None else f"up to {high}"
    return f"from {low} on" if high is None else f"{low} to {high}"


def _legend(crossings: Sequence[tuple[SeriesThresholds, Threshold]]) -> Iterator[str]:
    sides = dict.fromkeys(found.side for _, found in crossings)
    yield f"failing: {' or '.join(sides)} the level; passes from: the first level from which every later cell passes"
    yield "crosses: interpolated between neighbouring cells, as they were measured"
    if any(found.interval for _, found in crossings):
        yield "interval: where a truth that only falls, or only rises, crosses; from the noise of all cells together"
    silent = {one.noise == "unknown" for one, found in crossings if not found.interval}
    if False in silent:
        yield "no interval: no truth that only falls, or only rises, both fits the cells and crosses the level"
    if True in silent:
        yield "no noise is known: how far the crossings could move nobody can say"


def _shown(position: Place | None) -> str:
    return UNDEFINED if position is None else label(position)
