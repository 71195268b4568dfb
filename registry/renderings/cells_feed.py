"""Cells as tidy rows of one table, whatever grids they come from: the columns depend on the axes alone.

grid, revision, experiment, benchmark, model, variant, metric, unit, for each axis a text and a number (`<axis>_num`,
empty where a level has none), value, trials, stderr, ci_low, ci_high, updated_at; where names are those that aliases
join, the names that were posted (`<kind>_as_sent`); the protocol; and the slice where cells are cut to one. Unmeasured
cells have no row, or an empty one if that is asked for.
"""

import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson

from registry.grids.grid import Level
from registry.grids.protocol import Protocol
from registry.grids.slices import Slice, kept_positions, mask_of, slice_text
from registry.renderings.numbers import Noise, interval_of, plain_number
from registry.renderings.rows import Field, Kind, Row
from registry.renderings.table import axis_names

NAMED = ("experiment", "benchmark", "model", "variant")
AS_SENT = tuple(f"{kind}_as_sent" for kind in NAMED)
IDENTITY = ("grid", "revision", "experiment", "benchmark", "model", "variant", "metric", "unit")
MEASURED = ("value", "trials", "stderr", "ci_low", "ci_high", "updated_at")
PROTOCOL = "protocol"
"""How the grid was measured, as JSON text; after all that every feed has, for it came after the others."""
SLICE = "slice"
"""What the cells are cut to, in words: the last column where they are."""
_KINDS: dict[str, Kind] = {"trials": "whole", "updated_at": "instant"}
_REPEATED = ("repeats", "sd")
_BESIDE = ("at", *_REPEATED)
"""What the cells of one grid have in JSON besides the columns."""
_PART = 65_536
"""Characters of an array that are read at once."""
Joined = Mapping[tuple[str, str], str]
"""Names by the kind and the alias that stands for them."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a feed, for the axes of all its grids."""

    fields: tuple[Field, ...]
    axes: tuple[str, ...]
    joined: Joined | None
    """The names that aliases stand for; None: names are as they were posted."""
    wanted: Slice
    """The slice that cells are cut to."""
    of_one: bool
    """Whether they are of one grid, whose cells have their repeats besides."""

    @property
    def header(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)


def columns_of(
    axes: Sequence[str], joined: Joined | None = None, wanted: Slice = (), *, of_one: bool = False
) -> Columns:
    """The columns for these axes; an axis whose name is taken is `axis_<name>`. The names as they were posted are
    there where names are joined, whether or not one is, so that the columns do not depend on an alias."""
    last = (*(() if joined is None else AS_SENT), PROTOCOL, *((SLICE,) if wanted else ()))
    fields = [
        *(Field(name, "whole" if name == "revision" else "text") for name in IDENTITY),
        *fields_of_axes(axes, (*IDENTITY, *MEASURED, *AS_SENT, *last, *_BESIDE)),
        *(Field(name, _KINDS.get(name, "number")) for name in MEASURED),
        *(Field(name, "text") for name in last),
        *(Field(name, "number") for name in (_REPEATED if of_one else ())),
    ]
    return Columns(tuple(fields), tuple(axes), joined, wanted, of_one)


def fields_of_axes(axes: Sequence[str], taken: Sequence[str]) -> Iterator[Field]:
    """A text and a number for each axis; `axis_<name>` where a name is taken."""
    for axis, name in zip(axes, axis_names(axes, taken, ("", "_num")), strict=True):
        yield from (Field(name, "level", f"The level of {axis}."), Field(f"{name}_num", "number", "Its number."))


