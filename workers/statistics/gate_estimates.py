"""The gap of a contender to a baseline, or of a contender to a floor: in each cell, on a benchmark, over benchmarks.

On a benchmark and over benchmarks the estimate and its error are those of comparisons (Mantel–Haenszel with Sato's
variance, else the mean of the differences). Where these give no error although the noise of every cell is known, as
when every trial came out the same, the error is that of the binomial variances at (k + 1/2) / (n + 1); where some cells
are exact, it is that of the others, since comparisons take the spread of such cells for noise. Where the noise
of a cell is unknown there is no error: that cells differ among themselves is no evidence of how they would repeat.
Where both sides have outcomes of the same items, these go before all of that but exact cells: one cell of bits by
`paired_score`, else the differences of the items with errors clustered by item (`item_pairs`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from registry.grids.grid import Metric
from registry.plans.score_interval import TwoSamples
from workers.statistics.cells import noise
from workers.statistics.comparison_cells import effective, of_trials
from workers.statistics.item_pairs import PairedCell, Pairs, flips_of, together
from workers.statistics.margins import Estimate, OneSample, PairedSample
from workers.statistics.matching import Matched
from workers.statistics.terms import BoolArray, FloatArray

SURE_REPEATS = 3
"""Repeats from which on no spread at all is taken for no noise."""


@dataclass(frozen=True)
class CellNoise:
    """The noise of m common cells, the contender in row 0 and the baseline in row 1: effective successes and trials
    where only trials speak, variances (NaN: unknown) with their degrees of freedom, and which cells are exact."""

    k: FloatArray
    n: FloatArray
    variance: FloatArray
    df: FloatArray
    exact: BoolArray


def cell_noise(found: Matched, metric: Metric) -> CellNoise:
    """Noise of the cells, as far as it is known."""
    whole = metric.proportion_of
    _, _, variance, df, _ = noise(found.standings(metric))
    # Beside trials a posted error of 0 is what harnesses write for 0 or 100 %, and says nothing.
    posted = (found.repeats == 0) & (found.trials == 0)
    exact = (found.stderr == 0) & (posted | (found.repeats >= SURE_REPEATS))
    variance = np.where(exact, 0.0, np.where(variance > 0, variance, np.nan))
    trials = of_trials(found) & ~exact
    k, n = effective(found, whole) if whole else (np.zeros(found.values.shape), np.zeros(found.values.shape))
    return CellNoise(np.where(trials, k, 0.0), np.where(trials, n, 0.0), variance, df, exact)


def cell_gap(found: Matched, noisy: CellNoise, whole: float | None, i: int) -> Estimate:
    """The gap in one cell."""
    gap = float(found.gaps[i]) / 10.0**found.decimals
    if whole and noisy.n[:, i].all():
        (k1, k2), (n1, n2) = noisy.k[:, i].tolist(), noisy.n[:, i].tolist()
        error = math.sqrt(float(noisy.variance[:, i].sum()))
        return Estimate(gap, error, math.inf, TwoSamples(k1, n1, k2, n2), whole)
    return _estimate(gap, noisy.variance[:, i], noisy.df[:, i])


def paired_gap(pairs: Pairs, noisy: CellNoise, cells: Sequence[int]) -> Estimate | None:
    """The gap in these cells by their items; None where these are not paired, do not vary, or a cell is exact."""
    chosen = np.array(cells, dtype=np.int64)
    if noisy.exact[:, chosen].any():
        return None
    [first, *more] = (pairs.cells[i] for i in cells)
    if not more and isinstance(first, PairedCell) and first.is_bits:
        flips = flips_of(first)
        sample = PairedSample(flips.only_contender, flips.only_baseline, first.of[1])
        error = sample.stderr * pairs.whole
        return Estimate(sample.difference * pairs.whole, error, math.inf, sample, pairs.whole, paired=True)
    _, test = together(pairs, chosen, 0.05)
    if test is None or test.difference is None or not test.stderr:
        return None
    return Estimate(test.difference, test.stderr, math.inf if test.df is None else test.df, paired=True)


def _estimate(gap: float, variance: FloatArray, df: FloatArray) -> Estimate:
    """A sum of independent parts with these variances, by Welch's degrees of freedom."""
    total = float(variance.sum())
    if not math.isfinite(total):
        return Estimate(gap, None)
    weight = float(np.sum(variance**2 / df))
    return Estimate(gap, math.sqrt(total), total**2 / weight if weight > 0 else math.inf)


