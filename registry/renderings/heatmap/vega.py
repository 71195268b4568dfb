"""A heatmap as a Vega-Lite 6 specification: the data inside, one colour scale for every panel.

A cell that nobody measured is not painted: it has a dashed frame and the word in its tooltip. The fields have fixed
names, for Vega reads dots and brackets in a name as paths; the names of the axes are titles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from registry.errors import TooLarge
from registry.renderings.heatmap import words
from registry.renderings.heatmap.colours import THEMES, ink_on, ramp, step_of
from registry.renderings.heatmap.options import Options
from registry.renderings.heatmap.panels import planes_of
from registry.renderings.heatmap.scale import Scale, scale_of
from registry.renderings.words import label, title, with_unit

Document = Mapping[str, Any]
MOST_CELLS = 20_000
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_ROLES = (("column",), ("row", "column"), ("panel", "row", "column"), ("panel_row", "panel", "row", "column"))


def heatmap_vega(
    document: Document, statistics: Document | None = None, options: Options | None = None
) -> dict[str, Any]:
    """The specification; `TooLarge` for a grid whose data does not belong inside one."""
    options, axes = options or Options(), document["axes"]
    planes = planes_of(document, statistics)
    if len(planes.values) > MOST_CELLS:
        raise TooLarge(f"A specification holds at most {MOST_CELLS} cells; draw this grid from its cells.")
    scale, theme = scale_of(planes.values, document["metric"], options), THEMES[options.theme]
    roles = _ROLES[len(axes) - 1] if axes else ()
    steps = ramp(options.palette)
    values = []
    for index, value in enumerate(planes.values):
        at = words.coordinate(document, index)
        cell: dict[str, Any] = {role: at[axis["name"]] for role, axis in zip(roles, axes, strict=True)}
        cell["value"] = value
        if value is None:
            cell["state"] = planes.reasons.get(index, "not measured")
        else:
            cell["ink"] = ink_on(steps[step_of(scale.share(value))])
            cell["mark"] = "best" if index in planes.marks.best else "tied" if index in planes.marks.tied else ""
        values.append(cell)
    picture = {"layer": list(_layers(document, scale, options)), "encoding": _places(axes, roles)}
    return {
        "$schema": _SCHEMA,
        "title": {
            "text": title(document),
            "subtitle": [words.subtitle(document, planes), *words.notes(document, planes, scale)],
            "anchor": "start",
        },
        "description": words.description(document, planes, scale),
        "background": theme.ground,
        "data": {"values": values},
        "config": {
            "view": {"stroke": None},
            **{part: {"labelColor": theme.ink, "titleColor": theme.ink} for part in ("axis", "legend", "header")},
            "title": {"color": theme.ink, "subtitleColor": theme.faint},
        },
        **(
            _faceted(axes, roles, picture)
            if len(axes) > 2
            else {"width": {"step": 40}, "height": {"step": 28}} | picture
        ),
    }


def _places(axes: list[Document], roles: tuple[str, ...]) -> dict[str, Any]:
    found = {}
    for role, channel in (("column", "x"), ("row", "y")):
        if role in roles:
            axis = axes[roles.index(role)]
            found[channel] = {
                "field": role,
                "type": "ordinal",
                "sort": [label(level) for level in axis["levels"]],
                "title": with_unit(axis),
                "axis": {"grid": False, "domain": False, "ticks": False},
            }
    return found


def _layers(document: Document, scale: Scale, options: Options) -> Iterator[dict[str, Any]]:
    theme, metric = THEMES[options.theme], document["metric"]
    measured, missing = [{"filter": "isValid(datum.value)"}], [{"filter": "!isValid(datum.value)"}]
    low, high = (scale.low, scale.high) if scale.low < scale.high else (scale.low - 0.5, scale.high + 0.5)
    colour = {
        "field": "value",
        "type": "quantitative",
        "title": with_unit(metric),
        "scale": {"domain": [low, high], "scheme": options.palette, "clamp": True, "zero": False},
    }
    yield {
        "transform": missing,
        "mark": {"type": "rect", "fill": "transparent", "stroke": theme.hatch, "strokeDash": [3, 3], "tooltip": True},
        "encoding": {"tooltip": {"field": "state", "type": "nominal", "title": "not measured"}},
    }
    yield {"transform": measured, "mark": {"type": "rect", "tooltip": True}, "encoding": {"color": colour}}
    yield {
        "transform": measured,
        "mark": {"type": "text", "fontSize": 11},
        "encoding": {
            "text": {"field": "value", "type": "quantitative"},
            "color": {"field": "ink", "type": "nominal", "scale": None},
        },
    }
    for mark, dashes in (("tied", [3, 2]), ("best", [1, 0])):
        outline = {"type": "rect", "fill": "transparent", "stroke": theme.peak, "strokeWidth": 2, "strokeDash": dashes}
        yield {"transform": [{"filter": {"field": "mark", "equal": mark}}], "mark": outline}


def _faceted(axes: list[Document], roles: tuple[str, ...], picture: dict[str, Any]) -> dict[str, Any]:
    """Panels for the leading axes; all of them share the colours and the levels."""
    headings = {"panel": "column", "panel_row": "row"}
    facet = {
        headings[role]: {
            "field": role,
            "type": "ordinal",
            "sort": [label(level) for level in axis["levels"]],
            "title": with_unit(axis),
        }
        for role, axis in zip(roles, axes, strict=True)
        if role in headings
    }
    return {"facet": facet, "spec": {"width": {"step": 40}, "height": {"step": 28}} | picture}
