"""Files one after another: their grids, and what was wrong with a file, in words that name the file and the place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.errors import Invalid, Malformed, RegistryError
from registry.importers import formats, mlflow
from registry.importers.found import Found, Overrides
from registry.importers.source import Source


@dataclass(frozen=True, slots=True)
class Item:
    """One grid and the file that it came from."""

    source: str
    found: Found

    def at(self, pointer: str | None) -> str:
        """`:3:5` for line 3, cell 5; the pointer itself where it is no place of a text."""
        place = None if pointer is None else self.found.place_of(pointer)
        if place is not None:
            return f":{place.line}" + (f":{place.column}" if place.column is not None else "")
        return f" {pointer}" if pointer else ""

    def warnings(self) -> Iterator[str]:
        """The doubts with which the file was read."""
        for note in self.found.notes:
            place = f":{note.place.line}" if note.place is not None else ""
            yield f"{self.source}{place}: {note.detail}"

    def document(self) -> dict[str, Any]:
        notes = [note.document() for note in self.found.notes]
        return {"source": self.source, "grid": self.found.submission, "warnings": notes}


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file without grids. `is_fault`: it was named, or it is of a format and broken."""

    source: str
    error: RegistryError
    is_fault: bool

    def lines(self) -> Iterator[str]:
        if not isinstance(self.error, Invalid):
            yield f"{self.source}: {self.error.detail}"
            return
        for fault in self.error.faults:
            yield f"{self.source}{place_in(fault.pointer)}: {fault.detail}"


def place_in(pointer: str) -> str:
    """`/line/3/column/5` as `:3:5`; another pointer as it is."""
    parts = pointer.split("/")
    if parts[1:2] != ["line"]:
        return f" {pointer}" if pointer else ""
    return ":" + ":".join(parts[2::2])


def items_of(
    names: Sequence[str], form: str, wanted: Overrides, tell: Callable[[], object] = lambda: None
) -> Iterator[Item | Skipped]:
    """The grids of files, folders and MLflow servers in turn. `tell` is called after each file."""
    for name in names:
        if "://" in name:
            yield from _guarded(name, mlflow.read_server(name, wanted), named=True)
            continue
        for path, named in formats.files_of([Path(name)]):
            yield from _guarded(str(path), _of_file(path, form, wanted), named=named)
            tell()


def _of_file(path: Path, form: str, wanted: Overrides) -> Iterator[Found]:
    count = 0
    try:
        for found in formats.read(Source(str(path), path), wanted, form):
            count += 1
            yield found
    except OSError as error:
        raise Malformed(f"cannot be read: {error.strerror or error}.") from None
    if not count:
        raise Malformed("holds no grid that could be taken (see --only).")


def _guarded(source: str, grids: Iterator[Found], *, named: bool) -> Iterator[Item | Skipped]:
    try:
        for found in grids:
            yield Item(source, found)
    except RegistryError as error:
        stranger = isinstance(error, Malformed) and "no known format" in error.detail
        yield Skipped(source, error, is_fault=named or not stranger)
    except RecursionError:
        yield Skipped(source, Malformed("is nested too deep."), is_fault=True)


def missing_names(sent: Mapping[str, Any]) -> str | None:
    """A sentence that says which options name what the file does not."""
    missing = [name for name in ("experiment", "benchmark", "model") if not sent.get(name)]
    missing += [] if sent.get("metric", {}).get("name") else ["metric"]
    if not missing:
        return None
    return f"does not say its {', '.join(missing)}: add " + " ".join(f"--{name} NAME" for name in missing)


def problem_text(one: Item, problem: Mapping[str, Any]) -> list[str]:
    """The faults that a server found in a grid, at their places in the file."""
    faults = problem.get("errors") or [{"pointer": None, "detail": problem.get("detail", "")}]
    return [f"{one.source}{one.at(fault['pointer'])}: {fault['detail']}" for fault in faults]


def problem_lines(one: Item, error: RegistryError) -> list[str]:
    if isinstance(error, Invalid):
        return [f"{one.source}{one.at(fault.pointer)}: {fault.detail}" for fault in error.faults]
    return [f"{one.source}: {error.detail}"]
