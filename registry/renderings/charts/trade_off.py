"""A trade-off as SVG, written by hand, and as a Vega-Lite 6 specification.

A point for each name, its two intervals as a cross, and as steps the front: the names that no other beats in both
quantities. The texts are those of `renderings/trade_off.py`.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from registry.renderings import trade_off as words
from registry.renderings.charts.frame import END, MIDDLE, Frame, Heads, Span, drawn, frame_of
from registry.renderings.charts.paint import COLOURS, RADIUS, ChartOptions, dot
from registry.renderings.heatmap.colours import THEMES
from registry.renderings.heatmap.layout import LABEL
from registry.renderings.heatmap.text import fitted, safe, width
from registry.renderings.heatmap.vega import vega
from registry.results.lines import Estimate
from registry.results.trade_offs import TradeOff, TradeOffPoint

_MOST_NAMES = 40
"""Points behind the front are named where there are no more points than this."""
_HALF = LABEL * 0.62
_SMALL = 2.6
"""Radius of a point behind the front: without its grey it still differs from one that is on it."""
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Spot:
    """A point where it is drawn, with the ends of its cross."""

    x: float
    y: float
    across: tuple[float, float] | None
    upright: tuple[float, float] | None
    point: TradeOffPoint


def trade_off_svg(found: TradeOff, options: ChartOptions | None = None) -> str:
    """The picture."""
    options = options or ChartOptions()
    x, y = words.spans(found, options)
    heads = Heads(
        words.title(found),
        words.subtitle(found),
        words.description(found),
        [*words.without(found), *words.notes(found, options)],
        words.axis(found.x, log=x.log),
        words.axis(found.y, log=y.log),
    )
    ticks = [[(span.share(one), text) for one, text in span.ticks] for span in (x, y)]
    if not found.points:
        ticks = [[], []]
    frame = frame_of(heads, options, ticks[0], ticks[1], 24.0)
    spots = [_spot(frame, one, x, y) for one in found.points]
    return drawn(frame, _inside(frame, found, spots))


def _spot(frame: Frame, point: TradeOffPoint, x: Span, y: Span) -> Spot:
    across = [frame.x(end) for end in _ends(point.x, x)]
    upright = [frame.y(end) for end in _ends(point.y, y)]
    return Spot(
        frame.x(x.share(point.x.mean)),
        frame.y(y.share(point.y.mean)),
        (across[0], across[1]) if across else None,
        (upright[0], upright[1]) if upright else None,
        point,
    )


def _ends(one: Estimate, span: Span) -> list[float]:
    """The ends of an interval as shares; what lies below a logarithmic axis ends at its edge."""
    if one.interval is None:
        return []
    return [span.share(max(end, span.low)) for end in (one.interval.low, one.interval.high)]


def _inside(frame: Frame, found: TradeOff, spots: Sequence[Spot]) -> Iterator[str]:
    yield from _front(frame, found, spots)
    for place, name in (("behind", "faint"), ("untested", "faint"), ("open", "k0"), ("front", "k0")):
        here = [spot for spot in spots if spot.point.place == place]
        if not here:
            continue
        yield frame.paint.group(name)
        opacity = 0.35 if place == "behind" else 0.6
        paths = [f"M{one.across[0]:.1f} {one.y:.1f}H{one.across[1]:.1f}" for one in here if one.across]
        paths += [f"M{one.x:.1f} {one.upright[0]:.1f}V{one.upright[1]:.1f}" for one in here if one.upright]
        if paths:
            yield f'<path d="{"".join(paths)}" stroke="currentColor" stroke-width="1.2" stroke-opacity="{opacity}"/>'
        for spot in here:
            told = "" if frame.options.narrow else safe(words.point(spot.point, found))
            radius = _SMALL if place == "behind" else RADIUS
            yield dot(spot.x, spot.y, frame.paint, told, hollow=place in ("open", "untested"), radius=radius)
        yield "</g>"
    yield from _names(frame, found, spots)


def _front(frame: Frame, found: TradeOff, spots: Sequence[Spot]) -> Iterator[str]:
    """The front as steps: from each of its points nothing worse in both is missed."""
    steps = _steps(found, spots)
    if len(steps) < 2:
        return
    path = [f"M{steps[0][0]:.1f} {steps[0][1]:.1f}"]
    for (x, y), (_, before) in zip(steps[1:], steps, strict=False):
        path.append(f"H{x:.1f}" if y == before else f"V{y:.1f}")
    yield frame.paint.group("k0")
    yield (
        f'<path d="{"".join(path)}" fill="none" stroke="currentColor" stroke-width="1.6" stroke-opacity="0.7" '
        'stroke-dasharray="6 4"/></g>'
    )


def _steps(found: TradeOff, spots: Sequence[Spot]) -> list[tuple[float, float]]:
    """The points of the front and the corners between them."""
    line = [(spot.x, spot.y) for spot in spots if spot.point.place == "front"]
    corners = [(b[0], a[1]) if found.x.direction == "lower" else (a[0], b[1]) for a, b in itertools.pairwise(line)]
    return [*itertools.chain.from_iterable(zip(line, corners, strict=False)), *line[-1:]]


def _strokes(found: TradeOff, spots: Sequence[Spot]) -> Iterator[Box]:
    """The room of crosses and steps, which names keep clear of where they can."""
    for (x, y), (u, v) in itertools.pairwise(_steps(found, spots)):
        yield min(x, u) - 1, min(y, v) - 1, max(x, u) + 1, max(y, v) + 1
    for one in spots:
        if one.across:
            yield min(one.across), one.y - 1, max(one.across), one.y + 1
        if one.upright:
            yield one.x - 1, min(one.upright), one.x + 1, max(one.upright)


def _names(frame: Frame, found: TradeOff, spots: Sequence[Spot]) -> Iterator[str]:
    """The names that find room beside their points, those of the front first; the others are in the table."""
    taken: list[Box] = [(spot.x - 5, spot.y - 5, spot.x + 5, spot.y + 5) for spot in spots]
    strokes = list(_strokes(found, spots))
    order = sorted(spots, key=lambda spot: [*words.PLACES].index(spot.point.place))
    room = 110.0 if frame.options.narrow else 200.0
    for spot in order:
        if spot.point.place == "behind" and len(spots) > _MOST_NAMES:
            continue
        name = fitted(spot.point.name or "(none)", LABEL, room)
        seats = [one for one in _seats(spot, width(name, LABEL)) if _free(one[0], taken, frame)]
        if not seats:
            continue
        box, x, y, extra = min(seats, key=lambda seat: sum(_touch(seat[0], one) for one in strokes))
        taken.append(box)
        colour = "faint" if spot.point.place in ("behind", "untested") else "ink"
        yield frame.paint.group(colour, f' font-size="{LABEL:g}" fill="currentColor"')
        yield f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{safe(name)}</text></g>'


def _seats(spot: Spot, wide: float) -> Iterator[tuple[Box, float, float, str]]:
    """Places for a name: right, left, above and below of its point, the nearest first."""
    for off in (11, 0, 24):
        for y in {spot.y - off: None, spot.y + off: None}:
            yield (spot.x + 5, y - _HALF, spot.x + 7 + wide, y + _HALF), spot.x + 7, y + 4, ""
        for y in {spot.y - off: None, spot.y + off: None}:
            yield (spot.x - 7 - wide, y - _HALF, spot.x - 5, y + _HALF), spot.x - 7, y + 4, END
    for up in (-1, 1):
        y = spot.y + up * 15
        yield (spot.x - wide / 2, y - _HALF, spot.x + wide / 2, y + _HALF), spot.x, y + 4, MIDDLE


def _free(box: Box, taken: Sequence[Box], frame: Frame) -> bool:
    inside = box[0] >= frame.left and box[2] <= frame.left + frame.wide + 20
    inside = inside and box[1] >= frame.top - 8 and box[3] <= frame.top + frame.high
    return inside and not any(_touch(box, other) for other in taken)


def _touch(box: Box, other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def trade_off_vega(found: TradeOff, options: ChartOptions | None = None) -> dict[str, Any]:
    """The specification, in the theme that is asked for."""
    options = options or ChartOptions()
    theme = "dark" if options.ground == "dark" else "light"
    x, y = words.spans(found, options)
    axes = {
        name: {
            "field": name,
            "type": "quantitative",
            "title": words.axis(quantity, log=span.log),
            "scale": {"type": "log" if span.log else "linear", "domain": [span.low, span.high], "zero": False},
        }
        for name, quantity, span in (("x", found.x, x), ("y", found.y, y))
    }
    return vega(
        (words.title(found), [*words.without(found), *words.notes(found, options)]),
        theme,
        (options.width * 0.9, 12),
        description=words.description(found),
        width=options.width - 120,
        height=360,
        data={"values": list(_rows(found))},
        encoding=axes,
        layer=list(_layers(found, theme)),
    )


def _rows(found: TradeOff) -> Iterator[dict[str, Any]]:
    for one in found.points:
        row: dict[str, Any] = {"name": one.name or "(none)", "x": one.x.mean, "y": one.y.mean, "place": one.place}
        for axis, known in (("x", one.x.interval), ("y", one.y.interval)):
            if known:
                row |= {f"{axis}_low": known.low, f"{axis}_high": known.high}
        yield row | {"told": words.point(one, found)}


def _layers(found: TradeOff, theme: str) -> Iterator[dict[str, Any]]:
    colour, grey, behind = COLOURS[theme][0], THEMES[theme].faint, "datum.place == 'behind'"
    faint = f"{behind} || datum.place == 'untested'"
    for axis in ("x", "y"):
        yield {
            "transform": [{"filter": f"isValid(datum.{axis}_low)"}],
            "mark": {"type": "rule", "opacity": 0.5, "color": colour},
            "encoding": {axis: {"field": f"{axis}_low", "type": "quantitative"}, f"{axis}2": {"field": f"{axis}_high"}},
        }
    yield {
        "transform": [{"filter": "datum.place == 'front'"}],
        "mark": {
            "type": "line",
            "interpolate": "step-after" if found.x.direction == "lower" else "step-before",
            "strokeDash": [6, 4],
            "color": colour,
        },
    }
    yield {
        "mark": {"type": "point", "filled": True, "strokeWidth": 1.6},
        "encoding": {
            "tooltip": {"field": "told", "type": "nominal"},
            "size": {"condition": {"test": behind, "value": 26}, "value": 50},
            "fill": {
                "condition": [{"test": "datum.place == 'front'", "value": colour}, {"test": behind, "value": grey}],
                "value": THEMES[theme].ground,
            },
            "stroke": {"condition": {"test": faint, "value": grey}, "value": colour},
        },
    }
    yield {
        "mark": {"type": "text", "align": "left", "dx": 7, "dy": -7, "color": THEMES[theme].ink},
        "encoding": {"text": {"field": "name", "type": "nominal"}},
    }
