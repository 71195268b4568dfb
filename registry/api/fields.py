"""Fields of input schemas, each with its JSON Schema (`shape`); those of grids are in `grid_fields.py`.

marshmallow's own take "1_0" for a number and NUL for text; these do not.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from marshmallow import Schema, ValidationError, fields, pre_load

from registry.api.context import parts
from registry.api.shapes.words import PRINTABLE
from registry.grids.intake.faults import number, unsigned_zero, whole
from registry.grids.intake.levels import MAX_AXES, has_control
from registry.settings import Settings

_DIGITS = re.compile(r"[0-9]{1,15}")


def own_fields(of: type[Any] = fields.Field) -> Iterator[tuple[type[Any], tuple[str, str | None]]]:
    """The fields that apispec does not know, each with its type and format in JSON Schema."""
    for one in of.__subclasses__():
        if "KIND" in vars(one):
            yield one, one.KIND
        yield from own_fields(one)


def shape_of(settings: Settings) -> Callable[..., dict[str, Any]]:
    """What else JSON Schema says of a field, with the limits of these settings: what its `shape` does."""

    def described(_converter: Any, field: Any, **_options: Any) -> dict[str, Any]:
        shape: dict[str, Any] = field.shape(settings) if hasattr(field, "shape") else {}
        return shape

    return described


def name_shape(longest: int) -> dict[str, Any]:
    """The shape of a text without control characters."""
    return {"maxLength": longest, "pattern": PRINTABLE}


def _between(least: float | None, most: float | None) -> dict[str, Any]:
    return {name: bound for name, bound in (("minimum", least), ("maximum", most)) if bound is not None}


class Body(Schema):
    """An object that is sent. Where a member may be absent, null is as good: many programs write every member."""

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        if not field_obj.required and not field_obj.allow_none:
            field_obj.allow_none = True
            vars(self).setdefault("absent", set()).add(field_obj.data_key or field_name)

    @pre_load
    def without_nulls(self, data: Any, **_options: Any) -> Any:
        if not isinstance(data, Mapping) or None not in data.values():
            return data
        absent: set[str] = vars(self).get("absent", set())
        return {name: value for name, value in data.items() if value is not None or name not in absent}


def bodies() -> list[type[Schema]]:
    """The schemas of all that is sent, an object within another before that one; those with an underscore are bases."""
    found: list[type[Schema]] = [*Body.__subclasses__()]
    for one in found:
        found += one.__subclasses__()
    return [one for one in found if not one.__name__.startswith("_")]


class Name(fields.Field[str]):
    """A text without control characters, as long as a name may be; not empty unless `empty` is allowed."""

    KIND = "string", None
    TIMES = 1
    """As long as so many names."""

    def __init__(self, *, empty: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.empty = empty

    def shape(self, settings: Settings) -> dict[str, Any]:
        return name_shape(self.TIMES * settings.max_name) | ({} if self.empty else {"minLength": 1})

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> str:
        if not isinstance(value, str):
            raise ValidationError("must be a string")
        if not value and not self.empty:
            raise ValidationError("must not be empty")
        longest = self.TIMES * parts().settings.max_name
        if len(value) > longest:
            raise ValidationError(f"has {len(value)} characters; at most {longest} are allowed")
        if has_control(value):
            raise ValidationError("must not hold control characters")
        return value


class Member(Name):
    """A benchmark of a suite, with room for many levels."""

    TIMES = 10


class Words(fields.Field[tuple[str, ...]]):
    """Words to look for, in a query: 1 to 8 in a text of at most 200 characters, with spaces between them."""

    KIND = "string", None
    LONGEST, MOST = 200, 8
    _WORD = r"[^ \u0000-\u001f\u007f-\u009f]+"
    PATTERN = rf" *{_WORD}( +{_WORD}){{0,{MOST - 1}}} *"
    """Of the whole text."""

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return {"minLength": 1, "maxLength": self.LONGEST, "pattern": f"^{self.PATTERN}$"}

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any
    ) -> tuple[str, ...]:
        if not isinstance(value, str):
            raise ValidationError("must be a string")
        if len(value) > self.LONGEST:
            raise ValidationError(f"has {len(value):,} characters; at most {self.LONGEST} are searched for")
        if has_control(value):
            raise ValidationError("must not hold control characters")
        words = [word for word in value.split(" ") if word]
        if not 1 <= len(words) <= self.MOST:
            raise ValidationError(f"must be 1 to {self.MOST} words, not {len(words)}")
        return tuple(dict.fromkeys(words))


class PostedClaim(fields.Field[Any]):
    """A claim as it was sent; `registry.claims.grammar` reads it."""

    def shape(self, _settings: Settings) -> dict[str, Any]:
        claim = {"$ref": "#/components/schemas/Claim"}
        return {"anyOf": [claim, {"type": "null"}]} if self.allow_none else claim

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ValidationError("must be an object")
        return value


class Matching(fields.Field[str]):
    """A text of which the whole matches a pattern; `wanted` says so in words."""

    KIND = "string", None

    def __init__(self, pattern: str | re.Pattern[str], wanted: str, **options: Any) -> None:
        super().__init__(**options)
        self.pattern, self.wanted = re.compile(pattern), wanted

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return {"pattern": f"^({self.pattern.pattern})$"}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> str:
        if not isinstance(value, str) or not self.pattern.fullmatch(value):
            raise ValidationError(self.wanted)
        return value


_FEW = 8
"""Words, or fields, that somebody finds at a glance: of more, the nearest one is named."""


class Choice(fields.Field[str]):
    """One of a few words. `old` words are still read, as those that they stand for."""

    KIND = "string", None

    def __init__(self, *words: str, old: Mapping[str, str] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.old = old or {}
        self.words = tuple(dict.fromkeys((*words, *self.old)))

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return {"enum": [*self.words, *([None] if self.allow_none else [])]}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise ValidationError(f"{self._hint(value)}must be one of {', '.join(self.words)}")
        return self.old.get(value, value)

    def _hint(self, value: Any) -> str:
        if len(self.words) <= _FEW or not isinstance(value, str) or len(value) > _LONGEST_NAME:
            return ""
        alike = get_close_matches(value, self.words, n=1, cutoff=0.7)
        return f'did you mean "{alike[0]}"? It ' if alike else ""


class Dimensions(fields.List[Any]):
    """Dimensions of a table, each once, at most `most`: given several times, or once with commas between them."""

    WANTED = "is benchmark, model, variant or axis:<name>"
    _ONE = re.compile(r"benchmark|model|variant|axis:[^\x00-\x1f\x7f]{1,200}")
    _BETWEEN = re.compile(r",(?=(?:benchmark|model|variant)(?:,|$)|axis:)")
    """A comma before a dimension; others belong to the name of an axis."""

    def __init__(self, most: int, **options: Any) -> None:
        super().__init__(fields.String(), **options)
        self.most = most

    def shape(self, _settings: Settings) -> dict[str, Any]:
        one = {"type": "string", "pattern": PRINTABLE, "minLength": 1}
        return {"items": one, "minItems": 1, "maxItems": self.most, "uniqueItems": True}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> Any:
        given = value if isinstance(value, list) else [value]
        found = [one for text in given if isinstance(text, str) for one in self._BETWEEN.split(text)]
        wrong = [one for one in found if not self._ONE.fullmatch(one)]
        if wrong:
            raise ValidationError(f'{self.WANTED}, not "{wrong[0][:40]}"')
        if not 1 <= len(found) <= self.most:
            raise ValidationError(f"names 1 to {self.most} dimensions, not {len(found)}")
        twice = [one for one in dict.fromkeys(found) if found.count(one) > 1]
        if twice:
            raise ValidationError(f'names "{twice[0]}" twice')
        return found


class Number(fields.Field[float]):
    """A finite JSON number from `least` to `most`, where they are given; no string, no boolean."""

    KIND = "number", None

    def __init__(self, *, least: float | None = None, most: float | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.least, self.most = least, most

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return _between(self.least, self.most)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> float:
        found = self._read(value)
        if found is None:
            raise ValidationError("must be a finite number")
        if self.least is not None and found < self.least:
            raise ValidationError(f"must be at least {self.least:g}")
        if self.most is not None and found > self.most:
            raise ValidationError(f"must be at most {self.most:.0f}")
        return found

    def _read(self, value: Any) -> float | None:
        return number(value)


class Share(fields.Field[float]):
    """A number between 0 and 1, as text in a query; so near to either that no quantile is finite, it is refused."""

    KIND = "number", None
    LEAST, MOST = 1e-9, 1 - 1e-9

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return _between(self.LEAST, self.MOST)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> float:
        found = self._read(value)
        if found is None or not self.LEAST <= found <= self.MOST:
            raise ValidationError("must be a number above 0 and below 1, and not within 1e-9 of either")
        return found

    def _read(self, value: Any) -> float | None:
        try:
            return None if "_" in str(value) else float(value)
        except (TypeError, ValueError):
            return None


class ShareOfOne(Share):
    """The same as a JSON number."""

    def _read(self, value: Any) -> float | None:
        return number(value)


class Quantity(Number):
    """A number, as text in a query."""

    _FORM = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)

    def _read(self, value: Any) -> float | None:
        return unsigned_zero(number(float(value))) if isinstance(value, str) and self._FORM.fullmatch(value) else None


class Whole(fields.Field[int]):
    """A whole number from `least` to `most`: a JSON number (30.0 is whole), in a query (`text`) its digits."""

    KIND = "integer", None

    def __init__(self, least: int, most: int, *, text: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.least, self.most, self.text = least, most, text

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return _between(self.least, self.most)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_options: Any) -> int:
        if self.text and isinstance(value, str) and _DIGITS.fullmatch(value):
            value = int(value)
        found = whole(value)
        if found is None or not self.least <= found <= self.most:
            raise ValidationError(f"must be a whole number from {self.least} to {self.most}")
        return found


class Few(fields.List[Any]):
    """A list whose validators look at how long it is: too many items are refused before any is read."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> Any:
        if isinstance(value, list):
            self._validate(value)
        return super()._deserialize(value, attr, data, **options)


