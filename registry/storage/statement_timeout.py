"""Deadlines on this side of the wire: a database that froze, or a network that swallows, holds nobody for ever.

A server's own timeouts help only while it runs. Here every statement says until when it may take, and one thread per
process shuts the socket of a statement that takes longer: libpq then finds the connection lost and the statement
fails. psycopg2's `set_wait_callback` would do as well, at twice the cost a statement (bench/README.md), without COPY
and without a deadline on connecting.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import psycopg2
from psycopg2.extensions import connection, cursor

LOOK_EVERY = 0.2
LAST_GRACE = 0.5
"""A request whose time is over may still make statements that are answered within this."""

_request_ends: ContextVar[float] = ContextVar("request_ends", default=math.inf)


@contextlib.contextmanager
def request_deadline(seconds: float) -> Iterator[None]:
    """Statements of this context wait no longer than until `seconds` from now, whatever their own limit."""
    token = _request_ends.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _request_ends.reset(token)


def extend_request(seconds: float) -> None:
    """Whoever asked is willing to wait: the request's time ends that much later."""
    _request_ends.set(_request_ends.get() + seconds)


class WatchedCursor(cursor):
    """A cursor whose statements have a deadline."""

    def execute(self, query: Any, variables: Any = None) -> None:
        watched: WatchedConnection = self.connection  # type: ignore[assignment]
        watched.set_deadline()
        try:
            super().execute(query, variables)
        finally:
            watched.ends = math.inf


class StreamingCursor(WatchedCursor):
    """A cursor on the server: each fetch is a statement."""

    def fetchone(self) -> Any:
        return self._watched(super().fetchone)

    def fetchmany(self, size: int | None = None) -> Any:
        return self._watched(lambda: super(StreamingCursor, self).fetchmany(size or self.arraysize))

    def fetchall(self) -> Any:
        return self._watched(super().fetchall)

    def _watched(self, fetch: Callable[[], Any]) -> Any:
        watched: WatchedConnection = self.connection  # type: ignore[assignment]
        watched.set_deadline()
        try:
            return fetch()
        finally:
            watched.ends = math.inf


class WatchedConnection(connection):
    """A connection each of whose statements takes `limit` seconds or ends with the connection.

    `on_cut` is told, from another thread, that a statement was cut off.
    """

    def __init__(self, dsn: str, *, limit: float, on_cut: Callable[[], None]) -> None:
        self.ends = math.inf
        self._limit = limit
        self._on_cut = on_cut
        self._closing = threading.Lock()
        super().__init__(dsn)
        _watchman.watch(self)

    def set_deadline(self) -> None:
        """A statement begins; it is over when `ends` is infinite again."""
        now = time.monotonic()
        self.ends = min(now + self._limit, max(_request_ends.get(), now + LAST_GRACE))

    def cursor(self, name: Any = None, cursor_factory: Any = None, *args: Any, **options: Any) -> Any:
        factory = cursor_factory or (WatchedCursor if name is None else StreamingCursor)
        return super().cursor(name, factory, *args, **options)

    def commit(self) -> None:
        self.set_deadline()
        try:
            super().commit()
        finally:
            self.ends = math.inf

    def rollback(self) -> None:
        self.set_deadline()
        try:
            super().rollback()
        finally:
            self.ends = math.inf

    def close(self) -> None:
        with self._closing:
            super().close()

    def cut(self) -> None:
        """Shut the socket under whoever waits for it. Called by the watchman alone."""
        self.ends = math.inf
        # Under the lock the descriptor cannot become another socket's meanwhile.
        with self._closing, contextlib.suppress(OSError, psycopg2.InterfaceError), self._socket() as line:
            line.shutdown(socket.SHUT_RDWR)
        self._on_cut()

    def _socket(self) -> socket.socket:
        return socket.socket(fileno=os.dup(self.fileno()))


class _Watchman:
    """The thread that looks after the connections of this process; it begins with the first of them."""

    def __init__(self) -> None:
        self._connections: weakref.WeakSet[WatchedConnection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, one: WatchedConnection) -> None:
        with self._lock:
            self._connections.add(one)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look_on, name="deadlines", daemon=True)
                self._thread.start()

    def _look_on(self) -> None:
        while True:
            time.sleep(LOOK_EVERY)
            with self._lock:
                connections = list(self._connections)
            now = time.monotonic()
            for one in connections:
                if now > one.ends:
                    one.cut()
            del connections


_watchman = _Watchman()


def _after_fork() -> None:
    """A child has its parent's memory, but not its threads, and none of its connections are the child's."""
    global _watchman  # noqa: PLW0603
    _watchman = _Watchman()


os.register_at_fork(after_in_child=_after_fork)
