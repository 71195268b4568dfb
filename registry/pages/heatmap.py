"""A grid as a table for people: a class for the colour, the number as it was posted, the marks, and words for both
who point at a cell and who cannot see it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from sys import float_info
from typing import Any

from registry.pages.palette import bin_of, difference_bin
from registry.renderings.grid import carried, decimals_shown, noise_of_cells, whole_of
from registry.renderings.heatmap.panels import MOST_NUMBERS, Panel, Planes, is_whole, planes_of
from registry.renderings.heatmap.scale import Options, Scale, narrow, scale_of
from registry.renderings.heatmap.words import coordinate, unseen
from registry.renderings.numbers import count_of, decimals_of, fixed, interval_of, p_value, signed, span, typeset
from registry.renderings.words import counted, label, place, with_unit
from registry.results.comparison import Comparison
from registry.results.grid import GridDocument
from registry.results.statistics import Statistics

SHOWS = ("value", "colour", "interval")
_MOST_NUMBERED = 20
"""Columns up to which the cells have their numbers in them; beyond, colours alone, so that a map is seen whole."""
_UPRIGHT = 140
"""Characters that the names of columns have room for beside each other."""


@dataclass(frozen=True, slots=True)
class Square:
    """One cell as it is shown: its classes, its text, a second line, what is said about it, and where it leads."""

    kind: str
    text: str
    below: str = ""
    told: str = ""
    tip: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Plate:
    """One table: the last two axes at one combination of the levels before them."""

    heading: str
    rows: list[tuple[str, list[Square]]]


@dataclass(frozen=True, slots=True)
class Heatmap:
    """A grid ready to be shown; `planes` has what its plates share."""

    planes: Planes
    plates: list[Plate]
    scale: Scale
    decimals: int | None
    marked: str
    """Among which cells the best one is, or which differences are more than noise, a sentence."""
    show: str
    most: float = 0.0
    """The largest difference from the baseline."""
    unseen: tuple[str, ...] = ()
    """Which of the best cells are in tables that are not shown, in sentences."""
    narrow: str = ""
    """That its colours span a small part of what the metric may be, a clause."""
    ahead: str = ""
    """What blue says of a difference from the baseline: better or higher."""

    @property
    def wide(self) -> bool:
        """Whether the map has more columns than numbers are written in."""
        return len(self.planes.columns) > _MOST_NUMBERED

    @property
    def look(self) -> str:
        """Classes of its tables: whether the numbers are for pointer, keyboard and paper only, and names upright."""
        if self.show != "colour" and not (self.show == "difference" and self.wide):
            return ""
        columns = self.planes.columns
        return "dense upright" if len(columns) * max(3, *map(len, columns)) > _UPRIGHT else "dense"

    @property
    def row_name(self) -> str:
        return with_unit(self.planes.row_axis) if self.planes.row_axis else ""

    @property
    def column_name(self) -> str:
        return with_unit(self.planes.column_axis) if self.planes.column_axis else ""

    @property
    def left_out(self) -> str:
        """How many tables are not shown, a sentence; empty where all are."""
        more = self.planes.left_out
        if not more:
            return ""
        told = f"{counted(more, 'more table is', 'more tables are')} not shown; CSV and JSON have every cell."
        return " ".join([told, *self.unseen])

    def has(self, kind: str) -> bool:
        """Whether any cell is of this kind, which may be the end of a longer one."""
        return any(one.kind.endswith(kind) for plate in self.plates for _, row in plate.rows for one in row)

    @property
    def falling(self) -> bool:
        """Whether lower is better: then the lower end of the colours is the better one, which stands last."""
        return self.scale.falling

    def ends(self) -> tuple[str, str]:
        """The numbers at the ends of the colours, the better one last."""
        if self.show == "difference":
            low, high = signed(-self.most, self.decimals), signed(self.most, self.decimals)
        else:
            low, high = fixed(self.scale.low, self.decimals), fixed(self.scale.high, self.decimals)
        return (high, low) if self.falling else (low, high)

    def middle(self) -> str:
        """The number in the middle of the colours; "" for one colour."""
        return "0" if self.show == "difference" else middle_of(self.scale, self.decimals)


def middle_of(scale: Scale, decimals: int | None) -> str:
    """The number in the middle of a scale, with a decimal more where it lies between two exact ends; "" where these are
    one."""
    low, high = scale.low, scale.high
    middle = low / 2 + high / 2
    exact = decimals is not None and all(math.isclose(round(end, decimals), end) for end in (low, high))
    if decimals is not None and exact and not math.isclose(round(middle, decimals), middle):
        decimals += 1
    return "" if low == high else fixed(middle, decimals)


def fits(document: GridDocument) -> bool:
    """Whether the grid is small enough for a table; a larger one is shown as a picture, which joins cells."""
    axes = document["axes"]
    return math.prod(len(axis["levels"]) for axis in axes) <= MOST_NUMBERS and is_whole(axes)


def heatmap_of(
    document: GridDocument,
    statistics: Statistics | None = None,
    options: Options | None = None,
    show: str = "",
    baseline: GridDocument | None = None,
    comparison: Comparison | None = None,
) -> Heatmap:
    """The grid as tables; with a baseline and `show` "difference", its cells minus those of the baseline, and with
    their comparison the cells marked that differ by more than noise. What is not asked is as its width allows.

    `ValueError` for a grid that does not fit.
    """
    planes = planes_of(document, statistics)
    if not planes.whole:
        raise ValueError("a table has a place for every cell; this grid's are joined")
    scale = scale_of(planes.values, document["metric"], options or Options())
    decimals = decimals_shown(document)
    posted = decimals_of(value for value in planes.values if value is not None)
    told, most = planes.marks.told, 0.0
    if show == "difference" and baseline is not None:
        p_holm, told = _tests(comparison)
        found = _differences(document, planes, baseline)
        sizes = (abs(a - b) for _, a, b in found if a is not None and b is not None)
        most, alpha = min(max(sizes, default=0.0), float_info.max), comparison.alpha if comparison else 0.0
        squares = list(_of_differences(found, most, decimals, scale.falling, p_holm, alpha))
    else:
        if show not in ("value", "interval", "colour"):
            show = "colour" if len(planes.columns) > _MOST_NUMBERED else "value"
        squares = list(_values(document, planes, scale, decimals, posted, show == "interval"))
    plates = [Plate(panel.heading, list(_rows(planes, panel, squares))) for panel in planes.panels]
    away = () if show == "difference" else tuple(unseen(document, planes, "table"))
    ahead = "better" if document["metric"]["direction"] else "higher"
    part = "" if show == "difference" else narrow(scale, document["metric"])
    return Heatmap(planes, plates, scale, decimals, told, show, most, away, part, ahead)


def _rows(planes: Planes, panel: Panel, squares: Sequence[Square]) -> Iterator[tuple[str, list[Square]]]:
    for number, row in enumerate(panel.values):
        start = panel.start + number * len(row)
        yield (planes.rows[number] if planes.rows else ""), list(squares[start : start + len(row)])


def _values(
    document: GridDocument, planes: Planes, scale: Scale, decimals: int | None, posted: int | None, with_intervals: bool
) -> Iterator[Square]:
    """Every cell with its value, and its interval where the noise is known."""
    noise, whole = noise_of_cells(document), whole_of(document["metric"])
    unit = f" {document['metric']['unit']}" if document["metric"]["unit"] else ""
    for index, value in enumerate(planes.values):
        where = place(coordinate(document, index))
        if value is None:
            told = f"not measured: {planes.reasons[index]}" if planes.reasons.get(index) else "not measured"
            yield Square("bare", "", "", told, f"{where}: {told}" if where else told)
            continue
        known = noise[index][0]
        ends = interval_of(value, whole, noise[index])
        text = fixed(value, decimals)
        mark, told = _mark(planes, index)
        parts = [f"{where}: {text}{unit}" if where else f"{text}{unit}"]
        parts += [f"95 % interval {span(*ends, decimals)}"] if ends else []
        parts += [_trials(value, document, known, posted)] if known is not None else []
        parts += [told] if index in planes.marks.best else []
        kind = f"c{bin_of(scale.share(value))}{mark}"
        below = f"{fixed(ends[0], decimals)}–{fixed(ends[1], decimals)}" if ends and with_intervals else ""
        yield Square(kind, text, below, told, " · ".join(parts))


def _trials(value: float, document: GridDocument, trials: int, decimals: int | None) -> str:
    """The trials of a cell, and how many of them its score is: `437 of 990 trials`."""
    count = count_of(value, document["metric"], trials, decimals)
    return f"{trials} trials" if count is None else f"{count} of {trials} trials"


def _mark(planes: Planes, index: int) -> tuple[str, str]:
    """The class of a cell that is the best one or may be, and that in words."""
    if index in planes.marks.best:
        return " best" * (index in planes.marks.outlined), "best value"
    return (" tied", "may be the best") if index in planes.marks.tied else ("", "")


Key = frozenset[tuple[str, str]]
"""The levels of a cell."""


def _tests(comparison: Comparison | None) -> tuple[Mapping[Key, float], str]:
    """The p-values of a comparison's cells after Holm, by their levels, and what they say in a sentence."""
    if comparison is None:
        return {}, ""
    below = f"by more than noise (Holm p < {comparison.alpha:g})"
    found = {_levels(cell.at): cell.p_holm for cell in comparison.cells if cell.p_holm is not None}
    sure = sum(p < comparison.alpha for p in found.values())
    if not found and comparison.status in ("not_comparable", "undefined"):
        return found, f"No cell was tested: {comparison.reason}."
    if not found:
        return found, "No cell was tested: no two of them have trials, errors above 0 or repeats that differ."
    if not sure:
        none = "The tested cell does not differ" if len(found) == 1 else f"None of {len(found)} tested cells differs"
        return found, f"{none} {below}: their colours are pale."
    tested = counted(len(found), "tested cell", "tested cells")
    verb = "differs" if sure == 1 else "differ"
    return found, f"Outlined: {sure} of {tested}, which {verb} {below}; the others are pale."


