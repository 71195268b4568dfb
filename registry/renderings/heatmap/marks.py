"""Which cells show the best value, and among which the best one is for sure enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from registry.renderings.numbers import level_of
from registry.renderings.words import label
from registry.results.grid import GridDocument, PostedAxis
from registry.results.peaks import BestSet
from registry.results.statistics import Statistics
from registry.results.terms import At


@dataclass(frozen=True, slots=True)
class Marks:
    """Flat indices of the cells with the best value and of the others in the set that holds the best one; `told`: with
    what confidence, a sentence; `size`: how many cells the set has. Where it rules out none, none is marked."""

    best: frozenset[int]
    tied: frozenset[int]
    told: str
    size: int = 0


def marks_of(document: GridDocument, values: Sequence[float | None], statistics: Statistics | None) -> Marks:
    """The marks of a grid; the set of best cells only from statistics of this very revision."""
    direction = document["metric"]["direction"]
    measured = [value for value in values if value is not None]
    if direction is None or not measured:
        return Marks(frozenset(), frozenset(), "")
    peak = max(measured) if direction == "higher" else min(measured)
    best = frozenset(index for index, value in enumerate(values) if value == peak)
    if statistics is None:
        return Marks(
            best,
            frozenset(),
            "No statistics of just these cells are shown here: which other cells may be the best is left open.",
        )
    within = statistics.peaks.best_set if statistics.peaks else None
    if within is None:
        why = "Without trials or standard errors nobody can say which other cells may be the best."
        return Marks(best, frozenset(), why)
    return _of_set(document, best, within, len(measured))


def _of_set(document: GridDocument, best: frozenset[int], within: BestSet, measured: int) -> Marks:
    """The marks where a set of cells holds the best one."""
    size = within.size
    if measured == 1:
        return Marks(best, frozenset(), "", size)
    sure = f"With {level_of(within)} confidence the best is"
    if size == 1:
        return Marks(best, frozenset(), f"{sure} this cell.", size)
    if size == measured:
        return Marks(best, frozenset(), f"{sure} one of {size:,} cells: none is ruled out, so none is dashed.", size)
    listed = "" if size <= len(within.at) else f" ({len(within.at)} of them are marked)"
    found = (index for index in _indices(document["axes"], within.at) if index is not None)
    tied = frozenset(found) - best
    return Marks(best, tied, f"{sure} one of {size:,} cells{listed}.", size)


def _indices(axes: Sequence[PostedAxis], found: Iterable[At]) -> Iterable[int | None]:
    """The flat index of each coordinate; None for one that the grid does not have."""
    places = [_places(axis["levels"]) for axis in axes]
    for at in found:
        index: int | None = 0
        for axis, known in zip(axes, places, strict=True):
            place = known.get(label(at.get(axis["name"])))
            index = None if place is None or index is None else index * len(axis["levels"]) + place
        yield index


def _places(levels: Sequence[Any]) -> dict[str, int]:
    """Where each level stands: by its label, and where it has one by its number."""
    numbers = {label(level["number"]): place for place, level in enumerate(levels) if isinstance(level, dict)}
    return numbers | {label(level): place for place, level in enumerate(levels)}


def reasons_of(document: GridDocument) -> dict[int, str]:
    """Why unmeasured cells are missing, by flat index."""
    entries = document.get("reasons", ())
    indices = _indices(document["axes"], (entry["at"] for entry in entries))
    told = zip(indices, (entry["reason"].replace("_", " ") for entry in entries), strict=True)
    return {index: reason for index, reason in told if index is not None}
