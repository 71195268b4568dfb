"""Fields of input schemas. marshmallow's own take "1_0" for a number and NUL for text; these do not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from marshmallow import ValidationError, fields

from registry.api.context import parts
from registry.api.shapes.words import PRINTABLE
from registry.intake.faults import REPORTED, number, whole
from registry.intake.levels import MAX_AXES, has_control
from registry.settings import Settings


class Name(fields.Field[str]):
    """A text without control characters, as long as a name may be; not empty unless `empty` is allowed."""

    def __init__(self, *, empty: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.empty = empty

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> str:
        if not isinstance(value, str):
            raise ValidationError("must be a string")
        if not value and not self.empty:
            raise ValidationError("must not be empty")
        longest = parts().settings.max_name
        if len(value) > longest:
            raise ValidationError(f"has {len(value)} characters; at most {longest} are allowed")
        if has_control(value):
            raise ValidationError("must not hold control characters")
        return value


class Matching(fields.Field[str]):
    """A text of which the whole matches a pattern; `wanted` says so in words."""

    def __init__(self, pattern: str, wanted: str, **options: Any) -> None:
        super().__init__(**options)
        self.pattern, self.wanted = re.compile(pattern), wanted

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> str:
        if not isinstance(value, str) or not self.pattern.fullmatch(value):
            raise ValidationError(self.wanted)
        return value


class Choice(fields.Field[str]):
    """One of a few words."""

    def __init__(self, *words: str, **options: Any) -> None:
        super().__init__(**options)
        self.words = words

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise ValidationError(f"must be one of {', '.join(self.words)}")
        return value


class Number(fields.Field[float]):
    """A finite JSON number; no string, no boolean."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> float:
        found = number(value)
        if found is None:
            raise ValidationError("must be a finite number")
        return found


class Share(fields.Field[float]):
    """A number strictly between 0 and 1, as text in a query."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> float:
        try:
            found = float(value)
        except (TypeError, ValueError):
            found = 0.0
        if not 0 < found < 1 or "_" in str(value):
            raise ValidationError("must be a number above 0 and below 1")
        return found


class Quantity(fields.Field[float]):
    """A finite number, as text in a query."""

    _FORM = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> float:
        found = number(float(value)) if isinstance(value, str) and self._FORM.fullmatch(value) else None
        if found is None:
            raise ValidationError("must be a finite number")
        return found


class Whole(fields.Field[int]):
    """A whole number from `least` to `most`: a JSON number (30.0 is whole), in a query (`text`) its digits."""

    def __init__(self, least: int, most: int, *, text: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.least, self.most, self.text = least, most, text

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> int:
        if self.text and isinstance(value, str) and _DIGITS.fullmatch(value):
            value = int(value)
        found = whole(value)
        if found is None or not self.least <= found <= self.most:
            raise ValidationError(f"must be a whole number from {self.least} to {self.most}")
        return found


class Axes(fields.List[Any]):
    """The axes of a grid; too many are refused before any is read."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> Any:
        if isinstance(value, list) and len(value) > MAX_AXES:
            raise ValidationError(f"a grid has at most {MAX_AXES} axes, not {len(value)}")
        return super()._deserialize(value, attr, data, **options)


class Instant(fields.Field[datetime]):
    """An RFC 3339 instant, or a day, in a query; UTC where it does not say.

    A `+` that was not escaped arrives as a space and is read as the `+` that it was.
    """

    _FORM = re.compile(
        r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)([Zz]|[+ -]\d\d:?\d\d)?)?", re.ASCII
    )

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> datetime:
        match = self._FORM.fullmatch(value) if isinstance(value, str) else None
        try:
            if match is not None:
                day, hour, zone = match.groups()
                offset = (zone or "Z").replace(" ", "+").upper()
                return datetime.fromisoformat(f"{day}T{hour or '00:00'}{offset}").astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        raise ValidationError("must be an instant such as 2026-11-21T08:00:00Z")


