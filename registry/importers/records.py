"""Import records in JSON or YAML: one object for each measurement, one in a file, a list of them, or one a line.

    registry push results/ --axes context_length,depth_percent --value score --repeats version \\
        --experiment niah --benchmark needle

`--value` names the key of the value and `--axes` those of the axes; experiment, benchmark, model, variant and metric
are keys of these names, or options. Keys of an object within are written with a dot (`metrics.score`). All files of a
push are one table: a folder with a file for each measurement is one grid, and records at one coordinate are repeats if
`--repeats` says what tells them apart.

A mapping says where in a file the records are: `records = "benchmarks.*"`, where `*` is each member of a list or an
object, whose names become columns by `keys`. A record that is a number is the column `value`. A column that begins with
`/` is looked for from the root of the file along the way to the record: `/commit_info.id`.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from registry.errors import Fault, Invalid, Malformed
from registry.importers.cell_text import Report, Table
from registry.importers.imported_grid import ImportedGrid, Layout, Note, Overrides
from registry.importers.scores import mapping, member
from registry.importers.sheet import IDENTITY_WORDS, Sheet
from registry.importers.source import NOT_A_NUMBER, Source, read_yaml
from registry.importers.tables import read_table
from registry.importers.tidy_table import ROW

NAME = "records"
_MOST = 10_000_000
FILE = "file"
"""As the name of what tells repeats apart: the file that a record is in, if no key has this name."""
_LONGEST = 200
"""A longer text is no level: such keys are skipped where no axes are chosen."""


def looks_like(source: Source) -> bool:
    return False  # any object might be a record: the caller says so, by --value or --axes


def asked_for(source: Source, wanted: Overrides) -> bool:
    """Tell whether the caller names keys or a way to them, and this is JSON or YAML to find them in."""
    if wanted.layout.records is not None:
        return True
    return bool(wanted.value or wanted.axes or wanted.layout.metrics) and (source.begins_like_json or source.is_yaml)


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """Grids of one file."""
    records = Records(wanted)
    records.take(source, wanted)
    yield from records.grids()


class Records:
    """The records of all files of a push."""

    def __init__(self, wanted: Overrides) -> None:
        self.wanted = wanted
        self.files: list[str] = []
        self._header: dict[str, int] = {}
        self._rows: list[dict[str, str]] = []
        self._from: list[tuple[str, str]] = []

    def take(self, source: Source, wanted: Overrides) -> None:
        """Read what is wanted of a file; `Invalid` or `Malformed` for a faulty file, of which nothing is kept."""
        layout = wanted.layout
        own = dict(layout.constants) | ({"model": wanted.model} if wanted.model_from and wanted.model else {})
        rows: list[dict[str, str]] = []
        places: list[str] = []
        faults: list[Fault] = []
        also = {name for metric in layout.metrics.values() for name in metric.roles.values()} | {
            *layout.beside.values()
        }
        for where, record in records_of(source, layout):
            flat = record.flat({*wanted.axes, *wanted.roles.values(), *layout.where, *also})
            flat = {name: text for name, text in flat.items() if name.casefold() not in own} | own
            if any(flat.get(name, "") not in texts for name, texts in layout.where.items()):
                continue
            values = wanted.values_among(flat) or [wanted.roles.get("value") or wanted.metric or "value"]
            axes = [name for name in wanted.axes if name not in wanted.roles]
            needed = [*axes, *wanted.roles.values(), *([] if layout.metrics and wanted.value is None else values)]
            absent = [name for name in dict.fromkeys(needed) if name not in flat]
            if layout.metrics:  # a metric that a record lacks was not measured
                absent = [name for name in absent if name not in map(wanted.roles.get, layout.metrics)]
            if absent:
                missing = ", ".join(f'"{name}"' for name in absent)
                faults.append(Fault(where, f"there is no {missing}; there are: {', '.join(list(flat)[:20])}"))
                break
            chosen = {*needed, *values, *also}
            rows.append({name: text for name, text in flat.items() if self._matters(name, text, chosen)})
            places.append(where)
        if faults:
            raise Invalid(faults)
        if not rows:
            raise Malformed("It holds no record.")
        if len(self._rows) + len(rows) > _MOST:
            raise Malformed(f"There are more than {_MOST} records: push fewer at a time.")
        self._check(rows, places)
        self.files.append(source.name)
        self._rows += rows
        self._from += [(source.name, where) for where in places]
        for row in rows:
            self._header.update(dict.fromkeys(row, 0))

    def _matters(self, name: str, text: str, needed: Collection[str]) -> bool:
        """Tell whether a key is used: the chosen ones and the identity's, else all but long texts."""
        if name in needed or name in (self.wanted.repeats, "trials", "stderr") or name.casefold() in IDENTITY_WORDS:
            return True
        taken = self.wanted.axes or self.wanted.layout.metrics
        return not taken and name not in self.wanted.drop and len(text) <= _LONGEST

    def _check(self, rows: Sequence[dict[str, str]], places: Sequence[str]) -> None:
        """Read the records of one file by themselves: `Invalid` with the record and the key of an error."""
        header = list(dict.fromkeys(name for row in rows for name in row))
        if len(header) < 2:
            return  # which is no table: together with other files it may be
        repeats = self.wanted.repeats if self.wanted.repeats in (ROW, *header) else None
        wanted = replace(self.wanted.laid_out(where={}), drop=(), repeats=repeats)
        try:
            for _ in self._read(header, rows, wanted, lambda row: places[row - 1]):
                pass
        except Invalid as error:
            at = [(*_pointer(fault.pointer, header), fault.detail) for fault in error.faults]
            named = [(key if row is None else f"{places[row]}{key}", detail) for row, key, detail in at]
            raise Invalid([Fault(pointer, detail) for pointer, detail in named]) from None

    def _read(
        self, header: list[str], rows: Sequence[dict[str, str]], wanted: Overrides, named: Callable[[int], str]
    ) -> Iterator[Sheet]:
        cells = ((number, [row.get(name, "") for name in header]) for number, row in enumerate(rows, start=1))
        return read_table(Table(header, cells, 0), wanted, Report(lenient=True, marked=True, named=named))

    def grids(self) -> Iterator[ImportedGrid]:
        """Grids of all records; raises the errors of all records together. Notes and faults name file, record and
        key."""
        wanted = replace(self.wanted.laid_out(where={}), drop=())  # which chose keys and records
        header = list(self._header)
        if wanted.repeats == FILE and FILE not in header:
            wanted = replace(wanted, repeats=ROW)  # no file holds a coordinate twice
        try:
            for sheet in self._read(header, self._rows, wanted, lambda row: self._record(row - 1)):
                found = sheet.found(wanted)
                notes = tuple(self._placed(note, header) for note in found.notes)
                yield ImportedGrid(found.submission, notes, edition=found.edition)
        except Invalid as error:
            raise Invalid([self._at(fault, header) for fault in error.faults]) from None

    def _at(self, fault: Fault, header: list[str]) -> Fault:
        row, key = _pointer(fault.pointer, header)
        return Fault("", fault.detail if row is None else f"{self._record(row, key)}: {fault.detail}")

    def _placed(self, note: Note, header: list[str]) -> Note:
        row, key = (None, "") if note.place is None else _pointer(note.place.pointer(), header)
        return Note(note.code, note.detail if row is None else f"{self._record(row, key)}: {note.detail}")

    def _record(self, row: int, key: str = "") -> str:
        file, where = self._from[row]
        return f"{file} {where}{key}"

    @property
    def name(self) -> str:
        """The file, or the folder of the files and their number."""
        if len(self.files) == 1:
            return self.files[0]
        folder = os.path.commonpath([Path(name).parent for name in self.files]) or "."
        return f"{folder} ({len(self.files)} files of records)"


