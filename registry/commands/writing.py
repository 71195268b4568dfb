"""Errors of files that a command writes, as one sentence that names the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from registry.errors import RegistryError


class Unwritable(RegistryError):
    """A file or a directory cannot be written."""

    code = "unwritable"


@contextmanager
def writable(target: str | Path) -> Iterator[None]:
    """Report an error of the system as one of this file or directory, and not as one of the connection."""
    try:
        yield
    except OSError as error:
        raise Unwritable(f"{target} cannot be written: {error.strerror or error}.") from error
