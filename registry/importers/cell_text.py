"""Read a table of texts for importers: headings, names, levels, numbers and gaps, strictly, so that none is misread."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from registry.errors import Fault, Invalid
from registry.grids.intake.faults import REPORTED, number
from registry.importers.imported_grid import Note, Place
from registry.importers.markup import measured

GAPS = frozenset(("", "·", "—", "–", "-", "n/a", "N/A"))
"""Contents of an unmeasured cell."""
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_SHOWN = 40
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
Row = tuple[int, list[str]]
_ERROR = re.compile(r"se|sem|sd|std|stdev|std_?dev|std_?err(or)?|standard[ _](error|deviation)|±|\+/-", re.IGNORECASE)


def plain_number(text: str) -> float | None:
    """Finite number that a text writes in digits; `None` for anything else, NaN and 1_000 included."""
    return number(float(text)) if _NUMBER.fullmatch(text) else None


def is_rounded(text: str, value: float) -> bool:
    """Tell whether a text writes a whole number that no double can represent, of which this is the nearest."""
    return abs(value) >= 2**53 and text.lstrip("+-").isdecimal() and int(text) != value


def same_text(text: str) -> str:
    """A text without the apostrophe that made a spreadsheet's formula harmless."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text


def shown(text: str) -> str:
    """Part of a text that a fault repeats."""
    return text if len(text) < _SHOWN else text[:_SHOWN] + "…"


def is_formula(text: str) -> bool:
    """Tell whether a spreadsheet would run this text."""
    return text.startswith(_FORMULA) and text not in GAPS and plain_number(text) is None


def common_words(texts: Sequence[str]) -> list[str]:
    """Words that all the texts begin with."""
    if not texts:
        return []
    first, last = min(texts), max(texts)  # what these two begin with, all do
    length = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    common = first[:length]
    if any(text[len(common) : len(common) + 1] not in ("", " ") for text in texts):
        common, found, _ = common.rpartition(" ")  # it ends within a word
        return common.split(" ") if found else []
    return common.split(" ")


_ENOUGH = 1000
"""Number of faults after which reading stops."""


@dataclass
class Report:
    """Faults and notes with their line and cell; the first faults are raised together.

    `lenient`: numbers may be written for people (`markup.py`), each with a note. `marked`: the table is from a text,
    where no spreadsheet runs a formula. `named` names the row of a line where it came from no line.
    """

    faults: list[Fault] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    more: int = 0
    lenient: bool = False
    marked: bool = False
    named: Callable[[int], str] | None = None
    percent: set[Place] = field(default_factory=set)
    """Places of numbers with a per cent sign."""

    def fault(self, place: Place, detail: str) -> None:
        if len(self.faults) < REPORTED:
            self.faults.append(Fault(place.pointer(), detail))
        else:
            self.more += 1
            if self.more >= _ENOUGH:
                self.stop_at_faults()

    def note(self, code: str, detail: str, place: Place | None = None) -> None:
        """Record a note; of one code that repeats, the first few are kept."""
        if sum(1 for note in self.notes if note.code == code) < REPORTED:
            self.notes.append(Note(code, detail, place))

    def anew(self) -> "Report":
        """An empty report of the same kind."""
        return Report(lenient=self.lenient, marked=self.marked, named=self.named)

    def stop_at_faults(self) -> None:
        if not self.faults:
            return
        if self.more:
            last = self.faults[-1]
            self.faults[-1] = Fault(last.pointer, f"{last.detail} (and {self.more} more faults after this one)")
        raise Invalid(self.faults)


@dataclass(frozen=True)
class Table:
    """A heading and rows, each with its line. `names` is the identity according to the surrounding text."""

    header: list[str]
    rows: Iterable[Row]
    line: int
    names: Mapping[str, str] = field(default_factory=dict)


def looks_like_error(heading: str, values: Sequence[str]) -> bool:
    """Tell whether a heading says that its column holds how uncertain the values are: `se`, or `acc_std` beside
    `acc`."""
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
    if value is not None:
        if is_rounded(cell, value):
            report.note("rounded", f"{shown(cell)} was rounded to {int(value)}, the nearest number of 64 bits", place)
        return value
    read = measured(cell)
    digits = None if read is None or read.value is None else repr(read.value).removesuffix(".0")
    if read is None or not report.lenient:
        plain = "a cell that nobody measured is left empty" if digits is None else f"write {digits}"
        report.fault(place, f'"{shown(cell)}" is not a number; {plain}')
        return None
    if digits is None:
        report.note("gap_read", f'"{cell}" was read as a cell that nobody measured', place)
    elif read.code:
        report.note(read.code, f'"{cell}" was read as {digits}: {read.said}', place)
    if read.percent:
        report.percent.add(place)
    return read.value
