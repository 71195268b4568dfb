"""A table of texts read as tidy rows or as a pivot.

Tidy: a column `value` (or one named like the metric), identity and axes in the other columns, one cell a row. Pivot:
the first column holds the levels of one axis, the headings of the others those of a second one. Either axis may be a
word of the identity, such as `model` or `benchmark`: then each of its levels is a grid of its own. `Pivot` is here,
`Tidy` in `tidy_table.py`; the readers of CSV, Markdown, Parquet and records make the tables.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from registry.errors import Fault, Invalid
from registry.grids.intake.levels import read_number
from registry.importers.cell_text import (
    Report,
    Row,
    Table,
    check_header,
    common_words,
    even,
    looks_like_error,
    plain_number,
    same_text,
    shown,
    text_of,
    value_of,
)
from registry.importers.imported_grid import Note, Overrides, Place
from registry.importers.sheet import IDENTITY_WORDS, Reading, Sheet, sheets
from registry.importers.tidy_table import Tidy

_TIMES = 1_000
_BETWEEN_NAMES = re.compile(r"\s[/\\]\s")


def read_table(table: Table, wanted: Overrides, report: Report) -> Iterator[Sheet]:
    """Grids of a table; faults name the line and the cell."""
    if len(table.header) > wanted.limits.levels + 1:
        detail = f"an axis has at most {wanted.limits.levels} levels, not {len(table.header) - 1}"
        raise Invalid([Fault(Place(table.line).pointer(), detail)])
    layout = wanted.layout
    table = _with_roles(_those_wanted(_with_constants(table, layout.constants), layout.where), wanted, report)
    check_header(table, report)
    report.stop_at_faults()
    values = wanted.values_among(table.header)
    if len(values) > 1 or (layout.metrics and wanted.value is None):
        values = [name for name in values if name in table.header or not layout.metrics]
        if not values:
            report.fault(Place(table.line), f"there is no column of {', '.join(layout.metrics)}")
            report.stop_at_faults()
        return _each_value(table, values, wanted, report)
    tidy = Tidy(table, wanted, report)
    report.stop_at_faults()
    if tidy.value is not None:
        return _in_percent(tidy.sheets(), report)
    found = Pivot(table, wanted, report).sheets()
    if wanted.reads_prose and not report.marked:
        found = _or_tidy(found, table)
    return _in_percent(found, report)


def _with_constants(table: Table, constants: Mapping[str, str]) -> Table:
    """The table with columns that have one text in every row; a column of that name that is there already stays."""
    more = {name: text for name, text in constants.items() if name not in table.header}
    if not more:
        return table
    rows = ((line, [*cells, *more.values()]) for line, cells in table.rows)
    return replace(table, header=[*table.header, *more], rows=rows)


def _those_wanted(table: Table, where: Mapping[str, Sequence[str]]) -> Table:
    """The table with the rows that have certain texts in certain columns; a column that is not there is empty."""
    if not where:
        return table
    asked = [(table.header.index(name) if name in table.header else None, texts) for name, texts in where.items()]

    def counts(cells: Sequence[str]) -> bool:
        return all(("" if place is None else cells[place]) in texts for place, texts in asked)

    wide = len(table.header)
    rows = (row for row in table.rows if len(row[1]) != wide or counts(row[1]))  # others are faults, and told
    return replace(table, rows=rows)


def _with_roles(table: Table, wanted: Overrides, report: Report) -> Table:
    header = list(table.header)
    for role, name in wanted.roles.items():
        if name in table.header:
            header[table.header.index(name)] = role
        elif role not in wanted.layout.metrics:  # which nobody measured here
            _fault_of_absent(name, table, report)
    if header[0] == "" and wanted.rows:
        header[0] = wanted.rows
    return replace(table, header=header, names={**table.names, **({"metric": wanted.metric} if wanted.metric else {})})


def _fault_of_absent(name: str, table: Table, report: Report) -> None:
    report.fault(Place(table.line), f'there is no column "{name}"; there are: {", ".join(table.header[:20])}')


def _each_value(table: Table, values: Sequence[str], wanted: Overrides, report: Report) -> Iterator[Sheet]:
    if wanted.metric is not None or wanted.single:
        report.fault(Place(table.line), "several columns of values are several metrics, and one is wanted")
        report.stop_at_faults()
    table = replace(table, rows=list(table.rows))
    metrics = wanted.layout.metrics
    of_metrics = {name: {name, *one.roles.values()} for name, one in metrics.items()}
    for value in values:
        mine = of_metrics.get(value, {value})
        others = set(values).union(*of_metrics.values()) - mine
        left = tuple(name for name in table.header if name in others)
        columns = metrics[value].roles.items() if value in metrics else ()
        roles = {role: name for role, name in columns if name in table.header}
        own = replace(wanted, value=value, drop=(*wanted.drop, *left), roles=roles)
        for sheet in read_table(table, own.laid_out(constants={}, where={}), report.anew()):
            if not metrics or any(one.value is not None for one in sheet.readings):
                yield sheet


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
        read = sheet.readings if report.percent else ()
        sheet.tell_signs([one.place in report.percent for one in read if one.value is not None])
        yield sheet


class Pivot:
    """A pivot: one axis down the first column, another across the heading."""

    def __init__(self, table: Table, wanted: Overrides, report: Report) -> None:
        self.wanted, self.report = wanted, report
        kept = [place for place, name in enumerate(table.header) if name not in wanted.drop]
        self.at = [place + 1 for place in kept]
        """For each column that is read its number in the table."""
        self.whole, self.table = table, replace(table, header=[table.header[place] for place in kept])
        if not report.marked and (absent := [name for name in wanted.drop if name not in table.header]):
            _fault_of_absent(absent[0], table, report)
        if len(kept) < 2:
            report.fault(Place(table.line), "a table has at least two columns that are not dropped")
        report.stop_at_faults()

    def sheets(self) -> Iterator[Sheet]:
        report, table = self.report, self.table
        rows, columns, labels = self._axes()
        for column, label in zip(self.at[1:], labels, strict=True):
            text_of(label, Place(table.line, column), report)
        report.stop_at_faults()
        if self.wanted.reads_prose and (errors := [label for label in labels if looks_like_error(label, labels)]):
            detail = f'"{errors[0]}" looks like the error of other numbers and was read as a level of "{columns}"'
            report.note("stderr_unread", f"{detail}: --value COLUMN --column stderr={errors[0]} reads it as such")
        labels = [same_text(label) for label in labels]
        given = [(line, cells) for line, cells in self._even(len(labels))]
        report.stop_at_faults()
        if (rows in IDENTITY_WORDS) == (columns in IDENTITY_WORDS) and rows == columns:
            report.fault(Place(table.line), f'rows and columns are both "{rows}"')
            report.stop_at_faults()
        axis_names = [rows, columns]
        down = {same_text(cells[0]): Place(line, self.at[0]) for line, cells in given}
        across = {label: Place(table.line, column) for column, label in zip(self.at[1:], labels, strict=True)}
        cells = self._readings(given, rows, columns, labels)
        telling = {place: name for place, name in enumerate(axis_names) if name in IDENTITY_WORDS}
        axes = tuple(name for name in axis_names if name not in IDENTITY_WORDS)
        for sheet in sheets(table.names, telling, axes, cells, report, self.wanted):
            for axis, known in ((rows, down), (columns, across)):
                if axis in sheet.axes:
                    sheet.levels[sheet.axes.index(axis)] = dict(known)
            sheet.notes += report.notes
            if self.wanted.reads_prose and columns in sheet.axes:
                sheet.notes += _of_other_sizes(sheet, columns)
            yield sheet

    def _even(self, columns: int) -> Iterator[Row]:
        """Rows with distinct first cells, and no more cells than a grid may have."""
        met: dict[str, int] = {}
        limits = self.wanted.limits
        for line, row in even(self.whole, self.report):
            cells = [row[column - 1] for column in self.at]
            label = text_of(cells[0], Place(line, self.at[0]), self.report)
            if label in met:
                self.report.fault(
                    Place(line, self.at[0]), f'the row "{shown(label)}" stands in line {met[label]} already'
                )
            met.setdefault(label, line)
            if len(met) > limits.levels or len(met) * columns > limits.cells:
                self.report.fault(Place(line), f"a grid has at most {limits.levels} rows and {limits.cells} cells")
                return
            yield line, cells

    def _readings(
        self, given: Sequence[Row], rows: str, columns: str, labels: Sequence[str]
    ) -> Iterator[tuple[tuple[str, ...], Reading]]:
        across = columns not in IDENTITY_WORDS
        down = rows not in IDENTITY_WORDS
        for line, cells in given:
            row = same_text(cells[0])
            for column, label, cell in zip(self.at[1:], labels, cells[1:], strict=True):
                place = Place(line, column)
                value = value_of(cell, place, self.report)
                if value is not None or (across and down):
                    at = ((row,) if down else ()) + ((label,) if across else ())
                    yield (row, label), Reading(at, value, *place)

    def _axes(self) -> tuple[str, str, list[str]]:
        labels, heading = list(self.table.header[1:]), Place(self.table.line)
        first, second = _corner(self.table.header[0])
        rows = self.wanted.rows or first
        prefix, bare = _common_words(labels)
        columns = self.wanted.columns or second or prefix
        if columns and (prefix == columns or (self.wanted.columns and prefix and _ends_like(columns, prefix))):
            labels = bare
        if not rows and self.report.marked:
            rows = "row"
            self.report.note("axis_unnamed", 'nothing names the axis of the rows: it is called "row"', heading)
        elif not rows:
            say = "--rows NAME" if self.wanted.reads_prose else "rows=NAME"
            self.report.fault(Place(self.table.line, 1), f"the axis of the rows has no name: say {say}")
        if not columns and self.wanted.reads_prose:
            columns = "column"
            self.report.note("axis_unnamed", 'nothing names the axis of the columns: it is called "column"', heading)
        elif not columns:
            self.report.fault(heading, "the axis of the columns has no name: say columns=NAME")
        self.report.stop_at_faults()
        return _identity_word(rows), _identity_word(columns or ""), labels


def _of_other_sizes(sheet: Sheet, columns: str) -> list[Note]:
    """A note where the levels of the heading are no numbers and their values are of very different sizes, as those of
    several metrics are."""
    place = sheet.axes.index(columns)
    sizes: dict[str, float] = {}
    for one in sheet.readings:
        if one.value and read_number(one.at[place]) is None:
            sizes[one.at[place]] = max(abs(one.value), sizes.get(one.at[place], 0.0))
    least, most = min(sizes, key=sizes.__getitem__, default=""), max(sizes, key=sizes.__getitem__, default="")
    if not sizes or sizes[most] < _TIMES * sizes[least]:
        return []
    detail = f'"{most}" goes up to {sizes[most]:g} and "{least}" to {sizes[least]:g}: are these levels of one metric'
    return [Note("sizes_differ", f"{detail}? --value NAMES reads columns as a metric each")]


def _identity_word(name: str) -> str:
    return name.casefold() if name.casefold() in IDENTITY_WORDS else name


def _corner(corner: str) -> tuple[str, str | None]:
    r"""Names in the corner of a pivot, `Type / Length` or `Type \ Length`; units in brackets are kept."""
    parts = [part.strip() for part in _BETWEEN_NAMES.split(corner)]
    return (parts[0], parts[1]) if len(parts) == 2 else (corner, None)


def _common_words(labels: Sequence[str]) -> tuple[str | None, list[str]]:
    """Words that all headings begin with (`Length 0`, `Length 1`), and what follows them."""
    if len(labels) < 2:
        return None, list(labels)
    words = common_words(labels)
    bare = [" ".join(label.split(" ", len(words))[len(words) :]) for label in labels]
    return (" ".join(words), bare) if words and all(bare) else (None, list(labels))


def _ends_like(full: str, short: str) -> bool:
    return full.casefold().endswith(short.casefold())
