"""A badge: a label and a value, as SVG."""

from __future__ import annotations

from registry.renderings.grid import flat
from registry.renderings.heatmap.panels import Marks, planes_of
from registry.renderings.heatmap.text import FAMILY, fitted, safe, width
from registry.renderings.heatmap.words import coordinate
from registry.renderings.numbers import decimals_of, fixed
from registry.renderings.words import counted
from registry.results.grid import GridDocument
from registry.results.statistics import Statistics

_SIZE, _PAD, _HIGH, _ROOM = 11.0, 7.0, 20, 320.0
KNOWN, UNKNOWN = "#0b5a8f", "#5f6670"


def said(
    document: GridDocument, statistics: Statistics | None, level: tuple[str, str] | None = None
) -> tuple[str, bool]:
    """The best value, of all cells or of those on one level, and whether there is one; rivals are said."""
    planes, direction = planes_of(document, statistics), document["metric"]["direction"]
    values = flat(document["values"], len(document["axes"]))
    found = [
        (value, index)
        for index, value in enumerate(values)
        if value is not None and (level is None or coordinate(document, index)[level[0]] == level[1])
    ]
    if not found:
        return "not measured", False
    if direction is None and len(found) > 1:
        return counted(len(found), "cell", "cells"), True
    best = min(found)[0] if direction == "lower" else max(found)[0]
    unit = document["metric"]["unit"]
    text = fixed(best, decimals_of([value for value, _ in found])) + (f" {unit}" if unit else "")
    return text + (_others(planes.marks) if level is None else ""), True


def _others(marks: Marks) -> str:
    """How many cells may be the best with the confidence of the set; without one, how many have the best value."""
    if marks.size > 1:
        return f" ({marks.size} cells may be best)"
    return f" ({len(marks.best)} cells tie)" if len(marks.best) > 1 else ""


def badge_svg(label: str, message: str, color: str) -> str:
    """The badge, drawn; the colour is that of its right half."""
    left, right = fitted(label, _SIZE, _ROOM), fitted(message, _SIZE, _ROOM)
    first, second = width(left, _SIZE) + 2 * _PAD, width(right, _SIZE) + 2 * _PAD
    whole = first + second
    title = safe(f"{label}: {message}")
    text = f'y="14" font-size="{_SIZE:g}" fill="#fff" text-anchor="middle"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole:.0f}" height="{_HIGH}" role="img" aria-label="{title}" '
        f'font-family="{FAMILY}"><title>{title}</title><rect width="{first:.1f}" height="{_HIGH}" fill="#3a3f45"/>'
        f'<rect x="{first:.1f}" width="{second:.1f}" height="{_HIGH}" fill="{color}"/>'
        f'<text x="{first / 2:.1f}" {text}>{safe(left)}</text>'
        f'<text x="{first + second / 2:.1f}" {text}>{safe(right)}</text></svg>'
    )
