"""Read files one after another: their grids, and errors that name the file and the place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from registry.errors import Invalid, Malformed, RegistryError
from registry.importers import formats, mlflow
from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.provenance import from_file, from_files, from_server
from registry.importers.records import Records
from registry.importers.source import Source


class Message(NamedTuple):
    """A sentence about a place: a file, a line of it, a cell of the line."""

    place: str
    detail: str

    def __str__(self) -> str:
        return f"{self.place}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Item:
    """One grid and the file that it came from, or several."""

    source: str
    found: ImportedGrid
    files: frozenset[str] = frozenset()

    def at(self, pointer: str | None) -> str:
        """`:3:5` for line 3, cell 5; the pointer itself where it is not a place in a text."""
        place = None if pointer is None else self.found.place_of(pointer)
        if place is not None:
            return f":{place.line}" + (f":{place.column}" if place.column is not None else "")
        return f" {pointer}" if pointer else ""

    def warnings(self) -> Iterator[Message]:
        """Warnings from reading the file."""
        for note in self.found.notes:
            place = f":{note.place.line}" if note.place is not None else ""
            yield Message(f"{self.source}{place}", note.detail)

    def problems(self, problem: Mapping[str, Any]) -> list[Message]:
        """Errors that a server found in the grid, at their places in the file."""
        faults = problem.get("errors") or [{"pointer": None, "detail": problem.get("detail", "")}]
        return [Message(f"{self.source}{self.at(fault['pointer'])}", fault["detail"]) for fault in faults]

    def faults(self, error: RegistryError) -> list[Message]:
        if isinstance(error, Invalid):
            return [Message(f"{self.source}{self.at(fault.pointer)}", fault.detail) for fault in error.faults]
        return [Message(self.source, error.detail)]

    def document(self) -> dict[str, Any]:
        notes = [note.document() for note in self.found.notes]
        return {"source": self.source, "grid": self.found.submission, "warnings": notes}


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not read, or not to its end."""

    source: str
    error: RegistryError
    files: frozenset[str] = frozenset()
    """The files, if there are several."""

    def faults(self) -> Iterator[Message]:
        """Errors of the file, each at its place."""
        if not isinstance(self.error, Invalid):
            yield Message(self.source, self.error.detail)
            return
        for fault in self.error.faults:
            yield Message(f"{self.source}{place_in(fault.pointer)}", fault.detail)


def place_in(pointer: str) -> str:
    """`/line/3/column/5` as `:3:5`; another pointer as it is."""
    parts = pointer.split("/")
    if parts[1:2] != ["line"]:
        return f" {pointer}" if pointer else ""
    return ":" + ":".join(parts[2::2])


@dataclass(frozen=True, slots=True)
class Sources:
    """Files, folders and MLflow servers to read, with their format and the patterns of files to skip."""

    names: tuple[str, ...]
    form: str
    wanted: Overrides
    left_out: tuple[str, ...] = ()


def missing_names(sent: Mapping[str, Any]) -> str | None:
    """Sentence that names the options for names missing in the file; None if none is missing."""
    missing = [name for name in ("experiment", "benchmark", "model") if not sent.get(name)]
    missing += [] if sent.get("metric", {}).get("name") else ["metric"]
    if not missing:
        return None
    return f"does not say its {', '.join(missing)}: add " + " ".join(f"--{name} NAME" for name in missing)


def items_of(sources: Sources, tell: Callable[[], object] = lambda: None) -> Iterator[Item | Skipped]:
    """Grids of files, folders and MLflow servers in turn, those of all records last. `tell` is called after each
    file."""
    records = Records(sources.wanted)
    for name in (name.removeprefix("sqlite:///") for name in sources.names):
        if "://" in name:
            grids = mlflow.read_server(name, sources.wanted)
            yield from _guarded(name, (from_server(found, name, "mlflow") for found in grids))
            continue
        path = None
        for path in formats.files_of([Path(name)], sources.left_out):
            yield from _guarded(str(path), _of_file(path, sources, records))
            tell()
        if path is None:
            yield Skipped(name, Malformed("The folder holds no file that is asked for."))
    if records.files:
        files = frozenset(records.files)
        read = [Source(name, Path(name)) for name in records.files]
        grids = (from_files(found, read, records.name, "records") for found in records.grids())
        for one in _guarded(records.name, grids):
            yield replace(one, files=files)


def _of_file(path: Path, sources: Sources, records: Records) -> Iterator[ImportedGrid]:
    """Grids of a file; none of a file of records, which are collected."""
    count = 0
    source = Source(str(path), path)
    wanted = sources.wanted.for_file(path)
    try:
        form = formats.choose(source, wanted, sources.form)
        if form == "records":
            records.take(source)
            return
        for found in formats.importer(form).read(source, wanted):
            count += 1
            yield from_file(found, source, form)
    except OSError as error:
        raise Malformed(f"It cannot be read: {error.strerror or error}.") from None
    if not count:
        raise Malformed("It holds no grid that could be taken (see --only).")


def _guarded(source: str, grids: Iterator[ImportedGrid]) -> Iterator[Item | Skipped]:
    """Grids of one file; an error in it stops no other file."""
    try:
        for found in grids:
            yield Item(source, found)
    except RegistryError as error:
        yield Skipped(source, error)
    except RecursionError:
        yield Skipped(source, Malformed("It is nested too deep."))
    except MemoryError:
        yield Skipped(source, Malformed("It does not fit into memory."))
    except Exception as error:  # a library's, about a file that it does not understand
        yield Skipped(source, Malformed(f"It cannot be read: {type(error).__name__}: {error}."))
