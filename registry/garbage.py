"""Keep the memory of long-lived processes low: web server, workers and inline worker call it."""

import ctypes
import gc


def collect_rarely() -> None:
    """Look for cycles rarely, and never among what is loaded now.

    A body of many numbers, and a description of a grid, make many objects and no cycles: looking for cycles cost a
    sixth of the time of a batch in a web process and a third of that in a worker.
    """
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)


def give_back() -> None:
    """Return freed memory to the system; glibc keeps what lies between two things that are still there."""
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
