"""The reference of the API: a start, authentication, operations and a glossary; and its schemas. It needs no script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Response, current_app, request

from registry.api.context import parts
from registry.api.openapi import openapi
from registry.api.problems import KINDS
from registry.pages.front import pages
from registry.pages.glossary import glossary, identifier
from registry.pages.project import Step, steps
from registry.pages.reference import common_answers, common_fields, common_parameters, marked, operations, schemas
from registry.pages.responses import page
from registry.pages.schema_pages import OF_RESOURCES, OF_RESULTS, of_results, placed


@pages.get("/docs")
def docs() -> Response:
    """The page of the whole reference, at the address by which the request came."""
    start = steps(request.host_url.rstrip("/"), parts().settings.home)
    return page("docs.html", ["docs", *(step.command for step in start)], lambda: _reference(start))


@pages.get(OF_RESOURCES)
def schema_docs() -> Response:
    """The page of the schemas of what is stored, with the meaning of every field."""
    return page("schemas.html", ["schemas"], lambda: _schemas(OF_RESOURCES))


@pages.get(OF_RESULTS)
def result_schema_docs() -> Response:
    """The page of the schemas of what is computed alone."""
    return page("schemas.html", ["schemas", "results"], lambda: _schemas(OF_RESULTS))


def _schemas(here: str) -> dict[str, Any]:
    document = openapi(current_app)
    computed = of_results(document)
    names = computed if here == OF_RESULTS else document["components"].get("schemas", {}).keys() - computed
    return {
        "computed": here == OF_RESULTS,
        "schemas": schemas(document, names),
        "common": common_fields(document, names),
        "placed": lambda text: placed(text, computed, here),
    }


def _reference(start: Sequence[Step]) -> dict[str, Any]:
    document = openapi(current_app)
    computed = of_results(document)
    return {
        "document": document,
        "steps": start,
        "groups": operations(document),
        "common": common_parameters(document),
        "common_answers": common_answers(document),
        "glossary": glossary(),
        "identifier": identifier,
        "problems": KINDS,
        "marked": marked,
        "placed": lambda text: placed(text, computed),
    }
