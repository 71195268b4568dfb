"""JSON Schema of the fields of `registry.api.fields` and `registry.api.grid_fields`, which apispec does not know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from registry.api.fields import Axes, Choice, Instant, Matching, Name, Number, PageLimit, Quantity, Share, Whole
from registry.api.grid_fields import Block, Cells, Derived, Labels, Levels, Reasons, Warnings
from registry.api.shapes.words import PRINTABLE
from registry.grids.intake.levels import MAX_AXES
from registry.grids.intake.members import MOST_PARTS
from registry.settings import Settings

MEANINGS: tuple[tuple[Any, ...], ...] = (
    (Name, "string", None),
    (Choice, "string", None),
    (Matching, "string", None),
    (Number, "number", None),
    (Share, "number", None),
    (Quantity, "number", None),
    (Instant, "string", "date-time"),
    (Whole, "integer", None),
    (PageLimit, "integer", None),
    (Block, None, None),
    (Levels, "array", None),
    (Cells, "array", None),
    (Reasons, "array", None),
    (Warnings, "array", None),
    (Derived, None, None),
    (Labels, "object", None),
)


def schema_of(settings: Settings) -> Callable[..., dict[str, Any]]:
    """Schema attributes that apispec does not know of these fields, with the limits of these settings."""

    def described(_converter: Any, field: Any, **_options: Any) -> dict[str, Any]:
        if isinstance(field, Name):
            return _name(settings) | ({} if field.empty else {"minLength": 1})
        if isinstance(field, Labels):
            return _labels(settings)
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
    if isinstance(field, Axes):
        return {"maxItems": MAX_AXES}
    if isinstance(field, Cells) and field.least:
        return {"items": _CELL, "minItems": field.least}
    return next((shape for kind, shape in _SHAPES if isinstance(field, kind)), {})


def _name(settings: Settings) -> dict[str, Any]:
    return {"maxLength": settings.max_name, "pattern": PRINTABLE}


def _names(settings: Settings) -> dict[str, Any]:
    one = {"type": "string", "minLength": 1} | _name(settings)
    return {"type": "array", "items": one, "minItems": 1, "maxItems": MOST_PARTS, "uniqueItems": True}


def _labels(settings: Settings) -> dict[str, Any]:
    text = {"type": "string", "maxLength": settings.max_label_length}
    return {"additionalProperties": text, "maxProperties": settings.max_labels}


_CELL = {"$ref": "#/components/schemas/CellIn"}
_SHAPES: tuple[tuple[type, dict[str, Any]], ...] = (
    (Block, {"$ref": "#/components/schemas/Nested"}),
    (Levels, {"items": {"$ref": "#/components/schemas/Level"}}),
    (Share, {"minimum": Share.LEAST, "maximum": Share.MOST}),
    (Reasons, {"items": {"$ref": "#/components/schemas/ReasonIn"}}),
    (Cells, {"items": _CELL}),
    (Warnings, {"items": {"$ref": "#/components/schemas/WarningIn"}, "maxItems": Warnings.MOST}),
)
