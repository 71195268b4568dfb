"""Read a claim: its parts, what they are about, the limits, and the JSON Schema of it all.

What is not judged is refused.
"""

import math
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.claims.claim import (
    About,
    Atom,
    Claim,
    Compare,
    Compound,
    Coverage,
    Effect,
    Extreme,
    IllPosed,
    Lie,
    Part,
    Quantifier,
    Rank,
    Step,
    Trend,
    Value,
    atoms_of,
)
from registry.claims.kinds import KINDS
from registry.claims.reading import (
    DEFINITIONS,
    Reader,
    any_text,
    choice,
    count,
    groups,
    list_of,
    members,
    name_or_empty,
    nearby,
    object_schema,
    quantifier,
    reads,
    selection,
    share,
    text,
)
from registry.grids.intake.faults import Report

MOST_GROUPS = 10_000
_NEEDS = {
    "levels": "levels",
    "span": "levels",
    "most": "level",
    "last_below": "number",
    "cells": "count",
}
MOST_DEPTH = 4
MOST_ATOMS = 64
MOST_CLAIMS = 100
"""Claims in one request."""
COMPOUND = ("all_of", "any_of", "not")


def faults_of_kind(atom: Atom, pointer: str) -> Iterator[tuple[str, str]]:
    """A pointer and a sentence for each contradiction within one statement."""
    yield from _of_groups(atom, pointer)
    match atom.says:
        case Value() as says if says.along and says.of in ("cell", "min", "max", "mean", "sd"):
            yield f"{pointer}/along", f"is for first, last and change, not for {says.of}"
        case Trend() as says:
            yield from _of_trend(says, pointer)
        case Compare() as says:
            yield from _of_compare(says, pointer)
        case Extreme() as says:
            if says.of == "cell" and says.stat != "mean":
                yield f"{pointer}/stat", "is for levels of an axis: name it in of"
            if says.of != "cell" and says.isolated is not None:
                yield f"{pointer}/isolated", "is for cells, which have neighbours on ordered axes"
        case Step() as says:
            yield from _of_step(says, pointer)
        case Effect() as says if says.interaction and len(set(says.axes)) != 2:
            yield f"{pointer}/axes", "of an interaction are two"
        case Lie() as says:
            yield from _of_lie(says, pointer)
        case Coverage() as says:
            yield from _of_coverage(says, pointer)
        case Rank() as says if says.top and says.place == "last":
            yield f"{pointer}/top", "is for a place that is counted from the first"


def _of_step(says: Step, pointer: str) -> Iterator[tuple[str, str]]:
    if (says.to is None) == (says.onset is None):
        yield pointer, "needs one of to and onset"
    if says.to is None:
        for name in ("size", "largest"):
            if getattr(says, name):
                yield f"{pointer}/{name}", "is about the step to a level: name it in to"
    elif says.margin:
        yield f"{pointer}/margin", "is the change that does not count, of onset; a step has a size"
    if says.onset is not None and says.from_ is not None:
        yield f"{pointer}/from", "is no part of an onset, which is looked for in all of the series"


def _of_lie(says: Lie, pointer: str) -> Iterator[tuple[str, str]]:
    if sum(one is not None for one in (says.matching, says.lowest, says.highest)) != 1:
        yield pointer, "needs one of matching, lowest and highest"
    for place, region in enumerate(says.inside):
        if not region:
            yield f"{pointer}/inside/{place}", "names no axis, so that everything is inside"


def _of_groups(atom: Atom, pointer: str) -> Iterator[tuple[str, str]]:
    if atom.holds != Quantifier("all") and not atom.for_:
        yield f"{pointer}/holds", "is about groups: name their axis in for"
    total = math.prod(len(levels) or 1 for _, levels in atom.for_)
    if total > MOST_GROUPS:
        yield f"{pointer}/for", f"makes {total:,} groups; at most {MOST_GROUPS:,} are judged"
    listed = all(levels for _, levels in atom.for_) and atom.for_
    if listed and atom.holds.word in ("at_least", "exactly") and atom.holds.number > total:
        yield f"{pointer}/holds", f"needs {atom.holds.number:g} groups, and for names {total}"
    for axis in {name for name, _ in atom.for_} & {name for name, _ in atom.where}:
        yield f"{pointer}/for", f'names "{axis}", which where names too'


def _of_trend(says: Trend, pointer: str) -> Iterator[tuple[str, str]]:
    if (says.goes == "flat") != (says.margin is not None):
        yield f"{pointer}/margin", "is the change that counts as flat: given with flat, and with nothing else"
    if says.turn is not None and says.goes not in ("up_down", "down_up"):
        yield f"{pointer}/turn", "is for up_down and down_up"
    if (says.monotone or says.strictly) and says.goes in ("flat", "not_monotone"):
        yield f"{pointer}/monotone", f"cannot be said of {says.goes}"


