"""Logs: one JSON line an event on standard error. Secrets never reach it: no header and no body is logged."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

_TOKEN = re.compile(r"rgs_[0-9A-Za-z]{8}_[0-9A-Za-z]{36}")


def configure_logs(level: str) -> None:
    """Send this process's events, and the warnings of the libraries, to standard error."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            redact,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")


def redact(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Blot out whatever looks like a token, wherever it came from."""
    for name, value in event.items():
        if isinstance(value, str) and "rgs_" in value:
            event[name] = _TOKEN.sub("rgs_…", value)
    return event