class Axes(fields.List[Any]):
    """The axes of a grid; too many are refused before any is read."""

    def shape(self, _settings: Settings) -> dict[str, Any]:
        return {"maxItems": MAX_AXES}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> Any:
        if isinstance(value, list) and len(value) > MAX_AXES:
            raise ValidationError(f"a grid has at most {MAX_AXES} axes, not {len(value)}")
        return super()._deserialize(value, attr, data, **options)


class Instant(fields.Field[datetime]):
    """An RFC 3339 instant, or a day, in a query; UTC where it does not say, and cut to the microsecond.

    A `+` that was not escaped arrives as a space and is read as the `+` that it was.
    """

    KIND = "string", "date-time"
    _FORM = re.compile(
        r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)([Zz]|[+ -]\d\d:?\d\d)?)?", re.ASCII
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


class AsOf(Instant):
    """An instant that is not in the future, as RFC 3339 writes it in UTC; of a day its beginning."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> str:  # type: ignore[override]
        found, now = super()._deserialize(value, attr, data, **options), datetime.now(UTC)
        if found > now:
            raise ValidationError(f"is in the future; it is {written_utc(now.replace(microsecond=0))}")
        return written_utc(found)


def written_utc(instant: datetime) -> str:
    """An instant in UTC as RFC 3339 writes it."""
    return instant.isoformat().replace("+00:00", "Z")


class PageLimit(Whole):
    """Number of items on a page: 1 to the setting `max_page`, 100 if that is not less and nothing is said."""

    USUAL = 100

    def shape(self, settings: Settings) -> dict[str, Any]:
        return _between(1, settings.max_page) | {"default": self.usual(settings)}

    def __init__(self, **options: Any) -> None:
        super().__init__(1, 2**31 - 1, text=True, load_default=lambda: self.usual(parts().settings), **options)

    @classmethod
    def usual(cls, settings: Settings) -> int:
        return min(cls.USUAL, settings.max_page)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> int:
        most = parts().settings.max_page
        try:
            found = super()._deserialize(value, attr, data, **options)
        except ValidationError:
            found = 0
        if not 1 <= found <= most:
            raise ValidationError(f"must be a whole number from 1 to {most}")
        return found


_ADVISED, _LONGEST_NAME = 20, 64
"""Unknown names, and the length of each, up to which the nearest known name is looked for."""


def unknown(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """A fault for each name that is not known, with the known name that may have been meant, or all where they are
    few."""
    known = list(known)
    surplus = [name for name in names if name not in known]
    few = f"; there {'is' if len(known) == 1 else 'are'} {', '.join(known)}." if 0 < len(known) <= _FEW else "."
    advice = {name: get_close_matches(name, known, n=1, cutoff=0.7)
              for name in surplus[:_ADVISED] if len(name) <= _LONGEST_NAME}  # fmt: skip
    return {
        name: f'Unknown field; did you mean "{advice[name][0]}"?' if advice.get(name) else UNKNOWN[:-1] + few
        for name in surplus
    }


UNKNOWN = "Unknown field."
