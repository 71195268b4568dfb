"""Colours, dashes and markers of lines: told apart without colour, and with every common colour-blindness.

Eight colours from the hues of Okabe and Ito 2008 (jfly.uni-koeln.de/color), with the lightness and chroma that keep the
nearest two apart (OKLab, Ottosson 2020) as Machado et al. 2009 simulate colour-blindness, and a contrast of 4.5 to 1
with the ground, as names are written in them (WCAG 2.2, 1.4.3). Each has a marker of its own; the second eight
are dashed with hollow markers. A picture of its own carries its colours; on a page they are classes of its style sheet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from registry.renderings.heatmap.colours import THEMES

COLOURS = {
    "light": ("#0052cb", "#d7371f", "#265d55", "#ba3c8a", "#16191d", "#794305", "#037eb1", "#737950"),
    "dark": ("#3480fc", "#dea08d", "#5cfaa3", "#e04a9a", "#eceff2", "#fcd443", "#81c6f8", "#768b2e"),
}
LINES = {"light": "#d9dee3", "dark": "#30363d"}
HUES = 8
RADIUS = 3.6
Ground = Literal["light", "dark", "page"]


@dataclass(frozen=True, slots=True)
class Paint:
    """How elements get their colour: everything is drawn in `currentColor` inside of a group that says which it is."""

    ground: Ground = "light"

    def group(self, name: str, extra: str = "") -> str:
        """The opening of a group in a colour: `k0` to `k7`, `ink`, `faint` or `rule`."""
        if self.ground == "page":
            return f'<g class="{name}"{extra}>'
        return f'<g color="{self._colour(self.ground, name)}"{extra}>'

    @property
    def hollow(self) -> str:
        """The attribute that fills with the ground."""
        return 'class="ground"' if self.ground == "page" else f'fill="{THEMES[self.ground].ground}"'

    @staticmethod
    def _colour(theme: str, name: str) -> str:
        if name.startswith("k"):
            return COLOURS[theme][int(name[1:])]
        return {"ink": THEMES[theme].ink, "faint": THEMES[theme].faint, "rule": LINES[theme]}[name]


def colour_of(number: int) -> str:
    """The colour of a line by its number."""
    return f"k{number % HUES}"


def dashes(number: int) -> str:
    """The dashes of the second eight."""
    return ' stroke-dasharray="7 4"' if number >= HUES else ""


def marker(number: int, x: float, y: float, paint: Paint, title: str = "") -> str:
    """The marker of a line at a point; hollow for the second eight."""
    if number % HUES == 0:
        return dot(x, y, paint, title, hollow=number >= HUES)
    inside = _inside(paint, title, hollow=number >= HUES)
    return f'<path d="M{x:.1f} {y:.1f}{_SHAPES[number % HUES]}" {inside}</path>'


def dot(x: float, y: float, paint: Paint, title: str = "", *, hollow: bool, radius: float = RADIUS) -> str:
    """A round marker."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" {_inside(paint, title, hollow=hollow)}</circle>'


def _inside(paint: Paint, title: str, *, hollow: bool) -> str:
    """The look of a marker, the end of its tag, and its title."""
    look = f'{paint.hollow} stroke="currentColor" stroke-width="1.6"' if hollow else 'fill="currentColor"'
    return f"{look}>" + (f"<title>{title}</title>" if title else "")


_SHAPES = (
    "",
    "m-3.3-3.3h6.6v6.6h-6.6z",
    "m0-4.4 4.2 7.4h-8.4z",
    "m0-4.8 4.4 4.8-4.4 4.8-4.4-4.8z",
    "m0 4.4 4.2-7.4h-8.4z",
    "m-1.4-4.4h2.8v3h3v2.8h-3v3h-2.8v-3h-3v-2.8h3z",
    "m-4.4-2.4 2-2 2.4 2.4 2.4-2.4 2 2-2.4 2.4 2.4 2.4-2 2-2.4-2.4-2.4 2.4-2-2 2.4-2.4z",
    "m-4.6-1.8h9.2v3.6h-9.2z",
)
"""Square, triangle, diamond, triangle on its tip, cross, slanted cross, bar; each from its middle."""
