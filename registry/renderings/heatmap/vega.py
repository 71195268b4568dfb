"""A heatmap as a Vega-Lite 6 specification: the data inside, one colour scale for every panel.

A cell that nobody measured is hatched, and its tooltip says so. The fields have fixed names, for Vega reads dots and
brackets in a name as paths; the names of the axes are titles. Numbers come as texts besides: a format of Vega's would
write 83.0 as 83.
"""

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.errors import TooLarge
from registry.renderings.grid import decimals_shown
from registry.renderings.heatmap import words
from registry.renderings.heatmap.colours import THEMES, ink_on, ramp, step_of
from registry.renderings.heatmap.layout import NOTE
from registry.renderings.heatmap.panels import MOST_NUMBERS, Planes, planes_of
from registry.renderings.heatmap.scale import Options, Scale, scale_of, share_of
from registry.renderings.heatmap.text import broken, width
from registry.renderings.numbers import fixed
from registry.renderings.words import place, with_unit
from registry.results.grid import GridDocument, PostedAxis
from registry.results.statistics import Statistics

MOST_CELLS = 20_000
_NUMBER = 11
_EVERY = 15
"""Of the steps of a palette so many are one step of the scale: eighteen colours, between which Vega interpolates."""
_WIDEST, _HIGHEST = 4_200, 8_400
"""Pixels of all cells with numbers: what is wider or higher has small cells without."""
_PLOT = 1_300.0
"""Pixels across, and down, that all small cells have."""
_TITLE, _NARROWEST = 13.0, 480.0
_NEAREST = 1e-290
_MARKED = {"": "", "best": ", best value", "tied": ", may be the best"}
_ROLES = (("column",), ("row", "column"), ("panel", "row", "column"), ("panel_row", "panel", "row", "column"))


def heatmap_vega(
    document: GridDocument,
    statistics: Statistics | None = None,
    options: Options | None = None,
    planes: Planes | None = None,
) -> dict[str, Any]:
    """The specification, of panels that are marked already if they are given; `TooLarge` for a grid whose data does not
    belong inside one."""
    options, axes = options or Options(), document["axes"]
    planes = planes or planes_of(document, statistics)
    if len(planes.values) > MOST_CELLS:
        raise TooLarge(f"A specification holds at most {MOST_CELLS} cells; draw this grid from its cells.")
    scale = scale_of(planes.values, document["metric"], options)
    roles = _ROLES[len(axes) - 1] if axes else ()
    decimals = decimals_shown(document, planes.values)
    shown = _Shown(document, planes, scale, options, roles, decimals)
    values = list(_cells(shown))
    size = _size(shown, values)
    room = max(_NARROWEST, size.across)
    heads = words.heading(document, _TITLE, room)
    notes = [words.subtitle(document, planes), *words.notes(document, planes, scale, joined=False)]
    picture = {"layer": list(_layers(shown, size)), "encoding": _places(axes, roles)}
    return vega(
        (heads[0] if len(heads) == 1 else heads, notes),
        options.theme,
        (room, 4),
        limit=300,
        description=words.description(document, planes, scale, joined=False),
        data={"values": values},
        **(_faceted(axes, roles, size, picture) if len(axes) > 2 else _steps(roles, size) | picture),
    )


@dataclass(frozen=True, slots=True)
class _Shown:
    """Values that the parts of one specification share."""

    document: GridDocument
    planes: Planes
    scale: Scale
    options: Options
    roles: tuple[str, ...]
    decimals: int | None


@dataclass(frozen=True, slots=True)
class _Size:
    """Width and height of a cell and the width of all panels, in pixels; whether a cell has room for its number."""

    wide: float
    high: float
    across: float
    numbered: bool


