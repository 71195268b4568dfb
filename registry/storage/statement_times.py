"""Time that statements take: the sum of a request's, and a line in the log for each slow one."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import structlog

log = structlog.get_logger()

_LONGEST = 500
"""Characters of a slow statement that are logged."""


@dataclass(slots=True)
class StatementTimes:
    """Statements of one request so far, and their seconds, commits among them."""

    count: int = 0
    seconds: float = 0.0


_request: ContextVar[StatementTimes | None] = ContextVar("statement_times", default=None)


def begin_times() -> None:
    """Count from nothing what this thread runs from now on: a request begins."""
    _request.set(StatementTimes())


def times_so_far() -> StatementTimes:
    """Statements of this thread's request."""
    return _request.get() or StatementTimes()


def note_statement(statement: Any, seconds: float, slow: float) -> None:
    """Count a statement, and name it in the log if it took longer than `slow` seconds.

    Its text has places for values, not values. Statements of one text have one `statement_id`.
    """
    times = _request.get()
    if times is not None:
        times.count += 1
        times.seconds += seconds
    if seconds > slow:
        text = " ".join(
            (statement.decode(errors="replace") if isinstance(statement, bytes) else str(statement)).split()
        )
        name = sha256(text.encode()).hexdigest()[:12]
        log.warning("slow statement", ms=round(1000 * seconds, 1), statement_id=name, statement=text[:_LONGEST])
