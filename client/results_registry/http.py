"""HTTP to one registry: kept-alive connections, time limits, gzip, repeats, and problems as exceptions.

A request is repeated only where a repetition is harmless: a read, or a write with an `Idempotency-Key`. The token goes
to the registry's own origin and nowhere else, and stands in no message, `repr` or log.

Connections are plain or TLS, directly or through the environment's proxy; problems are those of RFC 9457.
"""

import base64
import email.utils
import http.client
import json
import os
import select
import threading
import time
import urllib.parse
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from results_registry import __version__
from results_registry.errors import BadAddress, NotAllowed, NotNow, NotThere, Refused, Unreachable
from results_registry.origin import Origin, backoff, clean_token, split_url
from results_registry.positions import Position

_CONNECT_SECONDS = 10.0
API = "/api/v1"
_BROKEN = (OSError, http.client.HTTPException, zlib.error, EOFError)
_HARMLESS = ("GET", "HEAD", "OPTIONS")
_COMPRESSED_FROM = 8192
_REDIRECTS = 5


class Connection:
    """One kept-alive connection to an origin."""

    def __init__(self, origin: Origin) -> None:
        self.prefix = ""
        self.headers: dict[str, str] = {}
        """Headers that each request needs because of a proxy."""
        self.http = self._made(origin)

    def _made(self, origin: Origin) -> http.client.HTTPConnection:
        proxy = _proxy(origin)
        if proxy is None:
            return _http_connection(origin.scheme, origin.host, origin.port)
        where, credentials = proxy
        if origin.scheme == "http":
            self.prefix, self.headers = str(origin), credentials
            return _http_connection("http", where.host, where.port)
        connection = _http_connection("https", where.host, where.port)
        connection.set_tunnel(origin.host, origin.port, credentials)
        return connection

    @property
    def is_open(self) -> bool:
        return self.http.sock is not None

    @property
    def is_stale(self) -> bool:
        """True if the server has closed its end, or has sent what nobody asked for."""
        if self.http.sock is None:
            return False
        try:
            poll = select.poll()
            poll.register(self.http.sock, select.POLLIN)
            return bool(poll.poll(0))
        except (OSError, ValueError):
            return True

    def open(self, seconds: float) -> None:
        """Connect, if that is not done, and let each further wait for the network take so many seconds at most."""
        if self.http.sock is None:
            self.http.timeout = min(seconds, _CONNECT_SECONDS)
            self.http.connect()
        self.http.sock.settimeout(seconds)

    def close(self) -> None:
        self.http.close()

    def __del__(self) -> None:
        # A thread that ends leaves its connection behind, and nobody else can close it.
        if "http" in self.__dict__:
            self.http.close()


def prepare(origin: Origin) -> None:
    """Import what a connection to this origin needs, so that none of it is imported while a request is under way."""
    # A name is looked up through this codec. A child that is forked while it is imported never finds it.
    "localhost".encode("idna")
    if origin.scheme == "https":
        import ssl  # noqa: F401
    _proxy(origin)


def _http_connection(scheme: str, host: str, port: int) -> http.client.HTTPConnection:
    if scheme == "http":
        return http.client.HTTPConnection(host, port)
    import ssl

    return http.client.HTTPSConnection(host, port, context=ssl.create_default_context())


def _proxy(origin: Origin) -> tuple[Origin, dict[str, str]] | None:
    """The proxy that the environment (`https_proxy`, `no_proxy`) names for an origin, and the header it wants."""
    if origin.host == "localhost" or origin.host.startswith("127.") or origin.host == "::1":
        return None
    from urllib.request import getproxies, proxy_bypass

    named = getproxies().get(origin.scheme)
    if not named or proxy_bypass(origin.authority) or proxy_bypass(origin.host):
        return None
    parts = urllib.parse.urlsplit(named if "://" in named else f"http://{named}")
    if parts.scheme != "http" or not parts.hostname:
        raise BadAddress(f"{origin.scheme}_proxy must be the http:// URL of a proxy.")
    headers = {}
    if parts.username is not None:
        pair = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    return Origin("http", parts.hostname, parts.port or 80), headers


