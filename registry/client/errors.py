"""What can go wrong between a client and the registry: one small tree, rooted in the registry's own errors.

`except ClientError` takes everything that this package raises; the classes of `registry.errors` beside it say what
kind of error it is to whoever turns errors into exit statuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry import errors


class ClientError(errors.RegistryError):
    """The root of what the client raises."""

    code = "client"


class BadData(ClientError, ValueError):
    """The data cannot be read as a grid."""

    code = "bad_data"


class BadAddress(ClientError, errors.Misconfigured):
    """The URL, the token or a redirect cannot be used."""

    code = "bad_address"


class Unreachable(ClientError, errors.Unavailable):
    """No answer came: whether a write took effect is unknown, so repeat it."""

    code = "unreachable"

    def __init__(self, detail: str, after: int = 1) -> None:
        errors.Unavailable.__init__(self, detail, after)


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


class NotAllowed(Refused, errors.Forbidden):
    """401 or 403: the token is missing, expired, or may not do this."""

    code = "not_allowed"


class NotThere(Refused, errors.NotFound):
    """404: absent, or nothing that this token may know of."""

    code = "not_there"


class NotNow(Refused, errors.Unavailable):
    """429, a 5xx, or a 409 that says when: nothing is wrong with the request; repeat it after `after` seconds."""

    code = "not_now"

    def __init__(self, status: int, problem: Mapping[str, Any], after: int = 1) -> None:
        Refused.__init__(self, status, problem)
        self.after = after

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.problem, self.after)


def _faults(problem: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given = problem.get("errors")
    return [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []
