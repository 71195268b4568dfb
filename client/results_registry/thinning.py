"""A curve of more steps than an axis may have levels: thinned evenly, so that the whole course of it is kept."""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Collection, Sequence
from typing import Any

from results_registry.errors import Refused
from results_registry.item import IDENTITY

_FULL = re.compile(r"an axis has at most (\d+) levels")
_BLOCKS = ("values", "trials", "stderr")
_MEMBERS = (*IDENTITY, "labels", "questions", "design_effect", "derived", "protocol", "source")


def most_levels(error: Refused) -> int | None:
    """The levels that an axis may have, if a refusal is about that."""
    found = next((match for _, detail in error.errors if (match := _FULL.search(detail))), None)
    return int(found[1]) if found else None


class Curve:
    """The levels that are kept of one numeric axis of one grid, and how far apart they are."""

    def __init__(self, axis: str, levels: Collection[float]) -> None:
        """Keeps at most half of these levels and one: the first, and each that is twice the mean distance further."""
        self.axis = axis
        known = sorted(levels)
        self.gap = 2 * (known[-1] - known[0]) / (len(known) - 1)
        self._levels: list[float] = []
        for level in known:
            if not self._levels or level - self._levels[-1] >= self.gap * (1 - 1e-9):
                self._levels.append(level)

    def kept(self, cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The cells whose level is kept, or is far enough from those that are; that one is kept from now on."""
        return [cell for cell in cells if self.keeps(_number(cell["at"].get(self.axis)))]

    def keeps(self, level: float | None) -> bool:
        if level is None:
            return True  # no number: the registry judges it
        place = bisect.bisect_left(self._levels, level)
        near = self._levels[max(0, place - 1) : place + 1]
        if level in near:
            return True
        if any(abs(level - other) < self.gap * (1 - 1e-9) for other in near):
            return False
        self._levels.insert(place, level)
        return True


def curve_of(grid: dict[str, Any], cells: Sequence[dict[str, Any]], most: int) -> Curve | None:
    """The curve with half as many levels as an axis may have; None where no numeric axis is too long, or cells have
    repeats, which cannot be sent again."""
    for axis in grid["axes"]:
        if axis["kind"] != "numeric" or "repeats" in grid:
            continue
        levels = [_number(level) for level in axis["levels"]] + [
            _number(cell["at"].get(axis["name"])) for cell in cells
        ]
        known = {level for level in levels if level is not None}
        if len(known) > most:
            return Curve(axis["name"], known)
    return None


def thinned(grid: dict[str, Any], curve: Curve) -> dict[str, Any]:
    """The grid as it is published again, with the levels that the curve keeps."""
    place = next(number for number, axis in enumerate(grid["axes"]) if axis["name"] == curve.axis)
    axis = grid["axes"][place]
    kept = [number for number, level in enumerate(axis["levels"]) if curve.keeps(_number(level))]
    axes = [*grid["axes"]]
    axes[place] = {**axis, "levels": [axis["levels"][number] for number in kept]}
    sent = {name: grid[name] for name in _MEMBERS if grid.get(name) not in (None, False)}
    blocks = {name: _along(grid[name], place, kept) for name in _BLOCKS if name in grid}
    return sent | {"axes": axes} | blocks


def failed(grid: dict[str, Any], curve: Curve) -> list[dict[str, Any]]:
    """The cells without a value that say why, at the levels that the curve keeps."""
    cells = [{"at": one["at"], "value": None, "reason": one["reason"]} for one in grid.get("reasons") or ()]
    return curve.kept(cells)


def _along(block: Any, place: int, kept: Sequence[int]) -> Any:
    """A nested block with these entries of its axis of this number; one value for all cells stays that."""
    if not isinstance(block, list):
        return block
    return [block[number] for number in kept] if place == 0 else [_along(one, place - 1, kept) for one in block]


def _number(level: Any) -> float | None:
    given: Any = level.get("number") if isinstance(level, dict) else level
    try:
        number = float(given)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
