"""waitress as the registry runs it: it ends what it has begun before it ends itself, and no slow client keeps it.

waitress alone dies at once on SIGTERM, lets a request take for ever to arrive when a byte comes now and then, and keeps
a thread for an answer that nobody reads. Its loop is turned here instead, and between turns its channels are tended.
"""

from __future__ import annotations

import select
import signal
import sys
import threading
import time
import uuid
from typing import Any
from weakref import WeakKeyDictionary

import orjson
import structlog
import waitress
from flask import Flask
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.receiver import ChunkedReceiver
from waitress.server import BaseWSGIServer
from waitress.task import ErrorTask, ThreadedTaskDispatcher
from waitress.utilities import BadRequest, Error, RequestEntityTooLarge

from registry.api.problems import CHALLENGE, plain_problem
from registry.errors import Misconfigured
from registry.settings import Settings

log = structlog.get_logger()

CONNECTIONS = 1000
IDLE_SECONDS = 10
"""After so long without a byte a connection is closed, whether it was to be read or written."""
DRAIN_SECONDS = 9.5
TEND_EVERY = 0.5
ARRIVAL_SECONDS = 10.0
"""A request's header arrives within this; its body too, or it goes on arriving at the slowest pace."""
SLOWEST_PACE = 4096
"""Bytes a second, on the average since the request began."""
STRANGERS_BODY = 64 * 1024
"""Bytes of the body of a request without credentials: the forms of the pages are far smaller."""
ALL_BODIES = 512 * 1024 * 1024
"""Bytes of bodies that are held at once, in memory and temporary files; beyond it the largest that still arrive go."""
LONGEST_HEADER = 32 * 1024
"""Bytes of a request line with its headers; nginx takes 8 KiB for each of its lines."""


