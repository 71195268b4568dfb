"""The kinds of statements: the fields of each, which are those of its class and read by their types."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, Literal, NamedTuple, get_args, get_type_hints

from registry.claims.claim import (
    OLD_MISSING,
    Compare,
    Coordinates,
    Coverage,
    Effect,
    IllPosed,
    Missing,
    Number,
    Quantifier,
    Rank,
    Says,
)
from registry.claims.reading import (
    Reader,
    amount,
    any_text,
    choice,
    coordinate,
    count,
    finite,
    flag,
    level,
    levels,
    list_of,
    quantifier,
    reads,
    selection,
    stated,
    stated_with_unit,
    text,
)
from registry.grids.intake.faults import Report
from registry.grids.slices import Slice


class Kind(NamedTuple):
    """A kind of statement: its class, its fields and those that it cannot do without."""

    says: Any
    fields: Mapping[str, Reader]
    required: tuple[str, ...]


@reads({"anyOf": [{"enum": ["first", "last"]}, count.schema]})
def _place(given: Any, pointer: str, report: Report) -> int | str:
    if given in ("first", "last"):
        return 1 if given == "first" else "last"
    return int(count(given, pointer, report))


@reads({"anyOf": [coordinate.schema, level.schema]})
def _coordinate_or_level(given: Any, pointer: str, report: Report) -> Any:
    return coordinate(given if isinstance(given, Mapping) else {"": given}, pointer, report)


_PLACES = list_of(_coordinate_or_level, 100)


@reads(_PLACES.schema)
def _at(given: Any, pointer: str, report: Report) -> tuple[Any, ...]:
    return tuple(sorted(set(_PLACES(given, pointer, report))))


_BY_TYPE: Mapping[Any, Reader] = {
    str: text,
    str | None: level,
    bool: flag,
    bool | None: flag,
    int | None: count,
    int | Literal["last"]: _place,
    float: amount,
    float | None: amount,
    Number: stated,
    Number | None: stated,
    Quantifier: quantifier,
    Quantifier | None: quantifier,
    Missing: choice(*get_args(Missing), old=OLD_MISSING),
    Slice: selection,
    tuple[Slice, ...]: list_of(selection, 100),
    tuple[str, ...]: levels,
    Coordinates: _at,
}
_BY_FIELD: Mapping[tuple[type, str], Reader] = {
    (Compare, "by"): stated_with_unit,
    (Rank, "name"): level,
    (Effect, "axes"): list_of(text, 4),
    (Coverage, "number"): finite,
    (IllPosed, "because"): any_text,
}
"""Fields of which the type does not say how they are read."""


def _kind(says: Any) -> Kind:
    hints, found = get_type_hints(says), {}
    for one in fields(says):
        hint = hints[one.name]
        known = _BY_FIELD.get((says, one.name)) or _BY_TYPE.get(hint)
        found[one.name.rstrip("_")] = known or choice(*get_args(hint))
    return Kind(says, found, tuple(one.name.rstrip("_") for one in fields(says) if one.default is MISSING))


_CLASSES: Sequence[Any] = get_args(Says)
KINDS: Mapping[str, Kind] = {re.sub("(?<!^)(?=[A-Z])", "_", one.__name__).lower(): _kind(one) for one in _CLASSES}
"""Each by the name of its class: `sweet_spot` is `SweetSpot`."""