Difference = tuple[dict[str, str], float | None, float | None]
"""The levels of a cell, its value, and the baseline's at the same levels."""


def _differences(document: GridDocument, planes: Planes, baseline: GridDocument) -> list[Difference]:
    theirs = {_levels(coordinate(baseline, index)): value for index, value in enumerate(carried(baseline, "values"))}
    places = (coordinate(document, index) for index in range(len(planes.values)))
    return [(at, value, theirs.get(_levels(at))) for at, value in zip(places, planes.values, strict=True)]


def _of_differences(
    found: Sequence[Difference], most: float, decimals: int | None, falling: bool,
    p_holm: Mapping[Key, float], alpha: float,
) -> Iterator[Square]:  # fmt: skip
    for at, a, b in found:
        where = f"{place(at)}: " if at else ""
        if a is None or b is None:
            yield _alone(where, a, b, decimals)
            continue
        p = p_holm.get(_levels(at))
        sure = p is not None and p < alpha
        written = typeset(signed(a - b, decimals)) if math.isfinite(a - b) else "too large"
        tip = f"{where}{written} ({fixed(a, decimals)} against {fixed(b, decimals)})"
        tip += f" · Holm p {p_value(p)}" if p is not None else ""
        # What noise may be is pale, however large.
        size = (a - b) * (1.0 if sure or p is None else 1e-9)
        kind = f"d{difference_bin(size, most, falling=falling)}{' apart' if sure else ''}"
        yield Square(kind, written, "", "more than noise" if sure else "", tip)


def _alone(where: str, a: float | None, b: float | None, decimals: int | None) -> Square:
    """A cell that only one of the grids has, or neither."""
    if a is not None:
        return Square("alone", fixed(a, decimals), "", "only here", f"{where}{fixed(a, decimals)}, only here")
    told = "not measured" if b is None else f"only in the baseline: {fixed(b, decimals)}"
    return Square("bare", "", "", told, f"{where}{told}")


def _levels(at: Mapping[str, Any]) -> Key:
    return frozenset((name, label(level)) for name, level in at.items())
