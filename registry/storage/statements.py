"""Statements that are timed, cut at a deadline, or prepared: connections and cursors of `database.py`.

Times are summed for each request; each slow statement has a line in the log.

Statement timeouts on the client's side, for a frozen database or a network that drops packets. A server's own timeouts
work only while it runs. Here every statement has a deadline, and one thread per process shuts the socket of a statement
that exceeds it: libpq then finds the connection lost and the statement fails. psycopg2's `set_wait_callback` would do
as well, at twice the cost of a statement (bench/README.md), without COPY and without a timeout for connecting.

Prepared statements, planned once for each connection: for reads whose planning costs more than their execution.
Measured on the statement behind a cached ranking: 0.33 ms planned anew each time, 0.13 ms prepared. Where a pooler
gives a server connection for one transaction only (REGISTRY_POOLER=transaction), they are sent plainly each time.
"""

import contextlib
import math
import os
import socket
import threading
import time
import weakref
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import psycopg2
import structlog
from psycopg2 import Error
from psycopg2.extensions import adapt, connection, cursor
from sqlalchemy import Connection, Select, create_mock_engine
from sqlalchemy.exc import DBAPIError

log = structlog.get_logger()

_LONGEST = 500
"""Characters of a slow statement that are logged."""
LOOK_EVERY = 0.2
LAST_GRACE = 0.5
"""A request whose time is spent may still run statements that take no longer than this, to clean up."""

PREPARES = "prepares"
"""Execution option of an engine: whether its connections may keep prepared statements."""


@dataclass(slots=True)
class StatementTimes:
    """Statements of one request so far, and their seconds, commits among them; and the seconds that all may take."""

    count: int = 0
    seconds: float = 0.0
    most: float = math.inf


_request: ContextVar[StatementTimes | None] = ContextVar("statement_times", default=None)


@contextlib.contextmanager
def request_deadline(seconds: float) -> Iterator[None]:
    """Limit the statements of this context to so many seconds together, whatever the limit of each.

    Only waiting for the database counts: not reading a large body, nor a client's wait for an answer.
    """
    token = _request.set(StatementTimes(most=seconds))
    try:
        yield
    finally:
        _request.reset(token)


def times_so_far() -> StatementTimes:
    """Statements of this thread's request."""
    return _request.get() or StatementTimes()


def note_statement(statement: Any, seconds: float, slow: float) -> None:
    """Count a statement, and name it in the log if it took longer than `slow` seconds.

    Its text has places for values, not values. Statements of one text have one `statement_id`.
    """
    times = _request.get()
    if times is not None:
        times.count += 1
        times.seconds += seconds
    if seconds > slow:
        text = " ".join(
            (statement.decode(errors="replace") if isinstance(statement, bytes) else str(statement)).split()
        )
        name = sha256(text.encode()).hexdigest()[:12]
        log.warning("slow statement", ms=round(1000 * seconds, 1), statement_id=name, statement=text[:_LONGEST])


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
        now, times = time.monotonic(), times_so_far()
        self.ends = now + min(self._limit, max(times.most - times.seconds, LAST_GRACE))
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


class Prepared:
    """A SELECT that returns at most one row, with its parameters and their PostgreSQL types."""

    def __init__(self, name: str, statement: Select[Any], parameters: Mapping[str, str]) -> None:
        compiled = statement.compile(dialect=create_mock_engine("postgresql+psycopg2://", print).dialect)
        places = {given: f"${number}" for number, given in enumerate(parameters, start=1)}
        casts = {given: f"CAST(%({given})s AS {kind})" for given, kind in parameters.items()}
        fixed = {
            given: adapt(value).getquoted().decode() for given, value in compiled.params.items() if given not in places
        }
        self._name = f"registry_{name}"
        self._prepare = f"PREPARE {self._name} ({', '.join(parameters.values())}) AS {str(compiled) % (fixed | places)}"
        self._execute = f"EXECUTE {self._name} ({', '.join(f'%({given})s' for given in parameters)})"
        marks = {given: f"\0{given}\0" for given in parameters}
        self._plain = (str(compiled) % (fixed | marks)).replace("%", "%%")
        for given, mark in marks.items():
            self._plain = self._plain.replace(mark, casts[given])
        self._row = namedtuple(f"{name.title()}Row", [column.key for column in statement.selected_columns])  # type: ignore[misc]

    def one_or_none(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """The row, with the names of the statement's columns; None if there is none."""
        held = connection.connection
        prepares = connection.get_execution_options().get(PREPARES, True)
        known = held.info.setdefault("prepared", set())
        try:
            with closing(held.cursor()) as cursor:
                if prepares and self._name not in known:
                    cursor.execute(self._prepare)
                    known.add(self._name)
                cursor.execute(self._execute if prepares else self._plain, values)
                found = cursor.fetchone()
        except Error as error:
            # The pool does not see what happens beside SQLAlchemy: a connection that failed is not used again.
            connection.invalidate(error)
            raise DBAPIError.instance(self._execute, None, error, Error, connection_invalidated=True) from error
        return None if found is None else self._row(*found)
