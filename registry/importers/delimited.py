"""Import CSV and TSV, tidy or pivot: files of spreadsheets, pandas and the registry itself.

Experiment, benchmark, model, variant and metric: columns of these names, else the caller's names. Axes: every other
column of a tidy table; the first column and the heading of a pivot. An axis whose labels are all numbers is numeric,
and one with a column `<axis>_num` has its numbers there, if any. `trials`, `stderr` and `reason` belong to their cell.
The registry's own tidy CSV reads back as the same grid, except for what it does not contain: direction, bounds, units
of axes, unmeasured levels.
"""

import csv
import re
from collections.abc import Iterator

from registry.errors import Fault, Invalid, Malformed
from registry.importers.cell_text import Report, Row, Table
from registry.importers.imported_grid import ImportedGrid, Overrides, Place
from registry.importers.markup import WIDEST
from registry.importers.source import Source
from registry.importers.tables import read_table

NAME = "csv"
_DELIMITERS = (",", "\t", ";")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
"""A line with its end."""


def looks_like(source: Source) -> bool:
    """Tell whether there are two lines or more, with the same number of delimiters in the first two."""
    try:
        head = source.head.decode(errors="strict" if len(source.head) < 1024 else "ignore")
    except UnicodeDecodeError:
        return False
    lines = [line for line in head.splitlines()[:50] if line.strip()]
    if len(lines) < 2 or lines[0].lstrip()[:1] in ("{", "[", "#", "<") or "\0" in head:
        return False
    delimiter = delimiter_of(lines[0])
    try:
        widths = [len(row) for row in csv.reader(lines[:2], delimiter=delimiter, strict=True)]
    except csv.Error:
        return False
    return widths[0] > 1 and len(set(widths)) == 1 and not lines[0].lstrip().startswith("|")


def delimiter_of(heading: str) -> str:
    """Delimiter of a heading: the comma if there is one, else a tab, else a semicolon."""
    return next((one for one in _DELIMITERS if one in heading), ",")


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """Grids of a table; `Malformed` for a text that is no CSV, `Invalid` with line and cell for one that is no grid."""
    report = Report(lenient=wanted.reads_prose)
    ends = max(source.content.count(b"\n"), source.content.count(b"\r"))
    if wanted.single and ends > 2 * wanted.limits.cells:  # twice: there may be repeats
        raise Invalid([Fault("", f"a grid has at most {wanted.limits.cells} cells")])
    rows = rows_of(source, max(WIDEST, wanted.limits.levels + 1))
    line, header = next(rows, (1, []))
    if not header:
        raise Malformed("The table is empty: it has no heading.")
    for sheet in read_table(Table(header, rows, line), wanted, report):
        yield sheet.found(wanted)


def rows_of(source: Source, widest: int = WIDEST) -> Iterator[Row]:
    """Rows with the lines that they end in, cells without surrounding spaces; empty lines are skipped.

    `Invalid` for a row of more than `widest` cells, before its cells are made.
    """
    text = source.text
    first = next((line[0] for line in _LINE.finditer(text) if line[0].strip()), "")
    delimiter = delimiter_of(first)
    cells_of_row = 0

    def lines() -> Iterator[str]:
        nonlocal cells_of_row
        for number, line in enumerate(_LINE.finditer(text), start=1):
            cells_of_row += line[0].count(delimiter)
            if cells_of_row > widest:
                raise Invalid([Fault(Place(number).pointer(), f"a row has at most {widest} cells")])
            yield line[0]

    reader = csv.reader(lines(), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            cells_of_row = 0
            if cells and not (len(cells) == 1 and not cells[0].strip()):
                yield reader.line_num, [cell.strip(" ") for cell in cells]
    except csv.Error as error:
        raise Malformed(f"Line {reader.line_num} is not CSV: {error}.") from None
