"""Affairs of one worker process: its limit of processor time, its end, and that it wakes the dispatcher.

Processor time, not elapsed time: on a busy machine the same computation takes ten times as long without being at fault.
Time spent waiting has limits of its own (`registry.storage.statements`). The flag of its end is shared by a worker's
parent process, which alone receives SIGTERM, with its children. Events need not wait for the dispatcher's next look
where a process says through whom it wakes it; without that, as in tests, the dispatcher finds out by itself.
"""

from __future__ import annotations

import mmap
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from registry.broker import Notifier

MOST_SECONDS = 60.0
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
    return _flag[0] != 0


def wake_through(notifier: Notifier) -> None:
    """Let this process wake the dispatcher from now on; a forked child calls it itself."""
    _woken_through[:] = [notifier]


def wake_dispatcher() -> None:
    """Wake the dispatcher, after the transaction that settled something was committed. Never waits, never raises."""
    for notifier in _woken_through:
        notifier.notify()
