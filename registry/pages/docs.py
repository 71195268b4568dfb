"""The API's document for people: no script needed, nothing from elsewhere."""

from __future__ import annotations

from flask import Response, current_app

from registry.api.openapi import openapi, reference
from registry.pages.front import pages
from registry.pages.responses import page


@pages.get("/docs")
def docs() -> Response:
    document = openapi(current_app)
    return page("docs.html", ["docs"], lambda: reference(document))
