"""Fields of grids as they are sent: nested numbers, levels, cells, warnings, labels."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson
from marshmallow import ValidationError, fields

from registry.api.context import parts
from registry.api.fields import name_shape, unknown
from registry.grids.intake.faults import REPORTED
from registry.grids.intake.levels import has_control
from registry.grids.intake.members import LONGEST_TEXT, MOST_KEYS, MOST_PARTS, key_fault, key_of, protocol_of_texts
from registry.settings import Settings


class Block(fields.Field[Any]):
    """Numbers nested to the axes' depth, or one number; read by `registry.grids.intake` once the axes are known."""

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return {"$ref": "#/components/schemas/Nested"}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> Any:
        if isinstance(value, (str, bool, dict)):
            raise ValidationError("must be a number, or lists of numbers nested to the depth of the axes")
        return value


class Recurring(fields.Nested):
    """A nested object of which most grids have the same: what was read once is not read again.

    It is shared, so nobody may change it.
    """

    def _deserialize(self, value: Any, attr: str | None, data: Any, partial: Any = None, **options: Any) -> Any:
        try:
            text = orjson.dumps(value)
        except TypeError:  # an integer of more than 64 bits
            text = b""
        if not text or len(text) > _LONGEST_RECURRING:
            return super()._deserialize(value, attr, data, partial, **options)
        return _load_recurring(self, text, parts().settings.max_name)


_LONGEST_RECURRING = 10_000


@lru_cache(maxsize=512)
def _load_recurring(field: Recurring, text: bytes, _max_name: int) -> Any:
    return fields.Nested._deserialize(field, orjson.loads(text), None, None)


class Levels(fields.Field[Any]):
    """The levels of an axis; each is read by `registry.grids.intake`."""

    KIND = "array", None

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return {"items": {"$ref": "#/components/schemas/Level"}}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> Any:
        if not isinstance(value, list):
            raise ValidationError("must be a list")
        return value


class Cells(fields.Field[Any]):
    """At least so many tidy cells, `{"at", "value", "trials", "stderr", "reason"}`."""

    KIND = "array", None
    ONE = "CellIn"
    """The component that is the shape of one."""
    KEYS: tuple[str, ...] = ("at", "value", "trials", "stderr", "reason")
    REQUIRED: tuple[str, ...] = ("at", "value")

    def __init__(self, *, least: int = 0, **options: Any) -> None:
        super().__init__(**options)
        self.least = least

    def shape(self, _settings: Settings) -> dict[str, Any]:
        items = {"items": {"$ref": f"#/components/schemas/{self.ONE}"}}
        return items | ({"minItems": self.least} if self.least else {})

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> Any:
        if not isinstance(value, list):
            raise ValidationError("must be a list of cells")
        if len(value) < self.least:
            raise ValidationError("must not be empty")
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
            return [f"must be an object with {' and '.join(self.REQUIRED)}"]
        faults = {name: [fault] for name, fault in unknown(cell, self.KEYS).items()}
        faults |= {name: ["Missing data for required field."] for name in self.REQUIRED if name not in cell}
        if "at" in cell and not isinstance(cell["at"], dict):
            faults["at"] = ["must be an object of axis names and levels"]
        return faults or None


class Reasons(Cells):
    """Reasons for missing cells, `{"at", "reason"}`."""

    ONE = "ReasonIn"
    KEYS = ("at", "reason")
    REQUIRED = ("at", "reason")


class Warnings(fields.Field[Any]):
    """Doubts of whoever read the values from something else, `{"code", "detail", "pointer"}`."""

    KIND = "array", None
    MOST, LONGEST = 100, 1_000
    CODE = "[a-z][a-z0-9_]{0,63}"

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return {"items": {"$ref": "#/components/schemas/WarningIn"}, "maxItems": self.MOST}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> Any:
        if not isinstance(value, list) or len(value) > self.MOST:
            raise ValidationError(f"must be a list of at most {self.MOST} warnings")
        faults = {place: [self._WANTED] for place, one in enumerate(value) if not self._is_one(one)}
        if faults:
            raise ValidationError(faults)
        return [{name: text for name, text in one.items() if text is not None} for one in value]

    _WANTED = f"is an object of code ({CODE}), detail and pointer, texts of at most {LONGEST} characters"

    def _is_one(self, one: Any) -> bool:
        if not isinstance(one, dict) or not {"code", "detail"} <= one.keys() <= {"code", "detail", "pointer"}:
            return False
        is_text = all(isinstance(text, str) and len(text) <= self.LONGEST and not has_control(text)
                      for name, text in one.items() if name != "pointer" or text is not None)  # fmt: skip
        return is_text and re.fullmatch(self.CODE, one["code"]) is not None


