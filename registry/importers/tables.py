"""A table of texts read as tidy rows or as a pivot.

Tidy: a column `value` (or one named like the metric), identity and axes in the other columns, one cell a row. Pivot:
the first column holds the levels of one axis, the headings of the others those of a second one. Either axis may be a
word of the identity, such as `model` or `benchmark`: then each of its levels is a grid of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from registry.errors import Fault, Invalid
from registry.importers.cell_text import Report, plain_number
from registry.importers.imported_grid import Note, Overrides, Place
from registry.importers.pivot_table import Pivot
from registry.importers.sheet import Sheet
from registry.importers.table_cells import Table, check_header
from registry.importers.tidy_table import Tidy


def read_table(table: Table, wanted: Overrides, report: Report) -> Iterator[Sheet]:
    """Grids of a table; faults name the line and the cell."""
    if len(table.header) > wanted.limits.levels + 1:
        detail = f"an axis has at most {wanted.limits.levels} levels, not {len(table.header) - 1}"
        raise Invalid([Fault(Place(table.line).pointer(), detail)])
    table = _with_roles(table, wanted, report)
    check_header(table, report)
    report.stop_at_faults()
    if len(values := wanted.values_among(table.header)) > 1:
        return _each_value(table, values, wanted, report)
    tidy = Tidy(table, wanted, report)
    report.stop_at_faults()
    if tidy.value is not None:
        return _in_percent(tidy.sheets(), report)
    found = Pivot(table, wanted, report).sheets()
    if wanted.reads_prose and not report.marked:
        found = _or_tidy(found, table)
    return _in_percent(found, report)


def _with_roles(table: Table, wanted: Overrides, report: Report) -> Table:
    """The table with the headings by which the caller wants columns to be read."""
    header = list(table.header)
    for role, name in wanted.roles.items():
        if name in table.header:
            header[table.header.index(name)] = role
        else:
            report.fault(Place(table.line), f'there is no column "{name}"; there are: {", ".join(table.header[:20])}')
    if header[0] == "" and wanted.rows:
        header[0] = wanted.rows
    return replace(table, header=header)


def _each_value(table: Table, values: Sequence[str], wanted: Overrides, report: Report) -> Iterator[Sheet]:
    """Grids of a table with several columns of values, each of them a metric."""
    if wanted.metric is not None or wanted.single:
        report.fault(Place(table.line), "several columns of values are several metrics, and one is wanted")
        report.stop_at_faults()
    table = replace(table, rows=list(table.rows))
    for value in values:
        others = tuple(name for name in values if name != value and name in table.header)
        own = replace(wanted, value=value, drop=(*wanted.drop, *others))
        yield from read_table(table, replace(own, roles={}), report.anew())


def _or_tidy(found: Iterator[Sheet], table: Table) -> Iterator[Sheet]:
    """Sheets of a pivot; if it is none, the faults tell how to have the table read as tidy."""
    try:
        yield from found
    except Invalid as error:
        if all(plain_number(name) is not None for name in table.header[1:]):
            raise
        hint = (
            "no column is called value, so it was read as a pivot: of a table with one value a row say --value COLUMN"
        )
        raise Invalid([Fault(Place(table.line).pointer(), hint), *error.faults]) from None


def _in_percent(sheets_found: Iterator[Sheet], report: Report) -> Iterator[Sheet]:
    """Sheets, in per cent if every number of the sheet has the sign; if only some have it, a note tells."""
    for sheet in sheets_found:
        signs = [one.place in report.percent for one in sheet.readings if one.value is not None]
        if signs and all(signs):
            sheet.names = {"unit": "%", **sheet.names}
        elif any(signs):
            detail = f"{sum(signs)} of {len(signs)} numbers have a sign of per cent: no unit was read"
            sheet.notes = [*sheet.notes, Note("percent_mixed", detail)]
        yield sheet
