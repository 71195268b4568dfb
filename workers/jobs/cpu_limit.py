"""A limit on the processor time of one computation, so that what never ends fails with a reason.

Processor time and not the clock's: on a busy machine the same computation takes ten times as long and is none the
worse for it. Time that is spent waiting has limits of its own (`registry.storage.statement_timeout`).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

MOST_SECONDS = 60.0


class TookTooLong(Exception):
    """The computation used more processor time than one may."""


@contextmanager
def cpu_limit(seconds: float = MOST_SECONDS) -> Iterator[None]:
    """Raise `TookTooLong` in the block once this process has spent so many seconds of processor time in it.

    Each block has the whole of the time. Without effect outside of the main thread, where no signal can be handled.
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
