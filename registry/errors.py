"""Errors in the registry's words. Only `registry.api.problems` translates them to HTTP."""

from collections.abc import Iterable
from typing import NamedTuple


class Fault(NamedTuple):
    """One error in a submission: a JSON pointer to the place, and a description."""

    pointer: str
    detail: str


class RegistryError(Exception):
    """Base class of all errors raised on purpose; the text is meant for the user."""

    code = "error"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.reason = self.code
        """Word for operators: in logs and metrics, one of few."""


class Malformed(RegistryError):
    """The body is not what its content type says: bad JSON, a repeated key, NaN, invalid UTF-8."""

    code = "malformed"


class Invalid(RegistryError):
    """The body is well-formed but not allowed; every fault carries a pointer."""

    code = "invalid"

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        first = self.faults[0]
        place = first.pointer or "the body"
        super().__init__(
            f"{place}: {first.detail}"
            if len(self.faults) == 1
            else f"{len(self.faults)} faults; {place}: {first.detail}"
        )


class InvalidHeader(Invalid):
    """A header of the request is not allowed; its one fault has no place in the body."""

    def __init__(self, detail: str) -> None:
        super().__init__([Fault("", detail)])
        self.detail = detail


class NotAcceptable(RegistryError):
    """What is asked for has none of the forms that the caller takes."""

    code = "not_acceptable"


class TooLarge(RegistryError):
    code = "too_large"


class Unauthenticated(RegistryError):
    code = "unauthenticated"


class Forbidden(RegistryError):
    code = "forbidden"


class NotFound(RegistryError):
    """The thing is absent, or the caller may not know of it."""

    code = "not_found"


class Conflict(RegistryError):
    """Another thing is in the way: a taken name, a concurrent writer."""

    code = "conflict"


class CursorExpired(RegistryError):
    """The feed no longer keeps what follows the cursor; `first` is the cursor of all that is kept."""

    code = "cursor_expired"

    def __init__(self, detail: str, first: str) -> None:
        super().__init__(detail)
        self.first = first


class PreconditionFailed(RegistryError):
    """`If-Match` or `If-None-Match` did not hold."""

    code = "precondition_failed"


class NotInstalled(RegistryError):
    """This server was installed without a package that the response needs."""

    code = "not_installed"


class TryLater(RegistryError):
    """The request is fine but cannot be served now; repeat it after `after` seconds."""

    code = "try_later"

    def __init__(self, detail: str, after: int = 1, reason: str = "") -> None:
        super().__init__(detail)
        self.after = after
        self.reason = reason or self.code


class Busy(TryLater):
    """Another request holds what this one needs."""

    code = "busy"


class Pending(TryLater):
    """What was asked for is still being computed, and the form that it was asked for in cannot say so."""

    code = "pending"


class Failed(RegistryError):
    """What was asked for could not be computed, and the form that it was asked for in cannot say so."""

    code = "failed"


class TooManyRequests(TryLater):
    """The caller has exceeded its rate."""

    code = "too_many_requests"


class Misdirected(RegistryError):
    """The request is for a service of another name."""

    code = "misdirected"


class Unavailable(TryLater):
    """The database does not answer, or takes no writes.

    `cause` is what the driver said, for operators: it is never sent to a client.
    """

    code = "unavailable"

    def __init__(self, detail: str, after: int = 1, reason: str = "", *, cause: str = "") -> None:
        super().__init__(detail, after, reason)
        self.cause = cause


class Misconfigured(RegistryError):
    """A setting has a value that cannot work; the process stops with this sentence."""

    code = "misconfigured"
