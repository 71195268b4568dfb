"""Signing in with a token or at an OpenID provider, signing out, and the choice of light and dark.

What they write are cookies and sessions; signing in and out is noted in the audit log too.
"""

import hmac
import re
import uuid
from dataclasses import asdict
from urllib.parse import urlencode

from flask import Response, g, redirect, request

from registry.api.context import parts
from registry.api.problems import request_id
from registry.errors import NotFound, Unauthenticated
from registry.operations.sessions import (
    SESSION_SECONDS,
    begin_session,
    begin_user_session,
    end_session,
    read_note,
    write_note,
)
from registry.pages.choices import own_path, same_origin
from registry.pages.front import THEME, THEMES, pages
from registry.pages.openid import CALLBACK, Attempt, Provider, new_attempt, provider_of
from registry.pages.responses import page
from registry.pages.visitors import PROXY, is_secure, session_cookie, set_cookie

_LONGEST_TOKEN = 200
_ATTEMPT_SECONDS = 600
_ERROR = re.compile("[a-z_]{1,40}")


@pages.get("/sign-in")
def ask_token() -> Response:
    back = own_path(request.args.get("back", "/"))
    return page("sign_in.html", [], lambda: {"back": back, "refused": "", "every": 0})


@pages.post("/sign-in")
def sign_in() -> Response:
    """Exchange a token for a session; the token itself is not kept."""
    same_origin()
    back = own_path(request.form.get("back", "/"))
    token = request.form.get("token", "").strip()[:_LONGEST_TOKEN]
    try:
        with parts().database.transaction() as connection:
            secret = begin_session(connection, token, uuid.UUID(request_id()))
    except Unauthenticated as error:
        parts().policy.reject()
        return _refused(str(error), back)
    return set_cookie(_led_to(back), session_cookie(), secret, SESSION_SECONDS)


def _refused(why: str, back: str) -> Response:
    """The page to sign in again, with the reason."""
    answer = page("sign_in.html", [], lambda: {"back": back, "refused": why, "every": 0}, status=401)
    answer.headers["WWW-Authenticate"] = 'Bearer realm="results-registry"'
    answer.headers["Cache-Control"] = "no-store"
    return answer


@pages.get("/sign-in/provider")
def go_to_provider() -> Response:
    """Send the browser to the OpenID provider, with a note of the attempt in a cookie."""
    attempt = new_attempt(own_path(request.args.get("back", "/")))
    address = _provider().address(attempt)
    with parts().database.reading() as connection:
        note = write_note(connection, asdict(attempt))
    return set_cookie(_led_to(address), _attempt_cookie(), note, _ATTEMPT_SECONDS)


@pages.get(CALLBACK)
def come_from_provider() -> Response:
    """Begin a session for who comes back from the provider with the answer to their own attempt, once."""
    provider = _provider()
    with parts().database.reading() as connection:
        note = read_note(connection, request.cookies.get(_attempt_cookie(), ""), _ATTEMPT_SECONDS)
    attempt = None if note is None else Attempt(**note)
    answer = _begun(provider, attempt)
    answer.delete_cookie(_attempt_cookie(), secure=is_secure(), httponly=True, samesite="Lax")
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _provider() -> Provider:
    settings = parts().settings
    if not settings.has_oidc:
        raise NotFound("This registry has no sign-in service.")
    return provider_of(settings)


def _begun(provider: Provider, attempt: Attempt | None) -> Response:
    if attempt is None or not hmac.compare_digest(attempt.state.encode(), request.args.get("state", "").encode()):
        return _refused("This is not the answer to an attempt to sign in from this browser. Sign in again.", "/")
    error, code = request.args.get("error", ""), request.args.get("code", "")
    if error or not code:
        told = error if _ERROR.fullmatch(error) else "no reason given"
        return _refused(f"The sign-in service refused: {told}.", attempt.back)
    try:
        identity = provider.identity(code, attempt)
    except Unauthenticated as refusal:
        parts().policy.reject()
        return _refused(refusal.detail, attempt.back)
    seconds = int(3600 * parts().settings.session_hours)
    with parts().database.transaction() as connection:
        secret = begin_user_session(connection, identity, seconds, uuid.UUID(request_id()))
    return set_cookie(_led_to(own_path(attempt.back)), session_cookie(), secret, seconds)


def _attempt_cookie() -> str:
    return "__Host-registry_sign_in" if is_secure() else "registry_sign_in"


@pages.post("/sign-out")
def sign_out() -> Response:
    """End the session, for every copy of its cookie too."""
    same_origin()
    secret, issuer = request.cookies.get(session_cookie()), ""
    if secret is not None:
        with parts().database.transaction() as connection:
            issuer = end_session(connection, secret, uuid.UUID(request_id()))
    elif "visitor" in g:
        issuer = PROXY
    return set_cookie(_led_to("/" if issuer in ("", "token") else "/signed-out"), session_cookie(), "", 0)


@pages.get("/signed-out")
def signed_out() -> Response:
    """What is left to do for who signed in elsewhere: to sign out there too."""
    settings = parts().settings
    if settings.trusts_proxy:
        there = settings.proxy_sign_out
    else:
        there = provider_of(settings).sign_out_address() if settings.has_oidc else ""
        there += f"?{urlencode({'client_id': settings.oidc_client_id})}" if there else ""
    return page("signed_out.html", [there], lambda: {"there": there, "every": 0})


@pages.post("/theme")
def choose_theme() -> Response:
    same_origin()
    chosen = request.form.get("theme", "auto")
    back = own_path(request.form.get("back", "/"))
    return set_cookie(_led_to(back), THEME, chosen if chosen in THEMES else "auto", 365 * 24 * 3600)


def _led_to(address: str) -> Response:
    return redirect(address, 303)  # type: ignore[return-value]
