"""Limit on the processor time of one computation, so that an endless one fails with a reason.

Processor time, not elapsed time: on a busy machine the same computation takes ten times as long without being at fault.
Time spent waiting has limits of its own (`registry.storage.statements`).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

MOST_SECONDS = 60.0


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
