"""Messages of the client while a job runs: each of them once, through the logger `results_registry`."""

from __future__ import annotations

import logging

log = logging.getLogger("results_registry")
_said: set[str] = set()


def log_once(kind: str, text: str, *, level: int = logging.WARNING) -> None:
    """Log a sentence the first time that this kind of thing happens in this process."""
    if kind not in _said:
        _said.add(kind)
        log.log(level, "%s", text)


def forget() -> None:
    """Say everything once more."""
    _said.clear()
