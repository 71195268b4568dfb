"""JSON Schema of the result types, for the OpenAPI document (`registry/api/shapes/`): a component for each dataclass,
described by its docstring and its annotations."""

import dataclasses
import inspect
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from registry.results.codec import presence_of, wire_name
from registry.results.terms import Keyword, Presence

Schema = dict[str, Any]
_SCALARS: dict[Any, Schema] = {
    str: {"type": "string"},
    float: {"type": "number"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {"description": "Any JSON."},
}
_MAPPINGS = (dict, get_origin(Mapping[str, Any]))


def components(*documents: type) -> dict[str, Schema]:
    """The schemas of these dataclasses and of all that they hold, by the names of the classes.

    A class that one of them holds refers to its base class if that is among them too.
    """
    kinds: dict[str, type] = {}
    left = list(documents)
    while left:
        kind = left.pop(0)
        if kind.__name__ not in kinds:
            kinds[kind.__name__] = kind
            hints = get_type_hints(kind, include_extras=True)
            left += [inner for hint in hints.values() for inner in _dataclasses_in(hint)]
    return {name: _component(kind, kinds if kind not in documents else {}) for name, kind in kinds.items()}


def _component(kind: type, others: Mapping[str, type]) -> Schema:
    whole, base = _object(kind, get_type_hints(kind, include_extras=True)), kind.__mro__[1]
    if base.__name__ not in others:
        return whole
    inherited = {wire_name(field) for field in dataclasses.fields(base)}
    own = {name: schema for name, schema in whole["properties"].items() if name not in inherited}
    more = {"type": "object", "required": [one for one in whole["required"] if one in own], "properties": own}
    reference = {"$ref": f"#/components/schemas/{base.__name__}"}
    return {"description": whole["description"], "allOf": [reference, more]}


def _object(kind: Any, hints: Mapping[str, Any]) -> Schema:
    """An object that has every field, but those that its type says may be missing."""
    fields = dataclasses.fields(kind)
    return {
        "type": "object",
        "description": " ".join((inspect.getdoc(kind) or "").split()),
        "required": [wire_name(field) for field in fields if presence_of(hints[field.name]) is None],
        "properties": {wire_name(field): schema_of(hints[field.name]) for field in fields},
    }


def schema_of(hint: Any) -> Schema:
    """The schema of a type."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        kind = _without_null(inside[0]) if Presence.OMITTED in inside else inside[0]
        return _annotated(schema_of(kind), inside[1:])
    if origin in (types.UnionType, typing.Union):
        return _any_of([schema_of(one) for one in inside])
    if origin is Literal:
        return {"enum": list(inside)}
    if origin is tuple:
        return {"type": "array", "items": schema_of(inside[0])}
    if origin in _MAPPINGS:
        return {"type": "object", "additionalProperties": schema_of(inside[1])}
    return _SCALARS.get(hint) or {"$ref": f"#/components/schemas/{hint.__name__}"}


def _annotated(schema: Schema, more: Iterable[Any]) -> Schema:
    """The schema with the descriptions and keywords of an annotation; a reference to another takes its place."""
    for one in more:
        if isinstance(one, str):
            schema = schema | {"description": one}
        elif isinstance(one, Keyword):
            schema = {one.name: one.value} if one.name == "$ref" else schema | {one.name: one.value}
    return schema


def _without_null(hint: Any) -> Any:
    """The type of a field that is left out where it is null."""
    return typing.Union[tuple(one for one in get_args(hint) if one is not type(None))]  # noqa: UP007


def _any_of(schemas: list[Schema]) -> Schema:
    """One of several: types and words are joined, what has more to say stands side by side."""
    if all(schema.keys() == {"type"} for schema in schemas):
        types_ = [schema["type"] for schema in schemas]
        return {"type": [one for one in types_ if one != "integer" or "number" not in types_]}
    if all(schema.keys() == {"enum"} or schema == {"type": "null"} for schema in schemas):
        return {"enum": [word for schema in schemas for word in schema.get("enum", [None])]}
    return {"anyOf": schemas}


def _dataclasses_in(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        yield hint
    for inner in get_args(hint):
        yield from _dataclasses_in(inner)
