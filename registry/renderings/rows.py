"""Rows of one table whose columns have types, as CSV, NDJSON and JSON, a piece at a time.

A row is a tuple with a value, or None, for each column. A level stands in two columns: its text, then its number.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from registry.renderings.tidy import harmless

Kind = Literal["text", "level", "number", "whole", "instant"]
Row = tuple[Any, ...]
_ROWS = 2_048
"""Rows that are written at once."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name, what its values are, and what it means."""

    name: str
    kind: Kind
    about: str
    nullable: bool = True


def csv_of_rows(fields: Sequence[Field], rows: Iterable[Row]) -> Iterator[bytes]:
    """A header, then the rows. Numbers read back as the same doubles; text that a spreadsheet would run is quoted."""
    yield _lines([[harmless(field.name) for field in fields]])
    kinds = [field.kind for field in fields]
    for block in blocks(iter(rows)):
        yield _lines([_cells(kinds, row) for row in block])


def _lines(rows: Iterable[Sequence[Any]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def _cells(kinds: Sequence[Kind], row: Row) -> list[Any]:
    beside = (*row[1:], None)
    return [
        value if kind == "level" and number is not None and is_plain(value) else harmless(value)
        for kind, value, number in zip(kinds, row, beside, strict=True)
    ]


def is_plain(label: str) -> bool:
    """Whether a label is nothing but a number, which runs no formula."""
    return label.lstrip("-").replace(".", "", 1).isdecimal()


def blocks(rows: Iterator[Any], size: int = _ROWS) -> Iterator[list[Any]]:
    """The rows, so many at once and no more."""
    while block := list(itertools.islice(rows, size)):
        yield block


def ndjson_of_rows(fields: Sequence[Field], rows: Iterable[Row]) -> Iterator[bytes]:
    """An object a line, with every column; null where it is empty."""
    for block in blocks(_objects(fields, rows)):
        yield b"\n".join(block) + b"\n"


def json_of_rows(fields: Sequence[Field], rows: Iterable[Row]) -> Iterator[bytes]:
    """`{"items": [...]}` with an object a row."""
    yield b'{"items":['
    between = b""
    for block in blocks(_objects(fields, rows)):
        yield between + b",".join(block)
        between = b","
    yield b"]}"


def _objects(fields: Sequence[Field], rows: Iterable[Row]) -> Iterator[bytes]:
    names = [field.name for field in fields]
    return (orjson.dumps(dict(zip(names, row, strict=True))) for row in rows)
