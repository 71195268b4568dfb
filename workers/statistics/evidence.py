"""Standard errors, degrees of freedom, p-values and intervals of all differences, for what they are asked about.

`rerun`: the noise of the cells, with Satterthwaite's degrees of freedom; where it is unknown, the spread of slots
within benchmarks (or of benchmarks of one slot each), for the interval alone. `new_questions`: where both names have
the same items, the differences of these (`item_variances`), else the bound of `cells.of_questions`, with one cell's
questions shared by all cells of a benchmark. `new_benchmarks`: the spread of the benchmarks' differences (Student
1908).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erfc, ndtri, stdtr, stdtrit

from workers.statistics.contrasts import Contrasts
from workers.statistics.terms import SMALLEST_P, FloatArray


@dataclass(frozen=True)
class Evidence:
    """Matrices over the names: NaN where unknown, `df` infinite for the normal law. `p` is the one that belongs to
    the standard error; where cells or benchmarks are exchangeable an exact one takes its place."""

    target: str
    stderr: FloatArray
    df: FloatArray
    p: FloatArray
    reach: FloatArray

    def name(self, found: Contrasts, i: int, j: int) -> str | None:
        """The test of a pair whose noise is known; `None` without one."""
        if self.target == "new_questions":
            return "paired_items" if found.paired[i, j] else "question_bound"
        if self.target != "rerun" or not found.known[i, j]:
            return None
        if not found.of_tables[i, j]:
            return "welch" if np.isfinite(self.df[i, j]) else "z"
        return "cochran_mantel_haenszel" if found.equality[i, j] else "mantel_haenszel"


def evidence(found: Contrasts, alpha: float, target: str) -> Evidence:
    """Evidence about every pair."""
    variance, weight = of_target(found, target)
    df = np.divide(variance**2, weight, out=np.full(weight.shape, np.inf), where=weight > 0)
    # Estimated degrees of freedom are too many where a benchmark of two slots happens to show little spread: at most
    # those under equal variances.
    if target == "rerun":
        df = np.where(found.known | (found.common == found.benchmarks), df, np.fmin(df, found.strata_df))
    error = np.sqrt(variance)
    size = np.divide(np.abs(found.difference), error, out=np.zeros(error.shape), where=error > 0)
    normal = ~np.isfinite(df)
    free = np.where(normal, 1.0, df)
    p = np.where(normal, erfc(size / np.sqrt(2.0)), 2 * stdtr(free, -size))
    quantile = np.where(normal, ndtri(1 - alpha / 2), stdtrit(free, 1 - alpha / 2))
    tested = np.isfinite(error) & (error > 0) & (found.known | (target == "new_questions"))
    return Evidence(
        target,
        error,
        df,
        np.where(tested, np.clip(p, SMALLEST_P, 1.0), np.nan),
        np.asarray(quantile * error, dtype=np.float64),
    )


def of_target(found: Contrasts, target: str) -> tuple[FloatArray, FloatArray]:
    """The variance of each difference and the sum of v^2 / df, NaN and 0 where there is none."""
    if target == "new_questions":
        return found.questions, found.questions_weight
    over = over_benchmarks(found)
    if target == "new_benchmarks":
        return over
    single = (found.benchmarks == found.common) & (found.benchmarks > 1)
    variance = np.where(single, over[0], found.strata)
    weight = np.where(single, over[1], found.strata_weight)
    return np.where(found.known, found.variance, variance), np.where(found.known, found.weight, weight)


def over_benchmarks(found: Contrasts) -> tuple[FloatArray, FloatArray]:
    """Errors from the spread of the benchmarks' differences, as many as there are."""
    centred = np.where(found.count > 0, found.by_benchmark - found.difference[:, :, None], 0.0)
    several = found.benchmarks > 1
    free = np.where(several, found.benchmarks - 1.0, 1.0)
    variance = np.sum(centred**2, axis=2) / free / np.maximum(found.benchmarks, 1)
    return np.where(several, variance, np.nan), np.where(several, variance**2 / free, 0.0)
