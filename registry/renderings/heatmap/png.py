"""A picture as PNG: the SVG, drawn by resvg with the font that comes with the registry."""

from __future__ import annotations

import re
import unicodedata
from importlib.resources import as_file, files

from registry.errors import Fault, Invalid

_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')
MOST_PIXELS = 40_000_000


def png_of(svg: str, zoom: float = 1.0) -> bytes:
    """The picture, `zoom` times as large; `Invalid` where that is more than `MOST_PIXELS`.

    The machine's own fonts are looked at only for characters that DejaVu Sans does not have, so that the same picture
    is the same bytes everywhere else.
    """
    from resvg_py import svg_to_bytes

    found = _SIZE.search(svg)
    wide, high = (int(found[1]), int(found[2])) if found else (0, 0)
    if wide * high * zoom * zoom > MOST_PIXELS:
        raise Invalid([Fault("/scale", f"makes more than {MOST_PIXELS} pixels of a picture of {wide} × {high}")])
    with as_file(files("registry.renderings") / "fonts" / "DejaVuSans.ttf") as font:
        return svg_to_bytes(
            svg_string=svg,
            zoom=zoom,
            skip_system_fonts=not _beyond_dejavu(svg),
            font_files=[str(font)],
            font_family="DejaVu Sans",
            sans_serif_family="DejaVu Sans",
        )


def _beyond_dejavu(svg: str) -> bool:
    return not svg.isascii() and any(
        ord(character) > 0xFFFF or unicodedata.east_asian_width(character) in ("W", "F") for character in svg
    )
