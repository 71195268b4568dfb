"""Files of exports, kept so that a client which reads one in ranges has it written once.

A file's name is the hash of its database and of what the export's entity tag says of its content, so a file is never
stale; several processes, and several registries, may share the directory.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from registry.settings import Settings


def directory_of(settings: Settings) -> Path:
    """The directory of the files, made where it is not there."""
    name = f"results-registry-exports-{os.getuid()}"
    directory = Path(settings.exports) if settings.exports else Path(tempfile.gettempdir()) / name
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
