"""Signing in with a token, signing out, and the choice of light and dark: the only things that a page writes. All are
cookies; signing out is noted in the audit log too."""

from __future__ import annotations

import uuid
from urllib.parse import urlsplit

from flask import Response, redirect, request

from registry.api.context import parts
from registry.api.problems import request_id
from registry.errors import Forbidden, Unauthenticated
from registry.operations.sessions import SESSION_SECONDS, begin_session, end_session
from registry.pages.front import SESSION, THEME, THEMES, pages
from registry.pages.responses import page

_LONGEST_TOKEN = 200


@pages.get("/sign-in")
def ask_token() -> Response:
    return page("sign_in.html", [], lambda: {"back": _back(request.args.get("back", "/")), "refused": ""})


@pages.post("/sign-in")
def sign_in() -> Response:
    """Exchange a token for a visit; the token itself is not kept."""
    _same_origin()
    back = _back(request.form.get("back", "/"))
    token = request.form.get("token", "").strip()[:_LONGEST_TOKEN]
    try:
        with parts().database.reading() as connection:
            ticket = begin_session(connection, token)
    except Unauthenticated as error:
        parts().policy.reject()
        refused = str(error)
        answer = page("sign_in.html", [], lambda: {"back": back, "refused": refused}, status=401)
        answer.headers["WWW-Authenticate"] = 'Bearer realm="results-registry"'
        answer.headers["Cache-Control"] = "no-store"
        return answer
    return _with_cookie(back, SESSION, ticket, SESSION_SECONDS)


@pages.post("/sign-out")
def sign_out() -> Response:
    """End the visit, for every copy of its ticket too."""
    _same_origin()
    ticket = request.cookies.get(SESSION)
    if ticket is not None:
        with parts().database.transaction() as connection:
            end_session(connection, ticket, uuid.UUID(request_id()))
    return _with_cookie("/", SESSION, "", 0)


@pages.post("/theme")
def choose_theme() -> Response:
    _same_origin()
    chosen = request.form.get("theme", "auto")
    return _with_cookie(
        _back(request.form.get("back", "/")), THEME, chosen if chosen in THEMES else "auto", 365 * 24 * 3600
    )


def _with_cookie(target: str, name: str, value: str, seconds: int) -> Response:
    answer: Response = redirect(target, 303)  # type: ignore[assignment]
    secure = request.is_secure or parts().settings.url.startswith("https://")
    answer.set_cookie(name, value, max_age=seconds, secure=secure, httponly=True, samesite="Lax", path="/")
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _back(path: str) -> str:
    """A path on this server, whatever was asked for: nobody is sent elsewhere from here."""
    plain = "\\" not in path and path.isprintable()
    return path if plain and path.startswith("/") and not path.startswith("//") else "/"


def _same_origin() -> None:
    """Refuse a form that another site sent: browsers say where a POST comes from."""
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    own = {request.host, urlsplit(parts().settings.url).netloc}
    known = origin is not None and origin.partition("://")[2] in own
    if not (known if site is None else site == "same-origin"):
        raise Forbidden("This form was not sent from a page of this registry. Open the page again and repeat it.")
