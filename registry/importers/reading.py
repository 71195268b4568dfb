"""Read the files that `registry push` and `registry gate` are given: their grids, and errors that name file and place.

`formats.py` picks the importer of a file. Two grids of the same names in one push are distinguished by their sources'
editions, else the later one is refused: as two revisions of one grid, each push would exchange them again. `from_…` add
to a grid the file that it was read from, `with_warnings` the doubts about it.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson

from registry.errors import Conflict, Invalid, Malformed, RegistryError
from registry.importers import formats, mlflow
from registry.importers.imported_grid import IDENTITY, ImportedGrid, Note, Overrides
from registry.importers.records import Records
from registry.importers.source import Source

_ABOUT = ("labels", "variant", "source", "description")
"""Members of a publication that do not tell contents apart."""
MOST_WARNINGS = 100
_LONGEST_DETAIL, _LONGEST_NAME = 1_000, 1_024


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
        if self.files and pointer:  # of records, where the file alone does not say which grid
            return f" {_named(self.found.submission)} {pointer}"
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
    """Files, folders and MLflow servers to read, with their format and the patterns of files to skip, and of those to
    take from folders."""

    names: tuple[str, ...] = ()
    form: str = "auto"
    wanted: Overrides = field(default_factory=Overrides)
    left_out: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


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
    for name in sources.names:
        if "://" in name:
            grids = mlflow.read_server(name, sources.wanted)
            yield from _guarded(name, (from_server(found, name, "mlflow") for found in grids))
            continue
        path = None
        for path in formats.files_of([Path(name)], sources.left_out, sources.files):
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


def named_of(sources: Sources) -> Iterator[Item | Message]:
    """Grids that have all their names, and what is wrong with everything else."""
    for one in items_of(sources):
        if isinstance(one, Skipped):
            yield from one.faults()
        elif missing := missing_names(one.found.submission):
            yield Message(one.source, missing)
        else:
            yield one


def _of_file(path: Path, sources: Sources, records: Records) -> Iterator[ImportedGrid]:
    """Grids of a file; none of a file of records, which are collected."""
    count = 0
    source = Source(str(path), path)
    wanted = sources.wanted.for_file(path)
    try:
        form = formats.choose(source, wanted, sources.form)
        if form == "records":
            records.take(source, wanted)
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


def distinct(
    items: Iterable[Item | Skipped], same: Callable[[Item], object] = lambda _one: None
) -> Iterator[Item | Skipped]:
    """Items, no two of them with the same names; `same` is told of those whose content was met already."""
    duplicates = Duplicates()
    for one in items:
        judged = one if isinstance(one, Skipped) else duplicates.judged(one)
        if judged is not None:
            yield judged
        elif isinstance(one, Item):
            same(one)


class Duplicates:
    """Identities met so far, each with the file that it came from and its content."""

    def __init__(self) -> None:
        self._met: dict[bytes, tuple[str, bytes]] = {}

    def judged(self, one: Item) -> Item | Skipped | None:
        """The grid; None if it was met already, with the same content.

        If the same names were met with another content: the grid with its edition in its variant. `Skipped` where the
        source has none, or that is taken too.
        """
        sent = one.found.submission
        if missing_names(sent):
            return one  # which is refused for that
        content = _digest({name: value for name, value in sent.items() if name not in _ABOUT})
        before = self._keep(one.source, sent, content)
        if before is None:
            return one
        first, theirs = before
        if theirs == content:
            return None
        if one.found.edition:
            variant = f"{sent.get('variant', '')} {one.found.edition}".strip()
            apart = {**sent, "variant": variant}
            other = self._keep(one.source, apart, content)
            if other is None:
                detail = f'the same names with other values came from {first}: this one is the variant "{variant}"'
                notes = (*one.found.notes, Note("told_apart", detail))
                return replace(one, found=replace(one.found, submission=apart, notes=notes))
            if other[1] == content:
                return None
        detail = f"{_named(sent)} came from {first} with other values; --variant tells them apart."
        return Skipped(one.source, Conflict(detail))

    def _keep(self, source: str, sent: dict[str, Any], content: bytes) -> tuple[str, bytes] | None:
        """File and content that had this identity before; None if it is new, and then it is recorded."""
        key = _digest([*(sent.get(name, "") for name in IDENTITY), sent["metric"].get("name")])
        before = self._met.get(key)
        if before is None:
            self._met[key] = (source, content)
        return before


def _named(sent: dict[str, Any]) -> str:
    names = [sent.get(name) for name in IDENTITY] + [sent["metric"].get("name")]
    return " · ".join(str(name) for name in names if name)


def _digest(value: Any) -> bytes:
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)).digest()[:16]


def from_file(found: ImportedGrid, source: Source, form: str) -> ImportedGrid:
    """The grid with the file's format, name and SHA-256. A grid that names its source already keeps it."""
    known = {"format": form, "name": _file_name(source), "sha256": source.sha256}
    return _from(found, {name: text for name, text in known.items() if text})


def from_files(found: ImportedGrid, sources: Iterable[Source], name: str, form: str) -> ImportedGrid:
    """Like `from_file`, for a grid that several files hold; only of a single one the SHA-256 is known."""
    listed = list(sources)
    if len(listed) == 1:
        return from_file(found, listed[0], form)
    return _from(found, {"format": form, "name": _printable(name)[:_LONGEST_NAME]})


def from_server(found: ImportedGrid, address: str, form: str) -> ImportedGrid:
    """The grid with the address that it was read from, without the user's name and password."""
    parts = urlsplit(address)
    plain = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    return _from(found, {"format": form, "name": _printable(plain)[:_LONGEST_NAME]})


def with_warnings(found: ImportedGrid) -> dict[str, Any]:
    """The publication with the notes of its importer as warnings, at most `MOST_WARNINGS` with those that it has."""
    own = found.submission.get("warnings")
    sent = list(own) if isinstance(own, list) else []
    room = MOST_WARNINGS - len(sent)
    notes = [
        {name: text if name == "code" else _printable(text)[:_LONGEST_DETAIL] for name, text in note.document().items()}
        for note in found.notes
    ]
    if len(notes) > room:
        rest = len(notes) - max(room - 1, 0)
        more = {"code": "more_warnings", "detail": f"and {rest} more, which the import named"}
        notes = [*notes[: max(room - 1, 0)], more][: max(room, 0)]
    return {**found.submission, "warnings": [*sent, *notes]} if notes else found.submission


def _from(found: ImportedGrid, known: Mapping[str, str]) -> ImportedGrid:
    if found.submission.get("source") or not known:
        return found
    return replace(found, submission={**found.submission, "source": dict(known)})


def _file_name(source: Source) -> str:
    """The path as it was given if it leads down from the working directory, else the name alone."""
    if source.path is None:
        return ""
    path = Path(source.path)
    down = not path.is_absolute() and ".." not in path.parts
    return _printable(path.as_posix() if down else path.name)[-_LONGEST_NAME:]


def _printable(text: str) -> str:
    plain = text.encode("utf-8", "replace").decode()
    return "".join(one if one.isprintable() or ord(one) > 159 else "\ufffd" for one in plain)
