"""The normal form of a claim, by which it is kept once: the same bytes exactly for the same statement, however
written."""

import hashlib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import orjson

from registry.claims.claim import About, Atom, Claim, Number, Part, Quantifier, decimals_of
from registry.grids.slices import Slice


def normal_form(claim: Claim) -> dict[str, Any]:
    """The claim as a document that `read_claim` reads back, without what has its usual value."""
    usual = Claim(claim.says)
    names = ("strength", "alpha", "looks")
    more = {name: getattr(claim, name) for name in names if getattr(claim, name) != getattr(usual, name)}
    return part_document(claim.says) | more


def digest_of(claim: Claim) -> str:
    """`sha256:` and the hexadecimal SHA-256 of the normal form."""
    written = orjson.dumps(normal_form(claim), option=orjson.OPT_SORT_KEYS)
    return "sha256:" + hashlib.sha256(written).hexdigest()


def part_document(part: Part) -> dict[str, Any]:
    """A statement as a document; the parts of a compound keep their order."""
    if not isinstance(part, Atom):
        return {"kind": part.kind, "claims": [part_document(one) for one in part.claims]}
    found: dict[str, Any] = {"kind": part.kind}
    if part.about != About():
        found["about"] = about_document(part.about)
    if part.where:
        found["where"] = selection_document(part.where)
    if part.for_:
        found["for"] = {axis: list(levels) or "*" for axis, levels in part.for_}
    if part.holds.word != "all":
        found["holds"] = _written(part.holds)
    return found | _fields(part.says)


def about_document(about: About) -> dict[str, Any]:
    """The grid by its id, else the names."""
    if about.grid:
        return {"grid": about.grid}
    named = {one.name: getattr(about, one.name) for one in fields(about)}
    return {name: said for name, said in named.items() if said or (name == "variant" and said is not None)}


def selection_document(wanted: Slice) -> dict[str, Any]:
    """Levels by axis, or a range."""
    return {axis: _conditions(conditions) for axis, conditions in wanted}


def _conditions(conditions: tuple[str, ...]) -> Any:
    ends = {">=": "from", "<=": "to"}
    if conditions and all(one[:2] in ends for one in conditions):
        return {ends[one[:2]]: float(one[2:]) for one in conditions}
    return list(conditions)


def _fields(says: Any) -> dict[str, Any]:
    found = {}
    for one in fields(says):
        value = getattr(says, one.name)
        usual = one.default is not MISSING and value == one.default
        if not usual:
            of = getattr(says, "of", "cell")
            found[one.name.rstrip("_")] = _at(value, of) if one.name == "at" else _written(value)
    return found


def _at(at: tuple[tuple[tuple[str, str], ...], ...], of: str) -> list[Any]:
    return [dict(one) if of == "cell" else one[0][1] for one in at]


def _written(value: Any) -> Any:
    match value:
        case Number():
            return _number(value)
        case Quantifier():
            plain = value.word in ("all", "any", "none", "most")
            whole = value.number if value.word == "share" else int(value.number)
            return value.word if plain else {value.word: whole}
        case tuple():
            slices = bool(value) and isinstance(value[0], tuple)
            if slices and value[0] and isinstance(value[0][0], tuple):
                return [selection_document(one) for one in value]
            return selection_document(value) if slices else list(value)
    return value


def _number(said: Number) -> Mapping[str, Any]:
    found: dict[str, Any]
    shown: tuple[float, ...]
    if said.op == "between":
        found, shown = {"between": [said.low, said.high]}, (said.low, said.high)
    elif said.op == "about":
        found, shown = {"about": said.number}, (said.number,)
        if said.within is not None:
            found["within"] = said.within
    else:
        found, shown = {"op": said.op, "number": said.number}, (said.number,)
    # Every number is written as a float, whose decimals need not be those that it had.
    if max(decimals_of(one) for one in shown) != said.decimals:
        found["decimals"] = said.decimals
    return found if said.unit == "points" else found | {"unit": said.unit}
