"""waitress as the registry runs it: it ends what it has begun before it ends itself, and no slow client keeps it.

waitress alone dies at once on SIGTERM, lets a request take for ever to arrive when a byte comes now and then, and keeps
a thread for an answer that nobody reads. Its loop is turned here instead, and between turns its channels are tended.
"""

from __future__ import annotations

import select
import signal
import threading
import time
from typing import Any
from weakref import WeakKeyDictionary

import structlog
import waitress
from flask import Flask
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer
from waitress.task import ThreadedTaskDispatcher
from waitress.utilities import Error

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
                ident="results-registry",
                clear_untrusted_proxy_headers=True,
            )
        except OSError as error:
            raise Misconfigured(f"Port {settings.port} of {settings.host} cannot be had: {error.strerror}.") from error

    def run(self) -> None:
        """Serve until a signal; then refuse connections, and return when every request was answered."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
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

    def _tend(self, channel: HTTPChannel) -> None:
        """Close a connection that takes no answer, and refuse a request that arrives too slowly."""
        now = time.time()
        if channel.total_outbufs_len and now - channel.last_activity > IDLE_SECONDS:
            channel.handle_close()
        elif (arriving := channel.request) is not None:
            seconds = now - self._arriving.setdefault(arriving, now)
            enough = arriving.headers_finished and arriving.body_bytes_received > SLOWEST_PACE * seconds
            if seconds > ARRIVAL_SECONDS and not enough:
                refuse(channel)

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


class RequestTimeout(Error):  # type: ignore[misc]
    code = 408
    reason = "Request Timeout"


def refuse(channel: HTTPChannel) -> None:
    """Answer the request that is still arriving with 408, and close the connection."""
    with channel.requests_lock:
        late, channel.request = channel.request, None
        late.error = RequestTimeout("The request took too long to arrive.")
        late.connection_close = True
        channel.requests.append(late)
        if len(channel.requests) == 1:
            channel.server.add_task(channel)


def said_something(channel: HTTPChannel) -> bool:
    """Whether bytes have come that were not read yet."""
    return bool(select.select([channel.socket], [], [], 0)[0])