def _cells(shown: _Shown) -> Iterator[dict[str, Any]]:
    """The cells as rows of data: levels and where they stand, value, its text, the ink on it, its mark, and words."""
    planes, steps, axes = shown.planes, ramp(shown.options.palette), shown.document["axes"]
    unit = f" {shown.document['metric']['unit']}" if shown.document["metric"]["unit"] else ""
    places = itertools.product(*(range(len(axis["levels"])) for axis in axes))
    for index, (value, standing) in enumerate(zip(planes.values, places, strict=False)):
        at = words.coordinate(shown.document, index)
        cell: dict[str, Any] = dict(zip(shown.roles, at.values(), strict=True))
        cell |= zip((f"{role}_at" for role in shown.roles), standing, strict=True)
        cell["value"], where = value, place(at)
        if value is None:
            told = words.unvalued(planes, index)
            cell |= {"aside": True} if index in planes.marks.aside else {}
        else:
            if _too_far_or_near(shown.scale):
                cell["place"] = share_of(value, *shown.scale.ends)
            cell["text"] = fixed(value, shown.decimals)
            cell["ink"] = ink_on(steps[step_of(shown.scale.share(value))])
            cell["mark"] = "best" if index in planes.marks.outlined else "tied" if index in planes.marks.tied else ""
            told = f"{cell['text']}{unit}{_MARKED[cell['mark']]}"
        cell["told"] = f"{where}: {told}" if where else told
        yield cell


def _size(shown: _Shown, values: Sequence[Mapping[str, Any]]) -> _Size:
    """The size of a cell: with room for its number, or small where there are too many for numbers."""
    levels = {role: len(axis["levels"]) for role, axis in zip(shown.roles, shown.document["axes"], strict=True)}
    across = max(1, levels.get("column", 1) * levels.get("panel", 1))
    down = max(1, levels.get("row", 1) * levels.get("panel_row", 1))
    widest = max((width(cell["text"], _NUMBER) for cell in values if "text" in cell), default=0.0)
    wide, high = max(40, round(widest) + 10), 28
    if len(values) <= MOST_NUMBERS and across * wide <= _WIDEST and down * high <= _HIGHEST:
        return _Size(wide, high, across * wide, True)
    small = min(24.0, _PLOT / across)
    return _Size(small, min(24.0, _PLOT / down), across * small, False)


def _steps(roles: tuple[str, ...], size: _Size) -> dict[str, Any]:
    """The size of a plane: so much a level of an axis; one cell where there is no such axis."""
    wide, high = size.wide, size.high
    return {
        "width": {"step": wide} if "column" in roles else wide,
        "height": {"step": high} if "row" in roles else high,
    }


def _places(axes: list[PostedAxis], roles: tuple[str, ...]) -> dict[str, Any]:
    found = {}
    for role, channel in (("column", "x"), ("row", "y")):
        if role in roles:
            axis = axes[roles.index(role)]
            found[channel] = {
                "field": role,
                "type": "ordinal",
                "sort": {"field": f"{role}_at", "op": "min"},
                "title": with_unit(axis),
                "axis": {"grid": False, "domain": False, "ticks": False, "labelOverlap": "greedy"},
            }
    return found


def _layers(shown: _Shown, size: _Size) -> Iterator[dict[str, Any]]:
    theme = THEMES[shown.options.theme]
    measured, missing = [{"filter": "isValid(datum.value)"}], [{"filter": "!isValid(datum.value)"}]
    # Words about a cell come as data: Vega-Lite writes titles into expressions, in which a backslash ends a name.
    told = {"tooltip": {"field": "told", "type": "nominal"}}
    said = {"description": {"expr": "datum.told"}}
    hatch = {"shape": _hatch(size), "size": size.high**2, "stroke": theme.hatch, "strokeWidth": 1, "opacity": 1}
    bare = {"fill": theme.bare, "stroke": theme.ground}
    yield {"transform": missing, "mark": {"type": "rect", **bare, **said}, "encoding": told}
    bare_alone = [{"filter": "!isValid(datum.value) && !datum.aside"}] if shown.planes.marks.aside else missing
    yield {"transform": bare_alone, "mark": {"type": "point", "aria": False, **hatch}, "encoding": told}
    yield {"transform": measured, "mark": {"type": "rect", **said}, "encoding": {"color": _colour(shown), **told}}
    if size.numbered:
        # The ink by an expression: as an encoding it would share the scale of the colours, which is one of numbers.
        ink = {"fontSize": _NUMBER, "color": {"expr": "datum.ink"}}
        number = {"text": {"field": "text", "type": "nominal"}, **told}
        yield {"transform": measured, "mark": {"type": "text", "aria": False, **ink}, "encoding": number}
    for mark, dashes in (("tied", [3, 2]), ("best", [1, 0])):
        frame = {"fill": "transparent", "stroke": theme.peak, "strokeWidth": 2, "strokeDash": dashes}
        chosen = [{"filter": {"field": "mark", "equal": mark}}]
        yield {"transform": chosen, "mark": {"type": "rect", "aria": False, **frame}, "encoding": told}


