"""One statistic of every grid as rows of one table.

Columns: the grid's names as in the feed of cells, for each axis a text and a number, what the statistic says, `state`
and `reason`, by which methods and of which instant it is. A grid that has nothing of the statistic (pending, failed, or
without a series or a best cell) has one row whose numbers are empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.renderings import trends
from registry.renderings.feed import AS_SENT, IDENTITY, Joined, axes_of, instant_text, interval_at, names_of
from registry.renderings.grid import Field, Kind, Row
from registry.renderings.numbers import plain_number
from registry.renderings.statistics import MEASURED, STANDING, said_of_cells
from registry.renderings.table import axis_names
from registry.results.codec import from_bytes, from_document
from registry.results.courses import Series, losing
from registry.results.peaks import Peaks
from registry.results.terms import At
from registry.results.terms import Place as LevelPlace

_READ = {
    "series": (
        *("along", "at", "x_scale", "noise", "count", "from", "to", "first", "last", "slope", "slope_interval"),
        *("mann_kendall", "fitted_change", "retained", "detectable", "direction", "trend_p", "q", "shape", "reason"),
    ),
    "shape": ("kind", "at"),
}
"""The fields of documents that rows are made of: reading the others would take most of the time."""
NO_SERIES = "no axis with an order has a measured cell"


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of the table of a statistic."""

    statistic: str
    axes: tuple[str, ...]
    """The axes that have columns; none for a statistic of whole grids."""
    fields: tuple[Field, ...]
    joined: Joined | None
    lost: float | None = None
    """Of trends: only series that lost more than this."""


def columns_of(statistic: str, axes: Sequence[str], joined: Joined | None, lost: float | None = None) -> Columns:
    """The columns for `trends`, `peaks` or `coverage` of grids with these axes. An axis whose name is taken is
    `axis_<name>`."""
    own, shown = MEASURED[statistic], () if statistic == "coverage" else tuple(axes)
    taken = (*IDENTITY, *(field.name for field in (*own, *STANDING)), *AS_SENT)
    levels: list[Field] = []
    for axis, name in zip(shown, axis_names(shown, taken, ("", "_num")), strict=True):
        levels += [Field(name, "level", f"The level of {axis}."), Field(f"{name}_num", "number", "Its number.")]
    sent = [] if joined is None else [Field(name, "text", said_of_cells(name)) for name in AS_SENT]
    fields = [*(Field(name, _kind(name), said_of_cells(name)) for name in IDENTITY), *levels, *own, *STANDING, *sent]
    return Columns(statistic, shown, tuple(fields), joined, lost)


def _kind(name: str) -> Kind:
    return "whole" if name == "revision" else "text"


def rows_of(row: Any, columns: Columns) -> Iterator[Row]:
    """The rows of a grid, from a row of `registry.operations.export`; at least one, but of a grid that is
    computed and has no series that lost as much as was asked for."""
    names, sent = names_of(row, columns.joined)
    head = (str(row.id), row.number, *names, row.metric["name"], row.metric["unit"] or None)
    tail = (row.methods_version, instant_text(row.updated_at), *sent)
    if row.document is None:
        yield (*head, *_nothing(columns), row.state, row.reason, *tail)
        return
    levels = _Levels(*axes_of(row.axes))
    document = from_bytes(row.document)
    if columns.lost is not None:
        document["series"] = losing(document["series"], row.metric["direction"], columns.lost)
        if not document["series"]:
            return
    found = {"trends": _trends, "peaks": _peaks, "coverage": _coverage}[columns.statistic](document, levels, row)
    for at, measured, reason in found:
        if measured is None:
            yield (*head, *_nothing(columns), row.state, reason, *tail)
        else:
            yield (*head, *levels.pairs(columns.axes, at), *measured, row.state, reason, *tail)


def _nothing(columns: Columns) -> Row:
    return (None,) * (2 * len(columns.axes) + len(MEASURED[columns.statistic]))


Told = tuple[At, Row | None, str | None]
"""A coordinate, what is said of it, and why some of that is missing."""


@dataclass(frozen=True, slots=True)
class _Levels:
    """The axes of a grid with their levels, each a label and a number."""

    axes: tuple[str, ...]
    levels: tuple[tuple[tuple[str, float | None], ...], ...]

    def pairs(self, axes: Sequence[str], at: At) -> Iterator[Any]:
        """The texts and numbers of a coordinate, for these axes."""
        for axis in axes:
            yield from self.pair(axis, at.get(axis))

    def pair(self, axis: str, level: LevelPlace | None) -> tuple[str | None, float | None]:
        """The text and the number of a level as a document names it: by its number, else by its label."""
        if level is None:
            return None, None
        if isinstance(level, str):
            return level, None
        number = float(level)
        known = (label for label, one in self.levels[self.axes.index(axis)] if one == number)
        return next(known, plain_number(number)), number

    def flat(self, at: At) -> int:
        """The flat index of a coordinate, row-major."""
        index = 0
        for axis, levels in zip(self.axes, self.levels, strict=True):
            index = index * len(levels) + levels.index(self.pair(axis, at[axis]))
        return index


def _trends(document: Mapping[str, Any], levels: _Levels, _row: Any) -> Iterator[Told]:
    left_out = document.get("series_left_out", 0)
    series = [_series(one) for one in document["series"]]
    if not series:
        yield {}, None, document.get("series_reason") or NO_SERIES
    for one in series:
        cells: list[Any] = [one.along]
        for name, cell in zip(trends.COLUMNS, trends.cells_of(one), strict=True):
            cells += levels.pair(one.along, cell) if name in ("from", "to", "shape_at") else [cell]
        yield one.at, (*cells, one.x_scale, left_out), one.reason


def _series(document: Mapping[str, Any]) -> Series:
    found = {name: document[name] for name in _READ["series"] if name in document}
    found["shape"] = {name: found["shape"].get(name) for name in _READ["shape"]}
    return from_document(Series, found)


def _peaks(document: Mapping[str, Any], levels: _Levels, row: Any) -> Iterator[Told]:
    told = document.get("peaks") or {}
    peaks = from_document(Peaks, {name: one for name, one in told.items() if name != "by"})
    best, runner, within = peaks.best, peaks.runner_up, peaks.best_set
    if best is None:
        yield {}, None, peaks.reason
        return
    of_grid = (
        within.size if within else None,
        within.level if within else None,
        peaks.shrunken.value if peaks.shrunken else None,
        peaks.expected_max_if_equal,
        peaks.plausible_max_if_equal,
        peaks.noise,
    )
    for at in best.at:
        chance = next((one for one in peaks.probability_best or () if one.at == at), None)
        of_cell = (chance.probability, chance.if_unrelated) if chance else (None, None)
        gap = (runner.value, runner.gap) if runner else (None, None)
        interval = interval_at(row, levels.flat(at), best.value)
        yield at, (best.value, *interval, best.ties, *gap, *of_cell, *of_grid), peaks.noise_reason


def _coverage(document: Mapping[str, Any], _levels: _Levels, _row: Any) -> Iterator[Told]:
    found = document["coverage"]
    empty = sum(len(axis["empty"]) for axis in found["by"].values())
    told = (found["cells"], found["possible"], found["fraction"], found["component_count"], empty)
    yield {}, told, found.get("reason")
