"""Write in words what a statement says, for the sentence of its judgement and the pages of claims."""

import math
from collections.abc import Mapping

from registry.claims.claim import (
    Atom,
    Cells,
    Compare,
    Coverage,
    Effect,
    Extreme,
    IllPosed,
    Lie,
    Rank,
    Says,
    Stable,
    Step,
    SweetSpot,
    Trend,
    Value,
)
from registry.grids.intake.levels import read_number
from registry.grids.slices import conditions_text, slice_text

_OF = {
    "cell": "the value",
    "first": "the first value",
    "last": "the last value",
    "min": "the smallest value",
    "max": "the largest value",
    "mean": "the mean",
    "sd": "the standard deviation",
    "change": "the change from the first to the last value",
}
_GOES = {
    "up": "rises",
    "down": "falls",
    "up_down": "rises, then falls",
    "down_up": "falls, then rises",
    "not_monotone": "both rises and falls",
}
_COVERED = {
    "levels": "the levels with a cell",
    "span": "the first and the last level with a cell",
    "ragged": "whether cells are missing",
    "most": "the level with the most cells",
    "last_below": "the last level with a cell",
    "cells": "the number of cells",
}


def subject(atom: Atom, group: Mapping[str, str]) -> str:
    """Name the number of a statement, and its place: `the mean at Type 1`."""
    along = atom.says.along if isinstance(atom.says, Trend | Stable) else ""
    within = dict(atom.where).get(along, ())
    where = tuple(one for one in atom.where if one[0] != along)
    places = [f"{axis} {level}" for axis, level in group.items()]
    if where:
        places.append(slice_text(where))
    said = _of(atom.says) + (f" ({conditions_text(within)})" if within else "")
    return said + (f" at {', '.join(places)}" if places else "")


def _of(says: Says) -> str:  # noqa: PLR0911 (one for each kind)
    match says:
        case Value():
            return _OF[says.of]
        case Cells() | Lie():
            return "the number of matching cells" + (" inside" if isinstance(says, Lie) else "")
        case Trend():
            return f"{_course(says)} along {says.along}"
        case Step():
            return _stepped(says)
        case Stable():
            return f"the width of the series along {says.along}"
        case Extreme():
            return f"the lead of the {says.which}imum named" + ("" if says.of == "cell" else f" by {says.stat}")
        case Rank():
            return f"the rank of {says.by} {says.name} by {says.stat}"
        case Compare():
            return _compared(says)
        case Effect():
            which = "smallest " if says.is_ == "present" else "largest "
            width = f"the {which if len(says.axes) > 1 else ''}width of the means"
            what = "the largest interaction of the means" if says.interaction else width
            return f"{what} by {', '.join(says.axes)}"
        case SweetSpot():
            return "the lead of the coordinates named by regret"
        case Coverage():
            return _COVERED[says.is_]
        case IllPosed():
            return "what no results decide"


def _course(says: Trend) -> str:
    if says.goes in ("up_down", "down_up", "not_monotone"):
        return "the course"
    if says.strictly or says.monotone:
        back, forth = ("fall", "rise") if says.goes == "up" else ("rise", "fall")
        return "the number of steps that " + (forth if says.strictly else f"do not {back}")
    return "the change by the median slope"


def _stepped(says: Step) -> str:
    if says.onset is not None:
        return f"the {'rise' if says.goes == 'up' else 'drop'} that lasts from {says.along} {says.onset} on"
    return f"the step {says.goes} to {says.along} {says.to}"


def _compared(says: Compare) -> str:
    left, right = slice_text(says.left), slice_text(says.right)
    if says.of == "gap":
        return f"the gap of {slice_text(says.ahead)} to {slice_text(says.behind)} at {left} less that at {right}"
    if unit_of(says) == "times":
        return f"the factor between the means of {left} and {right}"
    return f"the mean of {left} less that of {right}"


def unit_of(says: Says) -> str:
    """The unit in which the number of a statement is told, where it is not that of the metric or a count."""
    if not isinstance(says, Compare) or says.by is None:
        return ""
    return {"points": "", "percent": "percent of the latter", "factor": "times"}[says.by.unit]


def stated(says: Says) -> str:  # noqa: PLR0911, PLR0912 (one for each kind)
    """The values that are claimed of that number."""
    match says:
        case Value():
            return says.is_.text
        case Cells():
            return f"{says.cells_hold.text} the cells {says.is_.text}"
        case Lie():
            return f"{says.cells_hold.text} those that match"
        case Trend():
            flat = f"stays within {says.margin:g}" if says.margin is not None else ""
            turn = f" with the turn at {says.turn}" if says.turn else ""
            exact = " at every step" if says.strictly else " without a step back" if says.monotone else ""
            return flat or _GOES[says.goes] + turn + exact
        case Step():
            if says.onset is not None:
                return f"begins there, more than {says.margin:g}"
            size = "" if says.size is None else f" by {says.size.text}"
            return f"goes {says.goes}{size}" + (", no other more" if says.largest else "")
        case Stable():
            return f"at most {says.within:g}"
        case Extreme():
            lonely = "" if says.isolated is None else f", beyond its neighbours by more than {says.isolated:g}"
            only = "the only one" if len(says.at) == 1 else f"these {len(says.at)} tie, and no other is as good"
            return (only if says.alone else "none better") + lonely
        case Rank():
            place = "the last" if says.place == "last" else f"place {says.place}"
            return f"{place} or better" if says.top else place
        case Compare():
            return _difference(says)
        case Effect():
            return f"more than {says.within:g}" if says.is_ == "present" else f"at most {says.within:g}"
        case SweetSpot():
            return "no other is as good"
        case Coverage(is_="last_below"):
            return f"below {says.number:.10g}"
        case Coverage():
            return (
                says.count.text if says.count else ", ".join(sorted(says.levels, key=_in_order)) or says.level or "yes"
            )
        case IllPosed():
            return says.because


def _in_order(level: str) -> tuple[float, str]:
    number = read_number(level)
    return math.inf if number is None else number, level


def _difference(says: Compare) -> str:
    if says.margin is not None:
        found = f"equal within {says.margin:g}"
    else:
        found = says.is_ + ("" if says.by is None else f" by {says.by.text}")
    return found if says.everywhere is None else f"{found} in {says.everywhere.text} the pairs"
