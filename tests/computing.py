"""A worker of tests, for programs that wait for what they asked."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.house import House


@contextmanager
def computing(house: House) -> Iterator[None]:
    """What is due is computed meanwhile, by another thread."""
    ended = threading.Event()

    def compute() -> None:
        while not ended.wait(0.05):
            house.compute()

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
