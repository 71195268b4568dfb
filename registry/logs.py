"""Logs: one JSON line an event on standard error. Secrets never reach it: no header and no body is logged."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any

import structlog

_SECRETS = (
    (re.compile(r"rgs_[0-9A-Za-z]{8}_[0-9A-Za-z]{20,}"), "rgs_…"),
    (re.compile(r"share=[\w.-]+"), "share=…"),
    (re.compile(r"(\w+://[^\s:/@]*):[^\s@]+@"), r"\1:…@"),
    (re.compile(r"(?i)\b(basic|bearer)\s+[\w.~+/=-]{8,}"), r"\1 …"),
)


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
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


class JsonLines(logging.Formatter):
    """What libraries log, in the form of our own events and without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        event: dict[str, Any] = {"event": record.getMessage(), "logger": record.name, "level": record.levelname.lower()}
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        stamp = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        return json.dumps({**redact(None, "", event), "timestamp": stamp})


def redact(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Blot out whatever looks like a token, a share link, a password in a URL or a credential, at any depth."""
    for name, value in event.items():
        event[name] = _without_secrets(value)
    return event


def _without_secrets(value: Any) -> Any:
    match value:
        case str():
            for pattern, instead in _SECRETS:
                value = pattern.sub(instead, value)
            return value
        case dict():
            return {name: _without_secrets(one) for name, one in value.items()}
        case list() | tuple():
            return [_without_secrets(one) for one in value]
        case _:
            return value
