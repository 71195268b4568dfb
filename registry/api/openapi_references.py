"""Put what stands several times in the OpenAPI document under `components`, and refer to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

_SCHEMAS = "#/components/schemas/"
METHODS = ("get", "post", "patch", "delete", "put")
_ORDER = (
    "summary", "description", "operationId", "tags", "security", "parameters", "requestBody", "responses",
)  # fmt: skip
"""Order of the keys of an operation, its purpose first."""


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation with its path and its method."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in METHODS:
                yield path, method, operation


def ordered(operation: Mapping[str, Any]) -> dict[str, Any]:
    """The operation with its keys in the usual order."""
    known = {key: operation[key] for key in _ORDER if operation.get(key) not in (None, [], "")}
    return known | {key: value for key, value in operation.items() if key not in _ORDER}


def refer_to_parameters(document: dict[str, Any]) -> None:
    """Move the parameters of paths into their operations, and share those that several operations have."""
    for item in document["paths"].values():
        common = item.pop("parameters", [])
        for method, operation in item.items():
            if method in METHODS:
                given = [*common, *operation.get("parameters", [])]
                operation["parameters"] = sorted(map(_without_usual, given), key=_place)
    shared = document["components"].setdefault("parameters", {})
    inline = [one for _, _, operation in operations(document) for one in operation["parameters"] if "$ref" not in one]
    counted = Counter(_key(one) for one in inline)
    names: dict[bytes, str] = {}
    for one in inline:
        if counted[_key(one)] > 1 and _key(one) not in names:
            names[_key(one)] = _free(one["name"], shared)
            shared[names[_key(one)]] = one
    for _, _, operation in operations(document):
        operation["parameters"] = [
            {"$ref": f"#/components/parameters/{names[_key(one)]}"} if _key(one) in names else one
            for one in operation["parameters"]
        ]


def _without_usual(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """The parameter without `required: false`, which it is anyway."""
    return {key: value for key, value in parameter.items() if (key, value) != ("required", False)}


def _place(parameter: Mapping[str, Any]) -> int:
    """Parameters of the path come first, references (they are headers) last."""
    return ("path", "query", "header").index(parameter.get("in", "header"))


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """The name, with a number where another component has it, in whatever letters: generators make one type of both."""
    number = 2
    wanted = name
    while wanted.lower() in map(str.lower, taken):
        wanted, number = f"{name}{number}", number + 1
    return wanted


def refer_to_examples(document: dict[str, Any], examples: Mapping[str, Any]) -> None:
    """Put the named examples under `components`, each where it stands in the document replaced by a reference."""
    names = {_key(example): name for name, example in examples.items() if example is not None}
    used: dict[str, Any] = {}
    for content in _contents(document):
        example = content.get("example")
        name = names.get(_key(example)) if example is not None else None
        if name is not None:
            del content["example"]
            content["examples"] = {name: {"$ref": f"#/components/examples/{name}"}}
            used[name] = {"value": example}
        elif "example" in content and example is None:
            del content["example"]
    document["components"]["examples"] = dict(sorted(used.items()))


def _contents(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The content of every body and every answer, by media type."""
    for _, _, operation in operations(document):
        for answer in (operation.get("requestBody", {}), *operation["responses"].values()):
            yield from answer.get("content", {}).values()


def _key(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def looked_up(document: Mapping[str, Any], node: Any) -> Any:
    """Target of a reference; anything else is returned as it is."""
    while isinstance(node, Mapping) and "$ref" in node:
        found: Any = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = found
    return node


def drop_unused(document: dict[str, Any]) -> None:
    """Remove the components that nothing refers to."""
    components = document["components"]
    used: set[str] = set()
    fresh = set(_references([document["paths"], document.get("webhooks", {})]))
    while fresh:
        used |= fresh
        fresh = set(_references(looked_up(document, {"$ref": one}) for one in fresh)) - used
    kept = {
        kind: {
            name: one
            for name, one in named.items()
            if kind == "securitySchemes" or f"#/components/{kind}/{name}" in used
        }
        for kind, named in components.items()
    }
    document["components"] = {kind: named for kind, named in kept.items() if named}


def say_in_place(document: dict[str, Any], longest: int) -> None:
    """Put each schema of at most so many bytes that one place refers to in that place."""
    schemas = document["components"]["schemas"]
    counted = Counter(_references([document]))
    short = {f"{_SCHEMAS}{name}": one for name, one in schemas.items() if len(_key(one)) <= longest}
    moved = {reference: one for reference, one in short.items() if counted[reference] == 1}

    def said(node: Any) -> Any:
        if isinstance(node, list):
            return [said(one) for one in node]
        if not isinstance(node, Mapping):
            return node
        if node.get("$ref") in moved:
            node = moved[node["$ref"]] | {name: one for name, one in node.items() if name != "$ref"}
        return {name: said(one) for name, one in node.items()}

    document["components"] = said(document["components"])
    for reference in moved:
        del document["components"]["schemas"][reference.removeprefix(_SCHEMAS)]
    document |= {part: said(document[part]) for part in ("paths", "webhooks")}


def _references(nodes: Any) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, Mapping):
            if isinstance(node.get("$ref"), str):
                yield node["$ref"]
            yield from node.get("discriminator", {}).get("mapping", {}).values()
            yield from _references(node.values())
        elif isinstance(node, (list, tuple)):
            yield from _references(node)
