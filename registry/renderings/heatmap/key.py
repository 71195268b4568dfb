"""The key of a picture: the bar with the range of the colours, and what the marks mean."""

from __future__ import annotations

from collections.abc import Iterator

from registry.renderings.heatmap.colours import THEMES, Theme, colour
from registry.renderings.heatmap.draw import DASHES, outline, text
from registry.renderings.heatmap.layout import BAR, BAR_GAP, BAR_LABELS, LABEL, MARGIN, NOTE, Layout, written
from registry.renderings.heatmap.options import Options
from registry.renderings.heatmap.panels import Planes
from registry.renderings.heatmap.scale import Scale
from registry.renderings.heatmap.text import fitted, width
from registry.results.grid import PostedMetric

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
    entries: list[tuple[str, str | None]] = []
    if None in planes.values:
        entries.append(("not measured", None))
    if planes.whole and planes.best:
        entries.append(("best value", ""))
    if planes.whole and planes.tied:
        entries.append(("may be the best", DASHES))
    for name, dashes in entries:
        if dashes is None:
            yield f'<rect x="{x:.1f}" y="{y:.1f}" width="20" height="13" fill="url(#{bare})"/>'
        else:
            yield outline(x, y, 20, 13, theme, dashes)
        yield text(name, x + 26, y + 10.5, NOTE, theme.ink)
        x += 26 + width(name, NOTE) + 20
