"""Records in JSON: one object for each measurement, one in a file, a list of them, or one a line.

    registry push results/ --axes context_length,depth_percent --value score --repeats version \\
        --experiment niah --benchmark needle

`--value` names the key of the value and `--axes` those of the axes; experiment, benchmark, model, variant and metric
are keys of these names, or options. Keys of an object within are written with a dot (`metrics.score`). All files of a
push are one table: a folder with a file for each measurement is one grid, and records at one coordinate are repeats.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from registry.errors import Fault, Invalid, Malformed
from registry.importers.cell_text import Report, Table
from registry.importers.imported_grid import ImportedGrid, Note, Overrides
from registry.importers.scores import mapping
from registry.importers.sheet import IDENTITY_WORDS, Sheet
from registry.importers.source import NOT_A_NUMBER, Source
from registry.importers.tables import read_table

NAME = "records"
_MOST = 10_000_000
FILE = "file"
"""As the name of what tells repeats apart: the file that a record is in, if no key has this name."""
_LONGEST = 200
"""A longer text is no level: such keys are skipped where no axes are chosen."""


def looks_like(source: Source) -> bool:
    return False  # any object might be a record: the caller says so, by --value or --axes


def asked_for(source: Source, wanted: Overrides) -> bool:
    """Tell whether the caller names keys, and this is JSON to find them in."""
    return bool(wanted.value or wanted.axes) and source.begins_like_json


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """Grids of one file."""
    records = Records(wanted)
    records.take(source)
    yield from records.grids()


class Records:
    """The records of all files of a push."""

    def __init__(self, wanted: Overrides) -> None:
        self.wanted = wanted
        self.files: list[str] = []
        self._header: dict[str, int] = {}
        self._rows: list[dict[str, str]] = []
        self._from: list[tuple[str, int]] = []

    def take(self, source: Source) -> None:
        """Read a file's records; `Invalid` or `Malformed` for a faulty file, of which nothing is kept."""
        wanted = self.wanted if source.path is None else self.wanted.for_file(source.path)
        model = {"model": wanted.model} if wanted.model_from and wanted.model else {}
        rows: list[dict[str, str]] = []
        faults: list[Fault] = []
        for number, given in enumerate(source.own_records):
            flat = dict(_flat(mapping(given, f"/{number}"), ""))
            values = wanted.values_among(flat) or [wanted.roles.get("value") or wanted.metric or "value"]
            needed = [*wanted.axes, *values, *wanted.roles.values()]
            if absent := [name for name in dict.fromkeys(needed) if name not in flat]:
                missing = ", ".join(f'"{name}"' for name in absent)
                faults.append(Fault(f"/{number}", f"there is no {missing}; there are: {', '.join(list(flat)[:20])}"))
                break
            if model:
                flat = {name: text for name, text in flat.items() if name.casefold() != "model"} | model
            rows.append({name: text for name, text in flat.items() if self._matters(name, text, needed)})
        if faults:
            raise Invalid(faults)
        if not rows:
            raise Malformed("It holds no record.")
        if len(self._rows) + len(rows) > _MOST:
            raise Malformed(f"There are more than {_MOST} records: push fewer at a time.")
        self._check(rows)
        self.files.append(source.name)
        self._rows += rows
        self._from += [(source.name, number) for number in range(len(rows))]
        for row in rows:
            self._header.update(dict.fromkeys(row, 0))

    def _matters(self, name: str, text: str, needed: list[str]) -> bool:
        """Tell whether a key is used: the chosen ones and the identity's, else all but long texts."""
        if name in needed or name in (self.wanted.repeats, "trials", "stderr") or name.casefold() in IDENTITY_WORDS:
            return True
        return not self.wanted.axes and name not in self.wanted.drop and len(text) <= _LONGEST

    def _check(self, rows: list[dict[str, str]]) -> None:
        """Read the records of one file by themselves: `Invalid` with the record and the key of an error."""
        header = list(dict.fromkeys(name for row in rows for name in row))
        if len(header) < 2:
            return  # which is no table: together with other files it may be
        repeats = self.wanted.repeats if self.wanted.repeats in header else None
        try:
            for _ in self._read(header, rows, replace(self.wanted, drop=(), repeats=repeats)):
                pass
        except Invalid as error:
            raise Invalid([Fault(_pointer(fault.pointer, header)[1], fault.detail) for fault in error.faults]) from None

    def _read(self, header: list[str], rows: list[dict[str, str]], wanted: Overrides) -> Iterator[Sheet]:
        cells = ((number, [row.get(name, "") for name in header]) for number, row in enumerate(rows, start=1))
        names = {"metric": wanted.metric} if wanted.metric else {}
        return read_table(Table(header, cells, 0, names), wanted, Report(lenient=True, marked=True))

    def grids(self) -> Iterator[ImportedGrid]:
        """Grids of all records; raises the errors of all records together. Notes and faults name file, record and
        key."""
        wanted = replace(self.wanted, drop=())  # those keys were not taken
        header = list(self._header)
        if wanted.repeats == FILE and FILE not in header:
            wanted = replace(wanted, repeats=None)
        try:
            for sheet in self._read(header, self._rows, wanted):
                if self.wanted.repeats is None and len(self.files) > 1:
                    self._check_files(sheet)
                found = sheet.found(wanted)
                notes = tuple(self._placed(note, header) for note in found.notes)
                yield ImportedGrid(found.submission, notes, edition=found.edition)
        except Invalid as error:
            raise Invalid([self._at(fault, header) for fault in error.faults]) from None

    def _check_files(self, sheet: Sheet) -> None:
        """Check that no coordinate comes from two files, which may be two models."""
        met: dict[tuple[str, ...], str] = {}
        for one in sheet.readings:
            file = self._from[one.line - 1][0]
            if met.setdefault(one.at, file) != file:
                at = ", ".join(f"{axis} {label}" for axis, label in zip(sheet.axes, one.at, strict=True))
                detail = (
                    f"{met[one.at]} and {file} both hold {at or 'the one cell'}: --model-from {FILE} makes each a model"
                )
                raise Invalid([Fault("", f"{detail}, --repeats NAME (or {FILE}) says what tells repeats apart")])

    def _at(self, fault: Fault, header: list[str]) -> Fault:
        row, pointer = _pointer(fault.pointer, header)
        return Fault("", fault.detail if row is None else f"{self._record(row, pointer)}: {fault.detail}")

    def _placed(self, note: Note, header: list[str]) -> Note:
        row, pointer = (None, "") if note.place is None else _pointer(note.place.pointer(), header)
        return Note(note.code, note.detail if row is None else f"{self._record(row, pointer)}: {note.detail}")

    def _record(self, row: int, pointer: str) -> str:
        file, number = self._from[row]
        return f"{file} /{number}" + "".join(f"/{part}" for part in pointer.split("/")[2:])

    @property
    def name(self) -> str:
        """The file, or the folder of the files and their number."""
        if len(self.files) == 1:
            return self.files[0]
        return f"{os.path.commonpath([Path(name).parent for name in self.files])} ({len(self.files)} files of records)"


def _pointer(pointer: str, header: list[str]) -> tuple[int | None, str]:
    """Record behind a line of the table, counted from 0, and a pointer to its key; None for the heading."""
    parts = pointer.split("/")
    if parts[1:2] != ["line"] or int(parts[2]) == 0:
        return None, ""
    row = int(parts[2]) - 1
    return row, f"/{row}" + (f"/{header[int(parts[4]) - 1]}" if len(parts) > 4 else "")


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
    return (
        repr(value) if isinstance(value, int | float) and not isinstance(value, bool) else orjson.dumps(value).decode()
    )
