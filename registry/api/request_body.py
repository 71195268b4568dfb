"""One strict reader for every body: UTF-8 JSON without repeated keys, NaN, Infinity, NUL or deep nesting.

What a body costs is reckoned from its bytes, before any of it becomes a value: a request takes memory in proportion to
what it may say, not to how it says it. Callers without a token may say little.
"""

import json
import re
import zlib
from io import BytesIO
from typing import Any

import orjson
from flask import Flask, g, request
from werkzeug.exceptions import RequestEntityTooLarge, UnsupportedMediaType

from registry.api.context import parts
from registry.errors import Busy, Malformed, TooLarge, Unauthenticated
from registry.garbage import give_back
from registry.operations.auth import ANYONE

ANONYMOUS_BODY = 64 * 1024
"""Largest body, in bytes, of a request without a token; it is not compressed."""
LARGE = 1024 * 1024
"""Bytes of a body, inflated, from which on it is read beside few others: `Parts.large_bodies`."""
MOST_HELD = 192 * 1024 * 1024
"""Bytes that the values of a body may take, by `_OBJECT` and its like."""
MOST_KEYS = 10_000
"""Keys of one object."""
MAX_DEPTH = 12
_OBJECT, _LIST, _KEY, _ITEM, _QUOTE = 200, 64, 24, 40, 16
"""Bytes of memory that each of these takes, of Python's values as orjson makes them; measured on CPython 3.11."""
_TOO_DEEP = f"The body is nested deeper than {MAX_DEPTH} levels."
_LONG = "A whole number has more than 64 bits: send it with an exponent, or a smaller body."
# orjson has room for some numbers and brackets to every byte; only brackets that are not closed need more of it.
_OF_DEPTH = ("failed to allocate memory", "depth limit exceeded")
_MAX_RATIO = 200
_ALWAYS_INFLATED = 16 * 1024 * 1024
_SLICE = 1024 * 1024
"""Bytes that are looked at at once: other threads go on in between."""
_STRING = re.compile(rb'"[^"]*"')
_AS_LISTS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_LONG_INTEGER = re.compile(rb"(?<![0-9.eE+-])-?[0-9]{19,}(?![0-9.eE])")
_CUT = re.compile(rb"[^\\]{5}[^\\0-9.eE+-]")
"""Bytes behind which neither an escape nor a number goes on."""
_CONTAINERS = frozenset({dict, list})
_BOM = b"\xef\xbb\xbf"
_SHOWN = 60


def sent_bytes() -> bytes:
    """The body of this request, inflated if it came as gzip; the caller is known by then.

    `Unauthenticated` for more than `ANONYMOUS_BODY` without a token, `TooLarge` before more than the settings allow is
    held, `Busy` where other large bodies are not done with in time.
    """
    if "body" not in g:
        g.body = _inflated(_as_sent())
    body: bytes = g.body
    return body


def sent_json() -> Any:
    """The JSON value in the body of this request; refuses a body that does not say it is JSON."""
    if not request.is_json:
        sent = request.mimetype or "no content type"
        raise UnsupportedMediaType(f"Send Content-Type: application/json, not {sent}.")
    return read_json(sent_bytes())


def _as_sent() -> bytes:
    if g.get("caller", ANYONE) != ANYONE:
        is_chunked = "HTTP_TRANSFER_ENCODING" in request.environ
        if is_chunked or (request.content_length or 0) > LARGE:
            _wait_for_others()
        try:
            return request.get_data()
        except RequestEntityTooLarge:
            most = parts().settings.max_body
            raise TooLarge(f"The body is larger than {most} bytes: compress it by gzip, or send less.") from None
    if _encoding():
        raise Unauthenticated("A compressed body is only taken with a token: Authorization: Bearer rgs_…")
    request.max_content_length = ANONYMOUS_BODY
    try:
        return request.get_data()
    except RequestEntityTooLarge:
        raise Unauthenticated(
            f"A body of more than {ANONYMOUS_BODY} bytes is only taken with a token: Authorization: Bearer rgs_…"
        ) from None


def _encoding() -> str:
    """The coding of the body, empty for none; one that nobody reads is refused."""
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip"):
        raise UnsupportedMediaType("A body is sent as it is or with Content-Encoding: gzip.")
    return "gzip" if encoding == "gzip" else ""


def _inflated(body: bytes) -> bytes:
    if not body or not _encoding():
        return body
    # A grid that is nearly empty shrinks a thousandfold: the ratio counts only beyond what may come uncompressed.
    limit = min(parts().settings.max_inflated, max(len(body) * _MAX_RATIO, _ALWAYS_INFLATED))
    stream = zlib.decompressobj(wbits=31)
    try:
        inflated = stream.decompress(body, min(limit, LARGE) + 1)
        if LARGE < len(inflated) <= limit:  # zlib takes a rest of 0 bytes for no limit
            _wait_for_others()
            inflated += stream.decompress(stream.unconsumed_tail, limit - LARGE)
    except zlib.error:
        raise Malformed("The body is not gzip.") from None
    if len(inflated) > limit:
        raise TooLarge(f"The body is larger than {limit} bytes once inflated.")
    if not stream.eof or stream.unused_data:
        raise Malformed("The gzip body is cut off or has something behind its end.")
    return inflated


