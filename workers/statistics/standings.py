"""Who is compared, and over which slots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from registry.grid import Direction, Metric
from workers.statistics.decimals import decimals_of, ticks_of
from workers.statistics.terms import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Standings:
    """Values of names (rows) in slots (columns); NaN where a name has no cell.

    `benchmarks` gives each slot's benchmark as an index into `benchmark_names`. `trials` (0 = unknown) and
    `stderr` (NaN = unknown) have the shape of `values`. Bounds and direction are the metric's. `mixed` says that
    the slots do not share a unit: only orders made of wins and ranks have a meaning then, and the caller turns
    every slot so that `direction` holds for it.
    """

    names: tuple[str, ...]
    values: FloatArray
    benchmarks: IntArray
    benchmark_names: tuple[str, ...]
    trials: IntArray | None = None
    direction: Direction | None = None
    lower: float | None = None
    upper: float | None = None
    mixed: bool = False
    stderr: FloatArray | None = None

    @property
    def proportion_of(self) -> float | None:
        """1.0 or 100.0 when the values are proportions on that scale, else `None`."""
        return Metric("", None, self.direction, self.lower, self.upper).proportion_of

    @cached_property
    def present(self) -> BoolArray:
        """Which name has a cell in which slot."""
        return np.isfinite(self.values)

    @cached_property
    def decimals(self) -> int:
        """The submitted decimals of all values together."""
        return decimals_of(self.values)

    @cached_property
    def ticks(self) -> IntArray:
        """The values as integers of 10^-decimals, 0 where absent; ties are ties of these."""
        return ticks_of(self.values, self.decimals)

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is."""
        return -1 if self.direction == "lower" else 1

    @cached_property
    def successes(self) -> IntArray | None:
        """The nearest whole numbers of successes; 0 where trials are unknown. `None` without any trials."""
        if self.trials is None or not self.proportion_of:
            return None
        share = np.where(self.present, self.values, 0.0) / self.proportion_of
        return np.rint(share * self.trials).astype(np.int64)

    def weights(self, slots: IntArray) -> FloatArray:
        """Weights of the slots that sum to 1: equal for slots of a benchmark, equal for benchmarks."""
        owners = self.benchmarks[slots]
        counts = np.bincount(owners, minlength=len(self.benchmark_names))
        return np.asarray(1.0 / (counts[owners] * np.count_nonzero(counts)), dtype=np.float64)
