"""A table of texts read as tidy rows or as a pivot.

Tidy: a column `value` (or one named like the metric), identity and axes in the other columns, one cell a row.
A pivot: the first column holds the levels of one axis, the headings of the others those of a second one. Either axis
may be a word of the identity, `model` or `benchmark` say: then each of its levels is a grid of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from registry.errors import Fault, Invalid
from registry.grids.intake.faults import whole
from registry.grids.intake.levels import MAX_AXES
from registry.importers.found import Note, Overrides, Place
from registry.importers.markup import measured
from registry.importers.metrics import meaning_of
from registry.importers.sheet import IDENTITY_WORDS, Reading, Sheet, sheets
from registry.importers.words import (
    GAPS,
    Report,
    common_words,
    is_formula,
    is_rounded,
    plain_number,
    same_text,
    shown,
)

Row = tuple[int, list[str]]
_CARRIED = ("trials", "stderr", "reason", "repeats", "sd")
_OWN = ("grid", "revision")
_DERIVED = ("ci_low", "ci_high", "updated_at")
_BETWEEN_NAMES = re.compile(r"\s[/\\]\s")


@dataclass(frozen=True)
class Table:
    """A heading and rows, each with its line. `names` is what the text around says of its identity."""

    header: list[str]
    rows: Iterable[Row]
    line: int
    names: Mapping[str, str]


def read_table(table: Table, wanted: Overrides, report: Report) -> Iterator[Sheet]:
    """The grids of a table; faults name the line and the cell."""
    if len(table.header) > wanted.limits.levels + 1:
        detail = f"an axis has at most {wanted.limits.levels} levels, not {len(table.header) - 1}"
        raise Invalid([Fault(Place(table.line).pointer(), detail)])
    check_header(table, report)
    report.stop_at_faults()
    tidy = Tidy(table, wanted, report)
    report.stop_at_faults()
    if tidy.value is not None:
        return _in_percent(tidy.sheets(), report)
    found = Pivot(table, wanted, report).sheets()
    if wanted.reads_prose and not report.marked:
        found = _or_tidy(found, table)
    return _in_percent(found, report)


def _or_tidy(found: Iterator[Sheet], table: Table) -> Iterator[Sheet]:
    """The sheets of a pivot; where it is none, the faults say how it would be read as something else."""
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
    """The sheets, each in per cent if every number of it says so; of one with some that do, a note says it."""
    for sheet in sheets_found:
        signs = [one.place in report.percent for one in sheet.readings if one.value is not None]
        if signs and all(signs):
            sheet.names = {"unit": "%", **sheet.names}
        elif any(signs):
            detail = f"{sum(signs)} of {len(signs)} numbers have a sign of per cent: no unit was read"
            sheet.notes = [*sheet.notes, Note("percent_mixed", detail)]
        yield sheet


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
    """The rows, each as long as the heading; others are faults."""
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
    """The number in a cell, None in a gap."""
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


class Tidy:
    """A tidy table: which column says what, and its rows."""

    def __init__(self, table: Table, wanted: Overrides, report: Report) -> None:
        self.table, self.wanted, self.report = table, wanted, report
        header = table.header
        self.own = {*_OWN, "value"} <= set(header)
        places = {name: place for place, name in enumerate(header)}
        known = places if self.own else {name.casefold(): places[name] for name in reversed(header)}
        self.value = known.get("value") if wanted.value is None else self._column(wanted.value)
        self.metric = wanted.value if wanted.value not in (None, "value") and "metric" not in known else None
        if self.value is None and wanted.value is None:
            self.value = self._named_like_the_metric(header)
            self.metric = None if self.value is None else header[self.value]
        self.carried = {name: known[name] for name in _CARRIED if name in known and known[name] != self.value}
        self.identity = {name: known[name] for name in IDENTITY_WORDS if name in known and known[name] != self.value}
        self.derived = [known[name] for name in ((*_OWN, *_DERIVED) if self.own else _DERIVED) if name in known]
        taken = {self.value, *self.carried.values(), *self.identity.values(), *self.derived}
        self.numbers = {place: places[f"{name}_num"] for place, name in enumerate(header)
                        if place not in taken and f"{name}_num" in places}  # fmt: skip
        taken.update(self.numbers.values())
        self.axes = [place for place in range(len(header)) if place not in taken]
        if self.value is not None:
            self._choose()

    def _column(self, name: str) -> int | None:
        """The column that the caller names; one that is not there is a fault."""
        if name in self.table.header:
            return self.table.header.index(name)
        there = ", ".join(self.table.header[:20])
        self.report.fault(Place(self.table.line), f'there is no column "{name}"; there are: {there}')
        return None

    def _choose(self) -> None:
        """Keep the axes that the caller chose; what else there is, is left out with a note."""
        wanted, header = self.wanted, self.table.header
        for name in (*wanted.axes, *wanted.drop, *([wanted.repeats] if wanted.repeats else [])):
            self._column(name)
        away = {*wanted.drop, wanted.repeats}
        kept = [p for p in self.axes if header[p] in wanted.axes or (not wanted.axes and header[p] not in away)]
        others = [header[place] for place in self.axes if place not in kept and header[place] not in away]
        if others:
            self.report.note("left_out", f"columns that --axes does not name: {', '.join(others)}")
        self.axes = kept
        if len(kept) > MAX_AXES and wanted.reads_prose:
            said = ", ".join(header[place] for place in kept)
            detail = f"a grid has at most {MAX_AXES} axes, not {len(kept)} ({said})"
            self.report.fault(Place(self.table.line), f"{detail}: --axes NAMES or --drop NAMES chooses")

    def _named_like_the_metric(self, header: Sequence[str]) -> int | None:
        """The column of the values where none is called `value`."""
        if self.wanted.metric in header:
            return header.index(self.wanted.metric)
        if not self.wanted.reads_prose or any(plain_number(name) is not None for name in header):
            return None
        known = [place for place, name in enumerate(header) if meaning_of(name)]
        if len(known) != 1:
            return None
        others = [p for p, name in enumerate(header) if p != known[0] and name.casefold() not in IDENTITY_WORDS]
        return known[0] if others or len(header) > 2 else None

    def sheets(self) -> Iterator[Sheet]:
        header, report = self.table.header, self.report
        names = {**self.table.names, **({"metric": self.metric} if self.metric else {})}
        self._check_axes()
        taken = frozenset(header)
        axes = [_axis_name(same_text(header[place]), taken) for place in self.axes]
        if left_out := [header[place] for place in self.derived if header[place] not in _OWN]:
            report.note("left_out", f"the registry computes these itself: {', '.join(left_out)}")
        if "repeats" in self.carried or "sd" in self.carried:
            self._explain_repeats()
        numbers: dict[str, dict[str, float]] = {name: {} for name in axes}
        telling = dict(enumerate(self.identity))
        rows = self._rows(axes, numbers)
        for sheet in sheets(names, telling, tuple(axes), rows, report, single=self.wanted.single):
            if self.own or self.numbers:
                sheet.kinds = {axis: "numeric" if numbers[axis] else "nominal" for axis in axes}
                self._check_numbers(sheet, numbers)
            sheet.numbers = numbers
            sheet.notes += [*report.notes, *_repeated(sheet)]
            yield sheet

    def _check_axes(self) -> None:
        """That no more columns are left to be axes than a grid has."""
        if len(self.axes) > MAX_AXES:
            names = ", ".join(f'"{shown(self.table.header[place])}"' for place in self.axes[: MAX_AXES + 1])
            more = ", …" if len(self.axes) > MAX_AXES + 1 else ""
            detail = f"a grid has at most {MAX_AXES} axes, and these columns would each be one: {names}{more}"
            self.report.fault(Place(self.table.line, self.axes[MAX_AXES] + 1), detail)
            self.report.stop_at_faults()

    def _check_numbers(self, sheet: Sheet, numbers: Mapping[str, Mapping[str, float]]) -> None:
        """That either every level of an axis has a number in its column, or none has."""
        for axis, column, levels in zip(sheet.axes, self.axes, sheet.levels, strict=True):
            if numbers[axis]:
                for label in levels.keys() - numbers[axis].keys():
                    place = Place(levels[label].line, self.numbers[column] + 1)
                    self.report.fault(place, f'"{shown(label)}" has no number, and other levels of its axis have one')
        self.report.stop_at_faults()

    def _explain_repeats(self) -> None:
        if "stderr" not in self.carried and {"repeats", "sd"} <= self.carried.keys():
            detail = "the spread of repeats is kept as the standard error of their mean, sd / sqrt(repeats)"
        else:
            detail = "repeats and their sd are left out: a cell of a table is one measurement"
        self.report.note("repeats_read", detail)

    def _rows(
        self, axes: Sequence[str], numbers: dict[str, dict[str, float]]
    ) -> Iterator[tuple[tuple[str, ...], Reading]]:
        report, value = self.report, self.value
        assert value is not None  # noqa: S101 (read_table asked)
        limit = self.wanted.limits.cells
        identity = list(self.identity.items())
        checked: set[str] = set()
        for count, (line, cells) in enumerate(even(self.table, report), start=1):
            if count > limit and not self.identity:
                report.fault(Place(line), f"a grid has at most {limit} cells")
                return
            said = tuple(self._said(name, cells[place], Place(line, place + 1)) for name, place in identity)
            at = tuple([
                cells[place] if cells[place] in checked else self._level(cells[place], Place(line, place + 1), checked)
                for place in self.axes
            ])  # fmt: skip
            if self.numbers:
                self._numbers(axes, at, cells, line, numbers)
            yield (*said, *at), self._reading(at, cells, Place(line, value + 1))

    def _level(self, cell: str, place: Place, checked: set[str]) -> str:
        """A level; texts that are what they say are remembered."""
        label = text_of(cell, place, self.report)
        if cell and label == cell:
            checked.add(cell)
        return label

    def _numbers(
        self,
        axes: Sequence[str],
        at: Sequence[str],
        cells: Sequence[str],
        line: int,
        numbers: dict[str, dict[str, float]],
    ) -> None:
        for name, label, place in zip(axes, at, self.axes, strict=True):
            if place in self.numbers and cells[self.numbers[place]]:
                self._number(numbers[name], label, cells[self.numbers[place]], Place(line, self.numbers[place] + 1))

    def _said(self, name: str, cell: str, place: Place) -> str:
        """A word of the identity; a variant, a unit, a direction and a bound may be empty."""
        if not cell and name not in ("experiment", "benchmark", "model", "metric"):
            return ""
        if name in ("lower", "upper") and plain_number(cell) is None:
            self.report.fault(place, f'"{shown(cell)}" is not a number: a bound of the metric stands here')
        return text_of(cell, place, self.report)

    def _number(self, known: dict[str, float], label: str, cell: str, place: Place) -> None:
        value = plain_number(cell)
        if value is None:
            self.report.fault(place, "is the number of a level")
        elif known.setdefault(label, value) != value:
            self.report.fault(place, f'the level "{shown(label)}" has another number in another row')

    def _reading(self, at: tuple[str, ...], cells: Sequence[str], place: Place) -> Reading:
        report, line = self.report, place.line
        value = value_of(cells[self.value or 0], place, report)
        if not self.carried:
            return Reading(at, value, place)
        texts = {name: cells[column] for name, column in self.carried.items()}
        trials, stderr = self._trials(texts, line), self._stderr(texts, line)
        reason = texts.get("reason") or None
        if value is None and (trials is not None or stderr is not None):
            report.fault(place, "a cell without a value has neither trials nor stderr")
        return Reading(at, value, place, trials, stderr, reason)

    def _trials(self, texts: Mapping[str, str], line: int) -> int | None:
        if texts.get("trials", "") in GAPS:
            return None
        count = plain_number(texts["trials"])
        found = None if count is None else whole(count)
        if found is None:
            self.report.fault(Place(line, self.carried["trials"] + 1), "trials are a positive whole number")
        return found

    def _stderr(self, texts: Mapping[str, str], line: int) -> float | None:
        if texts.get("stderr", "") not in GAPS:
            found = value_of(texts["stderr"], Place(line, self.carried["stderr"] + 1), self.report)
            if found is not None and found < 0:
                self.report.fault(Place(line, self.carried["stderr"] + 1), "a standard error is not negative")
            return found
        if "stderr" in self.carried or texts.get("repeats", "") in GAPS or texts.get("sd", "") in GAPS:
            return None
        count, spread = plain_number(texts["repeats"]), plain_number(texts["sd"])
        if count is None or spread is None or count < 1 or spread < 0:
            self.report.fault(Place(line), "repeats are a count and sd is a number that is not negative")
            return None
        return spread / float(count**0.5)


class Pivot:
    """A pivot: one axis down the first column, another across the heading."""

    def __init__(self, table: Table, wanted: Overrides, report: Report) -> None:
        self.table, self.wanted, self.report = table, wanted, report

    def sheets(self) -> Iterator[Sheet]:
        report, table = self.report, self.table
        rows, columns, labels = self._axes()
        for column, label in enumerate(labels, start=2):
            text_of(label, Place(table.line, column), report)
        report.stop_at_faults()
        labels = [same_text(label) for label in labels]
        given = [(line, cells) for line, cells in self._even(len(labels))]
        report.stop_at_faults()
        if (rows in IDENTITY_WORDS) == (columns in IDENTITY_WORDS) and rows == columns:
            report.fault(Place(table.line), f'rows and columns are both "{rows}"')
            report.stop_at_faults()
        said = [rows, columns]
        down = {same_text(cells[0]): Place(line, 1) for line, cells in given}
        across = {label: Place(table.line, column) for column, label in enumerate(labels, start=2)}
        cells = self._readings(given, rows, columns, labels)
        telling = {place: name for place, name in enumerate(said) if name in IDENTITY_WORDS}
        axes = tuple(name for name in said if name not in IDENTITY_WORDS)
        for sheet in sheets(table.names, telling, axes, cells, report, single=self.wanted.single):
            for axis, known in ((rows, down), (columns, across)):
                if axis in sheet.axes:
                    sheet.levels[sheet.axes.index(axis)] = dict(known)
            sheet.notes += report.notes
            yield sheet

    def _even(self, columns: int) -> Iterator[Row]:
        """The rows, their first cells all different, and no more cells than a grid may have."""
        met: dict[str, int] = {}
        limits = self.wanted.limits
        for line, cells in even(self.table, self.report):
            label = text_of(cells[0], Place(line, 1), self.report)
            if label in met:
                self.report.fault(Place(line, 1), f'the row "{shown(label)}" stands in line {met[label]} already')
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
            for column, (label, cell) in enumerate(zip(labels, cells[1:], strict=True), start=2):
                place = Place(line, column)
                value = value_of(cell, place, self.report)
                if value is not None or (across and down):
                    at = ((row,) if down else ()) + ((label,) if across else ())
                    yield (row, label), Reading(at, value, place)

    def _axes(self) -> tuple[str, str, list[str]]:
        """The names of the two axes, and the levels in the heading."""
        corner, labels = self.table.header[0], list(self.table.header[1:])
        first, second = _corner(corner)
        rows = self.wanted.rows or first
        prefix, bare = _common_words(labels)
        columns = self.wanted.columns or second or prefix
        if columns and (prefix == columns or (self.wanted.columns and prefix and _ends_like(columns, prefix))):
            labels = bare
        if not rows and self.report.marked:
            rows = "row"
            self.report.note("axis_unnamed", 'nothing names the axis of the rows: it is called "row"',
                               Place(self.table.line))  # fmt: skip
        elif not rows:
            say = "--rows NAME" if self.wanted.reads_prose else "rows=NAME"
            self.report.fault(Place(self.table.line, 1), f"the axis of the rows has no name: say {say}")
        if not columns:
            if self.wanted.reads_prose:
                columns = "column"
                self.report.note(
                    "axis_unnamed",
                    'nothing names the axis of the columns: it is called "column"',
                    Place(self.table.line),
                )
            else:
                self.report.fault(Place(self.table.line), "the axis of the columns has no name: say columns=NAME")
        self.report.stop_at_faults()
        return _identity_word(rows), _identity_word(columns or ""), labels


def _identity_word(name: str) -> str:
    return name.casefold() if name.casefold() in IDENTITY_WORDS else name


def _corner(corner: str) -> tuple[str, str | None]:
    r"""The names in the corner of a pivot, `Type / Length` or `Type \ Length`; units in brackets are kept."""
    parts = [part.strip() for part in _BETWEEN_NAMES.split(corner)]
    return (parts[0], parts[1]) if len(parts) == 2 else (corner, None)


def _common_words(labels: Sequence[str]) -> tuple[str | None, list[str]]:
    """The words that all headings begin with (`Length 0`, `Length 1`), and what follows them."""
    if len(labels) < 2:
        return None, list(labels)
    words = common_words(labels)
    bare = [" ".join(label.split(" ", len(words))[len(words) :]) for label in labels]
    return (" ".join(words), bare) if words and all(bare) else (None, list(labels))


def _ends_like(full: str, short: str) -> bool:
    return full.casefold().endswith(short.casefold())


def _axis_name(name: str, taken: Collection[str]) -> str:
    """The axis of a column; `axis_value` was called `value`, but that name was taken."""
    bare = name.removeprefix("axis_")
    return bare if bare != name and bare in taken else name


def _repeated(sheet: Sheet) -> list[Note]:
    """A note if a coordinate comes several times."""
    measured = [one.at for one in sheet.readings if one.value is not None]
    more = len(measured) - len(set(measured))
    if not more:
        return []
    detail = f"{more} more rows are at coordinates that came before: a cell is the mean of its rows, its repeats"
    return [Note("repeats_read", detail)]