def _colour(shown: _Shown) -> dict[str, Any]:
    """The colours of the values; with a legend where they are not all one."""
    scale, steps = shown.scale, ramp(shown.options.palette)[::_EVERY]
    low, high = scale.ends
    found: dict[str, Any] = {
        "field": "value",
        "type": "quantitative",
        "title": with_unit(shown.document["metric"]),
        "scale": {
            "domain": [low, high],
            "range": list(reversed(steps) if scale.falling else steps),
            "clamp": True,
            "zero": False,
        },
    }
    if scale.low == scale.high:
        found["legend"] = None
    if _too_far_or_near(scale):
        found["field"] = "place"
        found["scale"] |= {"domain": [0, 1]}
        ends = (json.dumps(fixed(end, shown.decimals)) for end in (low, high))
        found["legend"] = {"values": [0, 1], "labelExpr": "datum.value == 0 ? {} : {}".format(*ends)}
    return found


def _too_far_or_near(scale: Scale) -> bool:
    """Whether Vega cannot divide by the range of the values: it gets places between the ends then, and texts for
    these."""
    low, high = scale.ends
    return not _NEAREST < high - low < math.inf


def _hatch(size: _Size) -> str:
    """Diagonals across a cell as a symbol of Vega's: its path is in halves of the height of the cell."""
    wide, high = size.wide / size.high, 1.0
    lines = []
    for step in range(-8, 9):
        # The line y = x + shift, as far as it lies in the cell.
        shift = step * 0.4
        start, end = max(-wide, -high - shift), min(wide, high - shift)
        if start < end:
            lines.append(f"M{start:.2f},{start + shift:.2f}L{end:.2f},{end + shift:.2f}")
    return "".join(lines)


def _faceted(axes: list[PostedAxis], roles: tuple[str, ...], size: _Size, picture: dict[str, Any]) -> dict[str, Any]:
    """Panels for the leading axes; all of them share the colours and the levels."""
    headings = {"panel": "column", "panel_row": "row"}
    facet = {
        headings[role]: {
            "field": role,
            "type": "ordinal",
            "sort": {"field": f"{role}_at", "op": "min"},
            "title": with_unit(axis),
        }
        for role, axis in zip(roles, axes, strict=True)
        if role in headings
    }
    return {"facet": facet, "spec": _steps(roles, size) | picture}


def vega(
    heads: tuple[str | list[str], Iterable[str]], theme: str, room: tuple[float, int], limit: float = 0, **more: Any
) -> dict[str, Any]:
    """A Vega-Lite 6 specification with a title and notes, each in so many lines of a room, in the colours of a theme.
    `limit`: pixels of a title of an axis, 0 for any."""
    title, notes = heads
    inks = {"labelColor": THEMES[theme].ink, "titleColor": THEMES[theme].ink, "titleLimit": limit}
    subtitle = [line for note in notes for line in broken(note, NOTE, *room)]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "title": {"text": title, "subtitle": subtitle, "anchor": "start"},
        "background": THEMES[theme].ground,
        "config": {
            "view": {"stroke": None},
            **dict.fromkeys(("axis", "legend", "header"), inks),
            "title": {"color": THEMES[theme].ink, "subtitleColor": THEMES[theme].faint},
        },
        **more,
    }
