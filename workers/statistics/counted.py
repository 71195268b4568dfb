"""Pairs of a ranking from sums of pairs: records, leads, mean differences, and their p-values.

The p-values are those of the sign-flip test in its normal limit (Fisher 1935, section 21): with differences d and
weights w, the sum of w d has variance sum of (w d)^2 when every sign could as well have been the other one. Standard
errors are Student's, where they are those over benchmarks or over the slots of a single one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import erfc

from registry.results.policies import Estimand, Target
from registry.results.ranking import Slots
from workers.statistics import pair_sums as ps
from workers.statistics.multiplicity import holm_array
from workers.statistics.terms import SMALLEST_P, BoolArray, FloatArray, IntArray

_COUNTS = {"common": ps.COMMON, "larger": ps.LARGER, "equal": ps.EQUAL}
_SIZES = {
    "benchmarks": (ps.BENCHMARKS, 1),
    "leads": (ps.LEAD, ps.SHARES),
    "leads2": (ps.LEAD2, ps.SHARES),
    "decided": (ps.DECIDED, ps.SHARES),
    "means": (ps.MEAN, 1),
}
"""Stored sums by the name of their matrix, and what one of it is stored as."""


@dataclass(frozen=True)
class Tally:
    """Square matrices over the names, row against column: the slots in which they meet, and wins plus half the ties,
    weighted so that benchmarks count equally while a row's sum stays in slots."""

    meets: FloatArray
    wins: FloatArray

    def of(self, members: Sequence[int]) -> Tally:
        """The same of some of the names."""
        at = np.ix_(members, members)
        return Tally(self.meets[at], self.wins[at])


@dataclass(frozen=True)
class Counted:
    """Sums of all pairs, as matrices over the names, row against column. `unit` is the size of a tick in the metric's
    unit, `sign` 1 where higher is better and -1 where lower is.

    In slots: `common`, `larger` (the row's value is), `equal`. Over the `benchmarks` in which two names meet: `leads`,
    the sum of (larger less smaller) / common; `decided`, that of (larger plus smaller) / common^2; `leads2`, that of
    squared leads; `means`, that of mean differences in ticks, `means2` of their squares, and `spread`, that of squared
    differences / common^2.
    """

    names: tuple[str, ...]
    cells: tuple[int, ...]
    unit: float
    sign: int
    slots: Slots
    bounded: bool
    benchmarks: FloatArray
    common: IntArray
    larger: IntArray
    equal: IntArray
    leads: FloatArray
    leads2: FloatArray
    decided: FloatArray
    means: FloatArray
    means2: FloatArray
    spread: FloatArray

    @cached_property
    def linked(self) -> BoolArray:
        """Mask of the pairs of different names that met at all."""
        linked = self.common > 0
        np.fill_diagonal(linked, False)
        return linked

    @cached_property
    def mean(self) -> FloatArray:
        """Mean differences in ticks, row less column; benchmarks weigh equally, slots equally within."""
        return np.asarray(self.means / np.maximum(self.benchmarks, 1), dtype=np.float64)

    @cached_property
    def lead(self) -> FloatArray:
        """(Wins - losses) / slots of row over column, benchmarks weighing equally."""
        return np.asarray(self.sign * self.leads / np.maximum(self.benchmarks, 1), dtype=np.float64)

    @cached_property
    def tally(self) -> Tally:
        """Wins of all names."""
        meets = np.asarray(self.common * self.linked, dtype=np.float64)
        return Tally(meets, np.asarray((1 + self.lead) / 2 * meets))

    @cached_property
    def records(self) -> list[tuple[int, int, int]]:
        """Wins, ties and losses of each name over all others."""
        larger, smaller = self.larger.sum(axis=1), self.larger.sum(axis=0)
        ends = (larger, smaller) if self.sign > 0 else (smaller, larger)
        return list(zip(ends[0].tolist(), self.equal.sum(axis=1).tolist(), ends[1].tolist(), strict=True))


def matrices_of(rows: IntArray) -> dict[str, Any]:
    """The matrices of what was counted, from the stored rows of all names, FIELDS x names x names."""
    counts = {name: ps.of_pairs(rows, place) for name, place in _COUNTS.items()}
    sizes = {name: np.asarray(ps.of_pairs(rows, place) / unit) for name, (place, unit) in _SIZES.items()}
    return counts | sizes | {"means2": ps.wide_of_pairs(rows, ps.MEAN2), "spread": ps.wide_of_pairs(rows, ps.SPREAD)}


@dataclass(frozen=True)
class SumEvidence:
    """Of an estimand, names x names: p-values (NaN where two never met), those corrected by Holm, the smallest that
    there could be; standard errors of the differences in ticks and their degrees of freedom (NaN where cells are
    needed)."""

    estimand: Estimand
    p: FloatArray
    p_holm: FloatArray
    least: FloatArray
    stderr: FloatArray
    df: FloatArray


def evidence_of(counted: Counted, estimand: Estimand, target: Target) -> SumEvidence:
    benchmarks = counted.benchmarks
    over = target == "new_benchmarks"
    if estimand == "lead":
        total = counted.lead * benchmarks
        null = counted.leads2 if over else counted.decided
    else:
        total = counted.mean * benchmarks
        null = counted.means2 if over else counted.spread
    units = benchmarks if over else (counted.common - counted.equal).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(total == 0, 1.0, erfc(np.abs(total) / np.sqrt(null) / math.sqrt(2)))
    # Of u signs the smallest two-sided p is 2^(1 - u).
    least = np.exp2(np.clip(1 - units, -1000, 0))
    p = np.where(counted.linked, np.clip(p, np.maximum(least, SMALLEST_P), 1.0), np.nan)
    # Above the diagonal: each pair is one test of the family.
    upper = np.triu_indices(len(p), 1)
    known = np.isfinite(p[upper])
    corrected = np.full(p.shape, np.nan)
    corrected[upper[0][known], upper[1][known]] = holm_array(p[upper][known])
    return SumEvidence(estimand, p, np.fmin(corrected, corrected.T), least, *_errors(counted, over))


def _errors(counted: Counted, over: bool) -> tuple[FloatArray, FloatArray]:
    """The standard error of each mean difference: from the spread of benchmarks, where they are asked about or have
    one slot each; from that of slots, where two names meet in one benchmark."""
    benchmarks, common = counted.benchmarks, counted.common.astype(np.float64)
    single = (benchmarks > 1) & (over | (common == benchmarks))
    within = (benchmarks == 1) & (common > 1) & (not over)
    free = np.where(single, benchmarks - 1, np.where(within, common - 1, np.nan))
    spread = counted.means2 / np.maximum(benchmarks, 1) - counted.mean**2
    slots = counted.spread * common - counted.mean**2
    error = np.sqrt(np.maximum(np.where(single, spread, slots), 0) / free)
    return np.asarray(error, dtype=np.float64), np.asarray(free, dtype=np.float64)