def benchmark_gap(
    found: Matched, noisy: CellNoise, difference: float | None, stderr: float | None, df: float | None
) -> Estimate:
    """The gap on a benchmark, from what the comparison says of it as far as it says anything."""
    known = bool(np.isfinite(noisy.variance).all())
    if difference is not None and stderr and known and not noisy.exact.any():
        return Estimate(difference, stderr, math.inf if df is None else df)
    gaps = found.gaps / 10.0**found.decimals
    trials = noisy.n.all(axis=0).all()
    weight = noisy.n[0] * noisy.n[1] / noisy.n.sum(axis=0) if trials else np.ones(found.count)
    weight = weight / weight.sum()
    parts = noisy.variance * weight**2
    plain = float(np.sum(gaps * weight))
    return _estimate(plain if difference is None else difference, parts.ravel(), noisy.df.ravel())


def overall_gap(
    parts: Sequence[Estimate], difference: float | None, stderr: float | None, df: float | None, *, exact: bool = False
) -> Estimate:
    """The gap over benchmarks, which weigh the same; `exact` says that some of their cells are."""
    gap = math.fsum(one.gap for one in parts) / len(parts)
    if all(one.paired for one in parts):
        return parts[0] if len(parts) == 1 else replace(_mean(gap, parts), paired=True)
    if any(one.stderr is None for one in parts):
        return Estimate(gap if difference is None else difference, None)
    if difference is not None and stderr and not exact and any(one.stderr for one in parts):
        return Estimate(difference, stderr, math.inf if df is None else df)
    return _mean(gap, parts)


def _mean(gap: float, parts: Sequence[Estimate]) -> Estimate:
    variance = np.array([((one.stderr or 0.0) / len(parts)) ** 2 for one in parts])
    return _estimate(gap, variance, np.array([one.df for one in parts]))


def to_floor(found: Sequence[tuple[Matched, CellNoise]], floor: float, whole: float | None, cells: slice) -> Estimate:
    """The contender's mean less a floor: over benchmarks, each the mean of these of its cells."""
    means = [float(one.values[0, cells].mean()) for one, _ in found]
    sizes = [one.values[0, cells].size for one, _ in found]
    share = 1 / len(found)
    variance = np.concatenate(
        [noisy.variance[0, cells] * (share / size) ** 2 for (_, noisy), size in zip(found, sizes, strict=True)]
    )
    df = np.concatenate([noisy.df[0, cells] for _, noisy in found])
    value, total = share * math.fsum(means), float(variance.sum())
    counted = whole and all(noisy.n[0, cells].all() for _, noisy in found)
    if not counted or not whole or not math.isfinite(total) or total == 0:
        return _estimate(value - floor, variance, df)
    weights = np.concatenate([np.full(size, share / size) for size in sizes])
    k, trials = (
        np.concatenate([getattr(noisy, name)[0, cells] for _, noisy in found]).astype(np.float64) for name in ("k", "n")
    )
    n = _trials_of_mean(k, trials, weights, total / whole**2)
    return Estimate(value - floor, math.sqrt(total), math.inf, OneSample(value / whole * n, n, floor / whole), whole)


def _trials_of_mean(k: FloatArray, n: FloatArray, weights: FloatArray, variance: float) -> float:
    """Trials of one proportion that says as much as this weighted mean of proportions.

    Where every trial came out the same, the least of n / w: the product of p^n is then at most (sum of w p) to that
    power, whatever the rates are, and the limit exact. Else those of its variance (Korn and Graubard 1998, Survey
    Methodology 24:193), and no more than there are.
    """
    if (k == n).all() or (k == 0).all():
        return float((n / weights).min())
    smooth = float(np.sum(weights * (k + 0.5) / (n + 1)))
    return min(smooth * (1 - smooth) / variance, float(n.sum()))
