"""The pages' blueprint: who looks at them, and what every page says in its headers."""

from __future__ import annotations

import gzip
import mimetypes
import uuid
from functools import cache
from importlib.resources import files

from flask import Blueprint, Response, g, request

from registry.api.context import parts
from registry.api.responses import accepts_gzip
from registry.errors import NotFound, Unauthenticated
from registry.operations.sessions import resume_session
from registry.operations.shares import authenticate_share, find_share
from registry.pages.links import page_path

pages = Blueprint("pages", __name__, template_folder="templates")

_FOR_EVER = 31_536_000
"""Seconds that an asset may be kept: its address changes when it does."""
SESSION = "registry_session"
"""The cookie of who signed in."""
THEME = "registry_theme"
THEMES = ("auto", "light", "dark")

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    # Not `no-referrer`: with it browsers send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@cache
def _assets() -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in files(__package__).joinpath("static").iterdir()}


@pages.get("/assets/<name>", endpoint="static")
def send_asset(name: str) -> Response:
    """A style sheet, script or icon, from memory: no file stays open when a browser goes away."""
    if name not in _assets():
        raise NotFound("There is no such file.")
    response = Response(_assets()[name], mimetype=mimetypes.guess_type(name)[0])
    response.cache_control.max_age = _FOR_EVER
    response.cache_control.public = True
    response.add_etag()
    response.make_conditional(request)
    return response


def _pack(asset: Response) -> None:
    """Compress a style sheet, script or icon for who takes that."""
    asset.headers["Vary"] = "Accept-Encoding"
    if asset.status_code == 200 and accepts_gzip():
        asset.set_data(_packed(asset.get_data()))
        asset.headers["Content-Encoding"] = "gzip"
        if "ETag" in asset.headers:
            asset.set_etag(asset.get_etag()[0] or "", weak=True)


@cache
def _packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


@pages.before_request
def recognise() -> None:
    """Take the visitor for whom the share in the address stands for, or the token that they signed in with; a token in
    the header goes first."""
    if "Authorization" in request.headers or request.endpoint == "pages.static":
        return
    if not _by_share():
        _by_session()


def _by_share() -> bool:
    """Whether a share opens this page; from then on the page's links carry it, unless everybody may read them."""
    if "share" not in g or request.method not in ("GET", "HEAD"):
        return False
    path = page_path(request.path)
    try:
        with parts().database.reading() as connection:
            g.caller = authenticate_share(connection, g.share, path)
            found = find_share(connection, g.share)
    except Unauthenticated:
        return False  # counted and told by whoever asks for the caller
    if found.visibility != "public":
        g.shared = found.path
    return True


def _by_session() -> None:
    ticket = request.cookies.get(SESSION)
    if ticket is None:
        return
    try:
        with parts().database.reading() as connection:
            g.caller = resume_session(connection, ticket)
        g.signed_in = True
    except Unauthenticated:
        g.session_is_over = True


@pages.after_request
def describe(response: Response) -> Response:
    """Headers of a page; a session that is over takes its cookie with it."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    if request.path.startswith("/assets/"):
        _pack(response)
    else:
        response.headers["Vary"] = "Accept, Accept-Encoding, Authorization, Cookie"
    if g.get("session_is_over") and SESSION not in response.headers.get("Set-Cookie", ""):
        response.delete_cookie(SESSION, httponly=True, samesite="Lax")
    return response


def knows_tokens(project_id: uuid.UUID) -> bool:
    """Whether the visitor may learn the names of a project's tokens: who has one of them, no public and no share."""
    who = g.get("caller")
    return who is not None and who.token_id is not None and who.project_id in (None, project_id)


def theme() -> str:
    """The visitor's choice of light and dark; `auto` follows the system."""
    chosen = request.cookies.get(THEME, "auto")
    return chosen if chosen in THEMES else "auto"
