"""One POST to an address that a user named: bounded in time and bytes, and sent nowhere but where it may be.

The name is resolved once. If any of its addresses may not be sent to, none is; else the socket is connected to one of
those very addresses, so that a second answer of the name server changes nothing, while TLS verifies the certificate for
the name. `http.client` writes and reads HTTP on that socket: clients that pool connections resolve and connect by
themselves, follow what the environment says of proxies, and have no deadline for a whole answer.

Why an attempt got no answer, in the few words that users see. They say nothing of what is around the registry: no
address, no port, no time; and a name that does not resolve is told like one whose address is not allowed, lest names of
inner networks be found by trying.
"""

import io
import queue
import select
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from errno import EHOSTUNREACH, ENETUNREACH
from functools import lru_cache
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import ip_address
from typing import Any, Literal

from registry.destinations import Address, Allowed, Destination, read_destination

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
SECONDS = 15.0
"""For one attempt, from resolving the name to the last byte of the answer's head."""
_BODY_SECONDS = 2.0
"""Time for what is behind the head; it decides nothing, so little time is spent on it."""
_CONNECT_SECONDS = 5.0
"""For one of several addresses."""
_MOST_ADDRESSES = 4
_getaddrinfo = socket.getaddrinfo
MOST_READ = 65_536
"""Bytes of an answer, head and body, that are read at most."""
KEPT = 1_000
"""Bytes of the body that are kept."""


def reason_of(error: OSError | HTTPException | ValueError) -> Reason:
    """Say to users what went wrong between a name and an answer."""
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