def _wait_for_others() -> None:
    """Have this request be one of few with a large body, until it ends."""
    if "large_body" not in g:
        if not parts().large_bodies.acquire(timeout=parts().settings.request_timeout):
            raise Busy("Other large bodies are being read: send it again.", after=5)
        g.large_body = parts().large_bodies


def register(app: Flask) -> None:
    """Give a large body's memory back when its request ends, and let the next one in."""

    @app.teardown_request
    def release(_error: BaseException | None) -> None:
        if (held := g.pop("large_body", None)) is not None:
            g.pop("body", None)
            give_back()
            held.release()


def read_json(body: bytes) -> Any:
    """The JSON value in a body; raises `Malformed` with the place, and `TooLarge` for more than `MOST_HELD`."""
    return _read(body, MOST_HELD)[0]


def read_lines(body: bytes, most: int) -> list[Any]:
    """The values of an NDJSON body, and `Malformed` in the place of a line that is none; blank lines are skipped.

    Reading ends at the first line after `most`, so that a longer list shows that there are too many.
    """
    values: list[Any] = []
    left = MOST_HELD
    for number, line in enumerate(BytesIO(body), start=1):
        if len(values) > most:
            break
        if line.strip():
            try:
                value, cost = _read(line, left)
                values.append(value)
                left -= cost
            except Malformed as error:
                values.append(Malformed(f"Line {number}: {error.detail}"))
    return values


def _read(body: bytes, most_held: int) -> tuple[Any, int]:
    """The value, and the bytes that it may take."""
    if body.startswith(_BOM):
        raise Malformed("The body begins with a byte order mark; JSON is sent as UTF-8 without one.")
    keys, cost, fault = _look(body, most_held)
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        if error.msg.startswith(_OF_DEPTH):
            raise Malformed(_TOO_DEEP) from None
        raise Malformed(f"The body is not JSON: {error}{_advice(body, error.pos)}.") from None
    if fault == _LONG and len(body) <= LARGE:
        value, fault = json.loads(body), None
    if fault is not None:
        raise Malformed(fault)
    if _count_keys(value) < keys:
        if len(body) <= LARGE:
            json.loads(body, object_pairs_hook=_each_once)
        raise Malformed("A key comes twice in one object.")
    return value, cost


def _look(body: bytes, most_held: int) -> tuple[int, int, str | None]:
    """The number of keys in JSON, the bytes that its values may take, and what is wrong with it all the same.

    Of what is not JSON nothing is promised but that it ends, and `TooLarge`.
    """
    keys, brackets, is_open, fault = 0, [], False, None
    cost = 0 if body.isascii() else 3 * len(body)
    begin = 0
    while begin < len(body):
        cut = _CUT.search(body, begin + _SLICE)
        end = len(body) if cut is None else cut.end()
        # Two backslashes are one that was escaped: without them, one that is left escapes what follows it.
        piece = body[begin:end].replace(rb"\\", b"__")
        if rb"\u0000" in piece:
            fault = "A text holds the character NUL."
        piece = piece.replace(rb"\"", b"__")
        cost += _QUOTE * piece.count(b'"')
        if is_open:
            _, quote, piece = piece.partition(b'"')
            is_open = not quote
        piece, quote, _ = _STRING.sub(b"", piece).partition(b'"')
        is_open = is_open or bool(quote)
        found = piece.count(b":")
        keys += found
        cost += _OBJECT * piece.count(b"{") + _LIST * piece.count(b"[") + _ITEM * piece.count(b",") + _KEY * found
        if cost > most_held:
            raise TooLarge("The body says more than one request may: send fewer cells at once.")
        brackets.append(piece.translate(_AS_LISTS, _NO_BRACKETS))
        if any(len(one) > 20 or not -(2**63) <= int(one) < 2**64 for one in _LONG_INTEGER.findall(piece)):
            fault = fault or _LONG
        begin = end
    return keys, cost, fault if _is_shallow(b"".join(brackets)) else _TOO_DEEP


def _is_shallow(brackets: bytes) -> bool:
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"")  # takes away the innermost level
    return not brackets


def _count_keys(value: Any) -> int:
    """Number of keys of all objects in a value: fewer than its text has where one comes twice."""
    count, left = 0, [value]
    while left:
        inner = left.pop()
        if type(inner) is dict:
            if len(inner) > MOST_KEYS:
                raise TooLarge(f"An object has at most {MOST_KEYS} keys.")
            count += len(inner)
            inner = inner.values()
        elif type(inner) is not list:
            continue
        left += [one for one in inner if type(one) in _CONTAINERS]
    return count


def _advice(body: bytes, place: int) -> str:
    """Advice on what to send instead of what tools of Python write for a missing number."""
    here = body.decode(errors="replace")[place : place + 9]
    word = next((word for word in ("NaN", "Infinity", "-Infinity") if here.startswith(word)), None)
    return "" if word is None else f"; {word} is not JSON: send null where nobody measured"


def _each_once(pairs: list[tuple[str, Any]]) -> None:
    met: set[str] = set()
    for name, _ in pairs:
        if name in met:
            raise Malformed(f'The key "{name[:_SHOWN]}" comes twice in one object.')
        met.add(name)
