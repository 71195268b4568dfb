"""Gate before every request: under which host names the service answers, and how often a token or an address may ask.

The rates are token buckets in the process, so they hold without a broker.
"""

import base64
import ipaddress
import math
import re
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlsplit

from flask import Flask, Response, request
from werkzeug.routing import RequestRedirect

from registry.errors import Misdirected, TooManyRequests, Unauthenticated
from registry.settings import Settings

MOST_KEYS = 20_000
"""The most keys that are kept; the one that was not used for longest is dropped, which fills its bucket again."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests a second in the long run, and at once; 0 a second is no limit."""

    per_second: float
    burst: float

    def document(self) -> dict[str, float] | None:
        return {"per_second": self.per_second, "burst": self.burst} if self.per_second else None


class Buckets:
    """One bucket a key, all of one rate."""

    def __init__(self, rate: Rate, what: str, reason: str) -> None:
        self._rate = rate
        self._what = what
        self._reason = reason
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """The tokens left in a bucket, and when they were counted; the last used stands last."""

    def __contains__(self, key: str) -> bool:
        return key in self._levels

    def take(self, key: str, *, need: float = 1.0) -> None:
        """Take one from the key's bucket; `TooManyRequests`, and when to come back, if less than `need` is left."""
        if not self._rate.per_second:
            return
        now = time.monotonic()
        with self._lock:
            level = self._level(key, now)
            if level < need:
                raise TooManyRequests(f"{self._what}; ask more slowly.", self._after(need - level), self._reason)
            self._levels[key] = level - 1.0, now
            self._levels.move_to_end(key)
            if len(self._levels) > MOST_KEYS:
                self._levels.popitem(last=False)

    def check(self, key: str) -> None:
        """`TooManyRequests` when the key's bucket is empty; nothing is taken."""
        if self._rate.per_second:
            with self._lock:
                level = self._level(key, time.monotonic())
            if level < 1.0:
                raise TooManyRequests(f"{self._what}; try again later.", self._after(1.0 - level), self._reason)

    def _level(self, key: str, now: float) -> float:
        level, since = self._levels.get(key, (self._rate.burst, now))
        return min(self._rate.burst, level + (now - since) * self._rate.per_second)

    def _after(self, missing: float) -> int:
        return max(1, math.ceil(missing / self._rate.per_second))


UNCOUNTED = ("/healthz", "/readyz", "/metrics")
"""Probes of monitoring may use any host name, as often as they like."""
_HOST = re.compile(r"(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{0,5})?", re.IGNORECASE | re.ASCII)
"""A Host header: a name or an address, and a port."""
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_ALL_ADDRESSES = {"0.0.0.0", "::"}  # noqa: S104 (compared, not bound)
_CORS = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, If-Range, Last-Event-ID, Prefer, Range"
    ),
    "Access-Control-Max-Age": "600",
}
_EXPOSED = (
    "Accept-Ranges, Allow, Content-Range, ETag, Idempotent-Replayed, Link, Location, Preference-Applied,"
    " Registry-Events-Cursor, Registry-Events-Position, Retry-After, WWW-Authenticate, X-Request-Id"
)


