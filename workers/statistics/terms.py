"""The words that every statistic shares: its status, the settings of a metric, arrays and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from registry.grid import Metric

METHODS_VERSION = "2"
"""Changes whenever a number that was stored before would come out differently."""

Status = Literal["ok", "insufficient", "undefined", "not_comparable", "confounded"]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

MOST_WRITTEN_LEVELS = 1_000
"""Levels of an axis that an answer lists one by one; the rest is counted."""
SMALLEST_P = 2.2250738585072014e-308
"""What is reported for a p-value that is too small for a float: never 0."""


def computable(*arrays: FloatArray) -> bool:
    """Whether the largest finite size in each array is 0 or within 10^-100 and 10^100: squares then neither
    overflow nor vanish."""
    sizes = [float(np.max(np.abs(array[np.isfinite(array)]), initial=0.0)) for array in arrays]
    return all(size == 0.0 or 1e-100 < size < 1e100 for size in sizes)


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval: `level` 0.95 means 95 %; the ends are in the unit of what it surrounds."""

    level: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Parameters:
    """What counts as significant, as sharp and as equal, in the metric's own unit.

    A margin says what matters in practice and cannot be read off the data. For a metric with an open range the
    margins are therefore `None`, unless someone sets them: no step is then called sharp, no series flat.
    """

    alpha: float = 0.05
    sharp_change: float | None = None
    equivalence: float | None = None
    thresholds: tuple[float, ...] = ()

    @classmethod
    def of(cls, metric: Metric, alpha: float = 0.05) -> Parameters:
        """The settings of a metric: 5 % and 2 % of its range; thresholds at 50, 75, 90, 95 % of a proportion."""
        extent = metric.range
        if not extent:
            return cls(alpha)
        whole = metric.proportion_of
        marks = tuple(whole * share / 100 for share in (50, 75, 90, 95)) if whole else ()
        return cls(alpha, extent * 5 / 100, extent * 2 / 100, marks)
