"""Pool of connections that goes on with those it has while the server refuses new ones.

A server may be full, or a listener may be gone, while every open connection works. So a refusal closes only the gate
to new connections, for a moment; who finds no idle connection waits for one that another thread gives back.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import QueuePool
from sqlalchemy.util.queue import Empty

from registry.errors import Unavailable

CLOSED_SECONDS = 1.0


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
    """Pool that waits for a connection in use where no further one can be made."""

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
