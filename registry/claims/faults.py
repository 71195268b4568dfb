"""What the fields of a statement cannot say together."""

from __future__ import annotations

import math
from collections.abc import Iterator

from registry.claims.claim import Atom, Compare, Coverage, Effect, Extreme, Lie, Rank, Step, Trend, Value
from registry.claims.quantifier import Quantifier

MOST_GROUPS = 10_000
_NEEDS = {
    "levels": "levels",
    "span": "levels",
    "empty_levels": "axis",
    "most": "level",
    "last_below": "number",
    "cells": "count",
}


def faults_of_kind(atom: Atom, pointer: str) -> Iterator[tuple[str, str]]:
    """A pointer and a sentence for each contradiction within one statement."""
    yield from _of_groups(atom, pointer)
    match atom.says:
        case Value() as says if says.along and says.of in ("cell", "min", "max", "mean", "sd", "range", "count"):
            yield f"{pointer}/along", f"is for first, last, change and drawdown, not for {says.of}"
        case Trend() as says:
            yield from _of_trend(says, pointer)
        case Compare() as says:
            yield from _of_compare(says, pointer)
        case Extreme() as says:
            yield from _of_extreme(says, pointer)
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


def _of_extreme(says: Extreme, pointer: str) -> Iterator[tuple[str, str]]:
    if says.of == "cell" and says.stat != "mean":
        yield f"{pointer}/stat", "is for levels of an axis: name it in of"
    if says.of != "cell" and says.isolated is not None:
        yield f"{pointer}/isolated", "is for cells, which have neighbours on ordered axes"


def _of_step(says: Step, pointer: str) -> Iterator[tuple[str, str]]:
    if sum(one is not None for one in (says.to, says.onset, says.recovery)) != 1:
        yield pointer, "needs one of to, onset and recovery"
    if says.to is None:
        for name in ("size", "largest"):
            if getattr(says, name):
                yield f"{pointer}/{name}", "is about the step to a level: name it in to"
    elif says.margin:
        yield f"{pointer}/margin", "is the change that does not count, of onset and recovery; a step has a size"
    if says.onset is not None and says.from_ is not None:
        yield f"{pointer}/from", "is no part of an onset, which is looked for in all of the series"
    if says.recovery is not None and says.recovery == says.from_:
        yield f"{pointer}/recovery", "is the level that from names"


def _of_lie(says: Lie, pointer: str) -> Iterator[tuple[str, str]]:
    if sum(one is not None for one in (says.matching, says.lowest, says.highest)) != 1:
        yield pointer, "needs one of matching, lowest and highest"
    for place, region in enumerate(says.inside):
        if not region:
            yield f"{pointer}/inside/{place}", "names no axis, so that everything is inside"


def _of_groups(atom: Atom, pointer: str) -> Iterator[tuple[str, str]]:
    if atom.except_ and len(atom.for_) != 1:
        yield f"{pointer}/except", "leaves out levels of the one axis that for names"
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
    if says.pairing == "none" and says.everywhere is not None:
        yield f"{pointer}/everywhere", "needs pairs of cells"
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