class Unreachable(Exception):
    """No answer came, for a reason that users are told. The text is for the log of the operator alone: it names
    addresses of inner networks."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its status, headers by names in small letters, the beginning of its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Sender:
    """POSTs to one receiver, on a connection that is kept from one request to the next as long as the block lasts."""

    def __init__(self) -> None:
        self._kept: socket.socket | None = None
        self._peer: tuple[str, str, int] | None = None

    def __enter__(self) -> "Sender":
        return self

    def __exit__(self, *_raised: object) -> None:
        self._close()

    def post(self, url: str, body: bytes, headers: Mapping[str, str], allowed: Allowed) -> Answer:
        """POST a body and return the answer, whatever its status; redirects are not followed. `Unreachable` without
        one."""
        deadline = time.monotonic() + SECONDS
        try:
            destination = read_destination(url, allowed)
        except ValueError as error:
            raise Unreachable(NOWHERE, f"the URL {error}") from error
        try:
            return self._asked(destination, body, headers, allowed, deadline)
        # UnicodeError: of the codec idna, which getaddrinfo uses.
        except (OSError, HTTPException, ValueError) as error:
            raise Unreachable(reason_of(error), f"{type(error).__name__}: {error}") from error

    def _asked(
        self, destination: Destination, body: bytes, headers: Mapping[str, str], allowed: Allowed, deadline: float
    ) -> Answer:
        peer = (destination.scheme, destination.host, destination.port)
        if self._kept is not None and self._peer == peer and not _has_word(self._kept):
            try:
                return self._ask(self._kept, destination, body, headers, deadline)
            except (ConnectionError, ssl.SSLEOFError):
                """The receiver closed it meanwhile, as it may."""
        self._close()
        addresses = _resolved(destination, allowed, deadline)
        self._kept, self._peer = _connected(destination, addresses, deadline), peer
        return self._ask(self._kept, destination, body, headers, deadline)

    def _ask(
        self,
        connection: socket.socket,
        destination: Destination,
        body: bytes,
        headers: Mapping[str, str],
        deadline: float,
    ) -> Answer:
        is_kept = False
        try:
            answer, is_kept = _ask(connection, destination, body, headers, deadline)
        finally:
            if not is_kept:
                self._close()
        return answer

    def _close(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None


def _has_word(connection: socket.socket) -> bool:
    """Tell whether something came on a connection on which nothing is awaited: its end, as a rule."""
    looked = select.poll()
    looked.register(connection, select.POLLIN)
    return bool(looked.poll(0))


def _resolved(destination: Destination, allowed: Allowed, deadline: float) -> list[Address]:
    """All addresses of the host; `Unreachable` if there is one to which nothing may be sent."""
    try:
        found = [ip_address(destination.host)]
    except ValueError:
        found = [ip_address(one) for one in _look_up(destination.host, destination.port, deadline)]
    refused = [one for one in found if not allowed.permits(destination.host, one)]
    if not found:
        raise Unreachable(NOWHERE, f"{destination.host} has no address")
    if refused:
        detail = f"{destination.host} may not be sent to: it has the addresses {', '.join(map(str, found))}"
        raise Unreachable(NOWHERE, detail)
    return found[:_MOST_ADDRESSES]


def _look_up(host: str, port: int, deadline: float) -> list[str]:
    """Addresses of a name, each once. A name server that lets us wait holds a thread of the resolver, not this one."""
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def look() -> None:
        try:
            answers.put(_getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answers.put(error)

    threading.Thread(target=look, name="resolver", daemon=True).start()
    try:
        found = answers.get(timeout=_left(deadline))
    except queue.Empty:
        raise Unreachable(NOWHERE, f"{host} was not resolved in time") from None
    if isinstance(found, Exception):
        raise found
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _connected(destination: Destination, addresses: list[Address], deadline: float) -> socket.socket:
    """A connection to one of these addresses, encrypted where the scheme says so."""
    failed: Exception = OSError("no address")
    for address in addresses:
        try:
            plain = socket.create_connection(
                (str(address), destination.port), timeout=min(_left(deadline), _CONNECT_SECONDS)
            )
        except OSError as error:
            failed = error
            continue
        try:
            if ip_address(plain.getpeername()[0]) != address:
                detail = f"connected to {plain.getpeername()[0]} instead of {address}"
                raise Unreachable(NOWHERE, detail)
            # The head and the body are two writes: on a kept connection the second would wait for the first's receipt.
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if destination.scheme == "http":
                return plain
            plain.settimeout(_left(deadline))  # for the whole handshake: OpenSSL's calls have one deadline
            return context().wrap_socket(plain, server_hostname=destination.host)
        except BaseException:
            plain.close()
            raise
    raise failed


@lru_cache(maxsize=1)
def context() -> ssl.SSLContext:
    """Certificates are verified by what the system trusts, or SSL_CERT_FILE. Made once: reading it takes long."""
    return ssl.create_default_context()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time for this attempt is over")
    return left


class _Wire:
    """A socket as `http.client` uses one, on which nothing lasts beyond a deadline and no more than a bound is read."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self.connection, self.deadline, self.unread = connection, deadline, MOST_READ

    def sendall(self, data: bytes) -> None:
        self.connection.settimeout(_left(self.deadline))
        self.connection.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self))

    def close(self) -> None:
        """Leave the connection open: `http.client` closes before the body is read; who opened it closes it."""


class _Incoming(io.RawIOBase):
    """Reader of what comes in on a wire."""

    def __init__(self, wire: _Wire) -> None:
        self._wire = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        wire = self._wire
        if not wire.unread:
            raise HTTPException(f"the answer has more than {MOST_READ:,} bytes")
        wire.connection.settimeout(_left(wire.deadline))
        count = wire.connection.recv_into(memoryview(buffer)[: wire.unread])
        wire.unread -= count
        return count


def _ask(
    connection: socket.socket, destination: Destination, body: bytes, headers: Mapping[str, str], deadline: float
) -> tuple[Answer, bool]:
    """An answer, and whether the connection can be asked again: the answer was read to its end."""
    wire = _Wire(connection, deadline)
    client = HTTPConnection(destination.host)
    client.sock = wire
    client.request("POST", destination.target, body, {"Host": destination.authority, **headers})
    response = client.getresponse()
    wire.deadline = min(deadline, time.monotonic() + _BODY_SECONDS)
    found = {name.lower(): value for name, value in response.getheaders()}
    beginning = _beginning(response)
    is_read = response.isclosed() or response.length == 0
    return Answer(response.status, found, beginning), is_read and not response.will_close


def _beginning(response: HTTPResponse) -> bytes:
    """The first bytes of the body, as far as they come: the status stands without them."""
    found = b""
    try:
        while len(found) < KEPT and (more := response.read1(KEPT - len(found))):
            found += more
    except (OSError, HTTPException, ValueError):
        pass
    return found
