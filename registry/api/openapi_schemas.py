"""Schemas of the OpenAPI document, such that generators make one type of what is one thing, and references to them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, get_args

import orjson

from registry.api.events import PATTERNS
from registry.api.shapes.words import AT_ABOUT
from registry.api.statistics import HEAD, OMITTED
from registry.results.courses import Direction as CourseDirection
from registry.results.judgement import Verdict
from registry.results.terms import Method, Missing, Target

Schema = dict[str, Any]

WORDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Status": (
        "`ok`, or in which way a statistic has too little to go on; its `reason` says why. More may come.",
        ("ok", "insufficient", "undefined", "not_comparable", "confounded"),
    ),
    "State": ("How a computation stands.", ("pending", "ready", "failed")),
    "Direction": ("Which end of a metric is better.", ("higher", "lower")),
    "AxisKind": ("Numbers, names in an order, or names without one.", ("numeric", "ordinal", "nominal")),
    "Scale": ("How distances on an axis are measured.", ("linear", "log")),
    "EventPattern": ("A type of events, all of a kind, or all.", PATTERNS),
    "Role": ("What a token may do; each may do what those before it may.", ("reader", "writer", "admin")),
    "Visibility": ("Public: read without a token.", ("private", "public")),
    "NameKind": ("What a name is a name of.", ("model", "benchmark", "variant", "experiment")),
    "MissingReason": ("Why nobody measured a cell.", ("failed", "not_applicable", "pending")),
    "Noise": ("What tests rest on.", ("trials", "stderr", "repeats", "unknown")),
    "CourseDirection": (
        "What is shown of a series' course. More may come.",
        get_args(CourseDirection),
    ),
    "Method": ("What scores come from.", get_args(Method)),
    "MissingPolicy": ("What is made of slots that not all names have.", get_args(Missing)),
    "Verdict": ("What the data say to a claim.", get_args(Verdict)),
    "Target": (
        "What tests hold for. rerun: these cells again, other trials. new_questions: other questions of the same "
        "benchmarks. new_benchmarks: other benchmarks of the same kind.",
        get_args(Target),
    ),
}
"""The enumerations that have a name: several fields take them."""

_COMPUTED = (
    "Statistics",
    "Thresholds",
    "Ranking",
    "Comparison",
    "ModelComparison",
    "Aggregates",
    "Judgement",
)
"""The documents of what was computed; `Failed` is the one of what could not be."""


def refine(schemas: dict[str, Schema]) -> dict[str, Schema]:
    """The schemas with named enumerations and coordinates; of statistics only what every part has is required."""
    found = dict(schemas)
    for name in _COMPUTED:
        found[name] = _ready(found[name])
    whole = _with_components(found)
    found["Statistics"] = whole | {"required": [field for field in HEAD if field not in OMITTED]}
    named = {
        name: {"type": "string", "description": about, "enum": list(words)} for name, (about, words) in WORDS.items()
    }
    coordinate = found.pop("Coordinate")
    for name in ("WebhookIn", "WebhookChange"):
        wanted = found[name]["properties"]
        found["EventFilter"] = wanted["filter"]
        found[name] = found[name] | {"properties": wanted | {"filter": {"$ref": "#/components/schemas/EventFilter"}}}
    return {name: _each(schema, _refined) for name, schema in found.items()} | {"Coordinate": coordinate} | named


def _with_components(schemas: dict[str, Schema]) -> Schema:
    """The schema of the statistics, in which what each of its parts has too is a component."""
    properties = dict(schemas["Statistics"]["properties"])
    for field, name in (("params", "Parameters"), ("assumes", "Assumptions")):
        if "$ref" not in properties[field]:
            schemas[name] = properties[field]
            properties[field] = {"$ref": f"#/components/schemas/{name}"}
    for name, schema in schemas.items():
        inner = schema.get("properties", {})
        if name != "Statistics" and inner.get("assumes") == schemas.get("Assumptions", ...):
            schemas[name] = schema | {"properties": inner | {"assumes": properties["assumes"]}}
    return schemas["Statistics"] | {"properties": properties}


def _ready(schema: Schema) -> Schema:
    """The schema of a document that was computed, without what one has that was not."""
    properties = {name: one for name, one in schema["properties"].items() if name != "attempts"}
    properties["state"] = {"type": "string", "enum": ["ready"], "description": "It is computed."}
    return schema | {"properties": properties}


def without_defaults(schema: Schema) -> Schema:
    """The schema of a body whose fields have no `default`: generators take a field with one for required."""
    properties = {
        name: {key: value for key, value in one.items() if key != "default"}
        for name, one in schema.get("properties", {}).items()
    }
    return schema | {"properties": properties} if properties else schema


def _each(node: Any, change: Callable[[Schema], Schema]) -> Any:
    """The schema with every schema in it changed, from the inside out."""
    if isinstance(node, Mapping):
        return change({key: _each(value, change) for key, value in node.items()})
    return [_each(one, change) for one in node] if isinstance(node, list) else node


_SAID = ("Status", "Method", "MissingPolicy", "Target")
"""Enumerations whose meaning is the same wherever they stand, and is said once."""
_BY_WORDS = {frozenset(words): name for name, (_, words) in WORDS.items()}


def _refined(schema: Schema) -> Schema:
    if isinstance(schema.get("enum"), list):
        return _named(schema)
    if schema.get("type") == "object" and schema.get("description") == AT_ABOUT and "properties" not in schema:
        return {"$ref": "#/components/schemas/Coordinate"}
    return schema


def _named(schema: Schema) -> Schema:
    """An enumeration as a reference if it has a name, else with its type."""
    words = [word for word in schema["enum"] if word is not None]
    may_be_null = None in schema["enum"]
    name = _BY_WORDS.get(frozenset(words))
    if name is None:
        kind = "boolean" if all(isinstance(word, bool) for word in words) else "string"
        return schema | {"type": [kind, "null"] if may_be_null else kind}
    about = {"description": schema["description"]} if name not in _SAID and "description" in schema else {}
    reference = {"$ref": f"#/components/schemas/{name}"}
    return about | ({"anyOf": [reference, {"type": "null"}]} if may_be_null else reference)


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


def _free(name: str, taken: Iterable[str]) -> str:
    """The name, with a number where another component has it, in whatever letters: generators make one type of both."""
    number = 2
    wanted = name
    known = {one.lower() for one in taken}
    while wanted.lower() in known:
        wanted, number = f"{name}{number}", number + 1
    return wanted


def refer_to_examples(document: dict[str, Any], examples: Mapping[str, Any]) -> None:
    """Put the named examples that stand at several places under `components`, with a reference in each of these."""
    names = {_key(example): name for name, example in examples.items() if example is not None}
    used: dict[str, Any] = {}
    contents = list(_contents(document))
    counted = Counter(_key(one.get("example")) for one in contents)
    for content in contents:
        key = _key(content.get("example"))
        if content.get("example") is None:
            content.pop("example", None)
        elif counted[key] > 1 and key in names:
            name = names[key]
            content["examples"] = {name: {"$ref": f"#/components/examples/{name}"}}
            used[name] = {"value": content.pop("example")}
    document["components"]["examples"] = dict(sorted(used.items()))


def _contents(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
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
        fresh = set(_references([looked_up(document, {"$ref": one}) for one in fresh])) - used
    kept = {
        kind: {
            name: one
            for name, one in named.items()
            if kind == "securitySchemes" or f"#/components/{kind}/{name}" in used
        }
        for kind, named in components.items()
    }
    document["components"] = {kind: named for kind, named in kept.items() if named}


def name_texts(document: dict[str, Any]) -> None:
    """Put the schema of a name, and that of one that may be empty, under `components`: many parameters are one."""
    plain = (
        one for one in _mappings(document) if one.get("type") == "string" and one.keys() >= {"maxLength", "pattern"}
    )
    texts = Counter(_key({key: one[key] for key in one if key in _OF_TEXT}) for one in plain).most_common(2)
    named = {key: "Name" if b"minLength" in key else "NameOrEmpty" for key, _ in texts}

    def change(schema: Schema) -> Schema:
        told = {key: one for key, one in schema.items() if key in _OF_TEXT}
        if (name := named.get(_key(told))) is None:
            return schema
        return {"$ref": _SCHEMAS + name} | {key: one for key, one in schema.items() if key not in _OF_TEXT}

    document |= {part: _each(document[part], change) for part in ("paths", "webhooks")}
    document["components"] = _each(document["components"], change)
    about = {"description": "A text without control characters."}
    told = {name: orjson.loads(key) | about for key, name in named.items()}
    document["components"]["schemas"] |= told


def refer_to_properties(document: dict[str, Any], least: int) -> None:
    """Put each property that several objects have under `components`, where this makes the document shorter by so many
    bytes at least."""
    schemas = document["components"]["schemas"]
    names: dict[bytes, str] = {}
    counted = Counter(_key(one) for _, one in _properties(document))
    for name, one in _properties(document):
        key = _key(one)
        if (counted[key] - 1) * (len(key) - _REFERENCE) >= least and key not in names:
            names[key] = _free("".join(word.capitalize() for word in name.split("_")), [*schemas, *names.values()])

    def change(schema: Schema) -> Schema:
        found = schema.get("properties", {})
        told = {
            name: {"$ref": _SCHEMAS + names[_key(one)]} if _key(one) in names else one for name, one in found.items()
        }
        return schema | {"properties": told} if found else schema

    document |= {part: _each(document[part], change) for part in ("paths", "components", "webhooks")}
    document["components"]["schemas"] |= {name: orjson.loads(key) for key, name in names.items()}


_REFERENCE = 45
"""Bytes of a reference to a component, roughly."""


def _mappings(node: Any) -> Iterator[Mapping[str, Any]]:
    """Every mapping in a node, each before those in it."""
    if isinstance(node, Mapping):
        yield node
        node = list(node.values())
    for inner in node if isinstance(node, list) else ():
        yield from _mappings(inner)


def _properties(document: Any) -> Iterator[tuple[str, Schema]]:
    for node in _mappings(document):
        if isinstance(node.get("properties"), Mapping):
            yield from node["properties"].items()


_OF_TEXT = ("type", "minLength", "maxLength", "pattern")


def say_in_place(document: dict[str, Any], longest: int) -> None:
    """Put each schema of at most so many bytes that one place refers to in that place."""
    schemas = document["components"]["schemas"]
    counted = Counter(_references(document))
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


def _references(document: Any) -> Iterator[str]:
    for node in _mappings(document):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        yield from node.get("discriminator", {}).get("mapping", {}).values()
