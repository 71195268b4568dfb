"""Scale from values to colours, for pictures, pages and terminals: the range, the palette, how both are asked for."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from sys import float_info
from typing import Literal

from registry.errors import Fault, Invalid
from registry.results.grid import PostedMetric


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of the colours, and how many values lie beyond it."""

    low: float
    high: float
    whose: str
    """`own`, `bounds` or `asked`."""
    beyond: int = 0
    falling: bool = False
    """Whether lower is better: then the lowest value has the colour that elsewhere the highest has."""

    @property
    def ends(self) -> tuple[float, float]:
        """Two different numbers, the range between them where it is not a single value."""
        if self.low < self.high:
            return self.low, self.high
        around = max(0.5, abs(self.low) / 4)
        return max(self.low - around, -float_info.max), min(self.high + around, float_info.max)

    def share(self, value: float) -> float:
        """Where a value lies in the palette, 0 to 1, the better end last; the middle where the ends are one."""
        if self.high == self.low:
            return 0.5
        share = share_of(value, self.low, self.high)
        return 1 - share if self.falling else share


def share_of(value: float, low: float, high: float) -> float:
    """Where a value lies between two different ends, 0 to 1."""
    if math.isinf(high - low):
        # Halved where the difference is infinite, and only there: the half of the smallest double is zero.
        value, low, high = value / 2, low / 2, high / 2
    return min(1.0, max(0.0, (value - low) / (high - low)))


def scale_of(values: Iterable[float | None], metric: PostedMetric, options: "Options") -> Scale:
    """The range that was asked for; `Invalid` when that is the bounds of a metric which has none."""
    measured = [value for value in values if value is not None]
    falling = metric["direction"] == "lower"
    if options.span == "own":
        return Scale(min(measured, default=0.0), max(measured, default=0.0), "own", falling=falling)
    if options.span == "bounds":
        low, high = metric["lower"], metric["upper"]
        if low is None or high is None:
            raise Invalid([Fault("/range", "is bounds, but the metric does not have both: give low,high or own")])
        return Scale(low, high, "bounds", falling=falling)
    low, high = options.span
    return Scale(low, high, "asked", sum(not low <= value <= high for value in measured), falling)


_NARROW = 0.2
"""Share of a metric's range below which colours that span it are said to be of that alone."""


def narrow(scale: Scale, metric: PostedMetric) -> str:
    """That the colours span a small part of what the metric may be, a clause; "" where they do not."""
    lower, upper = metric.get("lower"), metric.get("upper")
    if lower is None or upper is None:
        return ""
    share = (scale.high - scale.low) / (upper - lower)
    return f"all colours span {100 * share:.2g} % of the metric’s range" if 0 < share < _NARROW else ""


PALETTES = ("cividis", "blues")
THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Options:
    """`span`: the values at the ends of the colours, two numbers, the metric's bounds, or those of this grid."""

    palette: str = "cividis"
    theme: str = "light"
    span: tuple[float, float] | Literal["own", "bounds"] = "own"
