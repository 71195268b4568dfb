"""Lines as a Vega-Lite 6 specification: the data inside, a run of neighbours a line of its own, so that gaps stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from registry.renderings.heatmap.colours import THEMES
from registry.renderings.heatmap.text import broken
from registry.renderings.lines import words
from registry.renderings.lines.paint import COLOURS, HUES, ChartOptions
from registry.renderings.lines.svg import value_span
from registry.results.lines import Lines

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def lines_vega(lines: Lines, options: ChartOptions | None = None) -> dict[str, Any]:
    """The specification, in the theme that is asked for."""
    options = options or ChartOptions()
    theme = "dark" if options.ground == "dark" else "light"
    value = value_span(lines, options)
    notes = list(words.notes(lines, options, value))
    return {
        "$schema": SCHEMA,
        "title": {
            "text": words.title(lines),
            "subtitle": [line for note in notes for line in broken(note, 11.0, options.width * 0.9, 4)],
            "anchor": "start",
        },
        "description": words.description(lines),
        "width": options.width - 260,
        "height": 360,
        "data": {"values": list(_rows(lines))},
        "encoding": _shared(lines, options, theme),
        "layer": list(_layers(lines, options, (value.low, value.high))),
        **look(theme),
    }


def look(theme: str) -> dict[str, Any]:
    """Background and inks of a theme."""
    inks = {"labelColor": THEMES[theme].ink, "titleColor": THEMES[theme].ink}
    return {
        "background": THEMES[theme].ground,
        "config": {
            "view": {"stroke": None},
            **dict.fromkeys(("axis", "legend"), inks),
            "title": {"color": THEMES[theme].ink, "subtitleColor": THEMES[theme].faint},
        },
    }


def _rows(lines: Lines) -> Iterator[dict[str, Any]]:
    """A row for each mean. `run` numbers the neighbours that are joined."""
    places = {level.level: place for place, level in enumerate(lines.levels)}
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
            yield row | {"told": words.point(lines, line.name, point, label)}


def _shared(lines: Lines, options: ChartOptions, theme: str) -> dict[str, Any]:
    log, _ = words.x_scale(lines, options)
    names = [line.name or "(none)" for line in lines.lines]
    if lines.kind == "numeric":
        scale = {"type": "log"} if log else {"zero": False}
        x: dict[str, Any] = {"field": "number", "type": "quantitative", "scale": scale}
    else:
        x = {"field": "level", "type": "ordinal", "sort": [level.label for level in lines.levels]}
    colours = [COLOURS[theme][number % HUES] for number in range(len(names))]
    told = {"title": None, "legend": {"symbolType": "stroke"}}
    return {
        "x": x | {"title": words.axis_name(lines, log=log)},
        "color": {"field": "name", "type": "nominal", "scale": {"domain": names, "range": colours}, **told},
        "detail": {"field": "run"},
    }


def _layers(lines: Lines, options: ChartOptions, ends: tuple[float, float]) -> Iterator[dict[str, Any]]:
    scale = {"domain": list(ends), "nice": False, "zero": False}
    y = {"field": "mean", "type": "quantitative", "title": words.metric_name(lines), "scale": scale}
    if options.band:
        low = {"field": "low", "type": "quantitative", "title": words.metric_name(lines), "scale": scale}
        yield {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "area", "opacity": 0.14} if lines.kind != "nominal" else {"type": "rule"},
            "encoding": {"y": low, "y2": {"field": "high"}},
        }
    names = [line.name or "(none)" for line in lines.lines]
    dashed = [[7, 4] if number >= HUES else [1, 0] for number in range(len(names))]
    dash = {"field": "name", "type": "nominal", "scale": {"domain": names, "range": dashed}, "legend": None}
    if lines.kind != "nominal":
        yield {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"y": y, "strokeDash": dash}}
    tooltip = {"field": "told", "type": "nominal"}
    yield {"mark": {"type": "point", "filled": True, "size": 45}, "encoding": {"y": y, "tooltip": tooltip}}
