"""The API's answers for who is signed in: a browser cannot send a token with a link, and the API knows no cookies.

Reads only, as a reader, through the API's own views.
"""

from __future__ import annotations

from flask import Response, current_app, make_response, request
from werkzeug.exceptions import NotFound

from registry.api.smorest import API_PREFIX
from registry.pages.front import pages

_OPEN = ("claims/", "grids/", "projects/")


@pages.get("/data/<path:rest>")
def data(rest: str) -> Response:
    """Response of `GET /api/v1/<rest>`."""
    if rest != "projects" and not rest.startswith(_OPEN):
        raise NotFound
    adapter = current_app.create_url_adapter(request)
    if adapter is None:
        raise NotFound
    endpoint, arguments = adapter.match(f"{API_PREFIX}/{rest}", method="GET")
    return make_response(current_app.ensure_sync(current_app.view_functions[endpoint])(**arguments))
