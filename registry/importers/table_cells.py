"""Cells of a table of texts: headings, rows of equal length, names, levels and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from registry.importers.cell_text import GAPS, Report, is_formula, is_rounded, plain_number, same_text, shown
from registry.importers.imported_grid import Place
from registry.importers.markup import measured

Row = tuple[int, list[str]]
_ERROR = re.compile(r"se|sem|sd|std|stdev|std_?dev|std_?err(or)?|standard[ _](error|deviation)|±|\+/-", re.IGNORECASE)


@dataclass(frozen=True)
class Table:
    """A heading and rows, each with its line. `names` is the identity according to the surrounding text."""

    header: list[str]
    rows: Iterable[Row]
    line: int
    names: Mapping[str, str]


def looks_like_error(heading: str, values: Sequence[str]) -> bool:
    """Whether a heading says that its column holds how uncertain the values are: `se`, or `acc_std` beside `acc`."""
    rests = [heading, *(heading.removeprefix(value).removesuffix(value).strip(" _-") for value in values if value)]
    return any(_ERROR.fullmatch(rest) for rest in rests)


def check_header(table: Table, report: Report) -> None:
    met: set[str] = set()
    for column, name in enumerate(table.header, start=1):
        place = Place(table.line, column)
        if is_formula(name) and not report.marked:
            report.fault(place, f'"{shown(name)}" is a formula; a text that begins so is written with an apostrophe')
        elif name in met:
            report.fault(place, f'the heading "{shown(name)}" stands there twice')
        met.add(name)
    if len(table.header) < 2:
        report.fault(Place(table.line), "a table has at least two columns")


def even(table: Table, report: Report) -> Iterator[Row]:
    """Rows as long as the heading; others are faults."""
    for line, cells in table.rows:
        if len(cells) != len(table.header):
            report.fault(Place(line), f"has {len(cells)} cells, but the heading has {len(table.header)}")
        else:
            yield line, cells


def text_of(cell: str, place: Place, report: Report) -> str:
    """A name or a level; empty ones and formulas are faults."""
    if not cell:
        report.fault(place, "is empty: a name or a level stands here")
    elif report.marked:
        return cell
    elif is_formula(cell):
        report.fault(place, f'"{shown(cell)}" is a formula; a text that begins so is written with an apostrophe')
    return same_text(cell)


def value_of(cell: str, place: Place, report: Report) -> float | None:
    """Number in a cell, None in a gap."""
    if cell in GAPS:
        return None
    value = plain_number(cell)
    if value is None and report.lenient and (read := measured(cell)) is not None:
        if read.value is None:
            report.note("gap_read", f'"{cell}" was read as a cell that nobody measured', place)
        elif read.code:
            report.note(read.code, f'"{cell}" was read as {read.value:g}: {read.said}', place)
        if read.percent:
            report.percent.add(place)
        return read.value
    if value is None:
        report.fault(place, f'"{shown(cell)}" is not a number; a cell that nobody measured is left empty')
    elif is_rounded(cell, value):
        report.note("rounded", f"{shown(cell)} was rounded to {int(value)}, the nearest number of 64 bits", place)
    return value
