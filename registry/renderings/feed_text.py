"""A tidy feed as CSV, NDJSON and JSON, a piece at a time."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from registry.renderings.feed import IDENTITY, MEASURED, Cells, Columns
from registry.renderings.grid import blocks, is_plain
from registry.renderings.numbers import plain_number
from registry.renderings.table import harmless

_KEPT_CELLS, _KEPT_GRIDS = 4_096, 64
_ROWS = 4_096
"""Rows that are written at once, whatever grids they are of: a grid may have a million."""


def csv_pieces(columns: Columns, pieces: Iterable[Iterable[Cells]], *, explicit: bool) -> Iterator[bytes]:
    """A header, then the rows; numbers read back as the same doubles. Text that a spreadsheet would run is quoted."""
    yield _line([harmless(name) for name in columns.header]).encode()
    kept: Kept = {}
    for rows in blocks((row for piece in pieces for cells in piece for row in _csv_rows(cells, kept, explicit)), _ROWS):
        yield "".join(rows).encode()


Kept = dict[tuple[int, tuple[int | None, ...]], tuple[Any, list[str]]]
"""The written coordinates of grids that share their axes, with the axes themselves so that ids stay theirs."""


def _line(fields: Iterable[Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(fields)
    return out.getvalue()


def _text(value: str) -> str:
    """One field of text."""
    return value if value.isalnum() else _line([harmless(value), ""])[:-2]


def _csv_rows(cells: Cells, kept: Kept, explicit: bool) -> Iterator[str]:
    head = _line([harmless(one) for one in cells.identity])[:-1] + ","
    tail = "," + _line([cells.updated_at, *map(harmless, cells.last)])
    for place, (value, trials, error, low, high) in zip(_coordinates(cells, kept), cells.measured, strict=True):
        if value is None and not explicit:
            continue
        noise = f",{'' if trials is None else trials},{'' if error is None else repr(error)}"
        ends = "," if low is None else f"{low!r},{high!r}"
        yield f"{head}{place}{'' if value is None else repr(value)}{noise},{ends}{tail}"


def _coordinates(cells: Cells, kept: Kept) -> Iterable[str]:
    """The fields of the axes for each cell; an axis that the grid does not have is empty."""
    if cells.count > _KEPT_CELLS:
        return _written(cells)
    key = (id(cells.levels), cells.slots)
    if key not in kept:
        if len(kept) >= _KEPT_GRIDS:
            kept.clear()
        kept[key] = (cells.levels, list(_written(cells)))
    return kept[key][1]


def _written(cells: Cells) -> Iterator[str]:
    fields = itertools.product(*([_level(*level) for level in levels] for levels in cells.levels))
    for place in fields:
        yield "".join([",," if slot is None else place[slot] for slot in cells.slots])


def _level(label: str, number: float | None) -> str:
    """The label and the number; a label that is nothing but a number runs no formula."""
    if number is None:
        return _text(label) + ",,"
    return f"{label if is_plain(label) else _text(label)},{number!r},"


def level_at(label: str, number: float | None) -> Any:
    """A level as the interface sends it: a number, a label, or both where they differ."""
    if number is None:
        return label
    if label != plain_number(number):
        return {"label": label, "number": number}
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _objects(columns: Columns, cells: Cells, explicit: bool, *, full: bool = False) -> Iterator[dict[str, Any]]:
    head = dict(zip(IDENTITY, cells.identity, strict=True))
    repeated = zip(*cells.repeated.values(), strict=True) if full and cells.repeated else itertools.repeat(())
    about = dict(zip(columns.last, cells.last, strict=True))
    for place, measured, more in zip(cells.places(), cells.measured, repeated, strict=False):
        if measured[0] is None and not explicit:
            continue
        row = dict(head)
        for number, slot in enumerate(cells.slots):
            label, position = (None, None) if slot is None else place[slot]
            row[columns.names[2 * number]], row[columns.names[2 * number + 1]] = label, position
        row.update(zip(MEASURED, (*measured, cells.updated_at), strict=True), **about)
        yield row | dict(zip(cells.repeated, more, strict=True)) if more else row


def _at(columns: Columns, row: dict[str, Any]) -> dict[str, Any]:
    """The coordinate in a row of one grid: a number where the level has one that says all, else its label."""
    found: dict[str, Any] = {}
    for axis, label, number in zip(columns.axes, columns.names[::2], columns.names[1::2], strict=True):
        found[axis] = level_at(row[label], row[number])
    return found


def ndjson_pieces(columns: Columns, pieces: Iterable[Iterable[Cells]], *, explicit: bool) -> Iterator[bytes]:
    """An object a line, with every column; null where it is empty."""
    rows = (row for piece in pieces for cells in piece for row in _objects(columns, cells, explicit))
    for lines in blocks(map(orjson.dumps, rows), _ROWS):
        yield b"\n".join(lines) + b"\n"


def json_pieces(
    columns: Columns, pieces: Iterable[Iterable[Cells]], *, explicit: bool, head: dict[str, Any] | None = None
) -> Iterator[bytes]:
    """`{"items": [...]}` with an object a cell.

    With a `head`, which one grid has, it comes first, and each cell has besides the columns its coordinate as `at`,
    and its repeats with their standard deviation where there are any.
    """
    opening = orjson.dumps(head)[:-1] + b"," if head else b"{"
    yield opening + b'"items":['
    found = (row for piece in pieces for cells in piece for row in _objects(columns, cells, explicit, full=bool(head)))
    between = b""
    for rows in blocks((orjson.dumps(row | {"at": _at(columns, row)} if head else row) for row in found), _ROWS):
        yield between + b",".join(rows)
        between = b","
    yield b"]}"
