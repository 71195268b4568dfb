"""Why an attempt got no answer, in the few words that users see.

They say nothing of what is around the registry: no address, no port, no time; and a name that does not resolve is told
like one whose address is not allowed, lest names of inner networks be found by trying.
"""

from __future__ import annotations

import socket
import ssl
from errno import EHOSTUNREACH, ENETUNREACH
from http.client import HTTPException
from typing import Literal

Reason = Literal[
    "no address that may be sent to",
    "the connection was refused",
    "there is no way to the host",
    "the certificate is not valid for this host, or not trusted",
    "no encrypted connection",
    "timed out",
    "the connection was closed without an answer",
    "the answer is not HTTP",
    "no connection",
]


NOWHERE: Reason = "no address that may be sent to"


def reason_of(error: OSError | HTTPException | ValueError) -> Reason:
    """What users are told of what went wrong between a name and an answer."""
    if isinstance(error, OSError) and error.errno in (EHOSTUNREACH, ENETUNREACH):
        return "there is no way to the host"
    return next((reason for kinds, reason in _REASONS if isinstance(error, kinds)), "no connection")


_REASONS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], Reason], ...] = (
    # The first that fits: most of these are errors of the operating system too.
    ((socket.gaierror, UnicodeError), NOWHERE),
    (ssl.SSLCertVerificationError, "the certificate is not valid for this host, or not trusted"),
    (ssl.SSLError, "no encrypted connection"),
    (TimeoutError, "timed out"),
    (ConnectionRefusedError, "the connection was refused"),
    (ConnectionError, "the connection was closed without an answer"),
    ((HTTPException, ValueError), "the answer is not HTTP"),
)
