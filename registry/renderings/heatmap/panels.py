"""The panels of a heat map, with the cells that are marked."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from registry.renderings.grid import flat
from registry.renderings.numbers import level_of, short
from registry.renderings.words import label
from registry.results.grid import GridDocument, PostedAxis
from registry.results.peaks import BestSet
from registry.results.statistics import Statistics
from registry.results.terms import At

_MOST_OUTLINED = 60
"""Cells with the best value up to which they are outlined."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Flat indices of the cells with the best value and of the others in the set that holds the best one; `told`: with
    what confidence, a sentence. Where the set holds all, or more than are listed, none of the others is marked."""

    best: frozenset[int]
    tied: frozenset[int]
    told: str
    aside: frozenset[int] = frozenset()
    """Those without a value that were measured: they are not hatched."""

    @property
    def outlined(self) -> frozenset[int]:
        """The cells with the best value, unless they are so many that their colour says it better."""
        return self.best if len(self.best) <= _MOST_OUTLINED else frozenset()


def marks_of(document: GridDocument, values: Sequence[float | None], statistics: Statistics | None) -> Marks:
    """The marks of a grid; the set of best cells only from statistics of this very revision."""
    found = _marks(document, values, statistics)
    if found.outlined == found.best:
        return found
    return replace(found, told=f"{len(found.best):,} cells have the best value, too many to outline. {found.told}")


def _marks(document: GridDocument, values: Sequence[float | None], statistics: Statistics | None) -> Marks:
    direction = document["metric"]["direction"]
    measured = [value for value in values if value is not None]
    if direction is None or len(measured) < 2:
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
        why = "Without the noise of every cell nobody can say which others may be the best."
        return Marks(best, frozenset(), why)
    return _of_set(document, best, within, len(measured))


def _of_set(document: GridDocument, best: frozenset[int], within: BestSet, measured: int) -> Marks:
    """The marks where a set of cells holds the best one."""
    size = within.size
    sure = f"{level_of(within)} confidence"
    if size == measured:
        return Marks(best, frozenset(), f"Each of the {size:,} cells may be the best, with {sure}, so none is dashed.")
    if size <= len(best):
        return Marks(best, frozenset(), f"With {sure} no other measured cell is better.")
    told = f"With {sure} the best is one of {size:,} cells"
    if size > len(within.at):
        return Marks(best, frozenset(), f"{told}, too many to dash.")
    found = (index for index in _indices(document["axes"], within.at) if index is not None)
    return Marks(best, frozenset(found) - best, f"{told}.")


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


MOST_NUMBERS = 5_000
MOST_BLOCKS = 20_000
MOST_ROWS, MOST_COLUMNS = 300, 400
MOST_PANELS = 60
MOST_NUMBERED_COLUMNS = 100
_LONGEST_ROW = 24
_LARGE = 1_000_000
"""The number from which on levels are written short, if all of them can; below it they are as sentences have them."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One plane: a value (or None: not measured) a block, row by row, from the flat index `start` on."""

    heading: str
    values: tuple[tuple[float | None, ...], ...]
    start: int


