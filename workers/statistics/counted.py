"""Pairs of a ranking from sums of pairs: records, leads, mean differences, and their p-values.

The p-values are those of the sign-flip test in its normal limit (Fisher 1935, section 21): with differences d and
weights w, the sum of w d has variance sum of (w d)^2 when every sign could as well have been the other one. Standard
errors are Student's, where they are those over benchmarks or over the slots of a single one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import erfc

from registry.results.policies import Estimand, Target
from registry.results.ranking import Slots
from workers.statistics import pair_sums as ps
from workers.statistics.multiplicity import holm
from workers.statistics.terms import SMALLEST_P, BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Counted:
    """Sums of all pairs: `rows` are FIELDS x names x names, `unit` is the size of a tick in the metric's unit,
    `sign` 1 where higher is better and -1 where lower is."""

    names: tuple[str, ...]
    cells: tuple[int, ...]
    rows: IntArray
    unit: float
    sign: int
    slots: Slots
    bounded: bool = False

    @cached_property
    def benchmarks(self) -> FloatArray:
        """Benchmarks in which two names meet."""
        return ps.of_pairs(self.rows, ps.BENCHMARKS).astype(np.float64)

    @cached_property
    def common(self) -> IntArray:
        """Slots that two names share."""
        return ps.of_pairs(self.rows, ps.COMMON)

    @cached_property
    def linked(self) -> BoolArray:
        """Mask of the pairs of different names that met at all."""
        linked = self.common > 0
        np.fill_diagonal(linked, False)
        return linked

    @cached_property
    def mean(self) -> FloatArray:
        """Mean differences in ticks, row less column; benchmarks weigh equally, slots equally within."""
        return ps.of_pairs(self.rows, ps.MEAN) / np.maximum(self.benchmarks, 1)

    @cached_property
    def lead(self) -> FloatArray:
        """(Wins - losses) / slots of row over column, benchmarks weighing equally."""
        lead = self.sign * ps.of_pairs(self.rows, ps.LEAD) / ps.SHARES
        return np.asarray(lead / np.maximum(self.benchmarks, 1), dtype=np.float64)

    @cached_property
    def wins(self) -> FloatArray:
        """Wins plus half the ties, weighted so that benchmarks count equally while the sum stays in slots."""
        return np.asarray((1 + self.lead) / 2 * self.common * self.linked)


@dataclass(frozen=True)
class SumEvidence:
    """Names x names: p-values (NaN where two never met), those corrected by Holm, the smallest that there could be;
    standard errors of the differences in ticks and their degrees of freedom (NaN where cells are needed)."""

    p: FloatArray
    p_holm: FloatArray
    least: FloatArray
    stderr: FloatArray
    df: FloatArray


def evidence_of(counted: Counted, estimand: Estimand, target: Target) -> SumEvidence:
    rows, benchmarks = counted.rows, counted.benchmarks
    over = target == "new_benchmarks"
    if estimand == "lead":
        total = counted.lead * benchmarks
        null = ps.of_pairs(rows, ps.LEAD2 if over else ps.DECIDED) / ps.SHARES
    else:
        total = counted.mean * benchmarks
        null = ps.wide_of_pairs(rows, ps.MEAN2 if over else ps.SPREAD)
    units = benchmarks if over else (counted.common - ps.of_pairs(rows, ps.EQUAL)).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(total == 0, 1.0, erfc(np.abs(total) / np.sqrt(null) / math.sqrt(2)))
    # Of u signs the smallest two-sided p is 2^(1 - u).
    least = np.exp2(np.clip(1 - units, -1000, 0))
    p = np.where(counted.linked, np.clip(p, np.maximum(least, SMALLEST_P), 1.0), np.nan)
    # Above the diagonal: each pair is one test of the family.
    upper = np.triu_indices(len(p), 1)
    known = np.isfinite(p[upper])
    corrected = np.full(p.shape, np.nan)
    corrected[upper[0][known], upper[1][known]] = holm(p[upper][known].tolist())
    return SumEvidence(p, np.fmin(corrected, corrected.T), least, *_errors(counted, over))


def _errors(counted: Counted, over: bool) -> tuple[FloatArray, FloatArray]:
    """The standard error of each mean difference: from the spread of benchmarks, where they are asked about or have
    one slot each; from that of slots, where two names meet in one benchmark."""
    benchmarks, common = counted.benchmarks, counted.common.astype(np.float64)
    single = (benchmarks > 1) & (over | (common == benchmarks))
    within = (benchmarks == 1) & (common > 1) & (not over)
    free = np.where(single, benchmarks - 1, np.where(within, common - 1, np.nan))
    spread = ps.wide_of_pairs(counted.rows, ps.MEAN2) / np.maximum(benchmarks, 1) - counted.mean**2
    slots = ps.wide_of_pairs(counted.rows, ps.SPREAD) * common - counted.mean**2
    error = np.sqrt(np.maximum(np.where(single, spread, slots), 0) / free)
    return np.asarray(error, dtype=np.float64), np.asarray(free, dtype=np.float64)
