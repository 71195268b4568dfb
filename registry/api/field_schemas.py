"""JSON Schema of the fields of `registry.api.fields` and `registry.api.grid_fields`, which apispec does not know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from registry.api.fields import (
    AsOf,
    Axes,
    Choice,
    Dimensions,
    Instant,
    Matching,
    Name,
    Number,
    PageLimit,
    PostedClaim,
    Quantity,
    Share,
    Whole,
    Words,
)
from registry.api.grid_fields import (
    Block,
    Cells,
    Derived,
    Labels,
    Levels,
    Line,
    Markdown,
    Protocol,
    ProtocolKeys,
    ProtocolTexts,
    Reasons,
    Warnings,
)
from registry.api.item_schemas import MOST_IN_ID, ItemCells, ItemIds
from registry.api.shapes.words import PRINTABLE
from registry.api.webhook_schemas import EventFilter, Since, Url
from registry.grids.intake.levels import MAX_AXES
from registry.grids.intake.members import LONGEST_TEXT, MOST_KEYS, MOST_PARTS
from registry.settings import Settings

MEANINGS: tuple[tuple[Any, ...], ...] = (
    (Name, "string", None),
    (Choice, "string", None),
    (Matching, "string", None),
    (Number, "number", None),
    (Share, "number", None),
    (Quantity, "number", None),
    (Words, "string", None),
    (Instant, "string", "date-time"),
    (AsOf, "string", "date-time"),
    (Whole, "integer", None),
    (PageLimit, "integer", None),
    (Block, None, None),
    (PostedClaim, None, None),
    (Levels, "array", None),
    (Cells, "array", None),
    (Reasons, "array", None),
    (ItemCells, "array", None),
    (ItemIds, "array", None),
    (Warnings, "array", None),
    (Derived, None, None),
    (Labels, "object", None),
    (Protocol, "object", None),
    (ProtocolKeys, "array", None),
    (Line, "string", None),
    (Markdown, "string", None),
    (Url, "string", "uri"),
    (EventFilter, "object", None),
    (Since, None, None),
)


def schema_of(settings: Settings) -> Callable[..., dict[str, Any]]:
    """Schema attributes that apispec does not know of these fields, with the limits of these settings."""

    def described(_converter: Any, field: Any, **_options: Any) -> dict[str, Any]:
        if isinstance(field, Name):
            longest = {"maxLength": field.TIMES * settings.max_name}
            return _name(settings) | longest | ({} if field.empty else {"minLength": 1})
        if isinstance(field, Labels):
            return _labels(settings, clears=field.CLEARS)
        if isinstance(field, (Line, Markdown, EventFilter)):
            return _filter(settings) if isinstance(field, EventFilter) else _text(field, settings)
        if isinstance(field, Derived):
            return {"anyOf": [{"type": "boolean"}, _names(settings), {"type": "null"}]}
        if isinstance(field, PageLimit):
            return {"minimum": 1, "maximum": settings.max_page, "default": PageLimit.usual(settings)}
        return _shape(field)

    return described


def _shape(field: Any) -> dict[str, Any]:
    """Schema attributes that do not depend on the settings."""
    if isinstance(field, Matching):
        return {"pattern": f"^({field.pattern.pattern})$"}
    if isinstance(field, (Whole, Number)):
        bounds = {"minimum": field.least, "maximum": field.most}
        return {name: bound for name, bound in bounds.items() if bound is not None}
    if isinstance(field, Choice):
        return {"enum": [*field.words, *([None] if field.allow_none else [])]}
    if isinstance(field, (Axes, Dimensions)):
        return {"maxItems": MAX_AXES} if isinstance(field, Axes) else _dimensions(field)
    if isinstance(field, Cells) and field.least:
        return {"items": _ITEMS_OF_CELL if isinstance(field, ItemCells) else _CELL, "minItems": field.least}
    shape = next((shape for kind, shape in _SHAPES if isinstance(field, kind)), {})
    return {"anyOf": [shape, {"type": "null"}]} if isinstance(field, PostedClaim) and field.allow_none else shape


def _dimensions(field: Dimensions) -> dict[str, Any]:
    one = {"type": "string", "pattern": PRINTABLE, "minLength": 1}
    return {"items": one, "minItems": 1, "maxItems": field.most, "uniqueItems": True}


def _name(settings: Settings) -> dict[str, Any]:
    return {"maxLength": settings.max_name, "pattern": PRINTABLE}


def _text(field: Line | Markdown, settings: Settings) -> dict[str, Any]:
    if isinstance(field, Markdown):
        return {"maxLength": settings.max_description}
    return {"minLength": 1, "maxLength": field.most, "pattern": PRINTABLE}


def _names(settings: Settings) -> dict[str, Any]:
    one = {"type": "string", "minLength": 1} | _name(settings)
    return {"type": "array", "items": one, "minItems": 1, "maxItems": MOST_PARTS, "uniqueItems": True}


def _labels(settings: Settings, *, clears: bool) -> dict[str, Any]:
    text = {"type": ["string", "null"] if clears else "string", "maxLength": settings.max_label_length}
    return {"additionalProperties": text, "maxProperties": settings.max_labels}


def _filter(settings: Settings) -> dict[str, Any]:
    texts = {
        "type": "array",
        "items": {"type": "string"} | _name(settings),
        "minItems": 1,
        "maxItems": EventFilter.MOST,
    }
    either = {"anyOf": [{"type": "string"} | _name(settings), texts]}
    named = {
        name: {"description": f"The {name} of the event, or one of several."} | either for name in EventFilter.NAMES
    }
    return {"properties": named, "additionalProperties": False}


_KEY = r"^[^=\u0000-\u0020\u007f-\u00a0]{1,64}$"
_PROTOCOL = {
    "additionalProperties": {"type": ["string", "number", "boolean", "null"], "maxLength": LONGEST_TEXT},
    "maxProperties": MOST_KEYS,
}
_ITEM_ID = {"type": "string", "minLength": 1, "maxLength": MOST_IN_ID, "pattern": PRINTABLE}
_ITEMS_OF_CELL = {"$ref": "#/components/schemas/ItemCellIn"}
_CELL = {"$ref": "#/components/schemas/CellIn"}
_SHAPES: tuple[tuple[type, dict[str, Any]], ...] = (
    (PostedClaim, {"$ref": "#/components/schemas/Claim"}),
    (Block, {"$ref": "#/components/schemas/Nested"}),
    (Protocol, _PROTOCOL),
    (ProtocolKeys, {"items": {"type": "string", "pattern": _KEY}, "maxItems": MOST_KEYS}),
    (ProtocolTexts, {"items": {"type": "string", "pattern": "^[^=]+=.+$"}, "maxItems": MOST_KEYS}),
    (Levels, {"items": {"$ref": "#/components/schemas/Level"}}),
    (Words, {"minLength": 1, "maxLength": Words.LONGEST, "pattern": f"^{Words.PATTERN}$"}),
    (Share, {"minimum": Share.LEAST, "maximum": Share.MOST}),
    (Reasons, {"items": {"$ref": "#/components/schemas/ReasonIn"}}),
    (Cells, {"items": _CELL}),
    (Url, {"pattern": f"^{Url.PATTERN}$"}),
    (Since, {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "minLength": 10}]}),
    (ItemIds, {"items": _ITEM_ID, "minItems": 1, "uniqueItems": True}),
    (Warnings, {"items": {"$ref": "#/components/schemas/WarningIn"}, "maxItems": Warnings.MOST}),
)
