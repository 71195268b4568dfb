"""One statistic of every grid as rows of one table, which a project's feed serves (`api/feeds.py`).

Columns: the grid's names as in the feed of cells, for each axis a text and a number, what the statistic says, `state`
and `reason`, by which methods and of which instant it is. A grid that has nothing of the statistic (pending, failed, or
without a series or a best cell) has one row whose numbers are empty.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.renderings import trends
from registry.renderings.cells_feed import (
    AS_SENT,
    IDENTITY,
    Joined,
    axes_of,
    fields_of_axes,
    instant_text,
    interval_at,
    names_of,
)
from registry.renderings.numbers import plain_number
from registry.renderings.rows import Field, Kind, Row
from registry.renderings.statistics_columns import MEASURED, STANDING, said_of_cells
from registry.results.codec import from_bytes, from_document
from registry.results.courses import Series
from registry.results.peaks import Peaks
from registry.results.terms import At
from registry.results.terms import Place as LevelPlace

_READ = {
    "series": (
        *("along", "at", "x_scale", "noise", "count", "from", "to", "first", "last", "slope", "slope_interval"),
        *("mann_kendall", "fitted_change", "end_change", "retained", "detectable", "direction", "trend_p", "q"),
        *("onset", "reason"),
    ),
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


def columns_of(statistic: str, axes: Sequence[str], joined: Joined | None) -> Columns:
    """The columns for `trends`, `peaks` or `coverage` of grids with these axes. An axis whose name is taken is
    `axis_<name>`."""
    own, shown = MEASURED[statistic], () if statistic == "coverage" else tuple(axes)
    taken = (*IDENTITY, *(field.name for field in (*own, *STANDING)), *AS_SENT)
    sent = [] if joined is None else [Field(name, "text", said_of_cells(name)) for name in AS_SENT]
    fields = [
        *(Field(name, _kind(name), said_of_cells(name)) for name in IDENTITY),
        *fields_of_axes(shown, taken),
        *own,
        *STANDING,
        *sent,
    ]
    return Columns(statistic, shown, tuple(fields), joined)


def _kind(name: str) -> Kind:
    return "whole" if name == "revision" else "text"


def rows_of(row: Any, columns: Columns) -> Iterator[Row]:
    """The rows of a grid, from a row of `registry.operations.export`; at least one."""
    names, sent = names_of(row, columns.joined)
    head = (str(row.id), row.number, *names, row.metric["name"], row.metric["unit"] or None)
    tail = (row.methods_version, instant_text(row.updated_at), *sent)
    levels, own = _Levels(*axes_of(row.axes)), [field.name for field in MEASURED[columns.statistic]]
    found: Iterable[Told] = [({}, None, row.reason)]
    if row.document is not None:
        document = from_bytes(row.document)
        found = {"trends": _trends, "peaks": _peaks, "coverage": _coverage}[columns.statistic](document, levels, row)
    for at, measured, reason in found:
        told = (measured[name] if measured else None for name in own)
        yield (*head, *levels.pairs(columns.axes, at), *told, row.state, reason, *tail)


Told = tuple[At, Mapping[str, Any] | None, str | None]
"""A coordinate, what is said of it by column, and why some of that is missing."""


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
    series = [
        from_document(Series, {name: one[name] for name in _READ["series"] if name in one})
        for one in document["series"]
    ]
    if not series:
        yield {}, None, document.get("series_reason") or NO_SERIES
    for one in series:
        cells = trends.cells_of(one) | {"along": one.along, "x_scale": one.x_scale, "series_left_out": left_out}
        for name in ("from", "to", "onset_until", "onset_by"):
            cells[name], cells[f"{name}_num"] = levels.pair(one.along, cells[name])
        yield one.at, cells, one.reason


def _peaks(document: Mapping[str, Any], levels: _Levels, row: Any) -> Iterator[Told]:
    told = document.get("peaks") or {}
    peaks = from_document(Peaks, {name: one for name, one in told.items() if name != "by"})
    best, runner, within = peaks.best, peaks.runner_up, peaks.best_set
    if best is None:
        yield {}, None, peaks.reason
        return
    of_grid = {
        "value": best.value,
        "ties": best.ties,
        "runner_up": runner.value if runner else None,
        "gap": runner.gap if runner else None,
        "best_set_size": within.size if within else None,
        "best_set_level": within.level if within else None,
        "shrunken": peaks.shrunken.value if peaks.shrunken else None,
        "expected_max_if_equal": peaks.expected_max_if_equal,
        "plausible_max_if_equal": peaks.plausible_max_if_equal,
        "noise": peaks.noise,
    }
    for at in best.at:
        chance = next((one for one in peaks.probability_best or () if one.at == at), None)
        low, high = interval_at(row, levels.flat(at), best.value)
        of_cell = {
            "ci_low": low,
            "ci_high": high,
            "probability_best": chance.probability if chance else None,
            "if_unrelated": chance.if_unrelated if chance else None,
        }
        yield at, of_grid | of_cell, peaks.noise_reason


def _coverage(document: Mapping[str, Any], _levels: _Levels, _row: Any) -> Iterator[Told]:
    found = document["coverage"]
    empty = sum(len(axis["empty"]) for axis in found["by"].values())
    yield {}, found | {"empty_levels": empty}, found.get("reason")
