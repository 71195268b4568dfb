"""Keep a process answering while the database is away, slow or full; `database.py` connects through all of it."""

import threading
import time
from typing import Any

from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import QueuePool
from sqlalchemy.util.queue import Empty

from registry.errors import Unavailable

BREAK_SECONDS = 1.0
STALLED_SECONDS = 2.0
"""Seconds without a thread entering or leaving, after which a thread that would have to wait is refused at once."""
LONGEST_WAIT = 3.0
SLOW_SECONDS = 1.0
"""Seconds in the database of the last thread to leave, from which on none waits: the one that would wait is the last
free thread."""

AWAY = "The database does not answer. Whether a write took effect is unknown: repeat it."
NODE_AWAY = "A node of the database does not answer. Whether a write took effect is unknown: repeat it."
CLOSED_SECONDS = 1.0


class CircuitBreaker:
    """Context manager around the use of the database: limits the threads in it, and admits none while it is away.

    One thread is kept free of the database, so that requests are refused while the others wait. A timeout or a refused
    connection opens the breaker; then one request at a time tries again, until one succeeds.
    """

    def __init__(self, places: int) -> None:
        self._room = threading.Condition()
        self._places = places
        self._moved = 0.0
        self._entered: dict[int, float] = {}
        """Time at which each thread entered."""
        self._slow = False
        self._broken_until: float | None = None
        """None while the database answers; after a failure the time from which one request may try again."""
        self._trying: int | None = None
        """Thread that is trying."""

    def __enter__(self) -> None:
        """Take a place. Raises `Unavailable` while the database is away, or when no place becomes free in time."""
        with self._room:
            self._refuse_if_broken()
            if not self._places:
                self._wait_for_a_place()
            if self._broken_until is not None:
                self._trying = threading.get_ident()
            self._places -= 1
            self._moved = self._entered[threading.get_ident()] = time.monotonic()

    def __exit__(self, *_raised: object) -> None:
        with self._room:
            self._places += 1
            self._moved = time.monotonic()
            self._slow = self._moved - self._entered.pop(threading.get_ident(), self._moved) > SLOW_SECONDS
            if self._trying == threading.get_ident():
                self._trying = None
            self._room.notify()

    @property
    def is_open(self) -> bool:
        """True if the database is away, as far as is known."""
        return self._broken_until is not None

    @property
    def inside(self) -> int:
        """Threads that use the database."""
        return len(self._entered)

    def trip(self) -> None:
        """Open the breaker: a statement took too long, or a connection was refused."""
        with self._room:
            self._broken_until = time.monotonic() + BREAK_SECONDS
            self._room.notify_all()

    def answered(self) -> None:
        """Close the breaker: the database has answered."""
        if self._broken_until is not None:
            with self._room:
                self._broken_until = self._trying = None

    def _refuse_if_broken(self) -> None:
        if self._broken_until is not None and (self._trying is not None or time.monotonic() < self._broken_until):
            raise Unavailable(AWAY, after=1, reason="circuit_breaker")

    def _wait_for_a_place(self) -> None:
        begun = time.monotonic()
        while not self._places:
            patience = min(self._moved + STALLED_SECONDS, begun + LONGEST_WAIT) - time.monotonic()
            if patience <= 0 or self._slow:
                raise Unavailable("Every connection to the database is in use; try again.", 1, "database_threads")
            self._room.wait(patience)
            self._refuse_if_broken()


class NoCircuitBreaker(CircuitBreaker):
    """Breaker of a process without requests, which waits as long as the timeouts of the database let it."""

    def __init__(self) -> None:
        super().__init__(places=0)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_raised: object) -> None:
        pass

    def trip(self) -> None:
        pass


class ConnectionGate:
    """Decides whether a new connection may be tried: after a refusal by nobody for a second, then by one thread at a
    time, until one succeeds."""

    def __init__(self, closed_seconds: float) -> None:
        self._lock = threading.Lock()
        self._closed_seconds = closed_seconds
        self._closed_until: float | None = None
        """None while connections are accepted."""
        self._trying: int | None = None
        self._reason = ""

    @property
    def is_closed(self) -> bool:
        return self._closed_until is not None

    def enter(self) -> None:
        """Admit this thread; raises `Unavailable` while the gate is closed."""
        with self._lock:
            if self._closed_until is None:
                return
            if self._trying is not None or time.monotonic() < self._closed_until:
                raise Unavailable(
                    "The database accepts no connection; try again.", 2, "no_connection", cause=self._reason
                )
            self._trying = threading.get_ident()

    def accepted(self) -> None:
        """Open the gate: a connection was made."""
        with self._lock:
            self._closed_until = self._trying = None

    def refused(self, reason: str) -> None:
        """Close the gate: a connection was refused."""
        with self._lock:
            if self._closed_seconds:
                self._closed_until = time.monotonic() + self._closed_seconds
            self._reason, self._trying = reason, None


class PatientPool(QueuePool):
    """Pool that waits for a connection in use where no further one can be made: a server that is full, or without a
    listener, refuses new ones while every open one works."""

    def _do_get(self) -> Any:
        try:
            return super()._do_get()
        except PoolTimeout:
            raise
        except Exception as refused:
            try:
                # Without one in use there is nothing to wait for, but one may just have been given back.
                return self._pool.get(block=self.checkedout() > 0, timeout=self._timeout)
            except Empty:
                raise refused from None
