"""Colours on a terminal: names of styles as escape sequences (ECMA-48, "Select graphic rendition")."""

from __future__ import annotations

import re

from registry.renderings.heatmap.colours import DARK_INK, ink_on

_CODES = {
    "bold": "1",
    "faint": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_CUBE = (0, 95, 135, 175, 215, 255)
_BLACK, _WHITE = 16, 231


def ink(text: str, style: str) -> str:
    """Text in a style such as `bold green`; unchanged where the style is empty."""
    if not style or not text:
        return text
    return f"\x1b[{';'.join(_CODES.get(word, word) for word in style.split())}m{text}\x1b[0m"


def bare(text: str) -> str:
    """Text without its colours."""
    return _ESCAPES.sub("", text)


def on_colour(background: str, foreground: str) -> str:
    """Style with exactly these colours, `#rrggbb`, for terminals that show 16 million."""
    return f"48;2;{_triple(background)} 38;2;{_triple(foreground)}"


def on_number(background: int) -> str:
    """Style with one of the 256 colours that nearly every terminal has, and black or white text on it."""
    return f"48;5;{background} 38;5;{_BLACK if ink_on(colour_of(background)) == DARK_INK else _WHITE}"


def colour_of(number: int) -> str:
    """Colour of xterm for a number from 16 up: a 6 × 6 × 6 cube, then 24 greys."""
    if number >= 232:
        return "#" + 3 * f"{8 + 10 * (number - 232):02x}"
    steps = (number - 16) // 36, (number - 16) // 6 % 6, (number - 16) % 6
    return "#" + "".join(f"{_CUBE[step]:02x}" for step in steps)


def _triple(colour: str) -> str:
    return ";".join(str(int(colour[place : place + 2], 16)) for place in (1, 3, 5))
