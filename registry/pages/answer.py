"""A page as an answer: made only for who does not have it yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from flask import Response, g, render_template, request

from registry.api.answers import not_modified, send
from registry.api.platform import API_PREFIX
from registry.pages.front import theme
from registry.pages.palette import style_sheet
from registry.renderings.words import label, said

PENDING_SECONDS, SETTLED_SECONDS = 2, 30
"""How often a page looks for news, while something is computed and otherwise."""
Query = Iterable[tuple[str, str]]


def page(
    template: str, made_of: Iterable[object], context: Callable[[], dict[str, Any]], status: int = 200
) -> Response:
    """The page of a template; `304` without making it when the caller has what it is `made_of`."""
    seen = (version(), request.full_path, theme(), g.get("signed_in", False), *made_of)
    tag = sha256("\x1f".join(map(str, seen)).encode()).hexdigest()[:20]
    if not_modified(tag):
        return send(b"", form="html", tag=tag)
    return send(
        render_template(template, **furniture() | context() | {"tag": tag}), form="html", status=status, tag=tag
    )


def furniture() -> dict[str, Any]:
    """What every template may use."""
    return {
        "asset": asset,
        "label": label,
        "said": said,
        "here": here,
        "theme": theme(),
        "signed_in": g.get("signed_in", False),
        "every": SETTLED_SECONDS,
    }


@cache
def version() -> str:
    """Changes when any template, script or style changes."""
    digest = sha256(style_sheet().encode())
    for directory in ("templates", "static"):
        for file in sorted(files(__package__).joinpath(directory).iterdir(), key=lambda one: one.name):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def asset(name: str) -> str:
    """The path of a style sheet or script, which may be kept for ever."""
    return f"/assets/{name}?v={version()}"


def here(**changes: Any) -> str:
    """The path of this page with other parameters; None takes one away."""
    kept = [(name, value) for name, value in request.args.items(multi=True) if name not in changes]
    return located(request.path, [*kept, *((name, value) for name, value in changes.items() if value is not None)])


def located(path: str, query: Query) -> str:
    """A path with its query, `?` only where there is one."""
    written = urlencode(list(query))
    return f"{path}?{written}" if written else path


def data_path(path: str, visibility: str, query: Query = ()) -> str:
    """Where a browser reads the JSON (or CSV …) of a page: the API, which knows no cookies; for what is not public,
    the same answers at `/data`."""
    return located((API_PREFIX if visibility == "public" else "/data") + path, query)
