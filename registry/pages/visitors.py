"""Find out who looks at a page: by the session in a cookie, or by a trusted proxy that names the user."""

import hmac
import ipaddress
from functools import lru_cache

from flask import Response, g, request
from sqlalchemy import Connection

from registry.api.context import parts
from registry.api.request_policy import split
from registry.errors import Unauthenticated
from registry.grids.intake.levels import has_control
from registry.operations.sessions import Visitor, resume_session, vouched_visitor
from registry.operations.users import Identity
from registry.settings import PROXY_SECRET_HEADER, Settings, networks_of

PROXY = "proxy"
"""Issuer of the users whom a proxy names."""
_LONGEST_NAME, _MOST_GROUPS = 320, 200


def is_secure() -> bool:
    """Whether this request came by https, as far as the registry is told."""
    return request.is_secure or parts().settings.url.startswith("https://")


def session_cookie() -> str:
    """Name of the cookie of a session. Under https it has the prefix by which a browser lets no other host set it."""
    return "__Host-registry_session" if is_secure() else "registry_session"


def set_cookie(response: Response, name: str, value: str, seconds: int, *, path: str = "/") -> Response:
    """Give the browser a cookie that no script reads; 0 seconds take it away."""
    response.set_cookie(name, value, max_age=seconds, secure=is_secure(), httponly=True, samesite="Lax", path=path)
    response.headers["Cache-Control"] = "no-store"
    return response


def visitor_of(connection: Connection) -> Visitor | None:
    """Who sent this request; None for strangers. A session that is over is noted for the answer."""
    secret = request.cookies.get(session_cookie())
    if secret is not None:
        try:
            return resume_session(connection, secret)
        except Unauthenticated:
            g.session_is_over = True
    identity = vouched_identity()
    return None if identity is None else vouched_visitor(connection, identity)


def vouched_identity() -> Identity | None:
    """User whom a trusted proxy names in this request; None without one, or when the request is not from the proxy."""
    settings = parts().settings
    name = request.headers.get(settings.proxy_user_header, "").strip() if settings.proxy_user_header else ""
    # A comma joins what two headers of this name say: one of them may be the client's own.
    if not name or "," in name or len(name) > _LONGEST_NAME or has_control(name) or not _is_from_proxy(settings):
        return None
    told = request.headers.get(settings.proxy_groups_header, "") if settings.proxy_groups_header else ""
    return Identity(PROXY, name, name, tuple(split(told))[:_MOST_GROUPS])


def _is_from_proxy(settings: Settings) -> bool:
    """Whether the peer of this connection has a trusted address, and the shared secret, as far as they are set.

    `X-Forwarded-For` is not asked: anybody can write it.
    """
    if not settings.trusts_proxy:
        return False
    if settings.proxy_secret:
        sent = request.headers.get(PROXY_SECRET_HEADER, "")
        if not hmac.compare_digest(sent.encode(), settings.proxy_secret.encode()):
            return False
    return not settings.proxy_addresses or _is_among(settings.proxy_addresses, request.remote_addr or "")


@lru_cache(maxsize=1024)
def _is_among(addresses: str, address: str) -> bool:
    try:
        peer = ipaddress.ip_address(address)
    except ValueError:
        return False  # a socket of this machine has no address
    peer = getattr(peer, "ipv4_mapped", None) or peer
    return any(peer in network for network in networks_of(addresses))
