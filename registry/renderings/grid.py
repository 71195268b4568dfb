"""Write a grid and its cells."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from registry.renderings import sheet
from registry.renderings.feed import PROTOCOL, protocol_text
from registry.renderings.numbers import MISSING, decimals_of, fixed, plain_number
from registry.renderings.sheet import Block, Heading
from registry.renderings.table import Column, Table, axis_names, harmless, tidy
from registry.renderings.words import counted, label, measure, protocol_line, said, slice_line, title, with_unit
from registry.results.grid import Carried, GridDocument, Name, PostedAxis

_LONGEST_ROW = 12


def grid_text(document: GridDocument) -> str:
    """The grid as aligned tables of two axes each."""
    return sheet.text(page(document))


def grid_markdown(document: GridDocument) -> str:
    """The grid as pipe tables of two axes each."""
    return sheet.markdown(page(document))


def page(document: GridDocument) -> Iterator[Block]:
    """The grid's page: its tables between its title and what is known of it."""
    values = flat(document["values"], len(document["axes"]))
    yield Heading(title(document), 3)
    yield from slice_line(document.get("slice"))
    if not any(value is not None for value in values):
        yield "No cell was measured."
    else:
        decimals = decimals_of(value for value in values if value is not None)
        yield from _tables(document["axes"], document["values"], decimals, measure(document["metric"]))
        if None in values:
            yield f"{MISSING} not measured"
    yield from protocol_line(document.get("protocol"))
    yield footer(document, values)


def _tables(axes: Sequence[PostedAxis], values: Any, decimals: int | None, name: str) -> Iterator[Block]:
    """One number, one row or column, or a table for each combination of the levels of the leading axes."""
    if not axes:
        yield fixed(values, decimals)
        return
    if len(axes) == 1:
        yield _line(axes[0], [fixed(value, decimals) for value in values], name)
        return
    leading, (rows, columns) = axes[:-2], axes[-2:]
    for at in itertools.product(*(range(len(axis["levels"])) for axis in leading)):
        part = values
        for place in at:
            part = part[place]
        if at:
            where = [f"{axis['name']} {label(axis['levels'][place])}" for axis, place in zip(leading, at, strict=True)]
            yield Heading(" · ".join(where), 4)
        if any(value is not None for row in part for value in row):
            yield _plane(rows, columns, part, decimals)
        else:
            yield "No cell was measured."


def _line(axis: PostedAxis, cells: list[str], name: str) -> Table:
    """One axis: a row while it is short, else a column."""
    levels = [label(level) for level in axis["levels"]]
    if len(levels) > _LONGEST_ROW:
        return Table([Column(with_unit(axis), levels, axis["kind"] == "numeric"), Column(name, cells, True)])
    heads = [Column(level, [cell], True) for level, cell in zip(levels, cells, strict=True)]
    return Table([Column(with_unit(axis), [name]), *heads], keys=1)


def _plane(rows: PostedAxis, columns: PostedAxis, part: list[list[float | None]], decimals: int | None) -> Table:
    """Two axes: rows down, columns across."""
    names = Column(with_unit(rows), [label(level) for level in rows["levels"]], rows["kind"] == "numeric")
    across = zip(*part, strict=True)
    cells = [
        Column(label(level), [fixed(value, decimals) for value in column], True)
        for level, column in zip(columns["levels"], across, strict=True)
    ]
    return Table([names, *cells], keys=1, over=with_unit(columns))


_CARRIED: tuple[Carried, ...] = ("trials", "stderr", "repeats", "sd")
_IDENTITY: tuple[Name, ...] = ("experiment", "benchmark", "model", "variant")


def cells_csv(document: GridDocument) -> str:
    """The measured cells, tidy: identity, a level of each axis (and its number), the value and what it
    carries, the protocol where there is one, and the slice where it is cut to one."""
    axes = document["axes"]
    header = ["grid", "revision", *_IDENTITY, "metric", "unit"]
    only = document.get("slice")
    after = ("value", *_CARRIED, PROTOCOL, *(("slice",) if only else ()))
    names = axis_names([axis["name"] for axis in axes], (*header, *after), ("", "_num"))
    columns_of_axes = [column for axis, name in zip(axes, names, strict=True) for column in _columns_of(axis, name)]
    known = given(document)
    protocol = protocol_text(document.get("protocol"))
    last = () if protocol is None else (protocol,)
    metric = document["metric"]
    identity = [
        str(document["id"]),
        document["revision"],
        *(document[name] for name in _IDENTITY),
        metric["name"],
        metric["unit"],
    ]
    head = tuple(map(harmless, identity))
    levels = [[_level_cells(axis, level) for level in axis["levels"]] for axis in axes]
    columns = [flat(document["values"], len(axes)), *(carried(document, name) for name in known)]
    rows = (
        (*head, *itertools.chain.from_iterable(at), *measured, *last)
        for at, measured in zip(itertools.product(*levels), zip(*columns, strict=False), strict=False)
        if measured[0] is not None
    )
    return tidy([*header, *columns_of_axes, "value", *known, *((PROTOCOL,) if last else ())], rows, only=only)


def _columns_of(axis: PostedAxis, name: str) -> tuple[str, ...]:
    return (name, f"{name}_num") if axis["kind"] == "numeric" else (name,)


def _level_cells(axis: PostedAxis, level: Any) -> tuple[Any, ...]:
    """A level as CSV writes it: the label, and on a numeric axis its number."""
    if axis["kind"] != "numeric":
        return (harmless(label(level)),)
    if isinstance(level, dict):
        return harmless(level["label"]), level["number"]
    return level, level


def footer(document: GridDocument, values: Sequence[float | None]) -> str:
    """How much was measured, which revision this is, and what is known of the noise."""
    measured = len(values) - values.count(None)
    parts = [f"{measured:,} of {counted(len(values), 'cell', 'cells')} measured", f"revision {document['revision']}"]
    for name in given(document) if measured else ():
        beside = zip(values, carried(document, name), strict=False)
        found = [one for value, one in beside if value is not None and one is not None]
        share = "" if len(found) == measured else f" (in {counted(len(found), 'cell', 'cells')})"
        parts += [f"{'standard error' if name == 'stderr' else name} {_range(found)}{share}"] if found else []
    reasons = reasons_in(document)
    parts += [f"{reasons.count(reason)} {reason}" for reason in dict.fromkeys(reasons)]
    return " · ".join(parts)


def _range(found: Sequence[float]) -> str:
    low, high = min(found), max(found)
    return plain_number(low) if low == high else f"{plain_number(low)}–{plain_number(high)}"


def flat(nested: Any, depth: int) -> list[Any]:
    """A value nested to the axes as one row-major list."""
    flat = [nested]
    for _ in range(depth):
        flat = list(itertools.chain.from_iterable(flat))
    return flat


def given(document: GridDocument) -> list[Carried]:
    """Columns that were given beside the values."""
    return [name for name in _CARRIED if document.get(name) is not None]


def reasons_in(document: GridDocument) -> list[str]:
    """Why cells are missing, in plain writing, one for each of them."""
    return [said(entry["reason"]) for entry in document.get("reasons", ())]


def carried(document: GridDocument, name: Carried) -> list[Any]:
    """Numbers that the cells carry under a name, row-major; one number stands for every cell."""
    nested, depth = document[name], len(document["axes"])
    if isinstance(nested, list):
        return flat(nested, depth)
    return [nested] * len(flat(document["values"], depth))


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
