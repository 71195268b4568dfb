"""The reference of the API: a start, authentication, operations and a glossary; and its schemas. It needs no script."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from flask import Response, current_app, request
from markupsafe import Markup

from registry.api.openapi import openapi
from registry.api.problems import KINDS
from registry.pages.front import pages
from registry.pages.glossary import glossary, identifier
from registry.pages.project import Step, steps
from registry.pages.reference import (
    at_reference,
    common_answers,
    common_fields,
    common_parameters,
    marked,
    operations,
    schemas,
)
from registry.pages.responses import page

RESULTS = {
    *("statistics", "statistics_feeds", "rankings", "comparisons", "aggregates"),
    *("lines", "trade-offs", "plans", "claims", "gates"),
}
"""The tags of operations that answer what was computed."""
OF_RESOURCES, OF_RESULTS = "/docs/schemas", "/docs/schemas/results"
_SCHEMA = "#/components/schemas/"
_LINK = re.compile(rf'"{OF_RESOURCES}#(\w+)"')


@pages.get("/docs")
def docs() -> Response:
    """The page of the whole reference, at the address by which the request came."""
    start = steps(request.host_url.rstrip("/"))
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


def of_results(document: Mapping[str, Any]) -> frozenset[str]:
    """The names of the schemas that no other operations than those of results name, themselves or through others."""
    inside: dict[bool, set[str]] = {True: set(), False: set()}
    for item in document["paths"].values():
        for operation in item.values():
            if isinstance(operation, Mapping):
                inside[{*operation.get("tags", ["none"])} <= RESULTS] |= _references(operation)
    only = _reached(document, inside[True]) - _reached(document, inside[False])
    return frozenset(one.removeprefix(_SCHEMA) for one in only if one.startswith(_SCHEMA))


def placed(text: str, of_results: frozenset[str], here: str = "") -> Markup:
    """Markup whose links to schemas lead to the page that tells of each; on that page itself, to its place alone."""

    def link(found: re.Match[str]) -> str:
        page = OF_RESULTS if found[1] in of_results else OF_RESOURCES
        return f'"{"" if page == here else page}#{found[1]}"'

    return Markup(_LINK.sub(link, text))  # noqa: S704 (markup before)


def _reached(document: Mapping[str, Any], fresh: set[str]) -> set[str]:
    reached: set[str] = set()
    while fresh:
        reached |= fresh
        fresh = {one for name in fresh for one in _references(at_reference(document, name))} - reached
    return reached


def _references(node: Any) -> set[str]:
    return set(re.findall(r'"\$ref":"([^"]+)"', orjson.dumps(node).decode()))
