"""Where the links of a page lead: on a page that was opened by a share they carry the share on, and what the share does
not open is no link."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote, urlencode

from flask import g, request

from registry.api.smorest import API_PREFIX
from registry.operations.shares import reaches

DATA = "/data"
Query = Iterable[tuple[str, str]]
_GUARDED = ("/projects/", "/grids/", f"{DATA}/")
"""What not everybody may open."""


def to(path: str, **query: Any) -> str:
    """The address of an encoded path with a query, without what is empty; "" where the share does not reach."""
    return carried(path, [(name, str(text)) for name, text in query.items() if text not in (None, "")])


def carried(path: str, query: Query = ()) -> str:
    """The address with the share of this page, if it was opened by one; "" where the share does not reach."""
    if "shared" not in g or not path.startswith(_GUARDED):
        return located(path, query)
    return located(path, [*query, ("share", g.share)]) if reaches(g.shared, page_path(unquote(path))) else ""


def here(**changes: Any) -> str:
    """The address of this page with other parameters; None takes one away."""
    kept = [(name, value) for name, value in request.args.items(multi=True) if name not in changes]
    new = [(name, value) for name, value in changes.items() if value is not None]
    return located(quote(request.path), [*kept, *new, *([("share", g.share)] if "shared" in g else [])])


def located(path: str, query: Query) -> str:
    """A path with its query, `?` only where there is one."""
    written = urlencode(list(query))
    return f"{path}?{written}" if written else path


def data_path(path: str, visibility: str, query: Query = ()) -> str:
    """Where a browser reads the JSON (or CSV …) of a page: the API, which knows no cookies; for what is not public,
    the same answers at `/data`."""
    return located(API_PREFIX + path, query) if visibility == "public" else carried(DATA + path, query)


def page_path(path: str) -> str:
    """The page whose data are at this path: what a share of the page opens too."""
    return path.removeprefix(DATA) if path.startswith(f"{DATA}/") else path
