"""What a series is before anything is inferred: its moments, ends and area."""

from __future__ import annotations

import numpy as np

from registry.results.series import Summary
from registry.results.terms import Interval
from workers.statistics.noise import Noise
from workers.statistics.terms import FloatArray, reach_of, within


def mean_interval(y: FloatArray, noise: Noise | None, level: float, whole: float | None) -> Interval | None:
    """The interval of the mean of m cells, of proportions within 0 and the whole; `None` for a single cell without
    noise."""
    mean, count = float(y.mean()), int(y.size)
    if noise is not None:
        reach = reach_of(level, noise.df) * float(np.sqrt(np.sum(noise.error**2))) / count
    elif count > 1:
        reach = reach_of(level, count - 1.0) * float(np.sqrt(np.sum((y - mean) ** 2) / (count - 1) / count))
    else:
        return None
    found = Interval(level, mean - reach, mean + reach)
    return found if whole is None else within(found, 0.0, whole)


def summarise(
    x: FloatArray, y: FloatArray, noise: Noise | None = None, level: float = 0.95, whole: float | None = None
) -> Summary:
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
        mean_interval=mean_interval(y, noise, level, whole),
    )
