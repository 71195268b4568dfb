"""Build JSON Schemas in a few words; `registry.api.fields` and all shapes are written with these functions."""

from typing import Any

Shape = dict[str, Any]


def object_of(required: str, /, **properties: Any) -> Shape:
    return {"type": "object", "required": required.split(), "properties": properties}


class _May(dict[str, Any]):
    """The shape of a property that may be absent."""


def may(shape: Shape) -> Shape:
    """The shape, of a property that may be absent."""
    return _May(shape)


def record(about: str, /, **properties: Shape) -> Shape:
    """An object with these properties, each of which is there unless it only `may` be."""
    required = [name for name, one in properties.items() if not isinstance(one, _May)]
    return {"type": "object", "required": required, "properties": properties, "description": about}


def array_of(items: Shape) -> Shape:
    return {"type": "array", "items": items}


def map_of(values: Shape) -> Shape:
    """An object with any names, each with such a value."""
    return {"type": "object", "additionalProperties": values}


def one_of(*words: str) -> Shape:
    """One of these words."""
    return {"type": "string", "enum": list(words)}


def ref(name: str) -> Shape:
    return {"$ref": f"#/components/schemas/{name}"}


def nullable(shape: Shape) -> Shape:
    return {"anyOf": [shape, {"type": "null"}]}


def described(shape: Shape, text: str) -> Shape:
    return shape | {"description": text}


def extended(base: str, about: str, others: Shape | None = None, /, **more: Shape) -> Shape:
    """The shape of a component with more fields, and with `others` whose names nobody knows."""
    own = {name: one for name, one in record("", **more).items() if name != "description"}
    own |= {} if others is None else {"additionalProperties": others}
    return {"allOf": [ref(base), own], "description": about}


def page(name: str, about: str) -> Shape:
    """A page of a list."""
    shape = object_of(
        "items next",
        items=described(array_of(ref(name)), "The items, in the order of the list."),
        next=described(NULLABLE_TEXT, "The cursor of the next page; null on the last."),
    )
    return described(shape, about)


def page_with_warnings(name: str, about: str) -> Shape:
    """A page of a list that has doubts about its filters."""
    shape = page(name, about)
    warnings = described(array_of(ref("Warning")), "Names that no grid ever had; else absent.")
    return shape | {"properties": shape["properties"] | {"warnings": warnings}}


TEXT: Shape = {"type": "string"}
NULLABLE_TEXT: Shape = {"type": ["string", "null"]}
NUMBER: Shape = {"type": "number"}
NULLABLE: Shape = {"type": ["number", "null"]}
COUNT: Shape = {"type": "integer", "minimum": 0}
FLAG: Shape = {"type": "boolean"}
ID: Shape = {"type": "string", "format": "uuid"}
INSTANT: Shape = {"type": "string", "format": "date-time"}
ANY: Shape = {}
PLAIN: Shape = {"type": "object"}
AT_ABOUT = "A level for each axis, by the axis's name."
AT: Shape = map_of(ref("Level")) | {"description": AT_ABOUT}
DIGEST: Shape = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
STATE: Shape = one_of("pending", "ready", "failed")
LABELS: Shape = map_of(TEXT)
PRINTABLE = r"^[^\u0000-\u001f\u007f-\u009f]*$"
"""The pattern of a text without control characters."""
DESCRIPTION = described(TEXT, "What people wrote about it, in Markdown; empty: nothing.")
