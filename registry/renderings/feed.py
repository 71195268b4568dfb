"""Cells as tidy rows of one table, whatever grids they come from: the columns depend on the axes alone.

grid, revision, experiment, benchmark, model, variant, metric, unit, for each axis a text and a number (`<axis>_num`,
empty where a level has none), value, trials, stderr, ci_low, ci_high, updated_at; where names are those that aliases
join, the names that were posted (`<kind>_as_sent`); the protocol; and the slice where cells are cut to one. Unmeasured
cells have no row, or an empty one if that is asked for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson

from registry.grids.grid import Level
from registry.grids.protocol import Protocol
from registry.grids.slices import Slice, kept_positions, mask_of, slice_text
from registry.renderings.numbers import around, plain_number, wilson
from registry.renderings.table import axis_names

NAMED = ("experiment", "benchmark", "model", "variant")
AS_SENT = tuple(f"{kind}_as_sent" for kind in NAMED)
IDENTITY = ("grid", "revision", "experiment", "benchmark", "model", "variant", "metric", "unit")
MEASURED = ("value", "trials", "stderr", "ci_low", "ci_high", "updated_at")
PROTOCOL = "protocol"
"""How the grid was measured, as JSON text; after all that every feed has, for it came after the others."""
SLICE = "slice"
"""What the cells are cut to, in words: the last column where they are."""
_BESIDE = ("at", "repeats", "sd")
"""What the cells of one grid have in JSON besides the columns."""
_KEPT_AXES = 2_048
"""Of axes that are written with more characters nothing is kept."""
_PART = 65_536
"""Characters of an array that are read at once."""
Joined = Mapping[tuple[str, str], str]
"""Names by the kind and the alias that stands for them."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a feed: the axes of all its grids, and what their columns are called."""

    axes: tuple[str, ...]
    names: tuple[str, ...]
    """A text and a number for each axis."""
    joined: Joined | None = None
    """The names that aliases stand for; None: names are as they were posted."""
    wanted: Slice = ()
    """The slice that cells are cut to."""

    @property
    def last(self) -> tuple[str, ...]:
        """The columns after those of the measured. The names as they were posted are always there where names are
        joined, whether or not one is, so that the columns do not depend on an alias."""
        return (*(() if self.joined is None else AS_SENT), PROTOCOL, *((SLICE,) if self.wanted else ()))

    @property
    def header(self) -> tuple[str, ...]:
        return (*IDENTITY, *self.names, *MEASURED, *self.last)


def columns_of(axes: Sequence[str], joined: Joined | None = None, wanted: Slice = ()) -> Columns:
    """The columns for these axes; an axis whose name is taken is `axis_<name>`."""
    taken = (*IDENTITY, *MEASURED, *AS_SENT, PROTOCOL, *_BESIDE, *((SLICE,) if wanted else ()))
    names = (name + suffix for name in axis_names(axes, taken, ("", "_num")) for suffix in ("", "_num"))
    return Columns(tuple(axes), tuple(names), joined, wanted)


def names_of(row: Any, joined: Joined | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of a grid, joined, and those that were posted: none where nothing is joined."""
    sent = tuple(getattr(row, kind) for kind in NAMED)
    if joined is None:
        return sent, ()
    return tuple(joined.get(pair, pair[1]) for pair in zip(NAMED, sent, strict=True)), sent


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
    last: tuple[str | None, ...]
    """What all the cells have in the last columns; of a protocol JSON with sorted keys."""
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
    own, levels = axes_of(row.axes)
    slots = tuple(own.index(name) if name in own else None for name in columns.axes)
    names, sent = names_of(row, columns.joined)
    identity = (str(row.id), row.number, *names, row.metric["name"], row.metric["unit"] or None)
    repeated = {name: _numbers(text) for name in ("repeats", "sd") if (text := getattr(row, name)) is not None}
    last = (*sent, protocol_text(row.protocol), *((slice_text(columns.wanted),) if columns.wanted else ()))
    return Cells(identity, levels, slots, _measured(row), instant_text(row.updated_at), last, repeated)


def protocol_text(protocol: Protocol | None) -> str | None:
    """A protocol as one text, equal for equal protocols: JSON without spaces, its keys sorted as in the digest."""
    return None if protocol is None else orjson.dumps(dict(protocol), option=orjson.OPT_SORT_KEYS).decode()


def instant_text(instant: datetime) -> str:
    """An instant as every feed writes it: in UTC, to the microsecond."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def sliced_cells(row: Any, columns: Columns) -> Cells | None:
    """Like `cells_of`, cut to the slice of the columns; None when the grid has nothing of it."""
    cells = cells_of(row, columns)
    if not columns.wanted:
        return cells
    names = tuple(axis["name"] for axis in orjson.loads(row.axes))
    found = _cut(names, cells.levels, columns.wanted)
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


def axes_of(axes: str) -> tuple[tuple[str, ...], tuple[Place, ...]]:
    """The names of the axes in PostgreSQL's text of them, and their levels."""
    return _kept(axes) if len(axes) <= _KEPT_AXES else _axes_of(axes)


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


def interval_at(row: Any, place: int, value: float) -> tuple[float | None, float | None]:
    """The 95 % interval of one cell, as the feed of cells has it: its flat index, and its value."""
    known = next(itertools.islice(_noise(row), place, None))
    return _with_noise(value, *known, _whole(row.metric))[3:]


Noise = tuple[int | None, float | None, int | None, float | None]


def _noise(row: Any) -> Iterator[Noise]:
    """Trials, standard error, repeats and their standard deviation of each cell; without end where none has its own."""
    trials = itertools.repeat(row.trials) if row.cell_trials is None else _numbers(row.cell_trials)
    return zip(trials, *(_numbers(text) for text in (row.stderr, row.repeats, row.sd)), strict=False)


def _whole(metric: Any) -> float | None:
    """What is all of a proportion; None of what is none."""
    return float(metric["upper"]) if metric["lower"] == 0 and metric["upper"] in (1, 100) else None


def _measured(row: Any) -> Iterator[Measured]:
    whole = _whole(row.metric)
    values = () if row.values is None else _numbers(row.values)
    for found, known in zip(values, _noise(row), strict=False):
        yield (None, None, None, None, None) if found is None else _with_noise(float(found), *known, whole)


def _with_noise(
    value: float, count: int | None, error: float | None, times: int | None, sd: float | None, whole: float | None
) -> Measured:
    noise = (
        error
        if error is not None
        else sd / math.sqrt(times)
        if sd is not None and times is not None and times > 1
        else None
    )
    if noise is not None:
        return value, count, float(noise), *around(value, float(noise))
    if count and whole is not None:
        return value, count, None, *wilson(value, count, whole)
    return value, count, None, None, None