class Derived(fields.Field[Any]):
    """True if a grid is made of others, or the list of their names, which is read by `registry.grids.intake`."""

    def shape(self, settings: Settings) -> dict[str, Any]:
        one = {"type": "string", "minLength": 1} | name_shape(settings.max_name)
        names = {"type": "array", "items": one, "minItems": 1, "maxItems": MOST_PARTS, "uniqueItems": True}
        return {"anyOf": [{"type": "boolean"}, names, {"type": "null"}]}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> Any:
        if not isinstance(value, (bool, list)):
            raise ValidationError("must be true, or a list of names")
        return value


class Protocol(fields.Field[dict[str, Any]]):
    """How values were measured, by key; read by `registry.grids.intake`."""

    KIND = "object", None

    def shape(self, _settings: Settings) -> dict[str, Any]:
        one = {"type": ["string", "number", "boolean", "null"], "maxLength": LONGEST_TEXT}
        return {"additionalProperties": one, "maxProperties": MOST_KEYS}

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any
    ) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValidationError('must be an object such as {"harness": "lm-eval", "shots": 5}')
        return value


class ProtocolTexts(fields.List[str]):
    """A protocol in a query, a parameter `key=value` for each key."""

    def __init__(self, **options: Any) -> None:
        super().__init__(fields.String(), **options)

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return {"items": {"type": "string", "pattern": "^[^=]+=.+$"}, "maxItems": MOST_KEYS}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> Any:
        try:
            return protocol_of_texts(value)
        except ValueError as error:
            raise ValidationError(f'is key=value, each key once, not "{str(error)[:40]}"') from None


class ProtocolKeys(fields.Field[tuple[str, ...]]):
    """Keys of protocols in the form in which they are compared, each once and in order."""

    KIND = "array", None

    def shape(self, _settings: Settings) -> dict[str, Any]:
        one = {"type": "string", "pattern": r"^[^=\u0000-\u0020\u007f-\u00a0]{1,64}$"}
        return {"items": one, "maxItems": MOST_KEYS}

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any
    ) -> tuple[str, ...]:
        if not isinstance(value, list) or len(value) > MOST_KEYS:
            raise ValidationError(f"must be a list of at most {MOST_KEYS} keys")
        keys = [key_of(one) if isinstance(one, str) else "" for one in value]
        faults: dict[str | int, Any] = {
            place: [fault] for place, key in enumerate(keys) if (fault := key_fault(key)) is not None
        }
        if faults:
            raise ValidationError(faults)
        return tuple(sorted(set(keys)))


class Labels(fields.Field[dict[str, Any]]):
    """A few short texts by name."""

    KIND = "object", None
    CLEARS = False
    """Whether null is taken too: it takes the label away."""

    def shape(self, settings: Settings) -> dict[str, Any]:
        text = {"type": ["string", "null"] if self.CLEARS else "string", "maxLength": settings.max_label_length}
        return {"additionalProperties": text, "maxProperties": settings.max_labels}

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any
    ) -> dict[str, Any]:
        most, longest = parts().settings.max_labels, parts().settings.max_label_length
        if not isinstance(value, dict) or len(value) > most:
            raise ValidationError(f"must be an object of at most {most} labels")
        for name, text in value.items():
            for part in (name,) if text is None and self.CLEARS else (name, text):
                if not isinstance(part, str) or len(part) > longest or has_control(part):
                    fault = f"a label is a text of at most {longest} characters without control characters"
                    raise ValidationError({name: [fault]})
        return value


class LabelChanges(Labels):
    """Labels to set, by name; null takes one away."""

    CLEARS = True


class Line(fields.Field[str]):
    """A text of at most so many characters, none of them a control character."""

    KIND = "string", None

    def __init__(self, most: int, **options: Any) -> None:
        super().__init__(**options)
        self.most = most

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return {"minLength": 1} | name_shape(self.most)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> str:
        if not isinstance(value, str) or not 1 <= len(value) <= self.most or has_control(value):
            raise ValidationError(f"must be a text of 1 to {self.most} characters without control characters")
        return value


class Markdown(fields.Field[str]):
    """A text of several lines; of control characters it has line ends, which become newlines, and tabs only."""

    KIND = "string", None

    def shape(self, settings: Settings) -> dict[str, Any]:
        return {"maxLength": settings.max_description}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> str:
        if not isinstance(value, str):
            raise ValidationError("must be a string")
        text = value.replace("\r\n", "\n").replace("\r", "\n")
        longest = parts().settings.max_description
        if len(text) > longest:
            raise ValidationError(f"has {len(text)} characters; at most {longest} are allowed")
        plain = text.replace("\t", "")
        if has_control(plain.replace("\n", "")):
            line = next(number for number, line in enumerate(plain.split("\n"), start=1) if has_control(line))
            raise ValidationError(f"holds a control character in line {line}; only newlines and tabs may be")
        return "" if text.isspace() else text
