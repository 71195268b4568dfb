"""Waking the dispatcher after something was settled, so that its events need not wait for the next look.

A process that computes says through whom; without that, as in tests, nobody is woken and the dispatcher finds out by
itself.
"""

from __future__ import annotations

from registry.broker import Notifier

_woken_through: list[Notifier] = []


def wake_through(notifier: Notifier) -> None:
    """Let this process wake the dispatcher from now on; a forked child calls it itself."""
    _woken_through[:] = [notifier]


def wake_dispatcher() -> None:
    """Wake the dispatcher, after the transaction that settled something was committed. Never waits, never raises."""
    for notifier in _woken_through:
        notifier.notify()
