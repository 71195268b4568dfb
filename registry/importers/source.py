"""The source that importers read, a file or the body of a request: its name, first bytes, text, JSON or YAML.

YAML has plain values alone, and no more of them than the text has room for.
"""

import hashlib
import itertools
import json
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
import yaml

from registry.errors import Malformed

MOST = 256 * 1024 * 1024
"""Largest file in bytes, after decompression; a larger one is refused."""
_SHOWN = 40
_HEAD = 64 * 1024
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff")
NOT_A_NUMBER = "not-a-number"
"""Replaces NaN and Infinity, which some tools write although JSON has neither."""
_ALIASED = 100_000
"""Values that aliases may make of a text; nine lines of aliases to aliases can be a thousand million."""


@dataclass(frozen=True)
class Source:
    """Bytes with a name. `path` is None for the body of a request."""

    name: str
    path: Path | None = None
    given: bytes | None = None

    @cached_property
    def content(self) -> bytes:
        """All bytes of a file: decompressed from gzip, converted from UTF-16 to UTF-8, without a byte order mark.

        Raises `Malformed` for more than `MOST` of them.
        """
        if self.given is not None:
            return _unmarked(self.given)
        size = self._path.stat().st_size
        if size > MOST:
            raise _too_large("The file")
        content = self._path.read_bytes()
        if content.startswith(_GZIP):
            content = _inflated(content)
        return _unmarked(_narrow(content))

    @cached_property
    def sha256(self) -> str | None:
        """SHA-256 of the bytes as they are, compressed ones too, in hexadecimal digits; None for a folder."""
        if self.given is not None:
            return hashlib.sha256(self.given).hexdigest()
        if not self._path.is_file():
            return None
        with self._path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @cached_property
    def head(self) -> bytes:
        """The first bytes, for detecting a format that is not JSON."""
        if self.given is not None:
            return _unmarked(self.given[:_HEAD])
        if self._path.is_fifo():
            raise Malformed("It is a pipe: who opens it waits for somebody who writes.")
        with self._path.open("rb") as file:
            begin = file.read(_HEAD)
        return self.content[:_HEAD] if begin.startswith((_GZIP, _BOM, *_WIDE)) else begin

    @cached_property
    def text(self) -> str:
        """The text, strictly UTF-8. `Malformed` names the line."""
        content = self.content
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
        """Lines of the text without their ends."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @cached_property
    def json(self) -> Any:
        """The JSON value. NaN and Infinity, which Python's tools write, become `NOT_A_NUMBER`."""
        return read_json(self.content, "This")

    @property
    def begins_like_json(self) -> bool:
        return self.head.lstrip()[:1] in (b"{", b"[")

    @property
    def is_yaml(self) -> bool:
        """Whether the file is called so: by its content alone YAML is any text."""
        return self.path is not None and self.path.name.removesuffix(".gz").endswith((".yaml", ".yml"))

    @cached_property
    def document(self) -> Any:
        """The JSON value, for detecting a format; None if it is not JSON."""
        if not self.begins_like_json:
            return None
        try:
            return self.json
        except Malformed:
            return None

    @cached_property
    def records(self) -> list[Any]:
        """Values of a JSON array, one value by itself, or those of the lines; `Malformed` if there are none."""
        if self.document is not None:
            return self.document if isinstance(self.document, list) else [self.document]
        lines = [(number, line) for number, line in enumerate(self.content.splitlines(), start=1) if line.strip()]
        if len(lines) < 2:
            return [self.json]
        try:
            read_json(lines[0][1], "")
        except Malformed:
            return [self.json]  # which says where the whole is at fault
        return [read_json(line, f"Line {number}") for number, line in lines]

    @cached_property
    def own_records(self) -> list[Any]:
        """`records` of JSON written by the user, without repeated keys: `Malformed` names one."""
        found = self.records
        if self.document is not None:
            _check_keys(self.content, "The")
        else:
            for number, line in enumerate(self.content.splitlines(), start=1):
                if line.strip():
                    _check_keys(line, f"Line {number}: the")
        return found

    def beside(self, name: str) -> "Source | None":
        """Another file in the same folder, if it exists."""
        if self.path is None:
            return None
        path = self.path.with_name(name)
        return Source(str(path), path) if path.is_file() else None

    def folders(self) -> Iterator[str]:
        """Names of the folders that the file lies in, the nearest first."""
        if self.path is not None:
            yield from (folder.name for folder in self.path.absolute().parents)

    @property
    def _path(self) -> Path:
        assert self.path is not None  # noqa: S101 (a source has a path or content)
        return self.path


