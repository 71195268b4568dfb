"""One strict reader for every body: UTF-8 JSON without repeated keys, NaN, Infinity, NUL or deep nesting."""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from io import BytesIO
from typing import Any

import orjson
from flask import Request
from werkzeug.exceptions import UnsupportedMediaType

from registry.errors import Malformed, TooLarge

MAX_DEPTH = 12
_TOO_DEEP = f"The body is nested deeper than {MAX_DEPTH} levels."
# orjson has room for some numbers and brackets to every byte; only brackets that are not closed need more of it.
_OF_DEPTH = ("failed to allocate memory", "depth limit exceeded")
_MAX_RATIO = 200
_ALWAYS_INFLATED = 16 * 1024 * 1024
_STRING = re.compile(rb'"[^"]*"')
_AS_LISTS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_KEY = re.compile(rb'"[ \t\r\n]*:')
"""Every key of an object, and some texts; a key that comes twice is looked for only where there are more than keys."""
_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LONG_INTEGER = b"0" * 19
"""orjson reads integers of more than 64 bits as floating-point numbers."""
_CONTAINERS = frozenset({dict, list})
_BOM = b"\xef\xbb\xbf"
_SHOWN = 60


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
    if body.startswith(_BOM):
        raise Malformed("The body begins with a byte order mark; JSON is sent as UTF-8 without one.")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        if error.msg.startswith(_OF_DEPTH):
            raise Malformed(_TOO_DEEP) from None
        raise Malformed(f"The body is not JSON: {error}{_advice(body, error.pos)}.") from None
    # Two backslashes are a backslash that was escaped: without them, one that is left escapes what follows it.
    body_of_escapes = body.replace(rb"\\", b"__")
    check_depth(body_of_escapes)
    if rb"\u0000" in body_of_escapes:
        raise Malformed("A text holds the character NUL.")
    has_long_integer = _LONG_INTEGER in body.translate(_AS_ZEROS)
    if not has_long_integer and _count_keys(value) == len(_KEY.findall(body_of_escapes)):
        return value
    try:
        return json.loads(body, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"The body cannot be read: {error}.") from None


def _count_keys(value: Any) -> int:
    """Number of keys of all objects in a value: fewer than its text has where one comes twice."""
    count, left = 0, [value]
    while left:
        inner = left.pop()
        if type(inner) is dict:
            count += len(inner)
            inner = inner.values()
        elif type(inner) is not list:
            continue
        left += [one for one in inner if type(one) in _CONTAINERS]
    return count


def check_depth(body: bytes) -> None:
    """Refuse JSON that is nested deeper than any answerable request needs; no backslash in it is escaped."""
    brackets = _STRING.sub(b"", body.replace(rb"\"", b"")).translate(_AS_LISTS, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"")  # takes away the innermost level
    if brackets:
        raise Malformed(_TOO_DEEP)


def _advice(body: bytes, place: int) -> str:
    """Advice on what to send instead of what tools of Python write for a missing number."""
    here = body.decode(errors="replace")[place : place + 9]
    word = next((word for word in ("NaN", "Infinity", "-Infinity") if here.startswith(word)), None)
    return "" if word is None else f"; {word} is not JSON: send null where nobody measured"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise Malformed(f'The key "{twice[:_SHOWN]}" comes twice in one object.')
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
