"""A heatmap as SVG, written by hand: no style sheet, no script, nothing from elsewhere.

Zero is a colour with its number; what nobody measured is hatched. Peaks are outlined, and the cells that noise cannot
tell from them are outlined with dashes. A grid beyond `panels.MOST_NUMBERS` cells has no numbers, one beyond
`panels.MOST_BLOCKS`, `MOST_ROWS` or `MOST_COLUMNS` is drawn in blocks, so that a picture stays below a few hundred
kilobytes.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from registry.renderings.heatmap import words
from registry.renderings.heatmap.colours import THEMES, Theme, ink_on, ramp, step_of
from registry.renderings.heatmap.layout import (
    LABEL,
    LINE,
    MARGIN,
    NOTE,
    NUMBER,
    SUB,
    TITLE,
    Layout,
    colour_bar,
    layout_of,
    legend,
    written,
)
from registry.renderings.heatmap.panels import Panel, Planes, planes_of
from registry.renderings.heatmap.scale import Options, Scale, scale_of
from registry.renderings.heatmap.text import DASHES, FAMILY, fitted, outline, safe, text, width
from registry.renderings.words import title, with_unit
from registry.results.grid import GridDocument, PostedAxis
from registry.results.statistics import Statistics


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Everything that the parts of one picture share."""

    document: GridDocument
    planes: Planes
    scale: Scale
    layout: Layout
    options: Options
    name: str
    """What its ids begin with, so that several pictures fit into one page."""

    @property
    def theme(self) -> Theme:
        return THEMES[self.options.theme]

    @property
    def bare(self) -> str:
        """The pattern of what nobody measured."""
        return f"{self.name}-bare"


def heatmap_svg(document: GridDocument, statistics: Statistics | None = None, options: Options | None = None) -> str:
    """The picture of a grid with its values; with statistics of its revision, the set of best cells is marked."""
    return planes_svg(document, planes_of(document, statistics), options or Options())


def planes_svg(document: GridDocument, planes: Planes, options: Options) -> str:
    """The picture of a document's panels."""
    scale = scale_of(planes.values, document["metric"], options)
    notes = list(words.notes(document, planes, scale))
    layout = layout_of(planes, document, notes)
    name = f"g{str(document['id']).replace('-', '')[-8:]}"
    return "".join(_written(_Drawing(document, planes, scale, layout, options, name)))


def _written(drawing: _Drawing) -> Iterator[str]:
    yield from _front(drawing)
    yield from _heads(drawing.layout, drawing.theme)
    if not drawing.planes.numbered:
        wide, high = drawing.layout.cell
        turned = f"scale({1 / wide:.6g} {1 / high:.6g}) rotate(45)"
        yield f'<pattern id="{drawing.bare}-block" href="#{drawing.bare}" patternTransform="{turned}"/>'
    for number, panel in enumerate(drawing.planes.panels):
        corner = drawing.layout.place(number)
        yield from _labels(drawing, panel, corner)
        yield from (_cells if drawing.planes.numbered else _runs)(drawing, panel, corner)
        if drawing.planes.whole:
            yield from _outlines(drawing, panel, corner)
    if drawing.planes.values.count(None) < len(drawing.planes.values):
        yield from colour_bar(drawing.document["metric"], drawing.scale, drawing.layout, drawing.options)
    yield from legend(drawing.planes, drawing.layout, drawing.theme, drawing.bare)
    yield "</svg>"


def _front(drawing: _Drawing) -> Iterator[str]:
    """The head of the file: its size, what it says to who cannot see it, and the pattern."""
    theme, name, document = drawing.theme, drawing.name, drawing.document
    wide, high = f"{drawing.layout.width:.0f}", f"{drawing.layout.height:.0f}"
    told = words.description(document, drawing.planes, drawing.scale)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        f'role="img" aria-labelledby="{name}-title {name}-desc" font-family="{FAMILY}">'
        f'<title id="{name}-title">{safe(title(document))}</title><desc id="{name}-desc">{safe(told)}</desc>'
        f'<defs><pattern id="{drawing.bare}" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><rect width="6" height="6" fill="{theme.bare}"/>'
        f'<rect width="1.4" height="6" fill="{theme.hatch}"/></pattern></defs>'
        f'<rect width="100%" height="100%" fill="{theme.ground}"/>'
    )


def _heads(layout: Layout, theme: Theme) -> Iterator[str]:
    y = MARGIN
    for lines, size, ink in ((layout.title, TITLE, theme.ink), (layout.subtitle, SUB, theme.faint)):
        for line in lines:
            y += size * LINE
            yield text(line, MARGIN, y - size * 0.35, size, ink)
    y = layout.notes_top
    for line in layout.notes:
        y += NOTE * LINE
        yield text(line, MARGIN, y - NOTE * 0.35, NOTE, theme.faint)


_END = ' text-anchor="end"'
_MIDDLE = ' text-anchor="middle"'