class Transport:
    """Requests to one registry. May be shared by threads and survives a fork: each thread has its own connection.

    `timeout` is how long one wait for the network may take, `patience` how long a request and its repeats may take
    together; both in seconds. Nobody listening is an error after four attempts.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 30.0, patience: float = 60.0) -> None:
        self.origin, self.base = split_url(url)
        prepare(self.origin)
        self.timeout, self.patience = timeout, patience
        self._token = None if token is None else clean_token(token)
        self._position = Position(self.url)
        self._local = threading.local()
        self._sleep: Callable[[float], object] = time.sleep

    def __repr__(self) -> str:
        return f"Transport({self.url!r})"

    def __enter__(self) -> "Transport":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Address of the registry, without a slash at the end."""
        return f"{self.origin}{self.base}"

    def get(self, path: str, *, headers: Mapping[str, str] | None = None, **query: Any) -> Any:
        """The JSON that a GET answers. `query`: text, numbers, booleans, lists of them (repeated), None (left out)."""
        return self.call("GET", path, query=query, headers=headers).json()

    def pages(self, path: str, **query: Any) -> Iterator[Any]:
        """The items of a list, page after page."""
        query.setdefault("limit", 1000)
        while True:
            page = self.get(path, **query)
            yield from page["items"]
            if page.get("next") is None:
                return
            query["cursor"] = page["next"]

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        patience: float | None = None,
        repeat: bool = True,
    ) -> "Answer":
        """Send a request and return its answer, repeating it while that is harmless and may help (or not: `repeat`).

        `path` is below /api/v1 unless it begins with a slash. `body` is bytes, sent as they are, or anything else,
        sent as JSON. Raises `Refused` for an answer from 400 up (`NotAllowed`, `NotThere` and `NotNow` are its kinds)
        and `Unreachable` when there is none.
        """
        target, sent, payload = self._target(path, query), self._headers(body, headers), _payload(body)
        if payload is not None and len(payload) >= _COMPRESSED_FROM and "Content-Encoding" not in sent:
            payload, sent["Content-Encoding"] = compressed(payload, 6), "gzip"
        harmless = method in _HARMLESS or "Idempotency-Key" in sent
        until = time.monotonic() + (self.patience if patience is None else patience)
        attempt = 0
        while True:
            try:
                return self._followed(method, target, payload, sent, until, harmless=harmless)
            except (Unreachable, NotNow) as error:
                attempt += 1
                pause = backoff(attempt, float(error.after) if isinstance(error, NotNow) else 0.0)
                again = repeat and _may_repeat(error, attempt, harmless)
                if not again or time.monotonic() + pause >= until:
                    raise
            self._sleep(pause)

    @contextmanager
    def stream(
        self, path: str, *, query: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> Iterator[tuple[Mapping[str, str], Iterable[bytes]]]:
        """The headers and the chunks of a large answer to a GET, not compressed any more; one attempt."""
        connection = Connection(self.origin)
        try:
            sent = self._headers(None, headers)
            response = self._send(connection, "GET", self._target(path, query), None, sent, self.timeout)
            found = {name.lower(): text for name, text in response.getheaders()}
            if response.status >= 300:
                raise_problem(response.status, found, read_whole(response, found))
            self._position.note(found)
            yield found, read_chunks(response, found)
        except _BROKEN as error:
            raise self._unreachable(error) from None
        finally:
            connection.close()

    def close(self) -> None:
        """Close this thread's connection."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _target(self, path: str, query: Mapping[str, Any] | None) -> str:
        full = path if path.startswith("/") else f"{API}/{path}"
        pairs = [(name, _text(one)) for name, given in (query or {}).items() for one in _listed(given)]
        return self.base + full + ("?" + urllib.parse.urlencode(pairs) if pairs else "")

    def _headers(self, body: Any, given: Mapping[str, str] | None) -> dict[str, str]:
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": f"results-registry-client/{__version__}",
        }
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        return headers | dict(given or {})

    def _followed(
        self, method: str, target: str, payload: bytes | None, sent: dict[str, str], until: float, *, harmless: bool
    ) -> "Answer":
        """The answer after redirects within the registry's own origin; another origin is an error."""
        for _ in range(_REDIRECTS):
            answer = self._exchange(method, target, payload, sent, until, harmless=harmless)
            if answer.status not in (301, 302, 303, 307, 308):
                return answer
            target = self._redirected(target, answer.headers.get("location", ""))
            if answer.status == 303:
                method, payload = "GET", None
            elif method not in _HARMLESS and answer.status in (301, 302):
                raise BadAddress(f"{self.url} redirects writes to {self.origin}{target}; use that as the URL.")
        raise BadAddress(f"{self.url} redirects in a circle.")

    def _redirected(self, target: str, location: str) -> str:
        there = urllib.parse.urljoin(f"{self.origin}{target}", location)
        parts = urllib.parse.urlsplit(there)
        if split_url(f"{parts.scheme}://{parts.netloc}")[0] != self.origin:
            raise BadAddress(f"{self.url} redirects to another place, {parts.scheme}://{parts.netloc}; use its URL.")
        return parts.path + (f"?{parts.query}" if parts.query else "")

    def _exchange(
        self, method: str, target: str, payload: bytes | None, sent: dict[str, str], until: float, *, harmless: bool
    ) -> "Answer":
        connection = self._connection()
        if connection.is_open and (not harmless or connection.is_stale):
            # A kept connection may be closed under a request, which then may or may not have arrived.
            connection.close()
        seconds = max(0.05, min(self.timeout, until - time.monotonic()))
        try:
            response = self._send(connection, method, target, payload, sent, seconds)
            headers = {name.lower(): text for name, text in response.getheaders()}
            body = read_whole(response, headers)
        except _BROKEN as error:
            connection.close()
            raise self._unreachable(error) from None
        except BaseException:
            connection.close()
            raise
        if response.status >= 400:
            raise_problem(response.status, headers, body)
        self._position.note(headers)
        return Answer(response.status, headers, body)

    def _send(
        self,
        connection: Connection,
        method: str,
        target: str,
        payload: bytes | None,
        sent: dict[str, str],
        seconds: float,
    ) -> http.client.HTTPResponse:
        connection.open(seconds)
        # A position that is known goes before one that a caller sends to be told one.
        headers = {"Host": self.origin.authority} | sent | self._position.headers() | connection.headers
        connection.http.request(method, connection.prefix + target, payload, headers)
        return connection.http.getresponse()

    def _connection(self) -> Connection:
        """This thread's connection; after a fork another one, because the old one is still the parent's."""
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None or self._local.process != os.getpid():
            connection = self._local.connection = Connection(self.origin)
            self._local.process = os.getpid()
        return connection

    def _unreachable(self, error: BaseException) -> Unreachable:
        reason = "it took too long" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
        return Unreachable(f"No answer from {self.url}: {reason}.")


def compressed(data: bytes, level: int) -> bytes:
    """The data as gzip; the same bytes for the same data here, though another zlib may make others."""
    made = zlib.compressobj(level, wbits=31)
    return made.compress(data) + made.flush()


def _payload(body: Any) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple, set, frozenset)) else [given]


