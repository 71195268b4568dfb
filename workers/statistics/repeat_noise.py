"""The variance between repeats of one cell, the one that their trials explain, and the ratio of both.

Between: the sample variances of the repeats, pooled over cells by their degrees of freedom. Within: the binomial
variance of the trials of one repeat at (k + 1/2) / (n + 1), with the weights of the former; its degrees of freedom by
Satterthwaite (1946), from the variance of p (1 - p) by the delta method. Ratio: the mean over cells of the one over the
other, with the same weights, which is the index of dispersion (Fisher 1925) where cells differ in their rates; the
variance of the trials counts as known in its interval. All intervals are those of a variance of normal values (Wilks
1962, 8.4): nu s^2 over the quantiles of the chi-squared law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, gammaincinv

from registry.results.repeat_noise import RepeatSpread
from workers.statistics.terms import FloatArray, IntArray


@dataclass(frozen=True)
class RepeatedCells:
    """The measured cells of a benchmark: `sd` of their repeats (NaN: unknown), numbers of repeats (0: unknown), shares
    of successes with all trials of a cell (0: unknown) over the design effect, and the unit of a share of 1."""

    sd: FloatArray
    repeats: IntArray
    share: FloatArray
    trials: FloatArray
    whole: float

    @property
    def repeated(self) -> FloatArray:
        """Degrees of freedom of each cell's `sd`, 0 without one."""
        known = np.isfinite(self.sd) & (self.repeats > 1)
        return np.where(known, self.repeats - 1.0, 0.0)

    @property
    def explained(self) -> FloatArray:
        """The variance of one repeat by its trials, NaN where these are unknown."""
        smooth = (self.share * self.trials + 0.5) / (self.trials + 1)
        of_one = self.trials / np.maximum(self.repeats, 1)
        variance = smooth * (1 - smooth) * self.whole**2 / np.maximum(of_one, 1e-300)
        return np.asarray(np.where(self.trials > 0, variance, np.nan), dtype=np.float64)


def between(cells: RepeatedCells, alpha: float) -> RepeatSpread | None:
    """The spread of repeats."""
    free = cells.repeated
    df = float(free.sum())
    if df == 0:
        return None
    variance = float(np.sum(free * np.nan_to_num(cells.sd) ** 2)) / df
    return _spread(variance, df, int(np.count_nonzero(free)), alpha)


def within(cells: RepeatedCells, alpha: float) -> RepeatSpread | None:
    """The spread that the trials of one repeat explain, of the cells that are repeated if any have both."""
    variance = cells.explained
    known = np.isfinite(variance)
    both = known & (cells.repeated > 0)
    weights = np.where(both, cells.repeated, 0.0) if both.any() else known.astype(np.float64)
    if not weights.any():
        return None
    weights /= weights.sum()
    mean = float(np.sum(weights * np.nan_to_num(variance)))
    smooth = (cells.share * cells.trials + 0.5) / (cells.trials + 1)
    # d of p (1 - p) is (1 - 2 p) d p, and the variance of p is p (1 - p) / n.
    relative = (1 - 2 * smooth) ** 2 / np.maximum(smooth * (1 - smooth) * cells.trials, 1e-300)
    spread = float(np.sum((weights * np.nan_to_num(variance)) ** 2 * np.where(known, relative, 0.0)))
    df = 2 * mean**2 / spread if spread > 0 else math.inf
    return _spread(mean, min(df, _MOST_DF), int(np.count_nonzero(weights)), alpha)


_MOST_DF = 1e9
"""Degrees of freedom beyond which an interval has no width that anybody would see."""


def ratio(cells: RepeatedCells, alpha: float) -> RepeatSpread | None:
    """The variance of repeats over the explained one."""
    variance = cells.explained
    free = np.where(np.isfinite(variance) & (variance > 0), cells.repeated, 0.0)
    df = float(free.sum())
    if df == 0:
        return None
    used = free > 0
    found = float(np.sum(free[used] * cells.sd[used] ** 2 / variance[used])) / df
    low, high = _ends(df, alpha)
    return RepeatSpread(found, found * low, found * high, df, int(used.sum()))


def _spread(variance: float, df: float, cells: int, alpha: float) -> RepeatSpread:
    low, high = _ends(df, alpha)
    return RepeatSpread(math.sqrt(variance), math.sqrt(variance * low), math.sqrt(variance * high), df, cells)


def _ends(df: float, alpha: float) -> tuple[float, float]:
    """The ends of the interval of a variance, over its estimate: by both tails of chi-squared."""
    return df / float(chdtri(df, alpha / 2)), df / (2 * float(gammaincinv(df / 2, alpha / 2)))
