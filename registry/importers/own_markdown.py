"""The registry's own Markdown of a grid, read back.

A heading `benchmark · model · variant — metric (unit)`, tables of two axes each below headings of the other axes'
levels, and a last line that counts the cells and says what they carry. Values have the decimals that are shown. The
caller supplies the rest (experiment, kinds of axes, direction, bounds).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from registry.errors import Fault, Invalid
from registry.grids.intake.faults import whole
from registry.grids.intake.levels import MAX_AXES
from registry.importers.blocks import is_table, line_block, parts, table_rows, unescaped
from registry.importers.cell_text import (
    Report,
    Table,
    check_header,
    common_words,
    even,
    plain_number,
    shown,
    text_of,
    value_of,
)
from registry.importers.imported_grid import ImportedGrid, Note, Overrides, Place
from registry.importers.sheet import Reading, Sheet

_LAST = re.compile(r"[\d,]+ of [\d,]+ cells? measured · revision \d+(.*)")
_TRIALS = re.compile(r" · trials (\d+)((?: · .*)?)")
_TITLE = re.compile(r"(.*) — (.+?)(?: \(([^()]*)\))?")
_UNIT = re.compile(r"(.+?) \(([^()]*)\)")
Row = tuple[tuple[str, ...], float | None, Place]
"""Levels of a cell in its plane, its value, its place."""
_EMPTY = "No cell was measured."
_LEGEND = "· not measured"
_PROTOCOL = "Protocol: "


def is_own(lines: Sequence[str]) -> bool:
    """Tell whether these are the lines of a grid as the registry writes it."""
    first, last = _ends(lines)
    return first < last and lines[first].startswith("### ") and _LAST.fullmatch(lines[last]) is not None


def _ends(lines: Sequence[str]) -> tuple[int, int]:
    """Indices of the first and the last line that are not blank."""
    first = next((place for place, line in enumerate(lines) if line.strip()), 0)
    last = next((place for place in range(len(lines) - 1, first, -1) if lines[place].strip()), first)
    return first, last


def read_own(lines: Sequence[str], wanted: Overrides) -> Iterator[ImportedGrid]:
    """The one grid of such a document; `Invalid` for tables that do not fit together."""
    first, last = _ends(lines)
    names, notes = _names(unescaped(lines[first].removeprefix("### ").strip()))
    report = Report()
    planes = _planes(lines, range(first + 1, last), wanted.limits.cells)
    together = Planes(names, _leading([heading for heading, _ in planes]), wanted.limits.cells, report)
    for heading, part in planes:
        together.add(heading, lines, part)
    report.stop_at_faults()
    sheet = together.sheet(Place(first + 1))
    sheet.notes += notes
    if any(line.startswith(_PROTOCOL) for line in lines[first:last]):
        detail = "the line of the protocol is for people, and not read: --protocol, or protocol= in the query, says it"
        sheet.notes.append(Note("left_out", detail))
    trials, unread = _last_line(lines[last], Place(last + 1))
    if unread:
        detail = f"of the last line only trials that all cells have are read, and not: {shown(unread)}; JSON keeps it"
        sheet.notes.append(Note("left_out", detail))
    found = sheet.found(wanted)
    if trials is not None and wanted.trials is None:
        found.submission["trials"] = trials
    for axis in found.submission["axes"]:
        if axis["name"] in together.units:
            axis["unit"] = together.units[axis["name"]]
    yield found


def _last_line(line: str, place: Place) -> tuple[int | None, str]:
    """Number of trials in the last line, if all cells have the same, and what else it says of the cells."""
    rest = _LAST.fullmatch(line)
    said = rest[1] if rest else ""
    match = _TRIALS.fullmatch(said)
    if match is None:
        return None, said.removeprefix(" · ")
    value = plain_number(match[1])
    count = None if value is None else whole(value)
    if count is None:
        raise Invalid([Fault(place.pointer(), "trials are a positive whole number up to 2^53")])
    return count, match[2].removeprefix(" · ")


class Planes:
    """A grid that is put together from its planes, each a table below a heading or one number."""

    def __init__(self, names: dict[str, str], leading: Sequence[str], most: int, report: Report) -> None:
        self.names, self.leading, self.most, self.report = names, tuple(leading), most, report
        self.axes: tuple[str, ...] | None = None
        self.units: dict[str, str] = {}
        self.levels: dict[str, dict[str, None]] = {}
        self.readings: dict[tuple[str, ...], Reading] = {}

    def add(self, heading: str, lines: Sequence[str], part: range) -> None:
        """Read a plane from these lines, at the levels that its heading names."""
        at = tuple(label for _, label in _split(heading, self.leading))
        for name, label in zip(self.leading, at, strict=True):
            self.levels.setdefault(name, {})[label] = None
        text = lines[part[0]].strip()
        if is_table(part):
            own, rows = self._plane(lines, part)
        elif (value := plain_number(text)) is not None:
            own, rows = (), iter([((), value, Place(part[0] + 1))])
        else:
            return  # a plane in which nothing was measured
        self.axes = own if self.axes is None else self.axes
        if own != self.axes or (self.leading and not own):
            self._stop(Place(part[0] + 1), "has other axes than what stands before it")
        for place_of_row, value, place in rows:
            self._read(Reading((*at, *place_of_row), value, *place))

    def _read(self, reading: Reading) -> None:
        before = self.readings.setdefault(reading.at, reading)
        if before is not reading:
            self.report.fault(reading.place, f"stands where line {before.line} has a value already")
        elif len(self.readings) > self.most:
            self._stop(reading.place, f"a grid has at most {self.most} cells")

    def _stop(self, place: Place, detail: str) -> None:
        self.report.fault(place, detail)
        self.report.stop_at_faults()

    def _plane(self, lines: Sequence[str], part: range) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Axes and cells of a table: two axes, or one as a row or as a column."""
        names, report = self.names, self.report
        given = table_rows(lines, part, emphasis=False)
        line, header = next(given)
        table = Table(header, given, line, names)
        check_header(table, report)
        measured = f"{names['metric']} ({names['unit']})" if "unit" in names else names.get("metric", "")
        first, *others = header
        corner = first.split(" / ")
        if len(corner) == 1 and others == [measured]:
            axis = self._axis(first)
            return (axis,), self._column(axis, even(table, report))
        down, across = [self._axis(name) for name in corner] if len(corner) == 2 else (None, self._axis(first))
        self.levels.setdefault(across, {}).update(dict.fromkeys(others))
        return ((across,) if down is None else (down, across)), self._cells(down, others, even(table, report))

    def _column(self, axis: str, rows: Iterable[tuple[int, list[str]]]) -> Iterator[Row]:
        """One axis down the first column."""
        levels = self.levels.setdefault(axis, {})
        for number, (label, cell) in rows:
            levels[label] = None
            yield (label,), value_of(cell, Place(number, 2), self.report), Place(number, 2)

    def _cells(self, down: str | None, across: Sequence[str], rows: Iterable[tuple[int, list[str]]]) -> Iterator[Row]:
        """One axis across, or one across and one down the first column."""
        for number, row in rows:
            head: tuple[str, ...] = ()
            if down is not None:
                head = (text_of(row[0], Place(number, 1), self.report),)
                self.levels.setdefault(down, {})[head[0]] = None
            for column, (label, cell) in enumerate(zip(across, row[1:], strict=True), start=2):
                place = Place(number, column)
                yield (*head, label), value_of(cell, place, self.report), place

    def _axis(self, name: str) -> str:
        match = _UNIT.fullmatch(name)
        if match is None:
            return name
        self.units[match[1]] = match[2]
        return match[1]

    def sheet(self, title: Place) -> Sheet:
        """Sheet of all planes; `Invalid` if nothing names the axes."""
        if self.axes is None:
            raise Invalid([Fault(title.pointer(), "no cell was measured, and nothing tells which axes there are")])
        names = (*self.leading, *self.axes)
        if len(names) > MAX_AXES or len(set(names)) < len(names):
            raise Invalid([Fault(title.pointer(), f"a grid has at most {MAX_AXES} axes, each of another name")])
        sheet = Sheet(self.names, names)
        for name, labels in self.levels.items():
            sheet.declare(name, list(labels), title)
        for reading in self.readings.values():
            sheet.add(reading)
        return sheet