def names_of(row: Any, joined: Joined | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of a grid, joined, and those that were posted: none where nothing is joined."""
    sent = tuple(getattr(row, kind) for kind in NAMED)
    if joined is None:
        return sent, ()
    return tuple(joined.get(pair, pair[1]) for pair in zip(NAMED, sent, strict=True)), sent


Place = tuple[tuple[str, float | None], ...]
"""A text and a number for each of some levels or axes."""
Measured = tuple[float | None, int | None, float | None, float | None, float | None]
"""Value, trials, standard error, and the ends of the interval."""


def rows_of(row: Any, columns: Columns, *, explicit: bool = False) -> Iterator[Row]:
    """The measured cells of a row of `registry.operations.export`, row-major, or with `explicit` all of them; none of a
    grid that has nothing of the slice."""
    own, levels = axes_of(row.axes)
    found: Iterator[Any] = zip(_measured(row), _repeated(row) if columns.of_one else itertools.repeat(()), strict=False)
    if columns.wanted:
        cut = _cut(own, levels, columns.wanted)
        if cut is None:
            return
        levels, found = cut[0], itertools.compress(found, cut[1])
    names, sent = names_of(row, columns.joined)
    head = (str(row.id), row.number, *names, row.metric["name"], row.metric["unit"] or None)
    last = (*sent, protocol_text(row.protocol), *((slice_text(columns.wanted),) if columns.wanted else ()))
    tail = (instant_text(row.updated_at), *last)
    for place, (measured, beside) in zip(_places(own, levels, columns.axes), found, strict=True):
        if explicit or measured[0] is not None:
            yield (*head, *place, *measured, *tail, *beside)


def _places(own: tuple[str, ...], levels: tuple[Place, ...], axes: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """The coordinate of each cell, row-major: texts and numbers in the order of the columns, None for an axis that the
    grid does not have."""
    at = [2 * own.index(axis) + part if axis in own else -1 for axis in axes for part in (0, 1)]
    chosen = operator.itemgetter(*at) if at else lambda _: ()
    return (chosen((*itertools.chain.from_iterable(place), None)) for place in itertools.product(*levels))


def protocol_text(protocol: Protocol | None) -> str | None:
    """A protocol as one text, equal for equal protocols: JSON without spaces, its keys sorted as in the digest."""
    return None if protocol is None else orjson.dumps(dict(protocol), option=orjson.OPT_SORT_KEYS).decode()


def instant_text(instant: datetime) -> str:
    """An instant as every feed writes it: in UTC, to the microsecond."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@lru_cache(maxsize=64)
def _cut(names: tuple[str, ...], levels: tuple[Place, ...], wanted: Slice) -> tuple[tuple[Place, ...], bytes] | None:
    """The levels that a slice keeps, and for each cell, row-major, whether it does."""
    axes = {name: [Level(*level) for level in one] for name, one in zip(names, levels, strict=True)}
    kept = kept_positions(axes, wanted)
    if kept is None:
        return None
    cut = (tuple(one[place] for place in places) for one, places in zip(levels, kept, strict=True))
    return tuple(cut), bytes(mask_of([len(one) for one in levels], kept))


def axes_of(axes: str) -> tuple[tuple[str, ...], tuple[Place, ...]]:
    """The names of the axes in PostgreSQL's text of them, and their levels."""
    found = orjson.loads(axes)
    levels = (tuple(_level(level) for level in axis["levels"]) for axis in found)
    return tuple(axis["name"] for axis in found), tuple(levels)


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


def _repeated(row: Any) -> Iterator[tuple[int | None, float | None]]:
    """Repeats of each cell and their standard deviation; without end where none has any."""
    return zip(_numbers(row.repeats), _numbers(row.sd), strict=False)


def _with_noise(
    value: float, count: int | None, error: float | None, times: int | None, sd: float | None, whole: float | None
) -> Measured:
    if error is None and sd is not None and times is not None and times > 1:
        error = sd / math.sqrt(times)
    low, high = interval_of(value, whole, (count, error, times, sd)) or (None, None)
    return value, count, None if error is None else float(error), low, high


def cells_of_grid(columns: Columns, rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """The cells of one grid as objects: besides the columns its coordinate as `at`, and its repeats with their standard
    deviation where there are any."""
    first, names = len(IDENTITY), columns.header
    last = first + 2 * len(columns.axes)
    for row in rows:
        found = {name: one for name, one in zip(names, row, strict=True) if one is not None or name not in _REPEATED}
        levels = map(level_at, row[first:last:2], row[first + 1 : last : 2])
        yield found | {"at": dict(zip(columns.axes, levels, strict=True))}


def level_at(label: str, number: float | None) -> Any:
    """A level as the interface sends it: a number, a label, or both where they differ."""
    if number is None:
        return label
    if label != plain_number(number):
        return {"label": label, "number": number}
    return int(number) if number.is_integer() and abs(number) < 1e15 else number
