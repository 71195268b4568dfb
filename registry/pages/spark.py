"""A series as a small line: its points, their intervals, where it breaks and where it peaks; drawn here, as numbers
for SVG attributes."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from registry.renderings.grid import carried, decimals_shown, noise_of_cells, whole_of
from registry.renderings.heatmap.scale import share_of
from registry.renderings.numbers import Noise, fixed, interval_of, plain_number
from registry.renderings.words import label
from registry.results.courses import Series
from registry.results.grid import GridDocument, PostedAxis

Given = tuple[Sequence[Any], Sequence[Noise]]
"""Values and noise of every cell."""
WIDTH, HEIGHT = 176.0, 40.0
_EDGE = 4.0


@dataclass(frozen=True, slots=True)
class Point:
    """A measured cell of a series: its number on the axis, its level, its value and its interval."""

    x: float
    level: Any
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Spark:
    """A line in a box of `WIDTH` by `HEIGHT`; every text of numbers is an attribute of an SVG element."""

    lines: list[str]
    """One polyline a run of neighbouring levels; a gap breaks the line."""
    bands: list[str]
    """The intervals of each run, as polygons."""
    dots: list[tuple[str, str]]
    """Runs of one point."""
    breaks: list[str]
    """The x of each sharp step."""
    peak: tuple[str, str] | None
    told: str


class _Frame:
    """From numbers to places in the box."""

    def __init__(self, numbers: Sequence[float], points: Sequence[Point]) -> None:
        self._x = min(numbers), max(numbers)
        self._y = min(point.low for point in points), max(point.high for point in points)

    def across(self, x: float) -> float:
        return _EDGE + _share(x, self._x) * (WIDTH - 2 * _EDGE)

    def at(self, x: float, y: float) -> tuple[str, str]:
        down = HEIGHT - _EDGE - _share(y, self._y) * (HEIGHT - 2 * _EDGE)
        return f"{self.across(x):.1f}", f"{down:.1f}"

    def line(self, points: Iterable[tuple[float, float]]) -> str:
        return " ".join(",".join(self.at(*point)) for point in points)


def _share(value: float, ends: tuple[float, float]) -> float:
    return 0.5 if ends[0] == ends[1] else share_of(value, *ends)


def sparks_of(document: GridDocument, series: Sequence[Series]) -> list[Spark]:
    """One small line for each of the series along one axis, all in the same box of numbers, so that they compare."""
    if not series:
        return []
    axis = next(axis for axis in document["axes"] if axis["name"] == series[0].along)
    numbers = _numbers(axis)
    given = carried(document, "values"), noise_of_cells(document)
    found = [_points(document, given, one, axis, numbers) for one in series]
    points = [point for run in found for point in run]
    if not points:
        return []
    frame = _Frame(numbers, points)
    return [
        _drawn(run, numbers, frame, _told(document, one, run), _breaks(one, run, frame), _best(document, run))
        for one, run in zip(series, found, strict=True)
    ]


def _drawn(
    points: Sequence[Point],
    numbers: Sequence[float],
    frame: _Frame,
    told: str,
    breaks: Iterable[float],
    best: Point | None,
) -> Spark:
    runs = list(_runs(points, numbers))
    return Spark(
        [frame.line((p.x, p.value) for p in run) for run in runs if len(run) > 1],
        [
            frame.line([*((p.x, p.high) for p in run), *((p.x, p.low) for p in reversed(run))])
            for run in runs
            if len(run) > 1 and any(p.low < p.high for p in run)
        ],
        [frame.at(run[0].x, run[0].value) for run in runs if len(run) == 1],
        [f"{x:.1f}" for x in breaks],
        frame.at(best.x, best.value) if best else None,
        told,
    )


def _numbers(axis: PostedAxis) -> list[float]:
    """Where each level stands: its number (its logarithm on a logarithmic axis), or its place."""
    if axis["kind"] != "numeric":
        return [float(place) for place in range(len(axis["levels"]))]
    plain = [float(level["number"] if isinstance(level, dict) else level) for level in axis["levels"]]
    return [math.log10(x) for x in plain] if axis["scale"] == "log" and min(plain, default=0) > 0 else plain


def _points(
    document: GridDocument, given: Given, one: Series, along: PostedAxis, numbers: Sequence[float]
) -> list[Point]:
    """The measured cells of a series, in the order of the axis."""
    start, step = 0, 1
    fixed_levels = {name: label(level) for name, level in one.at.items()}
    sizes = [len(axis["levels"]) for axis in document["axes"]]
    for place, axis in enumerate(document["axes"]):
        stride = math.prod(sizes[place + 1 :])
        if axis["name"] == along["name"]:
            step = stride
        else:
            start += stride * _place(axis, fixed_levels[axis["name"]])
    (values, noise), whole = given, whole_of(document["metric"])
    found = []
    for place, level in enumerate(along["levels"]):
        index = start + place * step
        if (value := values[index]) is not None:
            low, high = interval_of(value, whole, noise[index]) or (value, value)
            found.append(Point(numbers[place], level, value, low, high))
    return found


def _place(axis: PostedAxis, wanted: str) -> int:
    """Where a level stands on its axis; a level with a number is also known by that."""
    for place, level in enumerate(axis["levels"]):
        if label(level) == wanted or (isinstance(level, dict) and plain_number(level["number"]) == wanted):
            return place
    raise KeyError(wanted)


def _runs(points: Sequence[Point], numbers: Sequence[float]) -> Iterator[list[Point]]:
    """The points cut where a level between them was not measured."""
    place = {x: number for number, x in enumerate(sorted(numbers))}
    for _, run in itertools.groupby(enumerate(points), key=lambda pair: place[pair[1].x] - pair[0]):
        yield [point for _, point in run]


def _breaks(one: Series, points: Sequence[Point], frame: _Frame) -> Iterator[float]:
    """Halfway between the levels of each sharp step."""
    at = {label(point.level): frame.across(point.x) for point in points}
    for step in one.changes:
        ends = at.get(label(step.from_)), at.get(label(step.to))
        if step.sharp and ends[0] is not None and ends[1] is not None:
            yield (ends[0] + ends[1]) / 2


def _best(document: GridDocument, points: Sequence[Point]) -> Point | None:
    direction = document["metric"]["direction"]
    if direction is None or len(points) < 2:
        return None
    return (max if direction == "higher" else min)(points, key=lambda point: point.value)


def _told(document: GridDocument, one: Series, points: Sequence[Point]) -> str:
    """The line in words, for who cannot see it."""
    if not points:
        return "no cell measured"
    decimals = decimals_shown(document, [point.value for point in points])
    first, last = points[0], points[-1]
    return (
        f"from {fixed(first.value, decimals)} at {label(first.level)} to {fixed(last.value, decimals)} at "
        f"{label(last.level)}, {len(points)} points"
    )
