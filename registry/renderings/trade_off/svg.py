"""A trade-off as SVG, written by hand: a point a name with its intervals as a cross, and the front as steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.renderings.heatmap.layout import LABEL
from registry.renderings.heatmap.text import fitted, safe, width
from registry.renderings.lines.frame import END, MIDDLE, Frame, Heads, Span, drawn, frame_of, log_span, span_of
from registry.renderings.lines.paint import RADIUS, ChartOptions, dot
from registry.renderings.trade_off import words
from registry.results.lines import Estimate
from registry.results.trade_offs import Quantity, TradeOff, TradeOffPoint

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
    x, y = spans(found, options)
    heads = Heads(
        words.title(found),
        words.subtitle(found),
        words.description(found),
        list(words.notes(found, options, x, y)),
        words.axis(found.x, log=x.log),
        words.axis(found.y, log=y.log),
    )
    ticks = [[(span.share(one), text) for one, text in span.ticks] for span in (x, y)]
    if not found.points:
        ticks = [[], []]
    frame = frame_of(heads, options, ticks[0], ticks[1], 24.0)
    spots = [_spot(frame, one, x, y) for one in found.points]
    return drawn(frame, _inside(frame, found, spots))


def spans(found: TradeOff, options: ChartOptions) -> tuple[Span, Span]:
    """The ranges of both axes."""
    x_log, y_log, _ = words.scales(found, options)
    x = _span(found.x, [one.x for one in found.points], log=x_log, band=options.band)
    return x, _span(found.y, [one.y for one in found.points], log=y_log, band=options.band)


def _span(quantity: Quantity, means: Sequence[Estimate], *, log: bool, band: bool) -> Span:
    values = [one.mean for one in means]
    known = [one.interval for one in means if one.interval and band]
    values += [end for one in known for end in (one.low, one.high) if not log or end > 0]
    return log_span(values) if log else span_of(values, quantity.lower, quantity.upper)


def _spot(frame: Frame, point: TradeOffPoint, x: Span, y: Span) -> Spot:
    across = [frame.x(end) for end in _ends(point.x, x)] if frame.options.band else []
    upright = [frame.y(end) for end in _ends(point.y, y)] if frame.options.band else []
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
    for place, name in (("behind", "faint"), ("open", "k0"), ("front", "k0")):
        here = [spot for spot in spots if spot.point.place == place]
        if not here:
            continue
        yield frame.paint.group(name)
        yield from _crosses(here, 0.35 if place == "behind" else 0.6)
        for spot in here:
            told = "" if frame.options.narrow else safe(words.point(spot.point, found))
            radius = _SMALL if place == "behind" else RADIUS
            yield dot(spot.x, spot.y, frame.paint, told, hollow=place == "open", radius=radius)
        yield "</g>"
    yield from _names(frame, spots)


def _crosses(spots: Sequence[Spot], opacity: float) -> Iterator[str]:
    paths = [f"M{one.across[0]:.1f} {one.y:.1f}H{one.across[1]:.1f}" for one in spots if one.across]
    paths += [f"M{one.x:.1f} {one.upright[0]:.1f}V{one.upright[1]:.1f}" for one in spots if one.upright]
    if paths:
        yield f'<path d="{"".join(paths)}" stroke="currentColor" stroke-width="1.2" stroke-opacity="{opacity}"/>'


def _front(frame: Frame, found: TradeOff, spots: Sequence[Spot]) -> Iterator[str]:
    """The front as steps: from each of its points nothing worse in both is missed."""
    line = [(spot.x, spot.y) for spot in spots if spot.point.place == "front"]
    if len(line) < 2:
        return
    x_first = found.x.direction == "lower"
    path = [f"M{line[0][0]:.1f} {line[0][1]:.1f}"]
    for x, y in line[1:]:
        path.append(f"H{x:.1f}V{y:.1f}" if x_first else f"V{y:.1f}H{x:.1f}")
    yield frame.paint.group("k0")
    yield (
        f'<path d="{"".join(path)}" fill="none" stroke="currentColor" stroke-width="1.6" stroke-opacity="0.7" '
        'stroke-dasharray="6 4"/></g>'
    )


def _names(frame: Frame, spots: Sequence[Spot]) -> Iterator[str]:
    """The names that find room beside their points, those of the front first; the others are in the table."""
    taken: list[Box] = [(spot.x - 5, spot.y - 5, spot.x + 5, spot.y + 5) for spot in spots]
    order = sorted(spots, key=lambda spot: ("front", "open", "behind").index(spot.point.place))
    room = 110.0 if frame.options.narrow else 200.0
    for spot in order:
        if spot.point.place == "behind" and len(spots) > _MOST_NAMES:
            continue
        name = fitted(spot.point.name or "(none)", LABEL, room)
        for box, x, y, extra in _seats(spot, width(name, LABEL)):
            if not _free(box, taken, frame):
                continue
            taken.append(box)
            colour = "faint" if spot.point.place == "behind" else "ink"
            yield frame.paint.group(colour, f' font-size="{LABEL:g}" fill="currentColor"')
            yield f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{safe(name)}</text></g>'
            break


def _seats(spot: Spot, wide: float) -> Iterator[tuple[Box, float, float, str]]:
    """Places for a name: above right, below right, above left, below left, above, below."""
    for up in (-1, 1):
        y = spot.y + up * 11
        yield (spot.x + 5, y - _HALF, spot.x + 7 + wide, y + _HALF), spot.x + 7, y + 4, ""
    for up in (-1, 1):
        y = spot.y + up * 11
        yield (spot.x - 7 - wide, y - _HALF, spot.x - 5, y + _HALF), spot.x - 7, y + 4, END
    for up in (-1, 1):
        y = spot.y + up * 15
        yield (spot.x - wide / 2, y - _HALF, spot.x + wide / 2, y + _HALF), spot.x, y + 4, MIDDLE


def _free(box: Box, taken: Sequence[Box], frame: Frame) -> bool:
    inside = box[0] >= frame.left and box[2] <= frame.left + frame.wide + 20
    inside = inside and box[1] >= frame.top - 8 and box[3] <= frame.top + frame.high
    return inside and not any(
        box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in taken
    )
