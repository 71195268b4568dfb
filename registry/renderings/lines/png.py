"""A chart as PNG: the SVG, drawn by resvg with the font that comes with the registry."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from registry.renderings.heatmap.png import absent_glyphs, png_of
from registry.results.codec import Result, from_document, to_document


def chart_png(kind: type[Result], found: Result, draw: Callable[[Result], str], zoom: float = 1.0) -> bytes:
    """The picture that `draw` makes; a character that no font has is written `<U+6A21>`, never as an empty box."""
    svg = draw(found)
    if names := absent_glyphs(svg):
        document = orjson.loads(orjson.dumps(to_document(found)).decode().translate(names))
        svg = draw(from_document(kind, document))
    return png_of(svg, zoom)
