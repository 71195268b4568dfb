"""Send an export: whole and as it is written, or a range of it, from a file that is kept.

Ranges are answered here, for Werkzeug's answer to a suffix longer than the body is 416 where RFC 9110 (14.1.2) wants
all of it, and Polars sends such suffixes. A range needs the export's length, so the export is first written to a file,
which is kept; one of more than `max_range_cells` cells is sent whole, which RFC 9110 allows. A file's name is the hash
of its database and of what the export's entity tag says of its content, so a file is never stale; several processes,
and several registries, may share the directory.
"""

import io
import os
import re
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import structlog
from flask import Response, request
from werkzeug.exceptions import RequestedRangeNotSatisfiable

from registry.api.context import parts
from registry.api.responses import MEDIA, accepts_gzip, common, not_modified, packed, take_turn
from registry.operations.doctor_checks import exports_directory
from registry.settings import Settings

log = structlog.get_logger()
_BLOCK = 256 * 1024
_SMALL = 20_000
"""Cells up to which an export is held in memory: nothing is written to a file for it."""
_streams = threading.BoundedSemaphore(24)
"""So many long exports are on their way at once from a process: one of a grid of a million cells holds 20 MB."""
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
"""One range; what no file is long enough for is no range either, and then the whole is sent (RFC 9110, 14.2)."""


@dataclass(frozen=True, slots=True)
class Export:
    """Export to send: its form, its tag, how many cells it has, and how to write it."""

    form: str
    tag: str
    cells: int
    pieces: Callable[[], Iterable[bytes]]
    at_once: bool = False
    """It is written before any of it is sent, for what it is read from may change while a slow client reads."""


def send_export(export: Export) -> Response:
    """The whole, a range of it (206, 416), or word that the caller has it (304)."""
    if not_modified(export.tag):
        return common(Response(status=304), export.tag)
    wanted = _RANGE.fullmatch(request.headers.get("Range", "").strip()) if request.method == "GET" else None
    ranged = wanted is not None and wanted.groups() != ("", "") and _still(export.tag)
    rangeable = export.at_once or export.cells <= parts().settings.max_range_cells
    file = _file(export) if export.at_once or ((ranged or request.method == "HEAD") and rangeable) else None
    if file is None:
        response = _squeezed(export.form, export.pieces(), export.cells)
    elif wanted is not None and ranged:
        response = _part(export, file, *wanted.groups())
    elif request.method == "HEAD":
        response = _measured(export, file)
    else:
        response = _squeezed(export.form, _blocks(file, 0, _length(file)), export.cells)
    response.headers["Accept-Ranges"] = "bytes" if rangeable else "none"
    return common(response, export.tag)


def _still(tag: str) -> bool:
    """Return whether the range is wanted of this very export: `If-Range` is absent or names its tag, strongly."""
    return request.headers.get("If-Range", f'"{tag}"').strip() == f'"{tag}"'


def _file(export: Export) -> BinaryIO | None:
    """The export as a file, None where no file can be written: then it is sent whole, as it is written."""
    if export.cells <= _SMALL:
        return io.BytesIO(b"".join(export.pieces()))
    try:
        return opened(parts().settings, export.tag, export.pieces())
    except OSError as error:
        log.warning("exports cannot be kept", reason=str(error))
        return io.BytesIO(b"".join(export.pieces())) if export.at_once else None


def send_stream(form: str, written: Iterable[bytes], cells: int) -> Response:
    """What has no tag, as it is written: at once where it has few cells."""
    return common(_squeezed(form, written, cells), None)


def _squeezed(form: str, written: Iterable[bytes], cells: int) -> Response:
    if request.method == "HEAD":
        return Response(content_type=MEDIA[form])
    squeeze = accepts_gzip() and not packed(form)
    pieces = _gzipped(written) if squeeze else written
    if cells > _SMALL:
        take_turn(_streams)
    body = b"".join(pieces) if cells <= _SMALL else iter(pieces)
    response = Response(body, content_type=MEDIA[form])
    if squeeze:
        response.headers["Content-Encoding"] = "gzip"
    return response


def _gzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    stream = zlib.compressobj(1, wbits=31)
    for piece in pieces:
        if squeezed := stream.compress(piece):
            yield squeezed
    yield stream.flush()


def _length(file: BinaryIO) -> int:
    return file.seek(0, 2)


def _measured(export: Export, file: BinaryIO) -> Response:
    with file:
        response = Response(content_type=MEDIA[export.form])
        response.headers["Content-Length"] = str(_length(file))
    return response


def _part(export: Export, file: BinaryIO, first: str, last: str) -> Response:
    length = _length(file)
    if first:
        start, end = int(first), min(int(last) if last else length - 1, length - 1)
        wrong = bool(last) and int(last) < int(first)
    else:
        start, end = max(0, length - int(last)), length - 1
        wrong = int(last) == 0
    if wrong or start > end:
        file.close()
        raise RequestedRangeNotSatisfiable(length)
    response = Response(_blocks(file, start, end + 1 - start), 206, content_type=MEDIA[export.form])
    response.headers["Content-Range"] = f"bytes {start}-{end}/{length}"
    response.headers["Content-Length"] = str(end + 1 - start)
    response.call_on_close(file.close)
    return response


def _blocks(file: BinaryIO, start: int, size: int) -> Iterator[bytes]:
    with file:
        file.seek(start)
        while size > 0 and (block := file.read(min(_BLOCK, size))):
            size -= len(block)
            yield block


def directory_of(settings: Settings) -> Path:
    """The directory of the files, made where it is not there."""
    directory = exports_directory(settings)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if directory.stat().st_uid != os.getuid():
        raise PermissionError(f"{directory} belongs to someone else")
    return directory


def opened(settings: Settings, name: str, pieces: Iterable[bytes]) -> BinaryIO:
    """The file of that name, open for reading; written from the pieces if it is not there. OSError as it comes."""
    directory = directory_of(settings)
    told = f"{settings.database_url}\n{name}"
    path = directory / f"{sha256(told.encode()).hexdigest()}.export"
    try:
        found = path.open("rb")
    except FileNotFoundError:
        pass
    else:
        with suppress(OSError):
            os.utime(path)
        return found
    handle, being_written = tempfile.mkstemp(dir=directory, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece)
        made = Path(being_written).open("rb")  # noqa: SIM115 (the caller closes it)
        Path(being_written).replace(path)
    except BaseException:
        Path(being_written).unlink(missing_ok=True)
        raise
    prune(directory, settings.exports_size)
    return made


def prune(directory: Path, most: int) -> None:
    """Remove the files that were not read for longest, until the others fit."""
    kept = []
    for path in directory.glob("*.export"):
        with suppress(FileNotFoundError):
            status = path.stat()
            kept.append((status.st_mtime, status.st_size, path))
    size = 0
    for _, one, path in sorted(kept, reverse=True):
        size += one
        if size > most:
            path.unlink(missing_ok=True)
