"""A grid as a table for people: a class for the colour, the number as it was posted, the marks, and words for both
who point at a cell and who cannot see it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from registry.pages.blocks import typeset
from registry.pages.palette import bin_of, difference_bin
from registry.renderings.cells import carried
from registry.renderings.heatmap.options import Options
from registry.renderings.heatmap.panels import MOST_NUMBERS, Panel, Planes, planes_of
from registry.renderings.heatmap.scale import Scale, scale_of
from registry.renderings.heatmap.words import coordinate
from registry.renderings.numbers import decimals_of, fixed, signed
from registry.renderings.uncertainty import interval_of
from registry.renderings.words import label, place, with_unit

Document = dict[str, Any]
SHOWS = ("value", "interval", "difference")


@dataclass(frozen=True, slots=True)
class Square:
    """One cell as it is shown: its classes, its text, a second line, and what is said about it."""

    kind: str
    text: str
    below: str = ""
    told: str = ""
    tip: str = ""


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
    """What is known of the ties, a sentence."""
    show: str
    most: float = 0.0
    """The largest difference from the baseline."""

    @property
    def row_name(self) -> str:
        return with_unit(self.planes.row_axis) if self.planes.row_axis else ""

    @property
    def column_name(self) -> str:
        return with_unit(self.planes.column_axis) if self.planes.column_axis else ""

    def has(self, kind: str) -> bool:
        """Whether any cell is of this kind."""
        return any(one.kind == kind for plate in self.plates for _, row in plate.rows for one in row)

    def ends(self) -> tuple[str, str]:
        """The numbers at the ends of the colours."""
        if self.show == "difference":
            return typeset(signed(-self.most, self.decimals)), signed(self.most, self.decimals)
        return fixed(self.scale.low, self.decimals), fixed(self.scale.high, self.decimals)


def fits(document: Document) -> bool:
    """Whether the grid is small enough for a table; a larger one is shown as a picture."""
    size = 1
    for axis in document["axes"]:
        size *= len(axis["levels"])
    return size <= MOST_NUMBERS


def heatmap_of(
    document: Document,
    statistics: Document | None = None,
    options: Options | None = None,
    show: str = "value",
    baseline: Document | None = None,
) -> Heatmap:
    """The grid as tables; with a baseline and `show` "difference", its cells minus those of the baseline."""
    planes = planes_of(document, statistics)
    scale = scale_of(planes.values, document["metric"], options or Options())
    decimals = decimals_of(value for value in planes.values if value is not None)
    if show == "difference" and baseline is not None:
        squares, most = _differences(document, planes, baseline, decimals)
    else:
        show, most = ("value" if show == "difference" else show), 0.0
        squares = list(_values(document, planes, scale, decimals, show == "interval"))
    plates = [Plate(panel.heading, list(_rows(planes, panel, squares))) for panel in planes.panels]
    return Heatmap(planes, plates, scale, decimals, planes.marks.told, show, most)


def _rows(planes: Planes, panel: Panel, squares: Sequence[Square]) -> Iterator[tuple[str, list[Square]]]:
    for number, row in enumerate(panel.values):
        start = panel.start + number * len(row)
        yield (planes.rows[number] if planes.rows else ""), list(squares[start : start + len(row)])


def _values(
    document: Document, planes: Planes, scale: Scale, decimals: int | None, with_intervals: bool
) -> Iterator[Square]:
    """Every cell with its value, and its interval where the noise is known."""
    trials = carried(document, "trials") if document.get("trials") is not None else None
    stderr = carried(document, "stderr") if document.get("stderr") is not None else None
    unit = f" {document['metric']['unit']}" if document["metric"].get("unit") else ""
    for index, value in enumerate(planes.values):
        where = place(coordinate(document, index))
        if value is None:
            yield _bare(planes.reasons.get(index), where)
            continue
        known = trials[index] if trials else None
        ends = interval_of(value, document["metric"], known, stderr[index] if stderr else None)
        text = fixed(value, decimals)
        told = _mark(planes, index)
        parts = [f"{where}: {text}{unit}" if where else f"{text}{unit}"]
        parts += [f"95 % interval {fixed(ends[0], decimals)} to {fixed(ends[1], decimals)}"] if ends else []
        parts += [f"{known} trials"] if known is not None else []
        parts += [told] if told else []
        kind = f"c{bin_of(scale.share(value))}" + _mark_class(planes, index)
        below = f"{fixed(ends[0], decimals)}–{fixed(ends[1], decimals)}" if ends and with_intervals else ""
        yield Square(kind, text, below, told, " · ".join(parts))


def _bare(reason: str | None, where: str) -> Square:
    told = f"not measured: {reason}" if reason else "not measured"
    return Square("bare", "", "", told, f"{where}: {told}" if where else told)


def _mark(planes: Planes, index: int) -> str:
    if index in planes.marks.best:
        return "best"
    return "tied with the peak" if index in planes.marks.tied else ""


def _mark_class(planes: Planes, index: int) -> str:
    if index in planes.marks.best:
        return " best"
    return " tied" if index in planes.marks.tied else ""


def _differences(
    document: Document, planes: Planes, baseline: Document, decimals: int | None
) -> tuple[list[Square], float]:
    """Every cell minus the baseline's at the same levels, and the largest difference."""
    theirs = _by_levels(baseline)
    found: list[tuple[str, float | None, float | None]] = []
    for index, value in enumerate(planes.values):
        at = coordinate(document, index)
        found.append((place(at), value, theirs.get(frozenset(at.items()))))
    most = max((abs(a - b) for _, a, b in found if a is not None and b is not None), default=0.0)
    return [_difference(where, a, b, most, decimals) for where, a, b in found], most


def _difference(where: str, a: float | None, b: float | None, most: float, decimals: int | None) -> Square:
    if a is None:
        told = "not measured" if b is None else f"only in the baseline: {fixed(b, decimals)}"
        return Square("bare", "", "", told, f"{where}: {told}")
    if b is None:
        return Square("alone", fixed(a, decimals), "", "only here", f"{where}: {fixed(a, decimals)}, only here")
    written = typeset(signed(a - b, decimals))
    told = f"{where}: {written} ({fixed(a, decimals)} against {fixed(b, decimals)})"
    return Square(f"d{difference_bin(a - b, most)}", written, "", "", told)


def _by_levels(document: Document) -> dict[frozenset[tuple[str, str]], float | None]:
    """The values of a grid by the labels of their levels."""
    names = [axis["name"] for axis in document["axes"]]
    values = carried(document, "values")
    levels = itertools.product(*([label(level) for level in axis["levels"]] for axis in document["axes"]))
    return {frozenset(zip(names, at, strict=True)): value for at, value in zip(levels, values, strict=False)}