@dataclass(frozen=True, slots=True)
class Planes:
    """The panels of a grid, with the labels that all of them share."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_axis: PostedAxis | None
    column_axis: PostedAxis | None
    panels: tuple[Panel, ...]
    left_out: int
    """Panels that are not drawn."""
    joined: tuple[int, int]
    """How many levels of the rows and of the columns one block stands for."""
    values: tuple[float | None, ...]
    """Every cell of the grid, row-major."""
    marks: Marks
    reasons: Mapping[int, str]

    @property
    def whole(self) -> bool:
        """Whether every block is one cell."""
        return self.joined == (1, 1)

    @property
    def best(self) -> frozenset[int]:
        """The best cells that are in a panel that is drawn."""
        return self._drawn(self.marks.best)

    @property
    def outlined(self) -> frozenset[int]:
        """The best cells that are outlined in a panel that is drawn."""
        return self._drawn(self.marks.outlined)

    @property
    def tied(self) -> frozenset[int]:
        """The marked cells among those that may be the best, in a panel that is drawn."""
        return self._drawn(self.marks.tied)

    def _drawn(self, cells: frozenset[int]) -> frozenset[int]:
        limit = len(self.values) // (len(self.panels) + self.left_out) * len(self.panels)
        return frozenset(index for index in cells if index < limit)

    @property
    def numbered(self) -> bool:
        return self.whole and len(self.values) <= MOST_NUMBERS and len(self.columns) <= MOST_NUMBERED_COLUMNS


_NOTHING = Planes((), (), None, None, (Panel("", (), 0),), 0, (1, 1), (), Marks(frozenset(), frozenset(), ""), {})
"""A grid with an axis that has no levels yet."""


def planes_of(document: GridDocument, statistics: Statistics | None = None) -> Planes:
    """The grid as panels; statistics that are not of its revision are not looked at."""
    axes = document["axes"]
    values = tuple(flat(document["values"], len(axes)))
    if not all(axis["levels"] for axis in axes):
        return _NOTHING
    rows, columns = _plane(axes)
    leading = axes[:-2]
    down, across = _size(rows), _size(columns)
    count = math.prod(len(axis["levels"]) for axis in leading)
    drawn = min(count, MOST_PANELS)
    joined = _joined(down, across, drawn)
    current = statistics if statistics and statistics.revision == document["revision"] else None
    return Planes(
        _labels(rows, joined[0]),
        _labels(columns, joined[1]),
        rows,
        columns,
        tuple(_panels(leading, values, (down, across), joined, drawn)),
        count - drawn,
        joined,
        values,
        marks_of(document, values, current),
        reasons_of(document),
    )


def is_whole(axes: Sequence[PostedAxis]) -> bool:
    """Whether every cell of a grid with these axes is drawn by itself, none joined with its neighbours."""
    rows, columns = _plane(axes)
    panels = min(MOST_PANELS, math.prod(len(axis["levels"]) for axis in axes[:-2]))
    return _joined(_size(rows), _size(columns), panels) == (1, 1)


def blocks_of(axes: Sequence[PostedAxis]) -> tuple[int, int]:
    """How many rows and columns of blocks the picture of a grid with these axes has in each panel."""
    rows, columns = map(_size, _plane(axes))
    down, across = _joined(rows, columns, min(MOST_PANELS, math.prod(len(axis["levels"]) for axis in axes[:-2])))
    return -(-rows // down), -(-columns // across)


def _plane(axes: Sequence[PostedAxis]) -> tuple[PostedAxis | None, PostedAxis | None]:
    """The axes of rows and of columns; one axis alone runs down where it is too long to run across."""
    if len(axes) == 1 and _LONGEST_ROW < len(axes[0]["levels"]) <= MOST_ROWS:
        return axes[0], None
    return axes[-2] if len(axes) > 1 else None, axes[-1] if axes else None


def _size(axis: PostedAxis | None) -> int:
    return 1 if axis is None else len(axis["levels"])


def _joined(rows: int, columns: int, panels: int) -> tuple[int, int]:
    """How many rows and columns make one block, so that all panels together stay within the limits."""
    down, across = -(-rows // MOST_ROWS) or 1, -(-columns // MOST_COLUMNS) or 1
    while panels * -(-rows // down) * -(-columns // across) > MOST_BLOCKS:
        if -(-rows // down) >= -(-columns // across):
            down += 1
        else:
            across += 1
    return down, across


def _labels(axis: PostedAxis | None, joined: int) -> tuple[str, ...]:
    """The level of each block, `first–last` where it stands for several."""
    if axis is None:
        return ("",)
    levels = short_labels(axis["levels"])
    if joined == 1:
        return tuple(levels)
    blocks = [levels[first : first + joined] for first in range(0, len(levels), joined)]
    return tuple(block[0] if len(block) == 1 else f"{block[0]}–{block[-1]}" for block in blocks)


def short_labels(levels: Sequence[Any]) -> list[str]:
    """Levels as their labels; large numbers short, `7B`, where that is all of each."""
    numbers = [float(one) for one in levels if isinstance(one, (int, float))]
    exact = all(math.isclose(float(f"{one:.4g}"), one) for one in numbers)
    large = len(numbers) == len(levels) and exact and max(map(abs, numbers), default=0.0) >= _LARGE
    return [short(one) for one in numbers] if large else [label(one) for one in levels]


def _panels(
    leading: Sequence[PostedAxis],
    values: Sequence[float | None],
    size: tuple[int, int],
    joined: tuple[int, int],
    drawn: int,
) -> Iterator[Panel]:
    rows, columns = size
    combinations = itertools.product(*(axis["levels"] for axis in leading))
    for number, at in enumerate(itertools.islice(combinations, drawn)):
        start = number * rows * columns
        plane = [tuple(values[start + row * columns : start + (row + 1) * columns]) for row in range(rows)]
        heading = " · ".join(f"{axis['name']} {label(level)}" for axis, level in zip(leading, at, strict=True))
        yield Panel(heading, tuple(plane) if joined == (1, 1) else tuple(_blocks(plane, joined)), start)


def _blocks(plane: Sequence[Sequence[float | None]], joined: tuple[int, int]) -> Iterator[tuple[float | None, ...]]:
    """The means of what was measured in each block; None where nothing was."""
    down, across = joined
    for first in range(0, len(plane), down):
        rows = plane[first : first + down]
        starts = range(0, len(rows[0]), across)
        yield tuple(_mean([value for row in rows for value in row[start : start + across]]) for start in starts)


def _mean(values: Sequence[float | None]) -> float | None:
    measured = [value for value in values if value is not None]
    if not measured:
        return None
    total = sum(measured)
    # Divided first where the sum of the largest doubles is not finite.
    return total / len(measured) if math.isfinite(total) else sum(value / len(measured) for value in measured)
