"""Paint that all charts share: colours, dashes, markers, places of names, and the options that a caller gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from registry.renderings.heatmap.colours import THEMES
from registry.results.lines import HUES

COLOURS = {
    "light": ("#0052cb", "#d7371f", "#265d55", "#ba3c8a", "#16191d", "#794305", "#037eb1", "#737950"),
    "dark": ("#3480fc", "#dea08d", "#5cfaa3", "#e04a9a", "#eceff2", "#fcd443", "#81c6f8", "#768b2e"),
}
LINES = {"light": "#d9dee3", "dark": "#30363d"}
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


def colour_of(look: int) -> str:
    """The colour of a line by its look."""
    return f"k{look % HUES}"


def dashes(look: int) -> str:
    """The dashes of the second eight."""
    return ' stroke-dasharray="7 4"' if look >= HUES else ""


def marker(look: int, x: float, y: float, paint: Paint, title: str = "") -> str:
    """The marker of a line at a point, by its look; hollow for the second eight."""
    if look % HUES == 0:
        return dot(x, y, paint, title, hollow=look >= HUES)
    inside = _inside(paint, title, hollow=look >= HUES)
    return f'<path d="M{x:.1f} {y:.1f}{_SHAPES[look % HUES]}" {inside}</path>'


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


XScale = Literal["linear", "log"]
NARROW = 520
"""Pixels below which a chart leaves less room for names."""


@dataclass(frozen=True, slots=True)
class ChartOptions:
    """`ground`: the theme of a picture of its own, `page` for one inside of a page, without title and notes. `x` None:
    the axis's own scale; `y` likewise, of trade-offs."""

    ground: Ground = "light"
    width: int = 880
    x: XScale | None = None
    y: XScale | None = None
    name: str = "chart"
    """What the ids begin with, so that several charts fit into one page."""

    @property
    def narrow(self) -> bool:
        return self.width < NARROW

    @property
    def alone(self) -> bool:
        """Whether the picture is a file, which says everything by itself."""
        return self.ground != "page"


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places in the order of the wanted ones, at least `gap` apart, each as near to its own as that allows in the least
    squares, and between the ends where there is room (pool-adjacent-violators: Ayer et al. 1955)."""
    order = sorted(range(len(wanted)), key=lambda one: wanted[one])
    blocks: list[tuple[float, int]] = []
    for rank, one in enumerate(order):
        mean, size = wanted[one] - rank * gap, 1
        while blocks and blocks[-1][0] >= mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    bases = [mean for mean, size in blocks for _ in range(size)]
    room = max(low, high - (len(order) - 1) * gap)
    found = [0.0] * len(wanted)
    for rank, one in enumerate(order):
        found[one] = min(max(bases[rank], low), room) + rank * gap
    return found