class Block(fields.Field[Any]):
    """Numbers nested to the axes' depth, or one number; read by `registry.intake` once the axes are known."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> Any:
        if isinstance(value, (str, bool, dict)):
            raise ValidationError("must be a number, or lists of numbers nested to the depth of the axes")
        return value


class Levels(fields.Field[Any]):
    """The levels of an axis; each is read by `registry.intake`."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> Any:
        if not isinstance(value, list):
            raise ValidationError("must be a list")
        return value


class Cells(fields.Field[Any]):
    """Tidy cells, `{"at", "value", "trials", "stderr", "reason"}`."""

    KEYS = frozenset(("at", "value", "trials", "stderr", "reason"))

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> Any:
        if not isinstance(value, list):
            raise ValidationError("must be a list of cells")
        faults: dict[str | int, Any] = {}
        for place, cell in enumerate(value):
            fault = self._fault(cell)
            if fault is not None:
                faults[place] = fault
            if len(faults) == REPORTED:
                break
        if faults:
            raise ValidationError(faults)
        return value

    def _fault(self, cell: Any) -> Any:
        if not isinstance(cell, dict):
            return ["must be an object with at and value"]
        faults = {name: ["Unknown field."] for name in cell.keys() - self.KEYS}
        faults |= {name: ["Missing data for required field."] for name in ("at", "value") if name not in cell}
        if "at" in cell and not isinstance(cell["at"], dict):
            faults["at"] = ["must be an object of axis names and levels"]
        return faults or None


class Labels(fields.Field[dict[str, str]]):
    """A few short texts by name."""

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any
    ) -> dict[str, str]:
        most, longest = parts().settings.max_labels, parts().settings.max_label_length
        if not isinstance(value, dict) or len(value) > most:
            raise ValidationError(f"must be an object of at most {most} labels")
        for name, text in value.items():
            for part in (name, text):
                if not isinstance(part, str) or len(part) > longest or has_control(part):
                    fault = f"a label is a text of at most {longest} characters without control characters"
                    raise ValidationError({name: [fault]})
        return value


MEANINGS: tuple[tuple[Any, ...], ...] = (
    (Name, "string", None),
    (Choice, "string", None),
    (Matching, "string", None),
    (Number, "number", None),
    (Share, "number", None),
    (Quantity, "number", None),
    (Instant, "string", "date-time"),
    (Whole, "integer", None),
    (Block, None, None),
    (Levels, "array", None),
    (Cells, "array", None),
    (Labels, "object", None),
)

_DIGITS = re.compile(r"[0-9]{1,15}")


def schema_of(_converter: Any, field: Any, **_options: Any) -> dict[str, Any]:
    """What apispec does not know about these fields."""
    if isinstance(field, Name):
        return {"maxLength": Settings().max_name, "pattern": PRINTABLE} | ({} if field.empty else {"minLength": 1})
    if isinstance(field, Matching):
        return {"pattern": f"^({field.pattern.pattern})$"}
    if isinstance(field, Whole):
        return {"minimum": field.least, "maximum": field.most}
    if isinstance(field, Choice):
        return {"enum": [*field.words, *([None] if field.allow_none else [])]}
    if isinstance(field, Axes):
        return {"maxItems": MAX_AXES}
    return next((shape for kind, shape in _SHAPES if isinstance(field, kind)), {})


_SHAPES: tuple[tuple[type, dict[str, Any]], ...] = (
    (Block, {"oneOf": [{"type": ["number", "null"]}, {"type": "array", "items": {}}]}),
    (Levels, {"items": {"$ref": "#/components/schemas/Level"}}),
    (Share, {"exclusiveMinimum": 0, "exclusiveMaximum": 1}),
    (Cells, {"items": {"$ref": "#/components/schemas/CellIn"}}),
    (Labels, {"additionalProperties": {"type": "string", "maxLength": 256}, "maxProperties": 64}),
)
