"""A connection to a registry: plain or TLS, directly or through the environment's proxy."""

from __future__ import annotations

import base64
import http.client
import select
import urllib.parse

from results_registry.errors import BadAddress
from results_registry.origin import Origin

_CONNECT_SECONDS = 10.0


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
        """Whether the server has closed its end, or has sent what nobody asked for."""
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
