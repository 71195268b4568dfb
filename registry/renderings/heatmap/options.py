"""How a picture is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PALETTES = ("cividis", "blues")
THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Options:
    """`span`: the values at the ends of the colours, two numbers, the metric's bounds, or those of this grid."""

    palette: str = "cividis"
    theme: str = "light"
    span: tuple[float, float] | Literal["own", "bounds"] = "own"
