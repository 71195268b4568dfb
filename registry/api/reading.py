"""One strict reader for every body: UTF-8 JSON without repeated keys, NaN, Infinity, NUL or deep nesting."""

from __future__ import annotations

import json
import re
import zlib
from io import BytesIO
from typing import Any

import orjson
from flask import Request
from werkzeug.exceptions import UnsupportedMediaType

from registry.errors import Malformed, TooLarge

MAX_DEPTH = 12
_MAX_RATIO = 200
_ALWAYS_INFLATED = 16 * 1024 * 1024
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_AS_LISTS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def read_body(request: Request, max_inflated: int) -> bytes:
    """The body, inflated if it came as gzip; `TooLarge` before more than `max_inflated` bytes are held."""
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    body = request.get_data(cache=True)
    if encoding in ("identity", ""):
        return body
    if encoding != "gzip":
        raise UnsupportedMediaType("A body is sent as it is or with Content-Encoding: gzip.")
    # A grid that is nearly empty shrinks a thousandfold: the ratio counts only beyond what may come uncompressed.
    return inflate(body, min(max_inflated, max(len(body) * _MAX_RATIO, _ALWAYS_INFLATED)))


def inflate(body: bytes, limit: int) -> bytes:
    """Gunzip at most `limit` bytes."""
    stream = zlib.decompressobj(wbits=31)
    try:
        inflated = stream.decompress(body, limit + 1)
    except zlib.error:
        raise Malformed("The body is not gzip.") from None
    if len(inflated) > limit:
        raise TooLarge(f"The body is larger than {limit} bytes once inflated.")
    if not stream.eof or stream.unused_data:
        raise Malformed("The gzip body is cut off or has something behind its end.")
    return inflated


def read_json(body: bytes) -> Any:
    """The JSON value in a body; raises `Malformed` with the place."""
    try:
        orjson.loads(body)
        check_depth(body)
        value = json.loads(body, object_pairs_hook=_object)
    except orjson.JSONDecodeError as error:
        raise Malformed(f"The body is not JSON: {error}.") from None
    except (ValueError, RecursionError) as error:
        raise Malformed(f"The body cannot be read: {error}.") from None
    if _NUL.search(body):
        raise Malformed("A text holds the character NUL.")
    return value


def check_depth(body: bytes) -> None:
    """Refuse JSON that is nested deeper than any answerable request needs."""
    brackets = _STRING.sub(b"", body).translate(_AS_LISTS, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"")  # takes away the innermost level
    if brackets:
        raise Malformed(f"The body is nested deeper than {MAX_DEPTH} levels.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Malformed(f'The key "{twice}" comes twice in one object.')
    return found


def read_lines(body: bytes, most: int) -> list[Any]:
    """The values of an NDJSON body, and `Malformed` in the place of a line that is none; blank lines are skipped.

    Reading ends at the first line after `most`, so that a longer list shows that there are too many.
    """
    values: list[Any] = []
    for number, line in enumerate(BytesIO(body), start=1):
        if len(values) > most:
            break
        if line.strip():
            try:
                values.append(read_json(line))
            except Malformed as error:
                values.append(Malformed(f"Line {number}: {error.detail}"))
    return values