class Server:
    """An application on its address, from the first turn of the loop until the last answer was sent."""

    def __init__(self, app: Flask, settings: Settings, stopping: threading.Event) -> None:
        self._map: dict[int, Any] = {}
        self._stopping = stopping
        self._tended = 0.0
        self._arriving: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
        try:
            waitress.create_server(
                app,
                map=self._map,
                host=settings.host,
                port=settings.port,
                _dispatcher=Lanes(settings.web_threads),
                connection_limit=CONNECTIONS,
                channel_timeout=IDLE_SECONDS,
                cleanup_interval=1,
                # What is a little too large is read and refused with a problem; this is for what is far beyond.
                max_request_body_size=4 * settings.max_body,
                max_request_header_size=LONGEST_HEADER,
                ident="results-registry",
                # The gate reads them, and only as many as there are proxies of our own.
                clear_untrusted_proxy_headers=not settings.proxies,
            )
            for listener in self._listeners():
                listener.channel_class = Channel
        except OSError as error:
            raise Misconfigured(f"Port {settings.port} of {settings.host} cannot be had: {error.strerror}.") from error

    def run(self) -> None:
        """Serve until a signal; then refuse connections, and return when every request was answered."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        self.serve()

    def serve(self) -> None:
        """Serve until `stopping` is set, and then what was begun."""
        while not self._stopping.is_set():
            self._turn()
        log.info("draining", requests=sum(len(one.requests) for one in self._channels()))
        self._close_listeners()
        deadline = time.monotonic() + DRAIN_SECONDS
        while self._close_idle() and time.monotonic() < deadline:
            self._turn(0.05)
        log.info("drained", left=len(self._channels()))

    def _on_signal(self, number: int, _frame: object) -> None:
        if self._stopping.is_set():
            raise SystemExit(128 + number)
        self._stopping.set()
        self._listeners()[0].pull_trigger()

    def _turn(self, longest: float = TEND_EVERY) -> None:
        wasyncore.loop(timeout=longest, map=self._map, count=1, use_poll=True)
        if time.monotonic() - self._tended > TEND_EVERY:
            self._tended = time.monotonic()
            for channel in self._channels():
                self._tend(channel)
            self._bound_bodies()

    def _tend(self, channel: HTTPChannel) -> None:
        """Close a connection that takes no answer, and refuse a request that arrives too slowly."""
        now = time.time()
        if channel.total_outbufs_len and now - channel.last_activity > IDLE_SECONDS:
            channel.handle_close()
        elif (arriving := channel.request) is not None:
            seconds = now - self._arriving.setdefault(arriving, now)
            enough = arriving.headers_finished and arriving.body_bytes_received > SLOWEST_PACE * seconds
            if seconds > ARRIVAL_SECONDS and not enough:
                refuse(channel, RequestTimeout("The request took too long to arrive."))

    def _bound_bodies(self) -> None:
        """Refuse the largest bodies that still arrive until those that are held are not too much."""
        channels = self._channels()
        arriving = [(one.request.body_bytes_received, one) for one in channels if one.request is not None]
        held = sum(size for size, _ in arriving) + sum(
            request.body_bytes_received for one in channels for request in one.requests
        )
        for size, channel in sorted(arriving, key=lambda pair: -pair[0]):
            if held <= ALL_BODIES or not size:
                break
            held -= size
            refuse(channel, Overloaded("Too many large requests arrive at once; repeat it later."))

    def _listeners(self) -> list[BaseWSGIServer]:
        return [one for one in self._map.values() if isinstance(one, BaseWSGIServer)]

    def _channels(self) -> list[HTTPChannel]:
        return [one for one in self._map.values() if isinstance(one, HTTPChannel)]

    def _close_listeners(self) -> None:
        """Whoever connected already is served; later ones are refused by the system."""
        for listener in self._listeners():
            while select.select([listener.socket], [], [], 0)[0]:
                listener.handle_accept()
            # Not its own close(): that takes the trigger away, by which threads say that an answer is ready.
            wasyncore.dispatcher.close(listener)

    def _close_idle(self) -> bool:
        """Close connections on which nothing is under way; whether others are left."""
        for channel in self._channels():
            if not (channel.requests or channel.total_outbufs_len or channel.request or said_something(channel)):
                channel.handle_close()
        return bool(self._channels())


class Refusal(ErrorTask):  # type: ignore[misc]
    """The answer to what never reaches the application: a problem, as the application's own refusals are."""

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
    """A request as it arrives; of one without credentials no large body is kept.

    It is read to its end all the same, for a client that is still sending would lose the answer with the connection.
    """

    _refused = False
    error: Error | None
    completed: bool
    expect_continue: bool

    def received(self, data: bytes) -> int:
        """Take what has come; how much of it was of this request."""
        consumed: int = super().received(data)
        large = max(self.content_length, self.body_bytes_received) > STRANGERS_BODY
        if large and self.body_rcv is not None and "AUTHORIZATION" not in self.headers and not self._refused:
            self._refused = True
            self.body_rcv.buf.close()
            self.body_rcv.buf = Discarded()
        if self._refused and self.error is None and (self.completed or self.expect_continue):
            self.expect_continue = False
            self.error = Unauthorized("A body of this size is only taken with a token: Authorization: Bearer rgs_…")
            self.completed = True
        if self.error is None and isinstance(self.body_rcv, ChunkedReceiver):
            self._bound_chunk(self.body_rcv)
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Read the request line and the headers; `ParsingError` for what waitress itself lets fall through."""
        try:
            super().parse_header(header_plus)
        except ValueError as error:
            # Python reads no number of more digits than this: that of the body is then larger than any that is taken.
            if len(self.headers.get("CONTENT_LENGTH", "")) <= sys.get_int_max_str_digits():
                raise ParsingError(f"The address cannot be read: {error}") from None
            self.content_length = self.adj.max_request_body_size

    def _bound_chunk(self, chunks: ChunkedReceiver) -> None:
        """Refuse a chunk as soon as its size is known to be too large, and a line about chunks that does not end."""
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


class Lanes(ThreadedTaskDispatcher):  # type: ignore[misc]
    """The threads that answer requests, and one more for `/healthz`, which so waits behind nobody."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self.set_thread_count(threads)
        self._health = ThreadedTaskDispatcher()
        self._health.set_thread_count(1)

    def add_task(self, task: HTTPChannel) -> None:
        """The first request of this channel is to be answered."""
        # What could not be read as a request has no path.
        if getattr(task.requests[0], "path", None) == "/healthz":
            self._health.add_task(task)
        else:
            super().add_task(task)


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
    """Answer the request that is still arriving with an error, and close the connection."""
    with channel.requests_lock:
        late, channel.request = channel.request, None
        if late is None:
            return
        late.error = error
        late.connection_close = True
        channel.requests.append(late)
        if len(channel.requests) == 1:
            channel.server.add_task(channel)


def said_something(channel: HTTPChannel) -> bool:
    """Whether bytes have come that were not read yet."""
    return bool(select.select([channel.socket], [], [], 0)[0])
