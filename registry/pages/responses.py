"""A page as an answer: made only for who does not have it yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from flask import Response, g, render_template, request

from registry.api.responses import not_modified, send
from registry.pages.front import theme
from registry.pages.links import here, to
from registry.pages.palette import style_sheet
from registry.renderings.words import label, said

PENDING_SECONDS, SETTLED_SECONDS = 2, 30
"""How often a page looks for news, while something is computed and otherwise."""


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
    """Functions and values that every template may use."""
    return {
        "asset": asset,
        "label": label,
        "said": said,
        "here": here,
        "to": to,
        "share": g.share if "shared" in g else "",
        "theme": theme(),
        "signed_in": g.get("signed_in", False),
        "sign_in": to("/sign-in", back=here() if request.method == "GET" and request.path != "/sign-in" else None),
        "every": SETTLED_SECONDS,
        "shown": "",
        "revision": None,
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
