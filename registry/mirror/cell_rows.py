"""Rows of cells, made of grids as the API has them and kept as columns until they are written."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson
import pyarrow as pa

from registry.mirror.columns import CELLS_SCHEMA
from registry.renderings.cells import flat
from registry.renderings.feed import Place, axes_of, protocol_text

AT_ONCE = 32_768
"""Cells of one grid that are made to rows at once: a grid may have a million."""
_SAME = ("part", "grid", "revision", "experiment", "benchmark", "model", "variant", "metric", "unit")
_LAST = ("updated_at", "protocol")
_OWN = ("value", "trials", "stderr", "repeats", "sd", "reason")
_LEVEL = CELLS_SCHEMA.field("axes").type.item_type


class CellRows:
    """Rows that wait to be written, some 200 bytes each."""

    def __init__(self) -> None:
        self._empty()

    def _empty(self) -> None:
        self.count = 0
        self._runs: list[tuple[tuple[Any, ...], int]] = []
        """What is the same in so many rows after each other."""
        self._sizes: list[int] = []
        """How many axes each row has."""
        self._levels: tuple[list[str], list[str], list[float | None]] = ([], [], [])
        """Names, labels and numbers of all axes of all rows."""
        self._own: dict[str, list[Any]] = {name: [] for name in _OWN}

    def add(self, same: tuple[Any, ...], places: Levels, own: Mapping[str, Sequence[Any]]) -> None:
        """Add cells of one grid: what they share, their levels, and what each has of its own."""
        count = len(own["value"])
        self.count += count
        self._runs.append((same, count))
        self._sizes += [places.axes] * count
        names, labels, numbers = self._levels
        names += places.names
        labels += places.labels
        numbers += places.numbers
        for name, waiting in self._own.items():
            waiting.extend(own[name])

    def taken(self) -> pa.Table:
        """The rows as a table; none wait any more."""
        columns: dict[str, Any] = {}
        for place, name in enumerate((*_SAME, *_LAST)):
            repeated = itertools.chain.from_iterable(itertools.repeat(same[place], count) for same, count in self._runs)
            columns[name] = pa.array(repeated, CELLS_SCHEMA.field(name).type, size=self.count)
        ends = pa.array(itertools.chain((0,), itertools.accumulate(self._sizes)), pa.int32())
        names, labels, numbers = self._levels
        levels = pa.StructArray.from_arrays([pa.array(labels, pa.string()), pa.array(numbers, pa.float64())],
                                            fields=list(_LEVEL))  # fmt: skip
        columns["axes"] = pa.MapArray.from_arrays(ends, pa.array(names, pa.string()), levels)
        columns |= {name: pa.array(column, CELLS_SCHEMA.field(name).type) for name, column in self._own.items()}
        table = pa.table([columns[name] for name in CELLS_SCHEMA.names], schema=CELLS_SCHEMA)
        self._empty()
        return table


class Levels:
    """Names, labels and numbers of the axes of some cells, one cell after the other."""

    __slots__ = ("axes", "labels", "names", "numbers")

    def __init__(self, names: tuple[str, ...], places: Iterable[Place]) -> None:
        found = list(itertools.chain.from_iterable(places))
        self.axes = len(names)
        self.labels: list[str] = [label for label, _ in found]
        self.numbers: list[float | None] = [number for _, number in found]
        self.names: list[str] = list(names) * (len(found) // len(names)) if names else []


def day_of(grid: Mapping[str, Any]) -> str:
    """The day on which a grid was published, in UTC."""
    return _instant(grid).strftime("%Y-%m-%d")


def add_grid(grid: Mapping[str, Any], part: int, rows: CellRows) -> Iterator[int]:
    """Add the cells of a grid to rows, some at a time; yield how many there were.

    Cells that were not measured are left out, unless it is said why.
    """
    axes, values = grid["axes"], flat(grid["values"], len(grid["axes"]))
    text = orjson.dumps(axes).decode()
    names, levels = axes_of(text)
    own: dict[str, Sequence[Any]] = {"value": values, "reason": _reasons(grid, len(values))}
    for name in _OWN[1:5]:
        given = grid.get(name)
        own[name] = flat(given, len(axes)) if isinstance(given, list) else [given] * len(values)
    same = _same(grid, part)
    places = itertools.product(*levels)
    for start in range(0, len(values), AT_ONCE):
        piece = {name: column[start : start + AT_ONCE] for name, column in own.items()}
        kept = [
            value is not None or why is not None for value, why in zip(piece["value"], piece["reason"], strict=True)
        ]
        if all(kept) and len(values) <= AT_ONCE:
            found = _every_place(text)
        else:
            found = Levels(names, itertools.compress(itertools.islice(places, len(kept)), kept))
            piece = {name: list(itertools.compress(column, kept)) for name, column in piece.items()}
        rows.add(same, found, piece)
        yield len(piece["value"])


def _same(grid: Mapping[str, Any], part: int) -> tuple[Any, ...]:
    names = (grid[name] for name in ("experiment", "benchmark", "model", "variant"))
    metric, protocol = grid["metric"], grid.get("protocol")
    who = (part, grid["id"], grid["revision"], *names, metric["name"], metric.get("unit") or None)
    return (*who, _instant(grid), protocol_text(protocol))


def _instant(grid: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(grid["updated_at"]).astimezone(UTC)


@lru_cache(maxsize=64)
def _every_place(axes: str) -> Levels:
    """The levels of all cells of a grid with these axes: grids of an experiment share them."""
    names, levels = axes_of(axes)
    return Levels(names, itertools.product(*levels))


def _reasons(grid: Mapping[str, Any], count: int) -> list[str | None]:
    """Why each cell is missing, row-major; None where that is not said."""
    found: list[str | None] = [None] * count
    given = grid.get("reasons", ())
    if given:
        places = [{_key(axis, level): place for place, level in enumerate(axis["levels"])} for axis in grid["axes"]]
        sizes = [len(axis["levels"]) for axis in grid["axes"]]
        steps = [math.prod(sizes[number + 1 :]) for number in range(len(sizes))]
        for one in given:
            at = (known[_key(axis, one["at"][axis["name"]])] for axis, known in zip(grid["axes"], places, strict=True))
            found[sum(step * place for step, place in zip(steps, at, strict=True))] = one["reason"]
    return found


def _key(axis: Mapping[str, Any], level: Any) -> Any:
    """A level as a reason names it: a label, or what a numeric axis has."""
    return orjson.dumps(level) if axis["kind"] == "numeric" else level
