"""How a chart is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from registry.renderings.lines.paint import Ground

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
    band: bool = True
    name: str = "chart"
    """What the ids begin with, so that several charts fit into one page."""

    @property
    def narrow(self) -> bool:
        return self.width < NARROW

    @property
    def alone(self) -> bool:
        """Whether the picture is a file, which says everything by itself."""
        return self.ground != "page"
