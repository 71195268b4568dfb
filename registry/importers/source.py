"""A file, or the body of a request, as importers see it: its name, its first bytes, its text, its JSON."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from registry.errors import Malformed

_HEAD = 64 * 1024
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
NOT_A_NUMBER = "not-a-number"
"""Stands in JSON where a tool wrote NaN or Infinity, which JSON does not have."""


@dataclass(frozen=True)
class Source:
    """Bytes with a name. `path` is None for what came over the wire."""

    name: str
    path: Path | None = None
    given: bytes | None = None

    @cached_property
    def content(self) -> bytes:
        """All bytes, inflated if they are gzip."""
        content = self.given if self.given is not None else self._path.read_bytes()
        if not content.startswith(_GZIP) or self.given is not None:
            return content
        try:
            return gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            raise Malformed("The file begins like gzip and cannot be inflated.") from None

    @cached_property
    def head(self) -> bytes:
        """The first bytes, as a format is told by."""
        if self.given is not None:
            return self.given[:_HEAD]
        with self._path.open("rb") as file:
            begin = file.read(_HEAD)
        return self.content[:_HEAD] if begin.startswith(_GZIP) else begin

    @cached_property
    def text(self) -> str:
        """The text, strictly UTF-8; a byte order mark is dropped from a file. `Malformed` names the line."""
        content = self.content
        if self.path is not None:
            content = content.removeprefix(_BOM)
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise Malformed(f"Line {line} is not UTF-8: {error.reason} at byte {error.start}.") from None
        if "\0" in text:
            raise Malformed(f"Line {text.count(chr(10), 0, text.index(chr(0))) + 1} holds the character NUL.")
        return text

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text without their ends."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @cached_property
    def json(self) -> Any:
        """The JSON value. NaN and Infinity, which tools of Python write, become `NOT_A_NUMBER`."""
        try:
            return orjson.loads(self.content)
        except orjson.JSONDecodeError as error:
            try:
                return json.loads(self.text, parse_constant=lambda _word: NOT_A_NUMBER)
            except (ValueError, RecursionError):
                raise Malformed(f"This is not JSON: {error}.") from None

    def beside(self, name: str) -> Source | None:
        """Another file in the same folder, if it is there."""
        if self.path is None:
            return None
        path = self.path.with_name(name)
        return Source(str(path), path) if path.is_file() else None

    def folders(self) -> Iterator[str]:
        """The names of the folders that the file lies in, the nearest first."""
        if self.path is not None:
            yield from (folder.name for folder in self.path.absolute().parents)

    @property
    def _path(self) -> Path:
        assert self.path is not None  # noqa: S101 (a source has a path or content)
        return self.path
