"""The exit statuses of every command, the same everywhere: scripts branch on them."""

from __future__ import annotations

from registry.errors import Forbidden, RegistryError, Unauthenticated, Unavailable

ERROR = 1
USAGE = 2
CHECK_FAILED = 3
REFUSED = 4
UNREACHABLE = 5
INTERRUPTED = 130


class Unreachable(RegistryError):
    """No server answered at the address."""

    code = "unreachable"


class CheckFailed(RegistryError):
    """The command did its work, and what it was asked to check does not hold."""

    code = "check_failed"


def status_of(error: RegistryError) -> int:
    """The exit status that says what kind of error ended the command."""
    match error:
        case CheckFailed():
            return CHECK_FAILED
        case Unauthenticated() | Forbidden():
            return REFUSED
        case Unreachable() | Unavailable():
            return UNREACHABLE
        case _:
            return ERROR
