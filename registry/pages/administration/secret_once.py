"""A secret from the answer that made it to the one page that shows it: it stands in no address and in no cache."""

from __future__ import annotations

from flask import Response, request

from registry.pages.visitors import is_secure

_COOKIE = "registry_secret"
_SECONDS = 120
"""How long a browser keeps the secret for the page that shows it."""


def hand_over(response: Response, path: str, secret: str) -> None:
    """Give the browser the secret for the page at this path."""
    _set(response, path, secret, _SECONDS)


def handed_over() -> str:
    """The secret that the browser was given for this page; empty without one."""
    return request.cookies.get(_COOKIE, "")


def forget(response: Response, path: str) -> None:
    """Take it back from the browser, if this answer shows it."""
    if handed_over() and request.method == "GET":
        _set(response, path, "", 0)


def _set(response: Response, path: str, secret: str, seconds: int) -> None:
    response.set_cookie(
        _COOKIE, secret, max_age=seconds, path=path, secure=is_secure(), httponly=True, samesite="Strict"
    )
