"""Spinner with a sentence during a wait, on a terminal's standard error only."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_BEGINS_AFTER, _TURNS_EVERY = 0.3, 0.1


@contextmanager
def spinner(sentence: Callable[[], str], *, shown: bool) -> Iterator[None]:
    """Spin beside the sentence as it is by then, until the block ends; a block that takes less than a third of a second
    shows nothing."""
    if not shown:
        yield
        return
    done = threading.Event()
    turning = threading.Thread(target=_turn, args=(sentence, done), daemon=True)
    turning.start()
    try:
        yield
    finally:
        done.set()
        turning.join()


def _turn(sentence: Callable[[], str], done: threading.Event) -> None:
    if done.wait(_BEGINS_AFTER):
        return
    turn = 0
    while True:
        sys.stderr.write(f"\r\x1b[K{_FRAMES[turn % len(_FRAMES)]} {sentence()} … ")
        sys.stderr.flush()
        turn += 1
        if done.wait(_TURNS_EVERY):
            break
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()