class RequestPolicy:
    """The names and the rates of one service."""

    def __init__(self, settings: Settings) -> None:
        self._names = allowed_names(settings)
        self._addresses_too = settings.host in _ALL_ADDRESSES
        self._proxies = settings.proxies
        self._origins = set(split(settings.cors_origins))
        self._tokens = Buckets(token_rate(settings), "This token asks too often", "token_rate")
        self._addresses = Buckets(address_rate(settings), "This address asks too often", "address_rate")
        self._failures = Buckets(failure_rate(settings), "Too many bad tokens came from this address", "bad_tokens")

        rate, what = Rate(settings.question_rate, settings.question_burst), "This address asks too many new questions"
        self._questions = Buckets(rate, f"{what} without a token", "new_questions")

    def note_question(self) -> None:
        """Count a question that nobody asked before, by a caller without a token; `TooManyRequests` beyond the rate."""
        self._questions.take(self.address())

    def check(self) -> Response | None:
        """Let the request in; `Misdirected` or `TooManyRequests` if it may not, an answer to a browser's first ask."""
        if request.path in UNCOUNTED:
            return None
        self._check_name(request.environ.get("HTTP_HOST", ""))
        key = _key()
        if key is not None and key in self._tokens:
            self._tokens.take(key)
        else:
            self._failures.check(self.address())
            self._addresses.take(self.address())
        asks_first = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
        return Response(status=204, headers=_CORS) if asks_first and self._listed() else None

    def recognise(self) -> None:
        """The request's token was found good: from now on it has a bucket of its own."""
        key = _key()
        if key is not None and key not in self._tokens:
            self._tokens.take(key)

    def reject(self) -> None:
        """The request's token was no good."""
        self._failures.take(self.address(), need=-math.inf)

    def address(self) -> str:
        """The client's address; behind proxies, what the outermost of those that are ours saw."""
        seen = [one.strip() for one in request.headers.get("X-Forwarded-For", "").split(",") if one.strip()]
        if self._proxies and seen:
            return seen[-min(self._proxies, len(seen))]
        return request.remote_addr or ""

    def finish(self, response: Response) -> Response:
        """Let the pages of listed origins read the answer; others have no part in it (no CORS header at all).

        A redirection names a path only: what this service is called is not for a Host header to say.
        """
        if isinstance(request.routing_exception, RequestRedirect):
            there = urlsplit(request.routing_exception.new_url)
            path = "/" + there.path.lstrip("/")
            response.location = f"{path}?{there.query}" if there.query else path
            response.set_data(b"")
        if self._origins:
            response.vary.add("Origin")
            if self._listed():
                response.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
                response.headers["Access-Control-Expose-Headers"] = _EXPOSED
        return response

    def _listed(self) -> bool:
        return request.headers.get("Origin") in self._origins

    def _check_name(self, sent: str) -> None:
        if "*" in self._names:
            return
        if not _HOST.fullmatch(sent):
            raise Misdirected("The Host header names no host.")
        name = host_name(sent)
        if name not in self._names and not (self._addresses_too and _is_address(name)):
            raise Misdirected(
                f"This service is not called {name!r}; REGISTRY_HOSTS lists the names that it answers to."
            )


def enforce(app: Flask, policy: RequestPolicy) -> None:
    """Ask the gate before every request of this application."""
    app.before_request(policy.check)
    app.after_request(policy.finish)


def allowed_names(settings: Settings) -> frozenset[str]:
    """The host names that the service answers to, in lower case and without ports."""
    given = [settings.host, urlsplit(settings.url).hostname or "", *split(settings.hosts)]
    return frozenset(_LOOPBACK | {host_name(name) for name in given if name})


def host_name(host: str) -> str:
    """The name of a Host header: without port, brackets and the last dot."""
    text = host.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    name = text if text.count(":") > 1 else text.partition(":")[0]
    return name.removesuffix(".")


def split(text: str) -> list[str]:
    """The entries of a setting that lists several, separated by commas."""
    return [one.strip() for one in text.split(",") if one.strip()]


def token_rate(settings: Settings) -> Rate:
    return Rate(settings.token_rate, settings.token_burst)


def address_rate(settings: Settings) -> Rate:
    return Rate(settings.address_rate, settings.address_burst)


def failure_rate(settings: Settings) -> Rate:
    return Rate(settings.failure_rate, settings.failure_burst)


def sent_token() -> str | None:
    """The token of the Authorization header: Bearer, or of Basic the password, or the user name where that is empty.

    `Unauthenticated` if it has neither.
    """
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, rest = header.partition(" ")
    if scheme.lower() == "bearer" and rest.strip():
        return rest.strip()
    if scheme.lower() == "basic":
        try:
            name, _, password = base64.b64decode(rest, validate=True).decode().partition(":")
            return password or name
        except ValueError:
            pass
    raise Unauthenticated("The Authorization header is neither 'Bearer <token>' nor Basic with a token as password.")


def _key() -> str | None:
    """The key of the sent token, however the header spells it: a digest, so that memory holds no tokens."""
    try:
        token = sent_token()
    except Unauthenticated:
        return None
    return None if token is None else sha256(token.encode("utf-8", "replace")).hexdigest()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
