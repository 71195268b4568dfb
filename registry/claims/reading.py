"""Readers of the values in a claim, for `grammar.py`: each takes what was sent and its JSON pointer, and reports
faults."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, cast

from registry.claims.claim import Number, Quantifier, decimals_of
from registry.grids.grid import plain_label
from registry.grids.intake.faults import Report, escaped, number
from registry.grids.intake.levels import has_control
from registry.grids.slices import Slice

Schema = Mapping[str, Any]
LONGEST_NAME = 200
LONGEST_TEXT = 2_000
MOST_LEVELS = 10_000
_MOST_DECIMALS = 12
_WORDS = ("all", "any", "none", "most")


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads what was sent at a JSON pointer and reports faults. `schema` is the JSON Schema of what it takes, but for
    what one cannot say: that a text has no control characters, and that two fields go together."""

    read: Callable[[Any, str, Report], Any]
    schema: Schema

    def __call__(self, given: Any, pointer: str, report: Report) -> Any:
        """The value that was sent, or a stand-in where it is at fault."""
        return self.read(given, pointer, report)


def reads(schema: Schema) -> Callable[[Callable[[Any, str, Report], Any]], Reader]:
    """The function as the reader of what has this schema."""
    return lambda read: Reader(read, schema)


def object_schema(readers: Mapping[str, Reader], required: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """The schema of the objects that `members` reads."""
    found: dict[str, Any] = {"type": "object", "properties": {name: one.schema for name, one in readers.items()}}
    return found | ({"required": list(required)} if required else {}) | {"additionalProperties": False} | more


def nearby(name: str, known: Iterable[str]) -> str:
    """List what there is, the likeliest first: `did you mean "Length"?`; empty where nothing is alike."""
    by_case = {one.casefold(): one for one in known}
    found = get_close_matches(name.casefold(), by_case, n=1)
    return f'; did you mean "{by_case[found[0]]}"?' if found else ""


def members(
    given: Any, pointer: str, readers: Mapping[str, Reader], required: Sequence[str], report: Report
) -> dict[str, Any]:
    """The members of an object, each read by its reader; unknown and missing ones are faults."""
    if not isinstance(given, Mapping):
        report.fault(pointer, "must be an object")
        return {}
    for name in given.keys() - readers.keys():
        report.fault(f"{pointer}/{escaped(str(name))}", f"is no field here{nearby(str(name), readers)}")
    for name in required:
        if given.get(name) is None:
            report.fault(pointer, f'lacks the field "{name}"')
    # null is the same as leaving a field out.
    return {
        name: reader(given[name], f"{pointer}/{name}", report)
        for name, reader in readers.items()
        if given.get(name) is not None
    }


def choice(*words: str, old: Mapping[str, str] = MappingProxyType({})) -> Reader:
    """One of these words; `old` ones are still read, as those that they stand for."""

    @reads({"enum": [*words, *old]})
    def read(given: Any, pointer: str, report: Report) -> Any:
        if isinstance(given, str) and given in (*words, *old):
            return old.get(given, given)
        report.fault(pointer, f"is one of {', '.join(words)}{nearby(str(given), words)}")
        return words[0]

    return read


_SPACES = str.maketrans("\n\r\t", "   ")


@reads({"type": "string", "minLength": 1, "maxLength": LONGEST_NAME})
def text(given: Any, pointer: str, report: Report) -> str:
    """A text without control characters that is not empty."""
    if not isinstance(given, str) or not given or len(given) > LONGEST_NAME or has_control(given):
        report.fault(pointer, f"must be a text of 1 to {LONGEST_NAME} characters, none of them a control character")
        return ""
    return given


@reads({"type": "string", "maxLength": LONGEST_TEXT})
def any_text(given: Any, pointer: str, report: Report) -> str:
    """A text that may have line breaks and tabs but no other control characters."""
    if not isinstance(given, str) or len(given) > LONGEST_TEXT or has_control(given.translate(_SPACES)):
        report.fault(
            pointer, f"must be a text of at most {LONGEST_TEXT:,} characters, none of them a control character"
        )
        return ""
    return given


@reads({"type": "string", "maxLength": LONGEST_NAME})
def name_or_empty(given: Any, pointer: str, report: Report) -> str:
    """A name that may be empty, as that of a variant."""
    return "" if given == "" else str(text(given, pointer, report))


@reads({"type": "boolean"})
def flag(given: Any, pointer: str, report: Report) -> bool:
    """true or false."""
    if not isinstance(given, bool):
        report.fault(pointer, "must be true or false")
    return given is True


def _numeric(wanted: str, fits: Callable[[float], bool], instead: float, **schema: Any) -> Reader:
    @reads({"type": "number", **schema})
    def read(given: Any, pointer: str, report: Report) -> float:
        found = number(given)
        if found is None or not fits(found):
            report.fault(pointer, f"must be {wanted}")
            return instead
        return type(instead)(found)

    return read


amount = _numeric("a number of 0 or more", lambda found: found >= 0, 0.0, minimum=0)
finite = _numeric("a finite number", lambda _: True, 0.0)
share = _numeric("a number between 0 and 1", lambda found: 0 < found < 1, 0.5, exclusiveMinimum=0, exclusiveMaximum=1)


def whole(least: int, most: int = 1_000_000) -> Reader:
    """A whole number from one to another."""
    wanted, bounds = f"a whole number from {least} to {most:,}", {"minimum": least, "maximum": most}
    return _numeric(
        wanted, lambda found: found == int(found) and least <= found <= most, least, type="integer", **bounds
    )


count = whole(1)


@reads({"$ref": "#/$defs/level"})
def level(given: Any, pointer: str, report: Report) -> str:
    """A level by its label or its number, as a label."""
    if isinstance(given, str):
        return str(text(given, pointer, report))
    found = number(given)
    if found is None:
        report.fault(pointer, "must be a level: its label or its number")
        return "?"
    return plain_label(found + 0.0)


def list_of(reader: Reader, most: int = MOST_LEVELS) -> Reader:
    """A list of 1 to `most`, as a tuple."""

    @reads({"type": "array", "items": reader.schema, "minItems": 1, "maxItems": most})
    def read(given: Any, pointer: str, report: Report) -> tuple[Any, ...]:
        if not isinstance(given, list) or not 1 <= len(given) <= most:
            report.fault(pointer, f"must be a list of 1 to {most:,}")
            return ()
        return tuple(reader(one, f"{pointer}/{place}", report) for place, one in enumerate(given))

    return read


_LEVELS = list_of(level)


@reads(_LEVELS.schema)
def levels(given: Any, pointer: str, report: Report) -> tuple[str, ...]:
    """A list of levels, sorted, each once."""
    return tuple(sorted(set(_LEVELS(given, pointer, report))))


_ENDS = {"from": finite, "to": finite}


@reads({"$ref": "#/$defs/slice"})
def selection(given: Any, pointer: str, report: Report) -> Slice:
    """Axes, each with a list of levels or with a range from one number to another."""
    if not isinstance(given, Mapping):
        report.fault(pointer, "must be an object: levels by axis")
        return ()
    found = []
    for axis in sorted(map(str, given)):
        here = f"{pointer}/{escaped(axis)}"
        text(axis, here, report)
        read = _range if isinstance(given[axis], Mapping) else levels
        found.append((axis, read(given[axis], here, report)))
    return tuple(found)


def _range(given: Any, pointer: str, report: Report) -> tuple[str, ...]:
    ends = members(given, pointer, _ENDS, (), report)
    if not ends:
        report.fault(pointer, 'a range has "from", "to" or both')
    if len(ends) == 2 and ends["from"] > ends["to"]:
        report.fault(pointer, f'"from" is {ends["from"]:g}, above "to", {ends["to"]:g}')
    signs = {"from": ">=", "to": "<="}
    return tuple(sorted(signs[end] + plain_label(bound + 0.0) for end, bound in ends.items()))


@reads({"$ref": "#/$defs/groups"})
def groups(given: Any, pointer: str, report: Report) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Dimensions, each with a list of levels or with "*" for all of them, which is the empty tuple."""
    if not isinstance(given, Mapping) or not given:
        report.fault(pointer, 'must be an object: a list of levels or "*" by axis')
        return ()
    found = []
    for axis in sorted(map(str, given)):
        here = f"{pointer}/{escaped(axis)}"
        text(axis, here, report)
        found.append((axis, () if given[axis] == "*" else levels(given[axis], here, report)))
    return tuple(found)


@reads({"type": "object", "additionalProperties": level.schema, "minProperties": 1})
def coordinate(given: Any, pointer: str, report: Report) -> tuple[tuple[str, str], ...]:
    """A coordinate: a level by axis."""
    if not isinstance(given, Mapping) or not given:
        report.fault(pointer, "must be an object: a level by axis")
        return ()
    return tuple(
        sorted((str(axis), level(at, f"{pointer}/{escaped(str(axis))}", report)) for axis, at in given.items())
    )


_COUNTED = {"at_least": count, "exactly": whole(0)}


@reads({"$ref": "#/$defs/quantifier"})
def quantifier(given: Any, pointer: str, report: Report) -> Quantifier:
    """all, any, none, most, or an object with at_least, exactly or share."""
    if isinstance(given, str) and given in _WORDS:
        return Quantifier(cast(Any, given))
    if isinstance(given, Mapping) and len(given) == 1:
        [(word, said)] = given.items()
        if word in _COUNTED:
            return Quantifier(cast(Any, word), _COUNTED[word](said, f"{pointer}/{word}", report))
        if word == "share":
            return Quantifier("share", share(said, f"{pointer}/share", report))
    report.fault(pointer, 'is all, any, none, most, {"at_least": k}, {"exactly": k} or {"share": s}')
    return Quantifier("all")


_PARTS: dict[str, Reader] = {
    "op": choice("=", "<", ">", "<=", ">="),
    "number": finite,
    "between": Reader(list_of(finite, 2).read, {"type": "array", "items": finite.schema, "minItems": 2, "maxItems": 2}),
    "about": finite,
    "within": amount,
    "decimals": whole(0, _MOST_DECIMALS),
    "unit": choice("points", "percent", "factor"),
}


@reads({"$ref": "#/$defs/number"})
def stated(given: Any, pointer: str, report: Report) -> Number:
    """A statement about a number in points, the unit of the metric."""
    found: Number = stated_with_unit(given, pointer, report)
    if found.unit != "points":
        report.fault(f"{pointer}/unit", "is points here: only a difference is said in percent or as a factor")
    return found


@reads({"$ref": "#/$defs/number_with_unit"})
def stated_with_unit(given: Any, pointer: str, report: Report) -> Number:
    """A statement about a number: op and number, between, or about with within."""
    before = report.met
    found = members(given, pointer, _PARTS, (), report)
    if report.met > before:
        return Number("=")
    forms = [form for form in ("op", "between", "about") if form in found]
    if len(forms) != 1 or ("op" in found) != ("number" in found) or ("within" in found and "about" not in found):
        report.fault(pointer, 'is {"op", "number"}, {"between": [a, b]} or {"about": x, "within": w}')
        return Number("=")
    shown = given["between"] if "between" in found else [given.get("number", given.get("about"))]
    told = max((decimals_of(one) for one in shown if number(one) is not None), default=0)
    decimals = found.get("decimals", min(told, _MOST_DECIMALS))
    unit = found.get("unit", "points")
    if "between" not in found:
        number_said = found.get("number", found.get("about", 0.0))
        return Number(found.get("op", "about"), number_said, within=found.get("within"), decimals=decimals, unit=unit)
    ends = found["between"]
    if len(ends) != 2 or ends[0] > ends[1]:
        report.fault(f"{pointer}/between", "is two numbers, the smaller one first")
        return Number("=")
    return Number("between", low=ends[0], high=ends[1], decimals=decimals, unit=unit)


def _number_schema(unit: Schema) -> dict[str, Any]:
    more = {"decimals": _PARTS["decimals"], "unit": Reader(_PARTS["unit"].read, unit)}
    forms = (("op", "number"), ("between",), ("about", "within"))
    return {
        "anyOf": [
            object_schema({name: _PARTS[name] for name in form} | more, [name for name in form if name != "within"])
            for form in forms
        ]
    }


DEFINITIONS: Mapping[str, Schema] = {
    "level": {"description": "Its label or its number.", "anyOf": [text.schema, finite.schema]},
    "number": {"description": "Every value that prints as it with so many decimals; in the unit of the metric."}
    | _number_schema({"const": "points"}),
    "number_with_unit": {"description": "percent: of the right side."} | _number_schema(_PARTS["unit"].schema),
    "slice": {
        "description": "A list of levels, or a range of them, by axis; benchmark, model and variant are axes too.",
        "type": "object",
        "additionalProperties": {"anyOf": [_LEVELS.schema, object_schema(_ENDS, minProperties=1)]},
    },
    "groups": {
        "description": 'A list of levels, or "*" for all of them, by axis.',
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {"anyOf": [{"const": "*"}, _LEVELS.schema]},
    },
    "quantifier": {
        "description": "How many must hold; most: more than half.",
        "anyOf": [
            {"enum": list(_WORDS)},
            *(object_schema({word: one}, [word]) for word, one in {**_COUNTED, "share": share}.items()),
        ],
    },
}
"""The parts to which the schemas of readers refer."""