def _pointer(pointer: str, header: list[str]) -> tuple[int | None, str]:
    """Record behind a line of the table, counted from 0, and its key behind a slash; None for the heading."""
    parts = pointer.split("/")
    if parts[1:2] != ["line"] or int(parts[2]) == 0:
        return None, ""
    row = int(parts[2]) - 1
    return row, f"/{header[int(parts[4]) - 1]}" if len(parts) > 4 else ""


@dataclass(frozen=True, slots=True)
class _Record:
    """A record with the columns that the names on the way to it are, and the objects on this way with their names."""

    value: Any
    keys: Mapping[str, str]
    way: tuple[tuple[str, Any], ...] = ()

    def flat(self, named: Collection[str]) -> dict[str, str]:
        """Its columns; of the `named` ones also those that begin with `/`."""
        own = dict(_flat(self.value, "")) if isinstance(self.value, Mapping) else {"value": _written(self.value)}
        above = {name: self._above(name[1:]) for name in named if name.startswith("/") and name not in own}
        return {**self.keys, **own, **{name: _written(text) for name, text in above.items() if text is not None}}

    def _above(self, name: str) -> Any:
        for prefix, node in reversed(self.way):
            if name.startswith(prefix) and (found := member(node, name[len(prefix) :])) is not None:
                return found
        return None


def records_of(source: Source, layout: Layout) -> Iterator[tuple[str, _Record]]:
    """The records of a file, each with a pointer to it."""
    if layout.records is None and not source.is_yaml:
        for number, given in enumerate(source.own_records):
            yield f"/{number}", _Record(mapping(given, f"/{number}"), {})
        return
    steps = (layout.records or "*").split(".")
    document = read_yaml(source.text, "It") if source.is_yaml else source.json
    yield from _walk(_Record(document, {}), "", steps, list(layout.keys), "")


def _walk(
    at: _Record, where: str, steps: Sequence[str], keys: Sequence[str], prefix: str
) -> Iterator[tuple[str, _Record]]:
    if not steps:
        if at.value is not None:
            yield where, at
        return
    step, *rest = steps
    node = at.value
    way = (*at.way, (prefix, node)) if isinstance(node, Mapping) else at.way
    if step != "*":
        if isinstance(node, Mapping) and step in node:
            yield from _walk(_Record(node[step], at.keys, way), f"{where}/{step}", rest, keys, f"{prefix}{step}.")
        elif not where:
            raise Invalid([Fault(where, f'there is no "{step}", where a mapping looks for records')])
        return
    if isinstance(node, Mapping):
        members = [(str(name), inner) for name, inner in node.items()]
    elif isinstance(node, list):
        members = [(str(number), inner) for number, inner in enumerate(node)]
    else:
        raise Invalid([Fault(where, "is neither a list nor an object, where a mapping looks for records")])
    for name, inner in members:
        own = {**at.keys, keys[0]: name} if keys and keys[0] else at.keys
        yield from _walk(_Record(inner, own, way), f"{where}/{name}", rest, keys[1:], prefix)


def _flat(given: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _written(value)


def _written(value: Any) -> str:
    if value is None or value == NOT_A_NUMBER:
        return ""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value)
    return orjson.dumps(value).decode().strip('"')  # which only a date has around it
