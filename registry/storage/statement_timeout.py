"""Statement timeouts on the client's side, for a frozen database or a network that drops packets.

A server's own timeouts work only while it runs. Here every statement has a deadline, and one thread per process shuts
the socket of a statement that exceeds it: libpq then finds the connection lost and the statement fails. psycopg2's
`set_wait_callback` would do as well, at twice the cost of a statement (bench/README.md), without COPY and without a
timeout for connecting.
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

from registry.storage.statement_times import note_statement

LOOK_EVERY = 0.2
LAST_GRACE = 0.5
"""A request past its deadline may still run statements that take no longer than this, to clean up."""

_request_ends: ContextVar[float] = ContextVar("request_ends", default=math.inf)


@contextlib.contextmanager
def request_deadline(seconds: float) -> Iterator[None]:
    """Limit the statements of this context to `seconds` from now, whatever their own limit."""
    token = _request_ends.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _request_ends.reset(token)


def extend_request(seconds: float) -> None:
    """Extend the request's deadline: the client is willing to wait that much longer."""
    _request_ends.set(_request_ends.get() + seconds)


class WatchedCursor(cursor):
    """Cursor whose statements have a deadline."""

    def execute(self, query: Any, variables: Any = None) -> None:
        # Setting a number is all that a statement costs: the watchdog looks at it, and no timer has to be started.
        watched: WatchedConnection = self.connection  # type: ignore[assignment]
        began = watched.set_deadline()
        try:
            super().execute(query, variables)
        finally:
            watched.ends = math.inf
            note_statement(query, time.monotonic() - began, watched.slow)


class StreamingCursor(WatchedCursor):
    """Server-side cursor: each fetch is a statement."""

    def fetchone(self) -> Any:
        return self._watched(super().fetchone)

    def fetchmany(self, size: int | None = None) -> Any:
        return self._watched(lambda: super(StreamingCursor, self).fetchmany(size or self.arraysize))

    def fetchall(self) -> Any:
        return self._watched(super().fetchall)

    def _watched(self, fetch: Callable[[], Any]) -> Any:
        watched: WatchedConnection = self.connection  # type: ignore[assignment]
        began = watched.set_deadline()
        try:
            return fetch()
        finally:
            watched.ends = math.inf
            note_statement(self.query, time.monotonic() - began, watched.slow)


class WatchedConnection(connection):
    """Connection that is cut when a statement takes longer than `limit` seconds.

    `on_cut` is called after a cut, from the watchdog's thread. Statements of more than `slow` seconds are logged.
    """

    def __init__(self, dsn: str, *, limit: float, on_cut: Callable[[], None], slow: float = math.inf) -> None:
        self.ends = math.inf
        self.slow = slow
        self._limit = limit
        self._on_cut = on_cut
        self._closing = threading.Lock()
        super().__init__(dsn)
        _watchdog.watch(self)

    def set_deadline(self) -> float:
        """Start the clock of a statement, and return the time; setting `ends` to infinity stops it."""
        now = time.monotonic()
        self.ends = min(now + self._limit, max(_request_ends.get(), now + LAST_GRACE))
        return now

    def cursor(self, name: Any = None, cursor_factory: Any = None, *args: Any, **options: Any) -> Any:
        factory = cursor_factory or (WatchedCursor if name is None else StreamingCursor)
        return super().cursor(name, factory, *args, **options)

    def commit(self) -> None:
        began = self.set_deadline()
        try:
            super().commit()
        finally:
            self.ends = math.inf
            note_statement("COMMIT", time.monotonic() - began, self.slow)

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
        """Shut the socket under the thread that waits for it. Called by the watchdog only."""
        # First, so that the next look does not cut the connection again.
        self.ends = math.inf
        # The lock keeps close() away: else the descriptor could be closed and reused between fileno() and dup(), and
        # the shutdown would hit another socket. A copy of it, because closing the Python socket must not close libpq's.
        with self._closing, contextlib.suppress(OSError, psycopg2.InterfaceError), self._socket() as line:
            line.shutdown(socket.SHUT_RDWR)
        self._on_cut()

    def _socket(self) -> socket.socket:
        return socket.socket(fileno=os.dup(self.fileno()))


class _Watchdog:
    """Thread that cuts overdue connections of this process; it starts with the first of them."""

    def __init__(self) -> None:
        self._connections: weakref.WeakSet[WatchedConnection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, one: WatchedConnection) -> None:
        with self._lock:
            self._connections.add(one)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="deadlines", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            time.sleep(LOOK_EVERY)
            # A copy: the set must not change while it is iterated, and cutting may take long.
            with self._lock:
                connections = list(self._connections)
            now = time.monotonic()
            for one in connections:
                if now > one.ends:
                    one.cut()
            # These are strong references: without the del, closed connections would live until the next look.
            del connections


_watchdog = _Watchdog()


def _after_fork() -> None:
    """Start afresh in a child process: it has neither the parent's threads nor its connections."""
    global _watchdog  # noqa: PLW0603
    _watchdog = _Watchdog()


os.register_at_fork(after_in_child=_after_fork)
