"""Requests and connections of the web server: bounded bodies, and refusals as problem documents."""

from __future__ import annotations

import sys
import uuid

import orjson
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.receiver import ChunkedReceiver
from waitress.task import ErrorTask
from waitress.utilities import BadRequest, Error, RequestEntityTooLarge

from registry.api.problems import CHALLENGE, plain_problem

ANONYMOUS_BODY = 64 * 1024
"""Largest body, in bytes, of a request without credentials: the forms of the pages are far smaller."""
LONGEST_HEADER = 32 * 1024
"""Largest request line with its headers, in bytes; nginx allows 8 KiB for each of its lines."""


class Refusal(ErrorTask):  # type: ignore[misc]
    """Response to a request that never reaches the application: a problem document, like the application's own."""

    def execute(self) -> None:
        error, name = self.request.error, str(uuid.uuid4())
        body = orjson.dumps(plain_problem(error.code, f"{error.body}.".replace("..", "."), request=name))
        self.status = f"{error.code} {error.reason}"
        self.response_headers += [("Content-Type", "application/problem+json"), ("X-Request-Id", name)]
        self.response_headers += [("Cache-Control", "no-store"), *getattr(error, "headers", ())]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class Request(HTTPRequestParser):  # type: ignore[misc]
    """A request as it arrives; without credentials, a large body is not kept.

    It is read to its end all the same, because a client that is still sending would lose the response with the
    connection.
    """

    _refused = False
    error: Error | None
    completed: bool
    expect_continue: bool

    def received(self, data: bytes) -> int:
        """Take the bytes that have come; return how many of them were of this request."""
        consumed: int = super().received(data)
        large = max(self.content_length, self.body_bytes_received) > ANONYMOUS_BODY
        if large and self.body_rcv is not None and "AUTHORIZATION" not in self.headers and not self._refused:
            self._refused = True
            # The parser goes on counting and framing, so the refusal comes after the last byte; only the bytes are
            # dropped.
            self.body_rcv.buf.close()
            self.body_rcv.buf = Discarded()
        if self._refused and self.error is None and (self.completed or self.expect_continue):
            self.expect_continue = False
            self.error = Unauthorized("A body of this size is only taken with a token: Authorization: Bearer rgs_…")
            self.completed = True
        if self.error is None and isinstance(self.body_rcv, ChunkedReceiver):
            self._limit_chunk(self.body_rcv)
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Read the request line and the headers; `ParsingError` where waitress itself raises another error."""
        try:
            super().parse_header(header_plus)
        except ValueError as error:
            # Python refuses to parse more digits than this. A Content-Length that long is too large in any case, so it
            # becomes a 413 instead of a 400.
            if len(self.headers.get("CONTENT_LENGTH", "")) <= sys.get_int_max_str_digits():
                raise ParsingError(f"The address cannot be read: {error}") from None
            self.content_length = self.adj.max_request_body_size

    def _limit_chunk(self, chunks: ChunkedReceiver) -> None:
        """Refuse a chunk as soon as its size is known to be too large, and an endless size line or trailer."""
        if self.body_bytes_received + chunks.chunk_remainder >= self.adj.max_request_body_size:
            self.error = RequestEntityTooLarge("A chunk is larger than any body that is taken")
        elif max(len(chunks.control_line), len(chunks.trailer)) > LONGEST_HEADER:
            self.error = BadRequest("The size of a chunk or the trailer is too long")
        self.completed = self.completed or self.error is not None


class Discarded:
    """A buffer that keeps nothing."""

    def append(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass

    def __len__(self) -> int:
        return 0


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection."""

    parser_class = Request
    error_task_class = Refusal


class Unauthorized(Error):  # type: ignore[misc]
    code = 401
    reason = "Unauthorized"
    headers = (("WWW-Authenticate", CHALLENGE),)


class RequestTimeout(Error):  # type: ignore[misc]
    code = 408
    reason = "Request Timeout"


class Overloaded(Error):  # type: ignore[misc]
    code = 503
    reason = "Service Unavailable"
    headers = (("Retry-After", "5"),)


def refuse(channel: HTTPChannel, error: Error) -> None:
    """Refuse the request that is still arriving with an error, and close the connection."""
    # The lock keeps a thread from finishing the channel's last request between the test of the length and the append.
    with channel.requests_lock:
        request, channel.request = channel.request, None
        if request is None:
            return
        request.error = error
        request.connection_close = True
        channel.requests.append(request)
        # Behind other requests it is started by the thread that finishes the one before.
        if len(channel.requests) == 1:
            channel.server.add_task(channel)
