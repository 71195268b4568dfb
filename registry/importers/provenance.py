"""What is sent with an imported grid besides its content: the file that it was read from, and the doubts about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from registry.importers.imported_grid import ImportedGrid, Note
from registry.importers.source import Source

MOST_WARNINGS = 100
_LONGEST_DETAIL, _LONGEST_NAME = 1_000, 1_024


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
    notes = [_bounded(note) for note in found.notes]
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
    """Text without control characters and without bytes that are not UTF-8."""
    plain = text.encode("utf-8", "replace").decode()
    return "".join(one if one.isprintable() or ord(one) > 159 else "\ufffd" for one in plain)


def _bounded(note: Note) -> dict[str, str]:
    return {
        name: text if name == "code" else _printable(text)[:_LONGEST_DETAIL] for name, text in note.document().items()
    }
