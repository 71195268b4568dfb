"""Web server: waitress with a graceful shutdown and timeouts for slow clients.

waitress alone dies at once on SIGTERM, lets a request take for ever to arrive when a byte comes now and then, and keeps
a thread for a response that the client does not read. Here its loop runs pass by pass, and between passes its channels
are checked.
"""

from __future__ import annotations

import select
import signal
import threading
import time
from copy import copy
from typing import Any
from weakref import WeakKeyDictionary

import structlog
import waitress
from flask import Flask
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer
from waitress.task import ThreadedTaskDispatcher

from registry.api.admission import SPARE_THREADS
from registry.api.event_streams import is_stream
from registry.errors import Misconfigured
from registry.local.web_requests import LONGEST_HEADER, Channel, Overloaded, RequestTimeout, refuse
from registry.settings import Settings

log = structlog.get_logger()

CONNECTIONS = 1000
IDLE_SECONDS = 10
"""After so many seconds without a byte read or written, a connection is closed."""
UNREAD_BYTES = 64 * 1024
"""Bytes of a stream that wait for a client, beyond which its thread does."""
DRAIN_SECONDS = 9.5
CHECK_EVERY = 0.5
ARRIVAL_SECONDS = 10.0
"""Within this a request's header arrives, and its body too unless that keeps up `SLOWEST_PACE`."""
SLOWEST_PACE = 4096
"""Bytes per second, averaged since the request began."""
ALL_BODIES = 512 * 1024 * 1024
"""Bytes of bodies held at once, in memory and temporary files. Beyond it the largest that still arrive are refused."""


class Server:
    """An application on its address, from the first pass of the loop until the last response was sent."""

    def __init__(self, app: Flask, settings: Settings, stopping: threading.Event) -> None:
        self._map: dict[int, Any] = {}
        self._stopping = stopping
        self._checked = 0.0
        self._arriving: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
        try:
            waitress.create_server(
                app,
                map=self._map,
                host=settings.host,
                port=settings.port,
                _dispatcher=ThreadPools(settings.web_threads, settings.max_streams + SPARE_THREADS),
                connection_limit=CONNECTIONS,
                channel_timeout=IDLE_SECONDS,
                cleanup_interval=1,
                # The application itself refuses a body that is a little too large, with a better message; this limit is
                # for those far beyond.
                max_request_body_size=4 * settings.max_body,
                max_request_header_size=LONGEST_HEADER,
                ident="results-registry",
                # The request policy reads these headers, and trusts only as many entries as there are own proxies.
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
        """Serve until `stopping` is set, then finish the requests under way."""
        while not self._stopping.is_set():
            self._run_loop_once()
        log.info("draining", requests=sum(len(one.requests) for one in self._channels()))
        self._close_listeners()
        deadline = time.monotonic() + DRAIN_SECONDS
        while self._close_idle() and time.monotonic() < deadline:
            self._run_loop_once(0.05)
        log.info("drained", left=len(self._channels()))

    def _on_signal(self, number: int, _frame: object) -> None:
        if self._stopping.is_set():
            # A second signal does not wait for the requests under way.
            raise SystemExit(128 + number)
        self._stopping.set()
        # The loop may be asleep in poll(); the trigger is a descriptor that it watches.
        self._listeners()[0].pull_trigger()

    def _run_loop_once(self, longest: float = CHECK_EVERY) -> None:
        # One pass of waitress's loop instead of its endless one, so that the checks below run in the same thread: no
        # bytes arrive while they look at a channel.
        wasyncore.loop(timeout=longest, map=self._map, count=1, use_poll=True)
        if time.monotonic() - self._checked > CHECK_EVERY:
            self._checked = time.monotonic()
            for channel in self._channels():
                self._check_timeouts(channel)
            self._limit_bodies()

    def _check_timeouts(self, channel: HTTPChannel) -> None:
        """Close a connection whose client reads no response, and refuse a request that arrives too slowly."""
        now = time.time()
        # waitress closes idle connections only if no request is under way, so one whose client never reads its response
        # would keep a thread in write_soon(). Closing it raises ClientDisconnected there.
        if channel.total_outbufs_len and now - channel.last_activity > IDLE_SECONDS:
            channel.handle_close()
        elif (arriving := channel.request) is not None:
            # By the first time it was seen: waitress's `last_activity` starts anew with every byte, so a client that
            # sends one now and then would never be late.
            seconds = now - self._arriving.setdefault(arriving, now)
            enough = arriving.headers_finished and arriving.body_bytes_received > SLOWEST_PACE * seconds
            if seconds > ARRIVAL_SECONDS and not enough:
                refuse(channel, RequestTimeout("The request took too long to arrive."))

    def _limit_bodies(self) -> None:
        """Refuse the largest arriving bodies until all that are held fit into `ALL_BODIES`."""
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
        """Serve the clients that have connected already; the system refuses later ones."""
        for listener in self._listeners():
            # Connections that the system has accepted already are in the backlog: closing would reset them.
            while select.select([listener.socket], [], [], 0)[0]:
                listener.handle_accept()
            # Not its own close(): that closes the trigger, too, by which threads wake the loop to send a response.
            wasyncore.dispatcher.close(listener)

    def _close_idle(self) -> bool:
        """Close connections without a request or a response under way; return whether others are left."""
        for channel in self._channels():
            if not (channel.requests or channel.total_outbufs_len or channel.request or has_unread_bytes(channel)):
                channel.handle_close()
        return bool(self._channels())


class ThreadPools(ThreadedTaskDispatcher):  # type: ignore[misc]
    """Threads that serve requests, others that serve streams of events, and a dedicated one for `/healthz`, so that
    health checks never queue behind requests, nor requests behind streams."""

    def __init__(self, threads: int, stream_threads: int) -> None:
        super().__init__()
        self.set_thread_count(threads)
        self._stream_threads = stream_threads
        self._streams = ThreadedTaskDispatcher()
        self._health = ThreadedTaskDispatcher()
        self._health.set_thread_count(1)

    def add_task(self, task: HTTPChannel) -> None:
        """Serve the first request of this channel."""
        # A request that could not be parsed has no path.
        request = task.requests[0]
        path = getattr(request, "path", None)
        if path == "/healthz":
            self._health.add_task(task)
        elif path is not None and is_stream({"PATH_INFO": path, "HTTP_ACCEPT": request.headers.get("ACCEPT", "")}):
            self._add_stream(task)
        else:
            super().add_task(task)

    def _add_stream(self, channel: HTTPChannel) -> None:
        channel.adj = copy(channel.server.adj)
        # Who reads slowly waits, instead of filling a buffer; and to read on while a response is under way is how
        # waitress notices that the client has gone.
        channel.adj.outbuf_high_watermark, channel.adj.channel_request_lookahead = UNREAD_BYTES, 1
        # Only once a stream is wanted: most processes have none, and a thread takes memory.
        self._streams.set_thread_count(self._stream_threads)
        self._streams.add_task(channel)


def has_unread_bytes(channel: HTTPChannel) -> bool:
    """Return whether bytes have arrived that were not read yet."""
    return bool(select.select([channel.socket], [], [], 0)[0])
