"""Log of outages: why the database or the broker cannot be used, once for each change, and that it can be again."""

import re
import sys
import threading
import time
from datetime import UTC, datetime
from urllib.parse import unquote, urlsplit

import structlog

if not structlog.is_configured():
    # A program that only uses a database has its own lines on standard output.
    structlog.configure(logger_factory=lambda *_names: structlog.PrintLogger(sys.stderr))
log = structlog.get_logger()

SETTLED_SECONDS = 2.0
"""Seconds without a refusal before an outage counts as over: a full server refuses and accepts by turns."""
_MOST_REASONS = 8
"""Reasons of one outage that are logged; whatever follows is more of the same."""
_DIGITS = re.compile(r"\d+")


class OutageLog:
    """Log of the outages of one service, in one process. Threads may share it.

    Every reason is logged once in an outage; reasons that differ only in numbers (ports, process ids) are one.
    """

    def __init__(self, service: str, url: str) -> None:
        self._service = service
        self._secrets = _secrets_of(url)
        self._lock = threading.Lock()
        self._began = self._last = 0.0
        self._told: set[str] = set()
        self.since: datetime | None = None
        """When the outage that lasts began; None while the service answers."""

    def failed(self, error: object) -> str:
        """Note that the service could not be used; return the reason, without the secrets of its URL."""
        reason = self.reason_of(error)
        with self._lock:
            self._last = time.monotonic()
            if not self._told:
                self._began, self.since = self._last, datetime.now(UTC)
            key = _DIGITS.sub("", reason)
            if key in self._told or len(self._told) >= _MOST_REASONS:
                return reason
            self._told.add(key)
        log.error(f"{self._service} away", reason=reason)
        return reason

    def answered(self) -> None:
        """Note that the service answered."""
        if not self._told or time.monotonic() - self._last < SETTLED_SECONDS:
            return
        with self._lock:
            if not self._told:
                return
            self._told, self.since = set(), None
        log.warning(f"{self._service} back", away_seconds=round(self._last - self._began, 1))

    def reason_of(self, error: object) -> str:
        """What the driver said, on one line and without the secrets of the URL."""
        reason = " ".join(str(error).split()) or type(error).__name__
        for secret in self._secrets:
            reason = reason.replace(secret, "…")
        return reason


def _secrets_of(url: str) -> list[str]:
    """The URL's password as it stands there and as it is meant; also one among the URL's parameters."""
    try:
        password = urlsplit(url).password or ""
    except ValueError:
        password = ""
    given = [password, *re.findall(r"[?&](?:ssl)?password=([^&]+)", url)]
    return [secret for one in given if one for secret in sorted({one, unquote(one)}, key=len, reverse=True)]
