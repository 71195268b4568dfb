"""A picture as PNG: the SVG, drawn by resvg with the font that comes with the registry."""

import json
import re
import subprocess
import sys
import threading
from importlib.resources import as_file, files
from typing import Any

import orjson

from registry.errors import Fault, Invalid
from registry.renderings.heatmap.fonts import beyond_ours, without_glyph
from registry.renderings.heatmap.scale import Options
from registry.renderings.heatmap.svg import heatmap_svg
from registry.results.codec import from_document, to_document
from registry.results.grid import GridDocument
from registry.results.statistics import Statistics

_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')
MOST_PIXELS = 40_000_000
_drawing = threading.Lock()
"""One picture is drawn at a time: the largest takes 180 MiB meanwhile."""


def heatmap_png(
    document: GridDocument,
    statistics: Statistics | None = None,
    options: Options | None = None,
    zoom: float = 1.0,
) -> bytes:
    """The picture of a grid; a character that no font has is written `<U+6A21>`, never as an empty box."""
    svg = heatmap_svg(document, statistics, options)
    if names := absent_glyphs(svg):
        # Both at once, so that the levels of the statistics are still those of the grid.
        both = [document, to_document(statistics)]
        document, known = orjson.loads(orjson.dumps(both).decode().translate(names))
        svg = heatmap_svg(document, known and from_document(Statistics, known), options)
    return png_of(svg, zoom)


def absent_glyphs(svg: str) -> dict[int, str]:
    """What to write for each character of a picture that no font has: `<U+6A21>`; a table for `str.translate`."""
    return {ord(one): f"<U+{ord(one):04X}>" for one in without_glyph(beyond_ours(svg))}


def png_of(svg: str, zoom: float = 1.0) -> bytes:
    """The picture, `zoom` times as large; `Invalid` where that is more than `MOST_PIXELS`.

    The machine's own fonts are looked at only for characters that DejaVu Sans does not have, so that the same picture
    is the same bytes everywhere else.
    """
    found = _SIZE.search(svg)
    wide, high = (int(found[1]), int(found[2])) if found else (0, 0)
    if wide * high * zoom * zoom > MOST_PIXELS:
        raise Invalid([Fault("/scale", f"makes more than {MOST_PIXELS} pixels of a picture of {wide} × {high}")])
    with as_file(files("registry.renderings") / "fonts" / "DejaVuSans.ttf") as font, _drawing:
        options = {
            "svg_string": svg,
            "zoom": zoom,
            "skip_system_fonts": not beyond_ours(svg),
            "font_files": [str(font)],
            "font_family": "DejaVu Sans",
            "sans_serif_family": "DejaVu Sans",
        }
        return draw(wide * high * zoom * zoom, options)


INSIDE = 1_000_000
"""Pixels up to which a picture is drawn in this process: a quarter of a second at most."""
_LONGEST = 60.0
"""Seconds after which a process that draws is ended."""


def draw(pixels: float, options: dict[str, Any]) -> bytes:
    """The PNG of about so many pixels, by the options of `resvg_py.svg_to_bytes`."""
    if pixels <= INSIDE:
        return _drawn(options)
    program = [sys.executable, "-I", __file__]
    return subprocess.run(
        program, input=json.dumps(options).encode(), stdout=subprocess.PIPE, check=True, timeout=_LONGEST
    ).stdout


def _drawn(options: dict[str, Any]) -> bytes:
    from resvg_py import svg_to_bytes

    drawn: bytes = svg_to_bytes(**options)
    return drawn


if __name__ == "__main__":
    sys.stdout.buffer.write(_drawn(json.load(sys.stdin.buffer)))
