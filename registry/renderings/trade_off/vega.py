"""A trade-off as a Vega-Lite 6 specification, the data inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from registry.renderings.heatmap.colours import THEMES
from registry.renderings.heatmap.text import broken
from registry.renderings.lines.paint import COLOURS, ChartOptions
from registry.renderings.lines.vega import SCHEMA, look
from registry.renderings.trade_off import words
from registry.renderings.trade_off.svg import spans
from registry.results.trade_offs import TradeOff


def trade_off_vega(found: TradeOff, options: ChartOptions | None = None) -> dict[str, Any]:
    """The specification, in the theme that is asked for."""
    options = options or ChartOptions()
    theme = "dark" if options.ground == "dark" else "light"
    x, y = spans(found, options)
    notes = words.notes(found, options, x, y)
    axes = {
        name: {
            "field": name,
            "type": "quantitative",
            "title": words.axis(quantity, log=span.log),
            "scale": {"type": "log" if span.log else "linear", "domain": [span.low, span.high], "zero": False},
        }
        for name, quantity, span in (("x", found.x, x), ("y", found.y, y))
    }
    return {
        "$schema": SCHEMA,
        "title": {
            "text": words.title(found),
            "subtitle": [line for note in notes for line in broken(note, 11.0, options.width * 0.9, 12)],
            "anchor": "start",
        },
        "description": words.description(found),
        "width": options.width - 120,
        "height": 360,
        "data": {"values": list(_rows(found))},
        "encoding": axes,
        "layer": list(_layers(found, theme, band=options.band)),
        **look(theme),
    }


def _rows(found: TradeOff) -> Iterator[dict[str, Any]]:
    for one in found.points:
        row: dict[str, Any] = {"name": one.name or "(none)", "x": one.x.mean, "y": one.y.mean, "place": one.place}
        for axis, known in (("x", one.x.interval), ("y", one.y.interval)):
            if known:
                row |= {f"{axis}_low": known.low, f"{axis}_high": known.high}
        yield row | {"told": words.point(one, found)}


def _layers(found: TradeOff, theme: str, *, band: bool) -> Iterator[dict[str, Any]]:
    colour, grey, behind = COLOURS[theme][0], THEMES[theme].faint, "datum.place == 'behind'"
    for axis in ("x", "y") if band else ():
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
            "stroke": {"condition": {"test": behind, "value": grey}, "value": colour},
        },
    }
    yield {
        "mark": {"type": "text", "align": "left", "dx": 7, "dy": -7, "color": THEMES[theme].ink},
        "encoding": {"text": {"field": "name", "type": "nominal"}},
    }