def read_json(content: bytes, what: str) -> Any:
    """A JSON value; `Malformed`, beginning with `what`, if it is none."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        try:
            return json.loads(content.decode(), parse_constant=lambda _word: NOT_A_NUMBER)
        except (ValueError, RecursionError):
            raise Malformed(f"{what} is not JSON: {error}.") from None


def _check_keys(content: bytes, begins: str) -> None:
    def once(pairs: list[tuple[str, Any]]) -> None:
        if len({name for name, _ in pairs}) < len(pairs):
            twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
            raise Malformed(f'{begins} key "{twice[:_SHOWN]}" comes twice in one object.')

    json.loads(content, object_pairs_hook=once)


def _inflated(content: bytes) -> bytes:
    """Content decompressed from one gzip stream or several; never more than `MOST` bytes of it are held."""
    parts: list[bytes] = []
    left, rest = MOST, content
    while rest.startswith(_GZIP):
        stream = zlib.decompressobj(wbits=31)
        try:
            parts.append(stream.decompress(rest, left + 1))
        except zlib.error:
            raise Malformed("The file begins like gzip and cannot be inflated.") from None
        left -= len(parts[-1])
        if left < 0:
            raise _too_large("What the gzip file holds")
        if not stream.eof:
            raise Malformed("The file begins like gzip and ends before its end.")
        rest = stream.unused_data
    return b"".join(parts)


def _narrow(content: bytes) -> bytes:
    """UTF-16, which spreadsheets call Unicode, as UTF-8; other content as it is."""
    if not content.startswith(_WIDE):
        return content
    try:
        return content.decode("utf-16").encode()
    except UnicodeError:
        return content


def _too_large(what: str) -> Malformed:
    return Malformed(f"{what} is larger than {MOST // 1024 // 1024} MiB, the most that is read: split it.")


def _unmarked(content: bytes) -> bytes:
    while content.startswith(_BOM):
        content = content.removeprefix(_BOM)
    return content


def read_yaml(content: str, what: str) -> Any:
    """The value of a YAML text; `Malformed`, beginning with `what`, if it is none."""
    loader = yaml.SafeLoader(content)
    try:
        root = loader.get_single_node()
        if root is None:
            return None
        known: dict[int, int] = {}
        if _values_in(root, known) > max(_ALIASED, len(known)):
            raise Malformed(f"{what}: its aliases stand for more than {_ALIASED:,} values.")
        return loader.construct_document(root)
    except (yaml.YAMLError, ValueError) as error:
        raise Malformed(f"{what} is not YAML: {str(error).splitlines()[0]}.") from None
    except RecursionError:
        raise Malformed(f"{what} is nested too deep.") from None
    finally:
        loader.dispose()


def _values_in(node: yaml.Node, known: dict[int, int]) -> int:
    """Number of values that a node is with its aliases written out; without end counts as too many."""
    if id(node) not in known:
        known[id(node)] = _ALIASED + 1  # for what is within itself
        inner = node.value if isinstance(node, yaml.CollectionNode) else ()
        one_by_one = itertools.chain.from_iterable(inner) if isinstance(node, yaml.MappingNode) else inner
        known[id(node)] = 1 + sum(_values_in(one, known) for one in one_by_one)
    return known[id(node)]