def _of_compare(says: Compare, pointer: str) -> Iterator[tuple[str, str]]:
    if (says.is_ == "equal") != (says.margin is not None):
        yield f"{pointer}/margin", "is the difference that counts as equal: given with equal, and with nothing else"
    if says.by is not None and says.is_ == "equal":
        yield f"{pointer}/by", "is the amount of a difference; equal has a margin"
    if says.left == says.right:
        yield f"{pointer}/right", "selects the same cells as left"
    if not says.left or not says.right:
        yield f"{pointer}/left", "left and right each name the levels that tell them apart"
    yield from _of_gaps(says, pointer)


def _of_gaps(says: Compare, pointer: str) -> Iterator[tuple[str, str]]:
    if says.of == "mean":
        for side in ("ahead", "behind"):
            if getattr(says, side):
                yield f"{pointer}/{side}", "is a side of a gap: with of gap"
        return
    if not says.ahead or not says.behind:
        yield pointer, 'a gap needs the fields "ahead" and "behind", each with the levels that tell them apart'
    elif says.ahead == says.behind:
        yield f"{pointer}/behind", "selects the same cells as ahead"
    if says.by is not None and says.by.unit != "points":
        yield f"{pointer}/by/unit", "is points here: a gap may be 0, or of either sign"
    if says.everywhere is not None:
        yield f"{pointer}/everywhere", "is for means: gaps have slots of their own"
    inner, outer = ({name for side in sides for name, _ in side} for sides in
                    ((says.ahead, says.behind), (says.left, says.right)))  # fmt: skip
    for axis in sorted(inner & outer):
        yield f"{pointer}/ahead", f'names "{axis}", which left or right name too'


def _of_coverage(says: Coverage, pointer: str) -> Iterator[tuple[str, str]]:
    needs = _NEEDS.get(says.is_)
    if needs and getattr(says, needs) in (None, "", ()):
        yield pointer, f'{says.is_} needs the field "{needs}"'
    if says.is_ not in ("ragged", "cells") and not says.axis:
        yield pointer, f'{says.is_} needs the field "axis"'
    if says.is_ == "span" and len(says.levels) != 2:
        yield f"{pointer}/levels", "of a span are its first and its last level"


_GRID: Mapping[str, Reader] = {"grid": text}
_NAMES: Mapping[str, Reader] = {
    **dict.fromkeys(("experiment", "metric", "benchmark", "model"), text),
    "variant": name_or_empty,
}


@reads({"$ref": "#/$defs/about"})
def _about(given: Any, pointer: str, report: Report) -> About:
    found = members(given, pointer, {**_GRID, **_NAMES}, (), report)
    if "grid" in found:
        if found.keys() != {"grid"}:
            report.fault(pointer, "is the id of a grid, or names; not both")
        try:
            found["grid"] = str(uuid.UUID(found["grid"]))
        except ValueError:
            report.fault(f"{pointer}/grid", "is no id of a grid")
    elif isinstance(given, Mapping) and not {"experiment", "metric"} <= found.keys():
        report.fault(pointer, 'needs "grid", or "experiment" and "metric"')
    return About(**found)


_COMMON: Mapping[str, Reader] = {
    "about": _about,
    "where": selection,
    "for": groups,
    "holds": quantifier,
}
_SOURCE: Mapping[str, Reader] = {"url": any_text, "line": count, "digest": text}


@reads(object_schema(_SOURCE))
def _source(given: Any, pointer: str, report: Report) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(members(given, pointer, _SOURCE, (), report).items()))


_OUTER: Mapping[str, Reader] = {
    "strength": choice("numbers", "noise"),
    "alpha": share,
    "text": any_text,
    "source": _source,
    "looks": choice("fixed", "every_revision"),
}


