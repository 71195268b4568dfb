"""The reference of the API: a start, authentication, operations and a glossary; and its schemas. It needs no script."""

from __future__ import annotations

from typing import Any

from flask import Response, current_app, request

from registry.api.openapi import openapi
from registry.api.problems import KINDS
from registry.pages.front import pages
from registry.pages.glossary import glossary
from registry.pages.reference import common_parameters, marked, operations, schemas
from registry.pages.responses import page
from registry.pages.start import steps


@pages.get("/docs")
def docs() -> Response:
    """The page of the whole reference, at the address by which the request came."""
    address = request.host_url.rstrip("/")
    return page("docs.html", ["docs", address], lambda: _reference(address))


@pages.get("/docs/schemas")
def schema_docs() -> Response:
    """The page of every schema with the meaning of every field."""
    return page("schemas.html", ["schemas"], lambda: {"schemas": schemas(openapi(current_app))})


def _reference(address: str) -> dict[str, Any]:
    document = openapi(current_app)
    return {
        "document": document,
        "steps": steps(address),
        "groups": operations(document),
        "common": common_parameters(document),
        "glossary": glossary(),
        "problems": KINDS,
        "marked": marked,
    }
