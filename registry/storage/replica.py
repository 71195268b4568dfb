"""Reads from a streaming replica that are never older than what their client has seen, nor than a bound.

A position is a place in the log of PostgreSQL (LSN). A write tells its client where it ended; a read that names a
position waits for the replica to get there, and goes to the primary when that takes too long. How old the replica is
is known without clocks or rights: this process notes the primary's position every half second, and the replica is as
old as the last note that it has reached.
"""

import math
import re
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from sqlalchemy import Connection, text

from registry.errors import InvalidHeader, RegistryError
from registry.settings import Settings
from registry.storage.circuit_breaker import CircuitBreaker
from registry.storage.database import Database

LONGEST_WAIT = 0.2
"""Seconds that a read waits for the replica to reach its position."""
LOOK_EVERY = 0.01
NOTE_EVERY = 0.5
_POSITION = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})")
_REPLAYED = text("SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() - '0/0' END")
_LAG = text("""
    SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() - '0/0' END AS replayed,
        coalesce(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 'infinity') AS age
""")
_FLUSHED = text("SELECT pg_current_wal_flush_lsn() - '0/0'")

_chosen: ContextVar[float | None] = ContextVar("chosen", default=None)
"""Seconds that the replica is behind at most, where this request reads from it; None: it reads from the primary."""


def position_of(sent: str) -> int:
    """Position in a header; `InvalidHeader` for what is none."""
    found = _POSITION.fullmatch(sent.strip())
    if found is None:
        raise InvalidHeader("Registry-Position is not what an answer said: two hexadecimal numbers with a slash.")
    return (int(found[1], 16) << 32) | int(found[2], 16)


def header_of(position: int) -> str:
    """A position as PostgreSQL and the headers write it, such as `16/B374D848`."""
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"


class ReplicatedDatabase(Database):
    """Database of a web process whose requests may read from a replica: `choose` says whether this one does."""

    def __init__(self, settings: Settings, *, name: str, breaker: CircuitBreaker, threads: int) -> None:
        super().__init__(settings, name=name, breaker=breaker)
        own = replace(settings, database_url=settings.replica_url)
        self._replica = Database(own, name=f"{name}-replica", breaker=CircuitBreaker(threads), service="replica")
        self._bound = settings.replica_lag
        self._notes: deque[tuple[float, int]] = deque()
        """When the primary was at which position, the latest last."""
        self._noting = threading.Lock()

    def choose(self, least: int | None) -> None:
        """Read from the replica until `leave`, if it has reached the position and is not too old; else from the
        primary."""
        _chosen.set(None)
        replayed = self._replayed(least or 0)
        if replayed is not None:
            behind = self._behind(replayed)
            _chosen.set(behind if behind <= self._bound else None)

    def leave(self) -> None:
        """Read from the primary."""
        _chosen.set(None)

    @property
    def behind(self) -> float | None:
        """Seconds that what this request reads is old at most; None where it is read from the primary."""
        return _chosen.get()

    def position(self) -> int:
        """Position that has everything this request has written or read."""
        if self.behind is None:
            with super().reading() as connection:
                return int(connection.scalar(_FLUSHED))
        with self._replica.reading() as connection:
            return int(connection.scalar(_REPLAYED) or 0)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with super().reading() if self.behind is None else self._replica.reading() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        with super().snapshot() if self.behind is None else self._replica.snapshot() as connection:
            yield connection

    @contextmanager
    def transaction(self, *, rehearse: bool = False) -> Iterator[Connection]:
        """As of any database; what this request reads afterwards is read where it has written."""
        self.leave()
        with super().transaction(rehearse=rehearse) as connection:
            yield connection

    def lag(self) -> float:
        """Seconds that the replica is behind, for its operator; infinite where it does not answer, or is no replica."""
        try:
            with super().reading() as connection:
                flushed = int(connection.scalar(_FLUSHED))
            with self._replica.reading() as connection:
                row = connection.execute(_LAG).one()
        except RegistryError:
            return math.inf
        if row.replayed is None:
            return math.inf
        return 0.0 if row.replayed >= flushed else max(0.0, float(row.age))

    def close(self) -> None:
        super().close()
        self._replica.close()

    def _replayed(self, least: int) -> int | None:
        """Position of the replica, once that is at least `least`; None when it is not there in time."""
        until = time.monotonic() + LONGEST_WAIT
        try:
            while True:
                with self._replica.reading() as connection:
                    replayed = connection.scalar(_REPLAYED)
                if replayed is None or replayed >= least:
                    return None if replayed is None else int(replayed)
                if time.monotonic() >= until:
                    return None
                time.sleep(LOOK_EVERY)
        except RegistryError:
            return None

    def _behind(self, replayed: int) -> float:
        self._note()
        now = time.monotonic()
        reached = [noted for noted, position in list(self._notes) if position <= replayed]
        return now - reached[-1] if reached else float("inf")

    def _note(self) -> None:
        """Note the position of the primary, unless another thread does or has just done so."""
        now = time.monotonic()
        if (self._notes and now - self._notes[-1][0] < NOTE_EVERY) or not self._noting.acquire(blocking=False):
            return
        try:
            with super().reading() as connection:
                self._notes.append((now, int(connection.scalar(_FLUSHED))))
            while now - self._notes[0][0] > self._bound + 1:
                self._notes.popleft()
        except RegistryError:
            pass  # the notes grow old, and with them what the replica is known to be
        finally:
            self._noting.release()
