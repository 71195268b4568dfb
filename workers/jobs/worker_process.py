"""Keep one worker process in order: limit its processor time, end it when asked, wake the dispatcher, report its work.

Processor time, not elapsed time: on a busy machine the same computation takes ten times as long without being at fault.
Time spent waiting has limits of its own (`registry.storage.statements`). The flag of its end is shared by a worker's
parent process, which alone receives SIGTERM, with its children. Events need not wait for the dispatcher's next look
where a process says through whom it wakes it; without that, as in tests, the dispatcher finds out by itself.

Reports of a process that computes: that it lives, and how many jobs of each kind it did in which time.

They go to PostgreSQL, which every web process reads for `/metrics`: children of a worker come and go, and a scrape
target in each would be missed by whoever scrapes. A process that is killed loses what it counted since its last report.
"""

import mmap
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import NoReturn

from sqlalchemy import Connection, delete, func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError

from registry.broker import Notifier
from registry.errors import RegistryError
from registry.methods_version import METHODS_VERSION
from registry.storage.database import Database, quietly_committed
from registry.storage.tables import job_counts, new_id, processes
from results_registry import __version__

MOST_SECONDS = 60.0
NICENESS = 10
"""Of every process that computes: the processor is the web processes' first."""
_flag = mmap.mmap(-1, 1)
_woken_through: list[Notifier] = []


class TookTooLong(Exception):
    """Raised in a computation that has used up its processor time."""


@contextmanager
def cpu_limit(seconds: float = MOST_SECONDS) -> Iterator[None]:
    """Raise `TookTooLong` in the block once the process has spent `seconds` of processor time in it.

    Every block starts with the whole allowance. Outside of the main thread, where no signal can be handled, there is no
    limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: object) -> NoReturn:
        raise TookTooLong(f"more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def request_shutdown() -> None:
    """Ask this process and its relatives to finish the current computation and start no other."""
    _flag[0] = 1


def is_shutting_down() -> bool:
    """Return whether `request_shutdown` was called here or in a process related by fork."""
    return _flag[0] != 0


def wake_through(notifier: Notifier) -> None:
    """Let this process wake the dispatcher from now on; a forked child calls it itself."""
    _woken_through[:] = [notifier]


def wake_dispatcher() -> None:
    """Wake the dispatcher, after the transaction that settled something was committed. Never waits, never raises."""
    for notifier in _woken_through:
        notifier.notify()


REPORT_SECONDS = 5.0
_PATIENCE_SECONDS = 10.0
_FORGOTTEN = timedelta(minutes=10)
"""Silence after which the row of a process is deleted."""
_UNTAKEN = (RegistryError, DBAPIError)
"""Why a report was not taken; the second where the tables are not those of this release, which a migration mends."""


@dataclass(frozen=True, slots=True)
class Done:
    """Jobs of one kind that were computed, attempts that failed, and the seconds of both."""

    computed: int = 0
    failed: int = 0
    seconds: float = 0.0


class JobCounts:
    """Work of this process since it was last asked; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done: dict[str, Done] = {}

    def add(self, kind: str, computed: int = 0, *, failed: int = 0, seconds: float = 0.0) -> None:
        """Count jobs of a kind."""
        with self._lock:
            was = self._done.get(kind, Done())
            self._done[kind] = Done(was.computed + computed, was.failed + failed, was.seconds + seconds)

    def take(self) -> dict[str, Done]:
        """Return what was counted, and begin anew."""
        with self._lock:
            taken, self._done = self._done, {}
        return taken


done = JobCounts()
"""Jobs that this process did and has not reported."""


class Reporter:
    """Writes the row of this process, and adds what it did to the counts of all."""

    def __init__(self, database: Database, role: str, counts: JobCounts = done) -> None:
        self._database = database
        self._counts = counts
        self._row = {
            "id": new_id(),
            "role": role,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "version": __version__,
            "methods_version": METHODS_VERSION,
        }
        self._reported = -REPORT_SECONDS
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reports", daemon=True)

    def report(self, *, broker_up: bool | None = None) -> None:
        """Report; what was counted is kept for the next time if the database does not take it."""
        taken = self._counts.take()
        self._reported = time.monotonic()
        try:
            with self._database.transaction() as connection:
                quietly_committed(connection)
                row = insert(processes).values(self._row | {"broker_up": broker_up})
                seen = {"seen_at": func.now(), "broker_up": broker_up}
                connection.execute(row.on_conflict_do_update(index_elements=["id"], set_=seen))
                add_counts(connection, taken)
        except _UNTAKEN:
            for kind, one in taken.items():
                self._counts.add(kind, one.computed, failed=one.failed, seconds=one.seconds)
            raise

    def report_now_and_then(self, *, broker_up: bool | None = None) -> None:
        """Report, if the last time was long enough ago."""
        if time.monotonic() - self._reported > REPORT_SECONDS:
            self.report(broker_up=broker_up)

    def start(self) -> None:
        """Report from a thread of its own from now on: a computation may take longer than a process may be silent."""
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.is_set():
            with suppress(*_UNTAKEN):  # whoever computes meets it too, and says so
                self.report()
            self._ended.wait(REPORT_SECONDS)

    def end(self) -> None:
        """Report for the last time, and take the row away: the process ends as it should."""
        self._ended.set()
        if self._thread.is_alive():  # a report under way would write the row again
            self._thread.join(_PATIENCE_SECONDS)
        with suppress(*_UNTAKEN), self._database.transaction() as connection:
            quietly_committed(connection)
            add_counts(connection, self._counts.take())
            connection.execute(delete(processes).where(processes.c.id == self._row["id"]))


def add_counts(connection: Connection, counts: dict[str, Done]) -> None:
    """Add these jobs to the totals of all processes since the registry was made."""
    # Sorted: two processes then lock the rows in the same order.
    rows = [
        {"kind": kind, "computed": one.computed, "failed": one.failed, "seconds": one.seconds}
        for kind, one in sorted(counts.items())
    ]
    if rows:
        statement = insert(job_counts).values(rows)
        names = ("computed", "failed", "seconds")
        grown = {name: job_counts.c[name] + statement.excluded[name] for name in names}
        connection.execute(statement.on_conflict_do_update(index_elements=["kind"], set_=grown))


def forget_silent(connection: Connection) -> None:
    """Delete the rows of processes that have been silent for long."""
    connection.execute(delete(processes).where(processes.c.seen_at < func.now() - _FORGOTTEN))
