"""Logging: one line of JSON for each event, on standard error. Headers and bodies are not logged, and secrets are
redacted."""

import logging
import re
import sys
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from typing import Any, TextIO

import structlog

_SECRETS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"rgs_[0-9A-Za-z]{8}_[0-9A-Za-z]{20,}"), "rgs_…"),
    (re.compile(r"share=[\w.-]+"), "share=…"),
    # What no @ follows is consumed all the same: each character is looked at once, whatever a client sends.
    (re.compile(r"(://[^\s:/@]*+):([^\s@]++)(@?)"), lambda found: f"{found[1]}:…@" if found[3] else found[0]),
    (re.compile(r"(?i)\b(basic|bearer)\s++[\w.~+/=-]{8,}"), r"\1 …"),
)
_LONGEST = {"path": 512}
"""Characters kept of a text with this name; for others the next constant holds."""
_LONGEST_OTHER = 16_384


def configure_logs(level: str) -> None:
    """Send this process's events, and the warnings of the libraries, to standard error."""
    lines = Lines(sys.stderr)
    structlog.configure(
        processors=[_OF_REQUEST, structlog.processors.add_log_level, _STAMP, *_LAST],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=lambda *_names: Events(lines),
        cache_logger_on_first_use=True,
    )
    lines.setFormatter(library_lines())
    logging.basicConfig(level=logging.WARNING, handlers=[lines])


def library_handler() -> logging.Handler:
    """A handler that writes what libraries log to standard error, for those that set up their logs themselves."""
    lines = Lines(sys.stderr)
    lines.setFormatter(library_lines())
    return lines


class Lines(logging.Handler):
    """The one writer of a process. A line is written whole or not at all, and a full disk raises no error.

    A request was answered and its work committed by the time it is logged, so a failing log must not change the
    response.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    def emit(self, record: logging.LogRecord) -> None:
        self.write(self.format(record))

    def write(self, line: str) -> None:
        """Write one event; drop it if nothing can be written."""
        self.acquire()
        try:
            with suppress(OSError, ValueError):  # ValueError: the stream was closed
                self._stream.write(f"{line}\n")
                self._stream.flush()
        finally:
            self.release()


class Events:
    """The logger to which structlog writes its finished lines."""

    def __init__(self, lines: Lines) -> None:
        self.debug = self.info = self.warning = self.error = self.critical = self.exception = lines.write


def redact(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Redact whatever looks like a token, a share link, a password in a URL or a credential, at any depth.

    Takes time in proportion to the length of the texts; long ones lose their middle.
    """
    for name, value in event.items():
        event[name] = _without_secrets(value, _LONGEST.get(name, _LONGEST_OTHER))
    return event


def _without_secrets(value: Any, longest: int) -> Any:
    match value:
        case str():
            for pattern, instead in _SECRETS:
                value = pattern.sub(instead, value)
            return value if len(value) <= longest else f"{value[: longest // 2]} … {value[-longest // 2 :]}"
        case dict():
            return {name: _without_secrets(one, longest) for name, one in value.items()}
        case list() | tuple():
            return [_without_secrets(one, longest) for one in value]
        case _:
            return value


_OF_REQUEST = structlog.contextvars.merge_contextvars
"""What is bound for a request, or for a worker's turn, such as its id."""
_STAMP = structlog.processors.TimeStamper(fmt="iso", utc=True)
_LAST = (structlog.processors.format_exc_info, redact, structlog.processors.JSONRenderer())
"""The last processors of every event, our own and the libraries'."""


def library_lines() -> logging.Formatter:
    """A formatter of what libraries log, in the form of our own events and without secrets."""
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[_OF_REQUEST, structlog.stdlib.add_logger_name, structlog.stdlib.add_log_level, _STAMP],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_LAST],
    )
