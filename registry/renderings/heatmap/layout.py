"""Lay out a heat map: the place and size of all its parts, its colour bar and its legend."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.renderings.grid import decimals_shown
from registry.renderings.heatmap import words
from registry.renderings.heatmap.colours import THEMES, Theme, colour
from registry.renderings.heatmap.panels import Planes, blocks_of
from registry.renderings.heatmap.scale import Options, Scale
from registry.renderings.heatmap.text import DASHES, broken, fitted, outline, text, width
from registry.renderings.numbers import fixed, typeset
from registry.renderings.words import with_unit
from registry.results.grid import GridDocument, PostedAxis, PostedMetric

MARGIN = 16.0
TITLE, SUB, LABEL, NUMBER, NOTE = 16.0, 12.0, 12.0, 12.0, 11.0
LINE = 1.4
_NARROWEST = 440.0
_ROW_ROOM, _COLUMN_ROOM = 220.0, 150.0
_GAP = 24.0
_PANEL_ROOM = 1_300.0
_SLANT = math.sqrt(0.5)
BAR, BAR_GAP, BAR_LABELS = 14.0, 20.0, 76.0
_AROUND = 64.0, 190.0
"""Room for labels of rows, and for title, labels of columns, legend and notes, as most large pictures have it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Sizes of one picture; every panel has the same."""

    width: float
    height: float
    title: list[str]
    subtitle: list[str]
    top: float
    """Where the first panel begins."""
    cell: tuple[float, float]
    """Width and height of a cell."""
    left: float
    """From the left end of a panel to its cells: room for the labels of rows."""
    above: float
    """From the top of a panel to its cells: room for its heading and the name of its rows."""
    panel: tuple[float, float]
    across: int
    """Panels beside each other."""
    rows: list[str]
    columns: list[str]
    slanted: bool
    every_row: int
    every_column: int
    """Of so many labels one is drawn."""
    bar_height: float
    notes: list[str]
    legend_top: float
    notes_top: float
    decimals: int | None

    def place(self, number: int) -> tuple[float, float]:
        """The upper left corner of the cells of a panel."""
        row, column = divmod(number, self.across)
        x = MARGIN + self.left + column * (self.panel[0] + _GAP)
        return x, self.top + self.above + row * (self.panel[1] + _GAP)

    @property
    def plot_right(self) -> float:
        """The right end of all panels."""
        return MARGIN + self.across * (self.panel[0] + _GAP) - _GAP


def layout_of(planes: Planes, document: GridDocument, notes: Sequence[str]) -> Layout:
    """Everything's place, for the titles of this grid and these notes."""
    decimals = shown_decimals(document, planes.values)
    cell = _cell(planes, decimals)
    every_row = max(1, math.ceil(LABEL * 1.15 / cell[1]))
    rows = [fitted(text, LABEL, _ROW_ROOM) for text in planes.rows]
    left = 10 + max((width(text, LABEL) for text in rows[::every_row]), default=0.0) if planes.row_axis else 0.0
    slanted, every_column, columns = _columns(planes.columns, cell[0])
    below = _below(columns, slanted, every_column, planes)
    if slanted:
        overhang = (
            width(text, LABEL) * _SLANT - place * cell[0]
            for place, text in enumerate(columns)
            if not place % every_column
        )
        left = max(left, *overhang)
    else:
        # Labels that are wider than their column stand out on either side.
        left = max([left, *((width(text, LABEL) - cell[0]) / 2 for text in columns[:1])])
    above = (LABEL * 1.8 if planes.panels[0].heading else 0.0) + LABEL * 1.5
    wide = left + max(len(planes.columns) * cell[0], _axis_width(planes) - left)
    if planes.panels[0].heading:
        wide = max(wide, min(260.0, max(width(panel.heading, LABEL) for panel in planes.panels)))
    panel = (wide, above + len(planes.rows) * cell[1] + below)
    across = max(1, min(len(planes.panels), int((_PANEL_ROOM + _GAP) // (panel[0] + _GAP))))
    down = math.ceil(len(planes.panels) / across)
    full = max(_NARROWEST, across * (panel[0] + _GAP) - _GAP + BAR_GAP + BAR + BAR_LABELS + 2 * MARGIN)
    room = full - 2 * MARGIN
    heads = words.heading(document, TITLE, room)
    subs = broken(words.subtitle(document, planes), SUB, room, 3)
    lines = [line for note in notes for line in broken(note, NOTE, room, 4)]
    top = MARGIN + LINE * (len(heads) * TITLE + len(subs) * SUB) + 14
    bar = min(320.0, max(80.0, len(planes.rows) * cell[1]))
    plot = max(down * (panel[1] + _GAP) - _GAP, above + bar)
    legend_top = top + plot + 14
    notes_top = legend_top + 22
    height = notes_top + len(lines) * NOTE * LINE + MARGIN
    return Layout(
        full, height, heads, subs, top, cell, left, above, panel, across, rows, columns, slanted, every_row,
        every_column, bar, lines, legend_top, notes_top, decimals,
    )  # fmt: skip


def shown_decimals(document: GridDocument, values: Sequence[float | None]) -> int | None:
    """As many as the values were posted with, unless the numbers would be wider than seven characters."""
    measured = [value for value in values if value is not None]
    decimals = decimals_shown(document, measured)
    if not measured or decimals is None:
        return None
    largest = max(map(abs, measured))
    whole = len(f"{largest:.0f}")
    return decimals if whole + decimals <= 6 else max(0, 5 - whole)


def written(value: float, decimals: int | None) -> str:
    """A value as it stands in its cell."""
    text = fixed(value, decimals)
    return typeset(text if len(text) <= 9 and decimals is not None else f"{value:.3g}")


def _cell(planes: Planes, decimals: int | None) -> tuple[float, float]:
    rows, columns = len(planes.rows), len(planes.columns)
    if not planes.numbered:
        return _small_cell(rows, columns, len(planes.panels))
    widest = max((width(written(value, decimals), NUMBER) for value in planes.values if value is not None), default=0.0)
    labels = max((width(text, LABEL) for text in planes.columns), default=0.0)
    cell = max(34.0, widest + 12)
    if cell < labels + 8 <= 2 * cell and len(planes.columns) <= 12:
        cell = labels + 8
    if columns == 1:
        cell = max(cell, 64.0)
    return cell, 28.0


def _small_cell(rows: int, columns: int, panels: int) -> tuple[float, float]:
    """Width and height of a cell without a number."""
    across, down = (1_100.0, 800.0) if panels == 1 else (380.0, 300.0)
    return min(24.0, max(1.5, across / columns)), min(24.0, max(1.5, down / rows))


def about_size(axes: Sequence[PostedAxis]) -> tuple[int, int]:
    """About the width and height of the picture of a large grid with one panel, for a page that keeps its place: the
    words around it are known when it is drawn."""
    rows, columns = blocks_of(axes)
    wide, high = _small_cell(rows, columns, 1)
    around = _AROUND[0] + BAR_GAP + BAR + BAR_LABELS + 2 * MARGIN, _AROUND[1] + 2 * MARGIN
    return round(columns * wide + around[0]), round(rows * high + around[1])


def _columns(labels: Sequence[str], cell: float) -> tuple[bool, int, list[str]]:
    """Whether the labels of columns are slanted, of how many one is drawn, and the labels as they fit."""
    widest = max((width(text, LABEL) for text in labels), default=0.0)
    if widest + 6 <= cell:
        return False, 1, list(labels)
    if cell < LABEL * 1.5:
        # Very narrow columns: upright labels as far apart as they are wide.
        shown = [fitted(text, LABEL, _COLUMN_ROOM) for text in labels]
        every = max(1, math.ceil((max(width(text, LABEL) for text in shown) + 10) / cell))
        return False, every, shown
    return True, 1, [fitted(text, LABEL, _COLUMN_ROOM) for text in labels]


def _below(columns: Sequence[str], slanted: bool, every: int, planes: Planes) -> float:
    if planes.column_axis is None:
        return 0.0
    longest = max((width(text, LABEL) for text in columns[::every]), default=0.0)
    labels = longest * _SLANT + LABEL if slanted else LABEL * 1.6
    return labels + LABEL * 1.7


def _axis_width(planes: Planes) -> float:
    """The room that the names of the axes need, up to a limit."""
    names = [with_unit(axis) for axis in (planes.row_axis, planes.column_axis) if axis]
    return min(260.0, max((width(name, LABEL) for name in names), default=0.0))


_SEGMENTS = 32


def colour_bar(metric: PostedMetric, scale: Scale, layout: Layout, options: Options) -> Iterator[str]:
    """The colours from the worse end to the better one, which is above, with the numbers that they stand for."""
    theme = THEMES[options.theme]
    x, top = layout.plot_right + BAR_GAP, layout.top + layout.above
    high = layout.bar_height
    if scale.low == scale.high:
        fill = colour(0.5, options.palette)
        yield f'<rect x="{x:.1f}" y="{top:.1f}" width="{BAR:g}" height="{high:.1f}" fill="{fill}"/>'
        ends = [(scale.low, top + high / 2)]
    else:
        step = high / _SEGMENTS
        for number in range(_SEGMENTS):
            fill = colour(1 - (number + 0.5) / _SEGMENTS, options.palette)
            y = top + number * step
            yield f'<rect x="{x:.1f}" y="{y:.2f}" width="{BAR:g}" height="{step + 0.3:.2f}" fill="{fill}"/>'
        middle = scale.low / 2 + scale.high / 2
        best, worst = (scale.low, scale.high) if scale.falling else (scale.high, scale.low)
        ends = [(best, top + 8), (middle, top + high / 2 + 4), (worst, top + high)]
    for value, y in ends:
        yield text(_end(value, layout.decimals), x + BAR + 6, y, LABEL, theme.ink)
    unit = metric["unit"]
    if unit:
        yield text(fitted(str(unit), LABEL, BAR + BAR_LABELS - 8), x, top - 8, LABEL, theme.faint)


def _end(value: float, decimals: int | None) -> str:
    """A number beside the colours; halfway between two numbers there may be one decimal more."""
    exact = decimals is None or round(value, decimals) == value
    return written(value, decimals if exact or decimals is None else decimals + 1)


def legend(planes: Planes, layout: Layout, theme: Theme, bare: str) -> Iterator[str]:
    """Legend of hatches, outlines and dashes, as far as the picture has it."""
    x, y = MARGIN, layout.legend_top
    entries: list[tuple[str, str]] = []
    if planes.values.count(None) > len(planes.marks.aside):
        entries.append((words.BARE, f"url(#{bare})"))
    if planes.marks.aside:
        entries.append((words.ASIDE, theme.bare))
    if planes.whole and planes.outlined:
        entries.append(("best value", ""))
    if planes.whole and planes.tied:
        entries.append(("may be the best", DASHES))
    for name, dashes in entries:
        if name in (words.BARE, words.ASIDE):
            yield f'<rect x="{x:.1f}" y="{y:.1f}" width="20" height="13" fill="{dashes}"/>'
        else:
            yield outline(x, y, 20, 13, theme, dashes)
        yield text(name, x + 26, y + 10.5, NOTE, theme.ink)
        x += 26 + width(name, NOTE) + 20
