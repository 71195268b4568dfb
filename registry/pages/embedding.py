"""Pages inside other sites: `/embed/<path of a page>` is that page without the registry's own frame.

Who embeds one decides who sees it, so it shows what everybody may see, or what the share in its address opens; never
what the visitor signed in for. Which sites may do so is a setting: `REGISTRY_EMBED_ORIGINS`.
"""

from __future__ import annotations

from typing import cast

from flask import Response, current_app, request
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect

from registry.errors import NotFound
from registry.pages.front import pages
from registry.pages.links import EMBED

EMBEDDABLE = frozenset(
    f"pages.{name}"
    for name in (
        "grid", "revisions", "history", "results", "former", "experiment", "comparison",
    )
)  # fmt: skip
"""Endpoints of pages that stand by themselves."""


@pages.get(f"{EMBED}/<path:path>")
def embedded(path: str) -> Response:
    """The page of this path, for a frame of another site; `NotFound` for what is no page to embed."""
    try:
        endpoint, values = current_app.create_url_adapter(request).match(f"/{path}", method="GET")  # type: ignore[union-attr]
    except (HTTPException, RequestRedirect):
        endpoint, values = "", {}
    if endpoint not in EMBEDDABLE:
        raise NotFound("This is no page that can be embedded: grids, experiments, rankings and comparisons can.")
    return cast(Response, current_app.view_functions[endpoint](**values))
