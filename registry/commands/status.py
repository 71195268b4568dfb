"""The exit statuses of every command, the same everywhere: scripts branch on them."""

from __future__ import annotations

from registry.errors import Forbidden, RegistryError, Unauthenticated, Unavailable
from results_registry.errors import ClientError, NotAllowed, NotNow, Unreachable

ERROR = 1
USAGE = 2
CHECK_FAILED = 3
REFUSED = 4
UNREACHABLE = 5
INTERRUPTED = 130

UserError = RegistryError | ClientError
USER_ERRORS = (RegistryError, ClientError)
"""Errors whose `detail` is one sentence for the user: raised here, or by the client that asks a server."""


class CheckFailed(RegistryError):
    """The command did its work, and what it was asked to check does not hold."""

    code = "check_failed"


def status_of(error: UserError) -> int:
    """The exit status that says what kind of error ended the command."""
    match error:
        case CheckFailed():
            return CHECK_FAILED
        case Unauthenticated() | Forbidden() | NotAllowed():
            return REFUSED
        case Unreachable() | NotNow() | Unavailable():
            return UNREACHABLE
        case _:
            return ERROR
