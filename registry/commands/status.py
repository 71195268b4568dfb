"""Errors of commands: those that they raise themselves, and exit statuses of all, for scripts to branch on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from registry.errors import Forbidden, RegistryError, Unauthenticated, Unavailable
from results_registry.errors import ClientError, NotAllowed, NotNow, Unreachable

ERROR = 1
USAGE = 2
CHECK_FAILED = 3
REFUSED = 4
UNREACHABLE = 5
UNDECIDED = 6
INTERRUPTED = 130

UserError = RegistryError | ClientError
USER_ERRORS = (RegistryError, ClientError)
"""Errors whose `detail` is one sentence for the user, raised here or by the client library."""


class CheckFailed(RegistryError):
    """The command did its work, and the check it was asked for fails."""

    code = "check_failed"


class Undecided(RegistryError):
    """The command did its work, and what it was asked to decide cannot be decided."""

    code = "undecided"


def status_of(error: UserError) -> int:
    """Exit status for the kind of error that ended the command."""
    match error:
        case CheckFailed():
            return CHECK_FAILED
        case Undecided():
            return UNDECIDED
        case Unauthenticated() | Forbidden() | NotAllowed():
            return REFUSED
        case Unreachable() | NotNow() | Unavailable():
            return UNREACHABLE
        case _:
            return ERROR


class Unwritable(RegistryError):
    """A file or a directory cannot be written."""

    code = "unwritable"


@contextmanager
def writable(target: str | Path) -> Iterator[None]:
    """Report an error of the system as one of this file or directory, and not as one of the connection."""
    try:
        yield
    except OSError as error:
        raise Unwritable(f"{target} cannot be written: {error.strerror or error}.") from error
