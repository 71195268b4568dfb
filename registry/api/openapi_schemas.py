"""Make the schemas of the OpenAPI document such that generators make one type of what is one thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from registry.api.event_schemas import PATTERNS
from registry.api.shapes.words import AT_ABOUT
from registry.api.statistics_parts import HEAD, OMITTED
from registry.results.judgement import Verdict
from registry.results.policies import Method, Missing, Target
from registry.results.series import Direction as CourseDirection

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
