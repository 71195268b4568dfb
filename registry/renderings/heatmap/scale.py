"""Which values the ends of the colours stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from registry.errors import Fault, Invalid
from registry.renderings.heatmap.options import Options


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of the colours, and how many values lie beyond it."""

    low: float
    high: float
    whose: str
    """`own`, `bounds` or `asked`."""
    beyond: int = 0

    def share(self, value: float) -> float:
        """Where a value lies between the ends, 0 to 1; the middle where the ends are one."""
        if self.high == self.low:
            return 0.5
        # Halves first: the ends may be so far apart that their difference is infinite.
        place = (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        return min(1.0, max(0.0, place))


def scale_of(values: Iterable[float | None], metric: Mapping[str, Any], options: Options) -> Scale:
    """The range that was asked for; `Invalid` when that is the bounds of a metric which has none."""
    measured = [value for value in values if value is not None]
    if options.span == "own":
        return Scale(min(measured, default=0.0), max(measured, default=0.0), "own")
    if options.span == "bounds":
        if metric.get("lower") is None or metric.get("upper") is None:
            raise Invalid([Fault("/range", "is bounds, but the metric does not have both: give low,high or own")])
        return Scale(metric["lower"], metric["upper"], "bounds")
    low, high = options.span
    return Scale(low, high, "asked", sum(not low <= value <= high for value in measured))