def claim_schema() -> dict[str, Any]:
    """The JSON Schema of a claim: what it refuses is refused, and what it takes may have fields that do not go
    together. `about` may stand outside of the claim, as in files, or in the whole that it is a part of."""
    part = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in (*KINDS, *COMPOUND)], "unevaluatedProperties": False}
    about = {
        "description": "A grid by its id, or those of an experiment and a metric, restricted by names.",
        "anyOf": [object_schema(_GRID, ["grid"]), object_schema(_NAMES, ["experiment", "metric"])],
    }
    kinds = {name: _kind_schema(name, kind.says, {**_COMMON, **kind.fields}, kind.required)
             for name, kind in KINDS.items()}  # fmt: skip
    for name in COMPOUND:
        most = 1 if name == "not" else MOST_ATOMS
        claims = list_of(Reader(_about.read, {"$ref": "#/$defs/part"}), most)
        kinds[name] = _kind_schema(name, Compound, {"about": _about, "claims": claims}, ["claims"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Claim",
        "description": "A statement about results that can be judged, and where it stands.",
        "properties": {name: one.schema for name, one in _OUTER.items()},
        **part,
        "$defs": {"part": part, "about": about, **DEFINITIONS, **kinds},
    }


def _kind_schema(name: str, says: type, fields: Mapping[str, Reader], required: Sequence[str]) -> dict[str, Any]:
    return {
        "description": " ".join((says.__doc__ or "").split()),
        "type": "object",
        "properties": {"kind": {"const": name}, **{field: one.schema for field, one in fields.items()}},
        "required": ["kind", *required],
    }


def read_claim(given: Any, pointer: str = "") -> Claim:
    """The claim in a JSON document; `Invalid` with a pointer to each fault."""
    report = Report()
    outer: dict[str, Any] = {}
    if isinstance(given, Mapping):
        mine = {name: said for name, said in given.items() if name in _OUTER}
        outer = members(mine, pointer, _OUTER, (), report)
        given = {name: said for name, said in given.items() if name not in _OUTER}
    says = _part(given, pointer, report, 1, None)
    atoms = list(atoms_of(says))
    if len(atoms) > MOST_ATOMS:
        report.fault(pointer, f"has {len(atoms)} statements; at most {MOST_ATOMS} are judged together")
    report.stop_at_faults()
    return Claim(says, **outer)


def _part(given: Any, pointer: str, report: Report, depth: int, about: About | None) -> Part:
    kind = given.get("kind") if isinstance(given, Mapping) else None
    if kind in COMPOUND:
        return _compound(given, kind, pointer, report, depth, about)
    if not isinstance(kind, str) or kind not in KINDS:
        known = [*KINDS, *COMPOUND]
        report.fault(f"{pointer}/kind", f"is one of {', '.join(known)}{nearby(str(kind), known)}")
        return Atom("ill_posed", IllPosed(), About("?"))
    return _atom(given, kind, pointer, report, about)


def _compound(
    given: Mapping[str, Any], kind: Any, pointer: str, report: Report, depth: int, about: About | None
) -> Part:
    if depth >= MOST_DEPTH:
        report.fault(pointer, f"is nested deeper than {MOST_DEPTH} levels")
        return Atom("ill_posed", IllPosed(), About("?"))
    if "about" in given:
        about = _about(given["about"], f"{pointer}/about", report)

    @reads({})
    def one_part(one: Any, here: str, to: Report) -> Part:
        return _part(one, here, to, depth + 1, about)

    taken = Reader(lambda *_: about, {})
    readers: dict[str, Reader] = {"kind": text, "about": taken, "claims": list_of(one_part, MOST_ATOMS)}
    found = members(given, pointer, readers, ("claims",), report)
    claims = found.get("claims", ())
    if kind == "not" and len(claims) > 1:
        report.fault(f"{pointer}/claims", "has one statement, which is denied")
    return Compound(kind, claims)


def _atom(given: Mapping[str, Any], name: str, pointer: str, report: Report, about: About | None) -> Atom:
    kind = KINDS[name]
    before = report.met
    found = members(given, pointer, {"kind": text, **_COMMON, **kind.fields}, kind.required, report)
    if "about" not in found and about is None:
        report.fault(pointer, 'lacks the field "about"')
    if report.met > before:
        return Atom("ill_posed", IllPosed(), About("?"))
    own = {(f"{field}_" if field in ("is", "from") else field): found[field] for field in kind.fields if field in found}
    if name in ("extreme", "sweet_spot"):
        own["at"] = _at_levels(own["at"], own.get("of", "cell"), f"{pointer}/at", report)
    named = (("where", "where"), ("for", "for_"), ("holds", "holds"))
    common = {attribute: found[field] for field, attribute in named if field in found}
    atom = Atom(name, kind.says(**own), found.get("about", about or About()), **common)
    for fault in faults_of_kind(atom, pointer):
        report.fault(*fault)
    return atom


def _at_levels(at: tuple[Any, ...], of: str, pointer: str, report: Report) -> tuple[Any, ...]:
    """The places of an extreme or a sweet spot: coordinates, or levels of the axis that it is of."""
    plain = [len(one) == 1 and one[0][0] == "" for one in at]
    if of == "cell" and any(plain):
        report.fault(pointer, "is a list of coordinates, each a level by axis")
    elif of != "cell" and not all(plain):
        report.fault(pointer, f"is a list of levels of {of}")
    return tuple(((of, one[0][1]),) if bare else one for one, bare in zip(at, plain, strict=True))
