"""Which page of the reference tells of a schema, and links that lead there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

RESULTS = {
    *("statistics", "statistics_feeds", "rankings", "comparisons", "aggregates"),
    *("lines", "trade-offs", "plans", "claims", "gates"),
}
"""The tags of operations that answer what was computed."""
OF_RESOURCES, OF_RESULTS = "/docs/schemas", "/docs/schemas/results"
_SCHEMA = "#/components/schemas/"
_LINK = re.compile(rf'"{OF_RESOURCES}#(\w+)"')


def of_results(document: Mapping[str, Any]) -> frozenset[str]:
    """The names of the schemas that no other operations than those of results name, themselves or through others."""
    inside = {"results": set[str](), "others": set[str]()}
    for item in document["paths"].values():
        for operation in item.values():
            if isinstance(operation, Mapping):
                tags = set(operation.get("tags", ()))
                inside["results" if tags and tags <= RESULTS else "others"] |= set(_references(operation))
    return frozenset(
        one.removeprefix(_SCHEMA)
        for one in _reached(document, inside["results"]) - _reached(document, inside["others"])
        if one.startswith(_SCHEMA)
    )


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
        fresh = {one for name in fresh for one in _references(_at(document, name))} - reached
    return reached


def _at(document: Mapping[str, Any], reference: str) -> Any:
    found: Any = document
    for part in reference.removeprefix("#/").split("/"):
        found = found[part.replace("~1", "/").replace("~0", "~")]
    return found


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for one in node.values():
            yield from _references(one)
    elif isinstance(node, (list, tuple)):
        for one in node:
            yield from _references(one)
