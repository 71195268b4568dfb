"""The kinds of statements: the fields of each, how they are read, and which of them it cannot do without."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from registry.claims.claim import (
    OLD_MISSING,
    Cells,
    Compare,
    Coverage,
    Effect,
    Extreme,
    IllPosed,
    Lie,
    Rank,
    Stable,
    Step,
    SweetSpot,
    Trend,
    Value,
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

_STATS = ("mean", "min", "max", "range", "first", "last", "sd")
_MISSING = choice("matched", "available", old=OLD_MISSING)
_CELL_OF = ("cell", "first", "last", "min", "max", "mean", "sd", "change")


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


KINDS: Mapping[str, Kind] = {
    "value": Kind(Value, {"of": choice(*_CELL_OF), "is": stated, "along": text}, ("is",)),
    "cells": Kind(Cells, {"is": stated, "cells_hold": quantifier}, ("is",)),
    "extreme": Kind(
        Extreme,
        {
            "which": choice("max", "min"),
            "of": text,
            "stat": choice(*_STATS),
            "along": text,
            "at": _at,
            "alone": flag,
            "missing": _MISSING,
            "isolated": amount,
        },
        ("which", "at"),
    ),
    "trend": Kind(
        Trend,
        {
            "along": text,
            "goes": choice("up", "down", "flat", "up_down", "down_up", "not_monotone"),
            "monotone": flag,
            "strictly": flag,
            "turn": level,
            "margin": amount,
        },
        ("along", "goes"),
    ),
    "step": Kind(
        Step,
        {
            "along": text,
            "from": level,
            "to": level,
            "goes": choice("up", "down"),
            "size": stated,
            "largest": flag,
            "onset": level,
            "margin": amount,
        },
        ("along", "goes"),
    ),
    "lie": Kind(
        Lie,
        {
            "matching": stated,
            "lowest": count,
            "highest": count,
            "inside": list_of(selection, 100),
            "cells_hold": quantifier,
        },
        ("inside",),
    ),
    "stable": Kind(Stable, {"along": text, "within": amount}, ("along", "within")),
    "compare": Kind(
        Compare,
        {
            "left": selection,
            "right": selection,
            "is": choice("higher", "lower", "better", "worse", "equal"),
            "by": stated_with_unit,
            "margin": amount,
            "everywhere": quantifier,
            "of": choice("mean", "gap"),
            "ahead": selection,
            "behind": selection,
        },
        ("left", "right", "is"),
    ),
    "rank": Kind(
        Rank,
        {
            "by": text,
            "name": level,
            "place": _place,
            "top": flag,
            "stat": choice(*_STATS),
            "along": text,
            "high_first": flag,
            "missing": _MISSING,
            "alone": flag,
        },
        ("by", "name"),
    ),
    "effect": Kind(
        Effect,
        {"axes": list_of(text, 4), "is": choice("present", "small", "none"), "within": amount, "interaction": flag},
        ("axes", "is"),
    ),
    "sweet_spot": Kind(SweetSpot, {"at": _at}, ("at",)),
    "coverage": Kind(
        Coverage,
        {
            "axis": text,
            "is": choice("levels", "span", "ragged", "most", "last_below", "cells"),
            "levels": levels,
            "level": level,
            "number": finite,
            "count": stated,
        },
        ("is",),
    ),
    "ill_posed": Kind(IllPosed, {"because": any_text}, ()),
}
