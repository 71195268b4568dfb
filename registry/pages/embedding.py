"""Views at second addresses: pages inside other sites, and the API's answers for who is signed in.

`/embed/<path of a page>` is that page without the registry's own frame. Who embeds one decides who sees it, so it shows
what everybody may see, or what the share in its address opens; never what the visitor signed in for. Which sites may do
so is a setting: `REGISTRY_EMBED_ORIGINS`.

`/data/<path>` is `GET /api/v1/<path>`, reads only, as a reader: a browser cannot send a token with a link, and the API
knows no cookies.
"""

from collections.abc import Mapping
from typing import Any, cast

from flask import Response, current_app, make_response, request
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect

from registry.api.smorest import API_PREFIX
from registry.errors import NotFound
from registry.pages.front import pages
from registry.pages.links import DATA, EMBED

EMBEDDABLE = frozenset(
    f"pages.{name}"
    for name in (
        "grid", "revisions", "results", "former", "experiment", "comparison",
    )
)  # fmt: skip
"""Endpoints of pages that stand by themselves."""


@pages.get(f"{EMBED}/<path:path>")
def embedded(path: str) -> Response:
    """The page of this path, for a frame of another site; `NotFound` for what is no page to embed."""
    try:
        endpoint, values = _matched(f"/{path}")
    except (HTTPException, RequestRedirect):
        endpoint, values = "", {}
    if endpoint not in EMBEDDABLE:
        raise NotFound("This is no page that can be embedded: grids, experiments, rankings and comparisons can.")
    return cast(Response, current_app.view_functions[endpoint](**values))


@pages.get(f"{DATA}/<path:rest>")
def data(rest: str) -> Response:
    """Response of `GET /api/v1/<rest>`."""
    if rest != "projects" and not rest.startswith(("claims/", "grids/", "projects/")):
        raise NotFound("There is no such file.")
    endpoint, values = _matched(f"{API_PREFIX}/{rest}")
    return make_response(current_app.ensure_sync(current_app.view_functions[endpoint])(**values))


def _matched(path: str) -> tuple[str, Mapping[str, Any]]:
    """The endpoint of a path and what its view takes."""
    return current_app.create_url_adapter(request).match(path, method="GET")  # type: ignore[union-attr]
