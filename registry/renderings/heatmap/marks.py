"""Which cells are the best, and which of them noise cannot tell apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.renderings.words import label

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Marks:
    """Flat indices of the best cells and of those tied with them; `told`: what is known of the ties, a sentence."""

    best: frozenset[int]
    tied: frozenset[int]
    told: str


def marks_of(document: Document, values: Sequence[float | None], statistics: Document | None) -> Marks:
    """The marks of a grid; its ties with the peak only from statistics of this very revision."""
    direction = document["metric"].get("direction")
    measured = [value for value in values if value is not None]
    if direction is None or not measured:
        return Marks(frozenset(), frozenset(), "")
    peak = max(measured) if direction == "higher" else min(measured)
    best = frozenset(index for index, value in enumerate(values) if value == peak)
    if statistics is None:
        return Marks(best, frozenset(), "Which cells tie with the peak is not computed yet.")
    peaks = statistics.get("peaks") or {}
    within = peaks.get("best_set")
    if not within:
        return Marks(best, frozenset(), "Without trials or standard errors nobody can say what ties with the peak.")
    tied = frozenset(_indices(document["axes"], within["at"])) - best
    size = max(within.get("size", 0), len(within["at"]))
    listed = "" if size <= len(within["at"]) else f" ({len(within['at'])} of them are marked)"
    holds = "cell holds" if size == 1 else "cells hold"
    share = f"{100 * within['level']:g} %"
    return Marks(best, tied, f"{size} {holds} the best one with a probability of at least {share}{listed}.")


def _indices(axes: Sequence[Document], found: Iterable[Document]) -> Iterable[int]:
    places = [_places(axis["levels"]) for axis in axes]
    for at in found:
        index = 0
        for axis, known in zip(axes, places, strict=True):
            place = known.get(label(at.get(axis["name"])))
            if place is None:
                break
            index = index * len(axis["levels"]) + place
        else:
            yield index


def _places(levels: Sequence[Any]) -> dict[str, int]:
    """Where each level stands: by its label, and where it has one by its number."""
    numbers = {label(level["number"]): place for place, level in enumerate(levels) if isinstance(level, dict)}
    return numbers | {label(level): place for place, level in enumerate(levels)}


def reasons_of(document: Document) -> dict[int, str]:
    """Why unmeasured cells are missing, by flat index."""
    entries = document.get("reasons") or ()
    indices = itertools.chain.from_iterable(_indices(document["axes"], [entry["at"]]) for entry in entries)
    return dict(zip(indices, (entry["reason"].replace("_", " ") for entry in entries), strict=False))