def _text(given: Any) -> str:
    return str(given).lower() if isinstance(given, bool) else str(given)


def _may_repeat(error: Unreachable | NotNow, attempt: int, harmless: bool) -> bool:
    if isinstance(error, NotNow):
        return harmless or error.status == 429
    return harmless and attempt < 4


_NOT_NOW = (408, 425, 429, 500, 502, 503, 504)
_CHUNK = 1 << 16


class Answer(NamedTuple):
    """An answer of the registry below 400. Header names are in lower case; the body is not compressed any more."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON; raises `Unreachable` when something else than the registry answered."""
        try:
            return json.loads(self.body)
        except ValueError:
            raise Unreachable("The answer is not JSON: something else than a registry answers there.") from None

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


def read_whole(response: http.client.HTTPResponse, headers: Mapping[str, str]) -> bytes:
    """The body of a response, not compressed any more."""
    return b"".join(read_chunks(response, headers))


def read_chunks(response: http.client.HTTPResponse, headers: Mapping[str, str]) -> Iterator[bytes]:
    """The body of a response in chunks, not compressed any more. Raises what a connection that breaks raises."""
    inflate = zlib.decompressobj(wbits=31) if headers.get("content-encoding", "").lower() == "gzip" else None
    # A stream of events is read as it comes, not a block at a time.
    is_stream = headers.get("content-type", "").startswith("text/event-stream")
    while chunk := (response.read1 if is_stream else response.read)(_CHUNK):
        yield chunk if inflate is None else inflate.decompress(chunk)
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)


def raise_problem(status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Raise the exception of an answer from 400 up."""
    problem = _problem(status, headers, body)
    if status in (401, 403):
        raise NotAllowed(status, problem)
    if status == 404:
        raise NotThere(status, problem)
    if status in _NOT_NOW or (status == 409 and "retry-after" in headers):
        raise NotNow(status, problem, _after(headers.get("retry-after")))
    raise Refused(status, problem)


def _problem(status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    if "json" in headers.get("content-type", ""):
        try:
            found = json.loads(body)
        except ValueError:
            found = None
        if isinstance(found, dict):
            return found
    reason = http.client.responses.get(status, "an error")
    return {"status": status, "title": reason, "detail": f"The server answered {status} ({reason})."}


def _after(header: str | None) -> int:
    """The seconds of a `Retry-After`, which is a number or a date; 1 when it says nothing."""
    if header is None:
        return 1
    try:
        return max(0, int(header)) if header.strip().isdecimal() else _until(header)
    except (TypeError, ValueError):
        return 1


def _until(date: str) -> int:
    return max(0, round(email.utils.parsedate_to_datetime(date).timestamp() - time.time()))
