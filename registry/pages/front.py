"""The pages' blueprint: who looks at them, and what every page says in its headers."""

import gzip
import mimetypes
import uuid
from functools import cache
from importlib.resources import files

from flask import Blueprint, Response, g, request

from registry.api.context import parts
from registry.api.request_body import ANONYMOUS_BODY
from registry.api.responses import accepts_gzip
from registry.errors import NotFound, Unauthenticated
from registry.operations.shares import authenticate_share, find_share
from registry.pages.links import EMBED, page_path
from registry.pages.visitors import session_cookie, set_cookie, visitor_of

pages = Blueprint("pages", __name__, template_folder="templates")

_FOR_EVER = 31_536_000
"""Seconds that an asset may be kept: its address changes when it does."""
_ASSETS = "/assets/"
"""What is under this path is for everybody, and needs no database."""
THEME = "registry_theme"
THEMES = ("auto", "light", "dark")

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors "
    ),
    # Not `no-referrer`: with it browsers send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@pages.before_request
def bound() -> None:
    """Take forms of strangers, who may sign in, and no larger ones; those of settings have a limit of their own."""
    request.max_content_length = ANONYMOUS_BODY


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
    """Take the visitor for whom the share in the address stands for, or for who signed in, as a reader; a token in the
    header goes first."""
    if request.path.startswith(f"{EMBED}/"):
        g.embedded = True
    if "Authorization" in request.headers or request.path.startswith(_ASSETS):
        return
    if not _by_share() and "embedded" not in g:
        _by_session()


def _by_share() -> bool:
    """Whether a share opens this page; from then on the page's links carry it, unless everybody may read them."""
    if "share" not in g or request.method not in ("GET", "HEAD"):
        return False
    path = page_path(request.path, request.args.items(multi=True))
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
    if session_cookie() not in request.cookies and not parts().settings.trusts_proxy:
        return
    with parts().database.reading() as connection:
        found = visitor_of(connection)
    if found is not None:
        g.visitor, g.caller = found, found.as_reader


@pages.after_request
def describe(response: Response) -> Response:
    """Headers of a page; a session that is over takes its cookie with it."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Content-Security-Policy"] += _framed_by()
    if request.path.startswith(_ASSETS):
        _pack(response)
    else:
        response.headers["Vary"] = "Accept, Accept-Encoding, Authorization, Cookie"
    end_cookie(response)
    return response


def _framed_by() -> str:
    """Who may show this answer in a frame, as CSP says it."""
    if "embedded" not in g:
        return "'none'"
    return " ".join(parts().settings.embed_origins.replace(",", " ").split()) or "'self'"


def end_cookie(response: Response) -> None:
    """Take the cookie of a session that is over from the browser, unless it is given another."""
    if g.get("session_is_over") and session_cookie() not in response.headers.get("Set-Cookie", ""):
        set_cookie(response, session_cookie(), "", 0)


def knows_tokens(project_id: uuid.UUID) -> bool:
    """Whether the visitor may learn the names of a project's tokens: who has a role in it, no public and no share."""
    who = g.get("caller")
    return who is not None and bool(who.token_id or who.user_id) and who.role_in(project_id) is not None


def theme() -> str:
    """The visitor's choice of light and dark, which the address may overrule; `auto` follows the system."""
    chosen = request.args.get("theme") or request.cookies.get(THEME, "auto")
    return chosen if chosen in THEMES else "auto"
