"""Responses of a registry: status, headers and body; and its problems (RFC 9457) as exceptions."""

from __future__ import annotations

import email.utils
import http.client
import json
import time
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from results_registry.errors import NotAllowed, NotNow, NotThere, Refused, Unreachable

_NOT_NOW = (408, 425, 429, 500, 502, 503, 504)
_CHUNK = 1 << 16


class Answer(NamedTuple):
    """An answer of the registry below 400. Header names are in lower case; the body is not compressed any more."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON; raises `Unreachable` when something else than the registry answered."""
        try:
            return json.loads(self.body)
        except ValueError:
            raise Unreachable("The answer is not JSON: something else than a registry answers there.") from None

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


def read_whole(response: http.client.HTTPResponse, headers: Mapping[str, str]) -> bytes:
    """The body of a response, not compressed any more."""
    return b"".join(read_chunks(response, headers))


def read_chunks(response: http.client.HTTPResponse, headers: Mapping[str, str]) -> Iterator[bytes]:
    """The body of a response in chunks, not compressed any more. Raises what a connection that breaks raises."""
    inflate = zlib.decompressobj(wbits=31) if headers.get("content-encoding", "").lower() == "gzip" else None
    # A stream of events is read as it comes, not a block at a time.
    is_stream = headers.get("content-type", "").startswith("text/event-stream")
    while chunk := (response.read1 if is_stream else response.read)(_CHUNK):
        yield chunk if inflate is None else inflate.decompress(chunk)
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)


def raise_problem(status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Raise the exception of an answer from 400 up."""
    problem = _problem(status, headers, body)
    if status in (401, 403):
        raise NotAllowed(status, problem)
    if status == 404:
        raise NotThere(status, problem)
    if status in _NOT_NOW or (status == 409 and "retry-after" in headers):
        raise NotNow(status, problem, _after(headers.get("retry-after")))
    raise Refused(status, problem)


def _problem(status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    if "json" in headers.get("content-type", ""):
        try:
            found = json.loads(body)
        except ValueError:
            found = None
        if isinstance(found, dict):
            return found
    reason = http.client.responses.get(status, "an error")
    return {"status": status, "title": reason, "detail": f"The server answered {status} ({reason})."}


def _after(header: str | None) -> int:
    """The seconds of a `Retry-After`, which is a number or a date; 1 when it says nothing."""
    if header is None:
        return 1
    try:
        return max(0, int(header)) if header.strip().isdecimal() else _until(header)
    except (TypeError, ValueError):
        return 1


def _until(date: str) -> int:
    return max(0, round(email.utils.parsedate_to_datetime(date).timestamp() - time.time()))
