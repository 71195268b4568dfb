"""The OpenAPI document as generators of clients can use it: `/openapi.json?view=client`.

The whole document describes each resource with all of its forms. Generated clients can read one media type an answer,
so that here JSON has the resource's own path, and every other form has the path whose suffix names it. Bodies are JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from registry.api.grid_schemas import PublishParameters
from registry.api.openapi_references import drop_unused, looked_up, ordered
from registry.api.responses import MEDIA

Operation = dict[str, Any]

JSON = "application/json"
FORMS = {
    "json": ("Json", "as JSON"),
    "txt": ("Text", "as text"),
    "md": ("Markdown", "as Markdown"),
    "csv": ("Csv", "as CSV"),
    "tex": ("Latex", "as LaTeX"),
    "ndjson": ("Ndjson", "as NDJSON"),
    "html": ("Html", "as HTML"),
    "parquet": ("Parquet", "as Parquet"),
    "arrow": ("Arrow", "as an Arrow file"),
    "atom": ("Atom", "as an Atom feed"),
    "svg": ("Svg", "as SVG"),
    "png": ("Png", "as PNG"),
    "vl.json": ("VegaLite", "as Vega-Lite"),
}
"""Suffixes that a form adds to an operation's id and to its summary."""
_LEFT_OUT = {"publishGrid": frozenset(PublishParameters().fields) - {"dry_run"}}
"""Parameters that clients do without: those of tables."""
_UNTYPED = frozenset({"fields"})
"""Parameters whose answers lack what the schema requires."""


def client_view(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with one media type an answer, and no path that could be taken for another."""
    view: dict[str, Any] = deepcopy(dict(document))
    view["paths"] = dict(_paths(view))
    # Lists of several depths are one type to who has to tell them apart when a program runs.
    one, null, *_lists = view["components"]["schemas"]["Nested"]["anyOf"]
    view["components"]["schemas"]["Nested"]["anyOf"] = [one, null, {"type": "array", "items": {}}]
    # A property with a default is required in types that openapi-typescript makes, of requests too.
    for schema in view["components"]["schemas"].values():
        for told in schema.get("properties", {}).values():
            told.pop("default", None)
    drop_unused(view)
    return view


def as_form(document: Mapping[str, Any], operation: Mapping[str, Any], form: str) -> Operation:
    """The operation that answers in this form alone."""
    name, words = FORMS[form]
    found = _with_media(document, operation, MEDIA[form].partition(";")[0])
    return found | {
        "operationId": f"{operation['operationId']}{name}",
        "summary": f"{operation['summary']} {words}",
        "description": f"Answers what `{operation['operationId']}` answers, {words}.",
    }


def is_twin(path: str, paths: Mapping[str, Any]) -> bool:
    """Return whether the path is that of another one with the suffix of a form."""
    resource, _, suffix = path.rpartition(".")
    return resource in paths and suffix in ("{suffix}", "{form}")


def _paths(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Operation]]]:
    paths = document["paths"]
    for path, item in paths.items():
        if is_twin(path, paths):
            continue
        told = {method: _plain(document, one) for method, one in item.items() if method != "get"}
        content = _content(document, item["get"]) if "get" in item else {}
        if JSON in content or len(content) == 1:
            told = {"get": _plain(document, item["get"])} | told
        if told:
            yield path, told
        for form in suffixes_of(document, path):
            if form != "json":
                yield f"{path}.{form}", {"get": _plain(document, as_form(document, item["get"], form))}


def suffixes_of(document: Mapping[str, Any], path: str) -> list[str]:
    """The suffixes that the path may have, each of which names a form."""
    for parameter in ("suffix", "form"):
        twin = document["paths"].get(f"{path}.{{{parameter}}}")
        if twin is not None:
            told = [looked_up(document, one) for one in twin["get"]["parameters"]]
            return next(list(one["schema"]["enum"]) for one in told if one["name"] == parameter)
    return []


def _content(document: Mapping[str, Any], operation: Operation) -> dict[str, Any]:
    """Content of the operation's successful response, by media type."""
    content: dict[str, Any] = looked_up(document, operation["responses"].get("200", {})).get("content", {})
    return content


def _plain(document: Mapping[str, Any], operation: Operation) -> Operation:
    """The operation with JSON alone where it has JSON, and without the parameters that clients do without."""
    found = _with_media(document, operation, JSON)
    if "requestBody" in found:
        content = found["requestBody"]["content"]
        found["requestBody"]["content"] = {JSON: content[JSON]}
    left_out = _LEFT_OUT.get(operation["operationId"], frozenset()) | _UNTYPED
    parameters = operation.get("parameters", [])
    found["parameters"] = [one for one in parameters if looked_up(document, one)["name"] not in left_out]
    return ordered(found)


def _with_media(document: Mapping[str, Any], operation: Mapping[str, Any], media: str) -> Operation:
    """A copy whose answer has this media type alone, if it has it."""
    found: Operation = deepcopy(dict(operation))
    answer = looked_up(document, found["responses"].get("200", {}))
    if media in answer.get("content", {}):
        content = {media: answer["content"][media]}
        found["responses"]["200"] = answer | {"content": content}
        if "206" in found["responses"]:
            found["responses"]["206"] = looked_up(document, found["responses"]["206"]) | {"content": content}
    return found