def _names(title: str) -> tuple[dict[str, str], list[Note]]:
    match = _TITLE.fullmatch(title)
    if match is None:
        return {}, []
    parts = match[1].split(" · ")
    names = dict(zip(("benchmark", "model", "variant"), parts, strict=False)) | {"metric": match[2]}
    if match[3]:
        names["unit"] = match[3]
    return names, [Note("identity_read", f'"{title}" was read as benchmark · model · variant — metric')]


def _planes(lines: Sequence[str], within: range, most: int) -> list[tuple[str, range]]:
    """Indices of each table or number, and the heading above it."""
    found: list[tuple[str, range]] = []
    heading = ""
    for inner in parts(lines[within.start : within.stop]):
        part = within[inner.start : inner.stop]
        block = line_block(lines[part[0]], part[0] + 1)
        if is_table(part) or block.text == _EMPTY or plain_number(block.text) is not None:
            found.append((heading, part))
        elif block.kind == "heading":
            heading = unescaped(block.text)
        elif block.text == _LEGEND or block.text.startswith(_PROTOCOL):
            continue
        else:
            _refuse(part, "is neither a table nor a number, as the registry writes it")
        if len(found) > most:
            _refuse(part, f"a grid has at most {most} cells")
    return found


def _refuse(part: range, detail: str) -> NoReturn:
    raise Invalid([Fault(Place(part[0] + 1).pointer(), detail)])


def _leading(headings: Sequence[str]) -> list[str]:
    """Names of the axes in headings such as `Task sum · Size 7b`: the words that do not change."""
    split = [one.split(" · ") for one in headings if one]
    if not split:
        return []
    if len({len(parts) for parts in split}) > 1 or len(split) != len(headings):
        raise Invalid([Fault("", "the headings of the tables do not name the same axes")])
    names: list[str] = []
    for same in zip(*split, strict=True):
        words = common_words(same) if len(set(same)) > 1 else same[0].split(" ")[:-1]
        names.append(" ".join(words))
    return names


def _split(heading: str, names: Sequence[str]) -> list[tuple[str, str]]:
    return [
        (name, part.removeprefix(name).strip())
        for name, part in zip(names, heading.split(" · "), strict=False)
        if names
    ]


__all__ = ["is_own", "read_own"]