def _labels(drawing: _Drawing, panel: Panel, corner: tuple[float, float]) -> Iterator[str]:
    """The panel's heading, the names of its axes, and their levels."""
    planes, layout, theme, (x, y) = drawing.planes, drawing.layout, drawing.theme, corner
    wide, high = layout.cell
    start = x - layout.left
    if panel.heading:
        top = y - layout.above + LABEL * 1.2
        yield text(fitted(panel.heading, LABEL, layout.panel[0]), start, top, LABEL, theme.ink, ' font-weight="bold"')
    if planes.row_axis:
        name = fitted(with_unit(planes.row_axis), LABEL, layout.panel[0])
        yield text(name, start, y - LABEL * 0.6, LABEL, theme.faint)
        for place in range(0, len(layout.rows), layout.every_row):
            middle = y + (place + 0.5) * high + LABEL * 0.36
            yield text(layout.rows[place], x - 8, middle, LABEL, theme.ink, _END)
    if planes.column_axis:
        yield from _column_labels(layout, x, y + len(planes.rows) * high, theme)
        name = fitted(with_unit(planes.column_axis), LABEL, layout.panel[0])
        half = width(name, LABEL) / 2
        # Below the middle of the cells, unless the name would stand out of the panel.
        middle = max(start + half, min(x + len(planes.columns) * wide / 2, start + layout.panel[0] - half))
        ground = y - layout.above + layout.panel[1]
        yield text(name, middle, ground - LABEL * 0.3, LABEL, theme.faint, _MIDDLE)


def _column_labels(layout: Layout, x: float, bottom: float, theme: Theme) -> Iterator[str]:
    for place in range(0, len(layout.columns), layout.every_column):
        middle = x + (place + 0.5) * layout.cell[0]
        if layout.slanted:
            at = f"{middle + LABEL * 0.3:.1f} {bottom + LABEL * 0.9:.1f}"
            content = safe(layout.columns[place])
            yield (
                f'<text transform="translate({at}) rotate(-45)" font-size="{LABEL:g}" fill="{theme.ink}"{_END}>'
                f"{content}</text>"
            )
        else:
            yield text(layout.columns[place], middle, bottom + LABEL * 1.35, LABEL, theme.ink, _MIDDLE)


def _cells(drawing: _Drawing, panel: Panel, corner: tuple[float, float]) -> Iterator[str]:
    """Every cell with its number, and with what a pointer that rests on it is told."""
    (x, y), (wide, high) = corner, drawing.layout.cell
    size = f'width="{wide - 1:.1f}" height="{high - 1:.1f}"'
    columns = [_where(drawing.planes.column_axis, name) for name in drawing.planes.columns]
    index = panel.start
    yield f'<g font-size="{NUMBER:g}" text-anchor="middle">'
    for row, values in enumerate(panel.values):
        head, top = _where(drawing.planes.row_axis, drawing.planes.rows[row]), y + row * high
        for column, value in enumerate(values):
            where = ", ".join(filter(None, (head, columns[column])))
            box = f'<rect x="{x + column * wide:.1f}" y="{top:.1f}" {size} fill='
            if value is None:
                yield _unmeasured(drawing, index, where, box)
            else:
                at = f'x="{x + (column + 0.5) * wide - 0.5:.1f}" y="{top + high / 2 + 3.8:.1f}"'
                yield _measured(drawing, value, where, box, at)
            index += 1
    yield "</g>"


def _measured(drawing: _Drawing, value: float, where: str, box: str, at: str) -> str:
    unit = drawing.document["metric"]["unit"]
    told = f"{where}: " * bool(where) + repr(value) + (f" {unit}" if unit else "")
    ground = ramp(drawing.options.palette)[step_of(drawing.scale.share(value))]
    number = written(value, drawing.layout.decimals)
    return f'<g><title>{safe(told)}</title>{box}"{ground}"/><text {at} fill="{ink_on(ground)}">{number}</text></g>'


def _unmeasured(drawing: _Drawing, index: int, where: str, box: str) -> str:
    told = f"{where}: " * bool(where) + words.unvalued(drawing.planes, index)
    fill = drawing.theme.bare if index in drawing.planes.marks.aside else f"url(#{drawing.bare})"
    return f'{box}"{fill}"><title>{safe(told)}</title></rect>'


def _where(axis: PostedAxis | None, level: str) -> str:
    return f"{axis['name']} {level}" if axis else ""


def _runs(drawing: _Drawing, panel: Panel, corner: tuple[float, float]) -> Iterator[str]:
    """Blocks without numbers: one path a colour, neighbours of one colour as one rectangle, in units of blocks."""
    (x, y), (wide, high) = corner, drawing.layout.cell
    share, aside, index = drawing.scale.share, drawing.planes.marks.aside, itertools.count(panel.start)
    paths: dict[int, list[str]] = {}
    for row, values in enumerate(panel.values):
        column = 0
        for step, run in itertools.groupby(
            step_of(share(value)) if value is not None else -2 if place in aside else -1
            for value, place in zip(values, index, strict=False)
        ):
            count = sum(1 for _ in run)
            paths.setdefault(step, []).append(f"M{column} {row}h{count}v1h-{count}z")
            column += count
    colours = {
        -2: drawing.theme.bare,
        -1: f"url(#{drawing.bare}-block)",
        **dict(enumerate(ramp(drawing.options.palette))),
    }
    yield f'<g shape-rendering="crispEdges" transform="translate({x:.1f} {y:.1f}) scale({wide:.6g} {high:.6g})">'
    for step in sorted(paths):
        fill = colours[step]
        yield f'<path fill="{fill}" d="{"".join(paths[step])}"/>'
    yield "</g>"


def _outlines(drawing: _Drawing, panel: Panel, corner: tuple[float, float]) -> Iterator[str]:
    (x, y), (wide, high), planes = corner, drawing.layout.cell, drawing.planes
    for found, dashes in ((planes.marks.tied, DASHES), (planes.marks.outlined, "")):
        for index in sorted(found):
            row, column = divmod(index - panel.start, max(1, len(planes.columns)))
            if 0 <= row < len(planes.rows):
                yield outline(x + column * wide, y + row * high, wide - 1, high - 1, drawing.theme, dashes)
