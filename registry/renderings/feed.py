"""Cells as tidy rows of one table, whatever grids they come from: the columns depend on the axes alone.

grid, revision, experiment, benchmark, model, variant, metric, unit, for each axis a text and a number (`<axis>_num`,
empty where a level has none), value, trials, stderr, ci_low, ci_high, updated_at. Unmeasured cells have no row, or an
empty one if that is asked for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import lru_cache
from typing import Any

import orjson

from registry.interval import around, wilson
from registry.renderings.numbers import plain_number

IDENTITY = ("grid", "revision", "experiment", "benchmark", "model", "variant", "metric", "unit")
MEASURED = ("value", "trials", "stderr", "ci_low", "ci_high", "updated_at")
_KEPT_AXES = 2_048
"""Of axes that are written with more characters nothing is kept."""


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
    taken = {*IDENTITY, *MEASURED}
    names: list[str] = []
    for axis in axes:
        free = axis
        while {free, f"{free}_num"} & taken:
            free = f"axis_{free}"
        taken |= {free, f"{free}_num"}
        names += [free, f"{free}_num"]
    return Columns(tuple(axes), tuple(names))


@dataclass(frozen=True, slots=True)
class Cells:
    """One grid's cells, ready to be written: what all of them share, and a list for each thing they differ in."""

    identity: tuple[Any, ...]
    places: Sequence[tuple[tuple[str, float | None], ...]]
    """The levels of each cell: a text and a number for each axis of the grid."""
    slots: tuple[int | None, ...]
    """For each axis of the feed its place among the grid's axes."""
    measured: Iterator[tuple[float | None, int | None, float | None, float | None, float | None]]
    """Value, trials, standard error and interval of each cell."""
    updated_at: str
    repeated: dict[str, list[Any]]
    """`repeats` and `sd` of each cell, where a grid has them."""


def cells_of(row: Any, columns: Columns) -> Cells:
    """The cells in a row of `registry.operations.export`."""
    own, places = _kept(row.axes) if len(row.axes) <= _KEPT_AXES else _grid_of(row.axes)
    slots = tuple(own.index(name) if name in own else None for name in columns.axes)
    metric = row.metric
    names = (row.experiment, row.benchmark, row.model, row.variant, metric["name"], metric["unit"] or None)
    instant = row.updated_at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    repeated = {name: found for name in ("repeats", "sd") if (found := _array(getattr(row, name))) is not None}
    return Cells((str(row.id), row.number, *names), places, slots, _measured(row), instant, repeated)


Coordinates = Sequence[tuple[tuple[str, float | None], ...]]


def _grid_of(axes: str) -> tuple[tuple[str, ...], Coordinates]:
    """The names of the axes, and the coordinates of every cell."""
    found = orjson.loads(axes)
    levels = ([_level(level) for level in axis["levels"]] for axis in found)
    return tuple(axis["name"] for axis in found), tuple(itertools.product(*levels))


_kept = lru_cache(maxsize=64)(_grid_of)
"""Grids of an experiment share their axes."""


def _level(level: Any) -> tuple[str, float | None]:
    if isinstance(level, dict):
        return level["label"], float(level["number"])
    return (level, None) if isinstance(level, str) else (plain_number(level), float(level))


def _array(text: str | None) -> list[Any] | None:
    """PostgreSQL's text of an array of numbers."""
    if text is None:
        return None
    if "-0," in text or "-0}" in text:  # a zero below zero, which JSON's integers do not have
        return [None if number == "NULL" else float(number) for number in text[1:-1].split(",")]
    found: list[Any] = orjson.loads(f"[{text[1:-1].replace('NULL', 'null')}]")
    return found


def _measured(row: Any) -> Iterator[tuple[float | None, int | None, float | None, float | None, float | None]]:
    values = _array(row.values) or []
    each = _array(row.cell_trials)
    trials: Sequence[int | None] = each if each is not None else [row.trials] * len(values)
    stderr, repeats, spread = (_array(text) for text in (row.stderr, row.repeats, row.sd))
    upper = row.metric["upper"]
    whole = float(upper) if row.metric["lower"] == 0 and upper in (1, 100) else None
    nothing = [None] * len(values)
    given = zip(values, trials, stderr or nothing, repeats or nothing, spread or nothing, strict=True)
    for found, count, error, times, sd in given:
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
