"""The exceptions of the client: `except ClientError` catches everything that it raises on purpose.

Messages of the client while a job runs: each of them once, through the logger `results_registry`.
"""

import logging
from collections.abc import Mapping
from typing import Any


class ClientError(Exception):
    """The root of what the client raises on purpose; `detail` is a sentence for the user."""

    code = "client"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class BadData(ClientError, ValueError):
    """The data cannot be read as a grid."""

    code = "bad_data"


class BadAddress(ClientError):
    """The URL, the token or a redirect cannot be used."""

    code = "bad_address"


class Unreachable(ClientError):
    """No answer came: whether a write took effect is unknown, so repeat it."""

    code = "unreachable"

    def __init__(self, detail: str, after: int = 1) -> None:
        super().__init__(detail)
        self.after = after


class Refused(ClientError):
    """The registry answered with a problem (RFC 9457).

    `status`, `title` and `detail` are the problem's; `errors` holds pairs of a JSON pointer and what is wrong there;
    `request_id` finds the request in the server's log; `problem` is the whole document.
    """

    code = "refused"

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = dict(problem)
        self.title = str(problem.get("title") or "")
        self.errors = [(str(one.get("pointer", "")), str(one.get("detail", ""))) for one in _faults(problem)]
        self.request_id = str(problem.get("instance") or "")
        super().__init__(str(problem.get("detail") or self.title or f"the server answered {status}"))

    def __str__(self) -> str:
        return f"{self.status}: {self.detail}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.problem)


class NotAllowed(Refused):
    """401 or 403: the token is missing, expired, or may not do this."""

    code = "not_allowed"


class NotThere(Refused):
    """404: absent, or nothing that this token may know of."""

    code = "not_there"


class NotNow(Refused):
    """429, a 5xx, or a 409 that says when: nothing is wrong with the request; repeat it after `after` seconds."""

    code = "not_now"

    def __init__(self, status: int, problem: Mapping[str, Any], after: int = 1) -> None:
        super().__init__(status, problem)
        self.after = after

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.problem, self.after)


def _faults(problem: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given = problem.get("errors")
    return [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []


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
