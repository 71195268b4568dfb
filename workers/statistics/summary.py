"""What a series is before anything is inferred: its moments, ends and area."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workers.statistics.terms import FloatArray


@dataclass(frozen=True, slots=True)
class Summary:
    """Moments of m >= 1 values in the metric's unit; `sd` has m - 1 in its denominator.

    `normalised_area` is the trapezoidal area over the distance between the ends: the mean height of the curve,
    in the metric's unit. `None` where one point has none.
    """

    count: int
    mean: float
    sd: float | None
    min: float
    max: float
    first: float
    last: float
    net_change: float
    normalised_area: float | None


def summarise(x: FloatArray, y: FloatArray) -> Summary:
    """The summary of a series with increasing x."""
    several = y.size > 1
    mean = float(y.mean())
    return Summary(
        count=int(y.size),
        mean=mean,
        sd=float(np.sqrt(np.sum((y - mean) ** 2) / (y.size - 1))) if several else None,
        min=float(y.min()),
        max=float(y.max()),
        first=float(y[0]),
        last=float(y[-1]),
        net_change=float(y[-1] - y[0]),
        normalised_area=float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2 / (x[-1] - x[0])) if several else None,
    )
