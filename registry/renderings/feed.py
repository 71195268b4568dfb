"""Cells as tidy rows of one table, whatever grids they come from: the columns depend on the axes alone.

grid, revision, experiment, benchmark, model, variant, metric, unit, for each axis a text and a number (`<axis>_num`,
empty where a level has none), value, trials, stderr, ci_low, ci_high, updated_at. Unmeasured cells have no row, or an
empty one if that is asked for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from functools import lru_cache
from typing import Any

import orjson

from registry.grids.grid import Level
from registry.grids.slices import Slice, kept_positions, mask_of
from registry.renderings.interval import around, wilson
from registry.renderings.numbers import plain_number
from registry.renderings.tidy import axis_names

IDENTITY = ("grid", "revision", "experiment", "benchmark", "model", "variant", "metric", "unit")
MEASURED = ("value", "trials", "stderr", "ci_low", "ci_high", "updated_at")
_BESIDE = ("at", "repeats", "sd")
"""What the cells of one grid have in JSON besides the columns."""
_KEPT_AXES = 2_048
"""Of axes that are written with more characters nothing is kept."""
_PART = 65_536
"""Characters of an array that are read at once."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a feed: the axes of all its grids, and what their columns are called."""

    axes: tuple[str, ...]
    names: tuple[str, ...]
    """A text and a number for each axis."""

    @property
    def header(self) -> tuple[str, ...]:
        return (*IDENTITY, *self.names, *MEASURED)


def columns_of(axes: Sequence[str]) -> Columns:
    """The columns for these axes; an axis whose name is taken is `axis_<name>`."""
    free = axis_names(axes, (*IDENTITY, *MEASURED, *_BESIDE), ("", "_num"))
    return Columns(tuple(axes), tuple(name + suffix for name in free for suffix in ("", "_num")))


Place = tuple[tuple[str, float | None], ...]
"""A coordinate: a text and a number for each axis of the grid."""
Measured = tuple[float | None, int | None, float | None, float | None, float | None]
"""Value, trials, standard error, and the ends of the interval."""


@dataclass(frozen=True, slots=True)
class Cells:
    """One grid's cells, ready to be written one after the other: no list of them is ever made."""

    identity: tuple[Any, ...]
    levels: tuple[Place, ...]
    """The levels of each axis."""
    slots: tuple[int | None, ...]
    """For each axis of the feed its place among the grid's axes."""
    measured: Iterator[Measured]
    """What is known of each cell, row-major; to be read once."""
    updated_at: str
    repeated: dict[str, Iterator[Any]]
    """`repeats` and `sd` of each cell, where a grid has them; to be read once."""

    @property
    def count(self) -> int:
        """How many cells there are, measured or not."""
        return math.prod(map(len, self.levels))

    def places(self) -> Iterator[Place]:
        """The coordinate of each cell, row-major."""
        return itertools.product(*self.levels)


def cells_of(row: Any, columns: Columns) -> Cells:
    """The cells in a row of `registry.operations.export`."""
    own, levels = _kept(row.axes) if len(row.axes) <= _KEPT_AXES else _axes_of(row.axes)
    slots = tuple(own.index(name) if name in own else None for name in columns.axes)
    metric = row.metric
    names = (row.experiment, row.benchmark, row.model, row.variant, metric["name"], metric["unit"] or None)
    instant = row.updated_at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    repeated = {name: _numbers(text) for name in ("repeats", "sd") if (text := getattr(row, name)) is not None}
    return Cells((str(row.id), row.number, *names), levels, slots, _measured(row), instant, repeated)


def sliced_cells(row: Any, columns: Columns, wanted: Slice) -> Cells | None:
    """Like `cells_of`, cut to a slice; None when the grid has nothing of it."""
    cells = cells_of(row, columns)
    if not wanted:
        return cells
    names = tuple(axis["name"] for axis in orjson.loads(row.axes))
    found = _cut(names, cells.levels, wanted)
    if found is None:
        return None
    levels, mask = found
    repeated: dict[str, Iterator[Any]] = {
        name: itertools.compress(numbers, mask) for name, numbers in cells.repeated.items()
    }
    return replace(cells, levels=levels, measured=itertools.compress(cells.measured, mask), repeated=repeated)


@lru_cache(maxsize=64)
def _cut(names: tuple[str, ...], levels: tuple[Place, ...], wanted: Slice) -> tuple[tuple[Place, ...], bytes] | None:
    """The levels that a slice keeps, and for each cell, row-major, whether it does."""
    axes = {name: [Level(*level) for level in one] for name, one in zip(names, levels, strict=True)}
    kept = kept_positions(axes, wanted)
    if kept is None:
        return None
    cut = (tuple(one[place] for place in places) for one, places in zip(levels, kept, strict=True))
    return tuple(cut), bytes(mask_of([len(one) for one in levels], kept))


def _axes_of(axes: str) -> tuple[tuple[str, ...], tuple[Place, ...]]:
    """The names of the axes, and their levels."""
    found = orjson.loads(axes)
    levels = (tuple(_level(level) for level in axis["levels"]) for axis in found)
    return tuple(axis["name"] for axis in found), tuple(levels)


_kept = lru_cache(maxsize=64)(_axes_of)
"""Grids of an experiment share their axes."""


def _level(level: Any) -> tuple[str, float | None]:
    if isinstance(level, dict):
        return level["label"], float(level["number"])
    return (level, None) if isinstance(level, str) else (plain_number(level), float(level))


def _numbers(text: str | None) -> Iterator[Any]:
    """The numbers in PostgreSQL's text of an array, read a part at a time; None without end where there is no array."""
    if text is None:
        yield from itertools.repeat(None)
        return
    start, end = 1, len(text) - 1
    while start < end:
        cut = text.find(",", start + _PART, end)
        part = text[start : cut if cut >= 0 else end]
        start += len(part) + 1
        if "-0," in part or part.endswith("-0"):  # a zero below zero, which JSON's integers do not have
            yield from (None if number == "NULL" else float(number) for number in part.split(","))
        else:
            yield from orjson.loads(f"[{part.replace('NULL', 'null')}]")


def _measured(row: Any) -> Iterator[Measured]:
    trials = itertools.repeat(row.trials) if row.cell_trials is None else _numbers(row.cell_trials)
    upper = row.metric["upper"]
    whole = float(upper) if row.metric["lower"] == 0 and upper in (1, 100) else None
    given = (_numbers(text) for text in (row.stderr, row.repeats, row.sd))
    values = () if row.values is None else _numbers(row.values)
    for found, count, error, times, sd in zip(values, trials, *given, strict=False):
        if found is None:
            yield None, None, None, None, None
            continue
        value = float(found)
        noise = error if error is not None else sd / math.sqrt(times) if sd is not None and (times or 0) > 1 else None
        if noise is not None:
            yield value, count, float(noise), *around(value, float(noise))
        elif count and whole is not None:
            yield value, count, None, *wilson(value, count, whole)
        else:
            yield value, count, None, None, None
