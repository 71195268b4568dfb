"""Lines as SVG, written by hand, and as a Vega-Lite 6 specification.

A gap is a gap, a lone point a marker, names stand at the ends of their lines. The specification has the data inside, a
run of neighbours as a line of its own, so that gaps stay.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from registry.renderings import lines as words
from registry.renderings.charts.frame import Frame, Heads, Span, drawn, frame_of, log_span, span_of
from registry.renderings.charts.paint import COLOURS, ChartOptions, colour_of, dashes, marker, spread
from registry.renderings.heatmap.layout import LABEL
from registry.renderings.heatmap.panels import short_labels
from registry.renderings.heatmap.text import fitted, safe, width
from registry.renderings.heatmap.vega import vega
from registry.results.lines import HUES, Line, LinePoint, Lines

_APART = 3.0
_GAP = LABEL * 1.35


@dataclass(frozen=True, slots=True)
class Spot:
    """A point of a line: the place of its level among all levels, and where it is drawn."""

    level: int
    x: float
    y: float
    ends: tuple[float, float] | None
    point: LinePoint


def lines_svg(lines: Lines, options: ChartOptions | None = None) -> str:
    """The picture."""
    options = options or ChartOptions()
    log, _ = words.x_scale(lines, options)
    value, shares = words.value_span(lines), level_shares(lines, log=log)
    heads = Heads(
        words.title(lines),
        words.subtitle(lines),
        words.description(lines),
        list(words.notes(lines, options)),
        words.axis_name(lines, log=log),
        words.metric_name(lines),
    )
    labels = short_labels([one.level if isinstance(one.level, (int, float)) else one.label for one in lines.levels])
    x_ticks = [(share, label) for share, label in zip(shares, labels, strict=True) if share is not None]
    y_ticks = [(value.share(one), text) for one, text in value.ticks]
    names = [fitted(line.name or "(none)", LABEL, 96.0 if options.narrow else 210.0) for line in lines.lines]
    right = max((width(name, LABEL) for name in names), default=0.0) + 26
    frame = frame_of(heads, options, x_ticks, y_ticks, right)
    return drawn(frame, _inside(frame, lines, names, shares, value))


def level_shares(lines: Lines, *, log: bool) -> list[float]:
    """Where each level stands, 0 to 1: by its number, or evenly where the axis has none."""
    numbers = [level.level for level in lines.levels if isinstance(level.level, (int, float))]
    if lines.kind != "numeric" or len(numbers) < len(lines.levels):
        return [(place + 0.5) / len(lines.levels) for place in range(len(lines.levels))]
    if not numbers:
        return []
    span = log_span(numbers) if log else span_of(numbers)
    return [span.share(number) for number in numbers]


def _inside(frame: Frame, lines: Lines, names: Sequence[str], shares: Sequence[float], value: Span) -> Iterator[str]:
    """Bands below lines, lines below markers, names at the right."""
    all_spots = [_spots(frame, lines, line, shares, value) for line in lines.lines]
    banded = words.banded(lines)
    if banded:
        for line, spots in zip(lines.lines, all_spots, strict=True):
            yield from _bands(frame, lines, line.look, spots)
    for number, spots in enumerate(all_spots):
        yield from _line(frame, lines, number, spots, whiskers=not banded)
    yield from _ends(frame, lines, names, all_spots)


def _spots(frame: Frame, lines: Lines, line: Line, shares: Sequence[float], value: Span) -> list[Spot]:
    places = {level.level: place for place, level in enumerate(lines.levels)}
    found = []
    for point in line.points:
        place, known = places[point.level], point.interval
        ends = (frame.y(value.share(known.low)), frame.y(value.share(known.high))) if known else None
        found.append(Spot(place, frame.x(shares[place]), frame.y(value.share(point.mean)), ends, point))
    return found


def runs(lines: Lines, spots: Sequence[Spot]) -> list[list[Spot]]:
    """The points that are joined: neighbours on the axis, and none on an axis without order."""
    found: list[list[Spot]] = []
    for spot in spots:
        if found and lines.kind != "nominal" and spot.level == found[-1][-1].level + 1:
            found[-1].append(spot)
        else:
            found.append([spot])
    return found


def _bands(frame: Frame, lines: Lines, look: int, spots: Sequence[Spot]) -> Iterator[str]:
    """The intervals of each run as one shape, of a lone point as a whisker."""
    alone, shapes = list[Spot](), list[str]()
    for run in runs(lines, spots):
        for part in _known_runs(run):
            if len(part) == 1:
                alone += part
                continue
            upper = [f"{spot.x:.1f} {spot.ends[1]:.1f}" for spot in part if spot.ends]
            lower = [f"{spot.x:.1f} {spot.ends[0]:.1f}" for spot in reversed(part) if spot.ends]
            shapes.append(f'<path d="M{"L".join((*upper, *lower))}z"/>')
    if shapes:
        yield frame.paint.group(colour_of(look), ' fill="currentColor" fill-opacity="0.14"')
        yield from (*shapes, "</g>")
    yield from _whiskers(frame, look, alone, 0.0)


def _known_runs(run: Sequence[Spot]) -> list[list[Spot]]:
    """The parts of a run whose noise is known."""
    found: list[list[Spot]] = [[]]
    for spot in run:
        if spot.ends is None:
            found.append([])
        else:
            found[-1].append(spot)
    return [part for part in found if part]


def _whiskers(frame: Frame, look: int, spots: Sequence[Spot], shift: float) -> Iterator[str]:
    paths = [f"M{spot.x + shift:.1f} {spot.ends[0]:.1f}V{spot.ends[1]:.1f}" for spot in spots if spot.ends]
    if paths:
        yield frame.paint.group(colour_of(look), ' stroke="currentColor" stroke-width="1.2" stroke-opacity="0.6"')
        yield f'<path d="{"".join(paths)}"/></g>'


def _line(frame: Frame, lines: Lines, number: int, spots: Sequence[Spot], *, whiskers: bool) -> Iterator[str]:
    shift, line = _shift(number, len(lines.lines)) if whiskers else 0.0, lines.lines[number]
    if whiskers:
        yield from _whiskers(frame, line.look, spots, shift)
    yield frame.paint.group(colour_of(line.look))
    joined = [run for run in runs(lines, spots) if len(run) > 1]
    if joined:
        path = "".join("M" + "L".join(f"{spot.x + shift:.1f} {spot.y:.1f}" for spot in run) for run in joined)
        look = f'fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round"{dashes(line.look)}'
        yield f'<path d="{path}" {look}/>'
    decimals = words.mean_places(lines)
    for spot in spots:
        told = (
            safe(words.point(lines, line.name, spot.point, lines.levels[spot.level].label, decimals))
            if not frame.options.narrow
            else ""
        )
        yield marker(line.look, spot.x + shift, spot.y, frame.paint, told)
    yield "</g>"


def _shift(number: int, count: int) -> float:
    """How far the points of a line are moved aside, so that whiskers do not cover each other."""
    return (number - (count - 1) / 2) * min(_APART, 18 / count)


def _ends(frame: Frame, lines: Lines, names: Sequence[str], all_spots: Sequence[Sequence[Spot]]) -> Iterator[str]:
    """The name of each line at the right, at the height of its end: across the plot nothing is drawn beyond that."""
    shown = [(number, spots[-1]) for number, spots in enumerate(all_spots) if spots]
    places = spread([spot.y for _, spot in shown], _GAP, frame.top + 2, frame.top + frame.high - 2)
    right = frame.left + frame.wide
    for (number, spot), y in zip(shown, places, strict=True):
        yield frame.paint.group(colour_of(lines.lines[number].look), f' font-size="{LABEL:g}"')
        if abs(y - spot.y) > 2:
            path = f"M{right + 4:.1f} {spot.y:.1f}L{right + 12:.1f} {y:.1f}"
            yield f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity="0.45" stroke-dasharray="1 3"/>'
        told = safe(lines.lines[number].name or "(none)")
        yield (
            f'<text x="{right + 16:.1f}" y="{y + 4:.1f}" fill="currentColor"><title>{told}</title>'
            f"{safe(names[number])}</text></g>"
        )


def lines_vega(lines: Lines, options: ChartOptions | None = None) -> dict[str, Any]:
    """The specification, in the theme that is asked for."""
    options = options or ChartOptions()
    theme = "dark" if options.ground == "dark" else "light"
    value = words.value_span(lines)
    return vega(
        (words.title(lines), words.notes(lines, options)),
        theme,
        (options.width * 0.9, 4),
        description=words.description(lines),
        width=options.width - 260,
        height=360,
        data={"values": list(_rows(lines))},
        encoding=_shared(lines, options, theme),
        layer=list(_layers(lines, (value.low, value.high))),
    )


def _rows(lines: Lines) -> Iterator[dict[str, Any]]:
    """A row for each mean. `run` numbers the neighbours that are joined."""
    places = {level.level: place for place, level in enumerate(lines.levels)}
    decimals = words.mean_places(lines)
    for line in lines.lines:
        run, last = 0, -1
        for point in line.points:
            place = places[point.level]
            run, last = run + (place != last + 1 or lines.kind == "nominal"), place
            label = lines.levels[place].label
            row = {"name": line.name or "(none)", "level": label, "mean": point.mean, "run": run, "place": place}
            if lines.kind == "numeric":
                row["number"] = point.level
            if point.interval:
                row |= {"low": point.interval.low, "high": point.interval.high}
            yield row | {"told": words.point(lines, line.name, point, label, decimals)}


def _shared(lines: Lines, options: ChartOptions, theme: str) -> dict[str, Any]:
    log, _ = words.x_scale(lines, options)
    names = [line.name or "(none)" for line in lines.lines]
    if lines.kind == "numeric":
        scale = {"type": "log"} if log else {"zero": False}
        x: dict[str, Any] = {"field": "number", "type": "quantitative", "scale": scale}
    else:
        x = {"field": "level", "type": "ordinal", "sort": [level.label for level in lines.levels]}
    colours = [COLOURS[theme][line.look % HUES] for line in lines.lines]
    told = {"title": None, "legend": {"symbolType": "stroke"}}
    return {
        "x": x | {"title": words.axis_name(lines, log=log)},
        "color": {"field": "name", "type": "nominal", "scale": {"domain": names, "range": colours}, **told},
        "detail": {"field": "run"},
    }


def _layers(lines: Lines, ends: tuple[float, float]) -> Iterator[dict[str, Any]]:
    scale = {"domain": list(ends), "nice": False, "zero": False}
    y = {"field": "mean", "type": "quantitative", "title": words.metric_name(lines), "scale": scale}
    yield {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "area", "opacity": 0.14} if lines.kind != "nominal" else {"type": "rule"},
        "encoding": {"y": y | {"field": "low"}, "y2": {"field": "high"}},
    }
    names = [line.name or "(none)" for line in lines.lines]
    dashed = [[7, 4] if line.look >= HUES else [1, 0] for line in lines.lines]
    dash = {"field": "name", "type": "nominal", "scale": {"domain": names, "range": dashed}, "legend": None}
    if lines.kind != "nominal":
        yield {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"y": y, "strokeDash": dash}}
    tooltip = {"field": "told", "type": "nominal"}
    yield {"mark": {"type": "point", "filled": True, "size": 45}, "encoding": {"y": y, "tooltip": tooltip}}
