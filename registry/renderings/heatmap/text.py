"""Text in a picture: its width, its line breaks, the characters that a font has."""

import unicodedata
from html import escape

from registry.renderings.heatmap.colours import Theme
from registry.renderings.table import one_line

FAMILY = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"
_ELLIPSIS = "…"
_PRINTABLE = (
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84,
    84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61,
    69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59,
    82, 59, 59, 52, 64, 34, 64, 84,
)  # fmt: skip
"""Hundredths of the font's size, for U+0020 to U+007E."""
_OTHER, _WIDE = 0.8, 1.05
_ISOLATE, _POP = "\u2068", "\u2069"


def width(text: str, size: float) -> float:
    """How wide the text is in a font of this size; never less than it is drawn."""
    if text.isascii():
        return size * sum([_PRINTABLE[code - 32] for code in text.encode() if 32 <= code < 127]) / 100
    return size * sum(map(_advance, text))


def _advance(character: str) -> float:
    if " " <= character <= "~":
        return _PRINTABLE[ord(character) - 32] / 100
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc"):
        return 0.0
    if unicodedata.east_asian_width(character) in ("W", "F") or ord(character) > 0xFFFF:
        return _WIDE
    return 1.0 if character == _ELLIPSIS else _OTHER


def fitted(text: str, size: float, room: float) -> str:
    """The text on one line, its middle an ellipsis where it is wider than the room: names differ at their ends."""
    text = one_line(text)
    if width(text, size) <= room:
        return text
    half = (room - width(_ELLIPSIS, size)) / 2
    end = _beginning(text[::-1], size, half)[::-1]
    return f"{_beginning(text, size, half).rstrip()}{_ELLIPSIS}{end.lstrip()}"


def _beginning(text: str, size: float, room: float) -> str:
    """As many of its characters as are in the room."""
    used = 0.0
    for kept, character in enumerate(text):
        used += size * _advance(character)
        if used > room:
            return text[:kept]
    return text


def broken(text: str, size: float, room: float, lines: int) -> list[str]:
    """The text in at most so many lines, broken between words where it can be."""
    found: list[str] = []
    rest, less = one_line(text), room - width(_ELLIPSIS, size)
    while rest and len(found) < lines - 1 and width(rest, size) > room:
        line = _beginning(rest, size, less).rstrip()
        space = line.rfind(" ")
        cut = space if space > len(line) // 2 else max(1, len(line))
        found.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    if width(rest, size) > room:
        rest = _beginning(rest, size, less).rstrip() + _ELLIPSIS
    return [*found, rest] if rest else found


def safe(text: str) -> str:
    """The text for XML, on one line; a right-to-left text does not turn what stands beside it around."""
    text = one_line(text)
    if not text.isascii():
        text = "".join(character for character in text if _allowed(character))
        if any(unicodedata.bidirectional(character) in ("R", "AL") for character in text):
            text = f"{_ISOLATE}{text}{_POP}"
    return escape(text)


def _allowed(character: str) -> bool:
    code = ord(character)
    return not (0xD800 <= code <= 0xDFFF or 0xFFFE <= code <= 0xFFFF)


DASHES = ' stroke-dasharray="3 2.5"'
"""What sets the frame of a tied cell apart from that of the best."""


def text(content: str, x: float, y: float, size: float, ink: str, extra: str = "") -> str:
    """A text with its baseline at y."""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{ink}"{extra}>{safe(content)}</text>'


def outline(x: float, y: float, wide: float, high: float, theme: Theme, dashes: str) -> str:
    """A frame that is seen on every colour: the ground's under the mark's."""
    inner = f'width="{max(0.5, wide - 2):.1f}" height="{max(0.5, high - 2):.1f}" fill="none"'
    box = f'x="{x + 1:.1f}" y="{y + 1:.1f}" {inner}'
    return (
        f'<rect {box} stroke="{theme.ground}" stroke-width="3.6"/>'
        f'<rect {box} stroke="{theme.peak}" stroke-width="2"{dashes}/>'
    )
