"""Cells with standard errors: inverse-variance weighted slope, Cochran's Q, tests of differences.

Cochran (1954), Biometrics 10, 101-129. Submitted errors are taken as known, and tails are normal or chi-squared.
Errors that repeats estimate have Student's t and F with the degrees of freedom of that estimate; a difference of two
cells by themselves has Welch's t (1947).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import chdtrc, fdtrc

from registry.results.terms import Interval
from registry.results.trend_tests import FittedChange, Heterogeneity, HeterogeneityTest, Weighted
from workers.statistics.noise import Noise
from workers.statistics.terms import SMALLEST_P, FloatArray, reach_of, two_sided


def weighted_slope(
    x: FloatArray, y: FloatArray, noise: Noise, level: float = 0.95
) -> tuple[Weighted, FittedChange | None]:
    """Weighs each of m cells by 1 / error^2, and what that makes of the change from end to end; two cells suffice,
    because the errors do not come from how they scatter."""
    if x.size < 2:
        return Weighted("insufficient", reason="one point has no slope"), None
    least = float(noise.error.min())
    weight = (least / noise.error) ** 2
    centre = float(np.sum(weight * x) / weight.sum())
    sxx = float(np.sum(weight * (x - centre) ** 2))
    if sxx <= 0:
        return Weighted("undefined", reason="one cell outweighs all others"), None
    slope = float(np.sum(weight * (x - centre) * y)) / sxx
    error = least / math.sqrt(sxx)
    reach, span = reach_of(level, noise.df) * error, float(x[-1] - x[0])
    found = Weighted(
        "ok",
        "z" if noise.df is None else "t_pooled_repeats",
        slope,
        float(np.sum(weight * y) / weight.sum()) - slope * centre,
        error,
        slope / error,
        noise.df,
        two_sided(slope / error, noise.df),
        Interval(level, slope - reach, slope + reach),
    )
    interval = Interval(level, (slope - reach) * span, (slope + reach) * span)
    return found, FittedChange(slope * span, interval, "weighted" if noise.df is None else "pooled_repeats")


def cochran_q(y: FloatArray, noise: Noise) -> Heterogeneity:
    """Tests that all cells estimate one value: chi-squared, or F where the errors are estimated."""
    name: HeterogeneityTest = "cochran_q" if noise.df is None else "f_repeats"
    if y.size < 2:
        return Heterogeneity("insufficient", name, reason="one cell cannot differ")
    weight = (noise.error.min() / noise.error) ** 2
    mean = np.sum(weight * y) / weight.sum()
    q, df = float(np.sum(((y - mean) / noise.error) ** 2)), int(y.size) - 1
    p = float(chdtrc(df, q)) if noise.df is None else float(fdtrc(df, noise.df, q / df))
    return Heterogeneity("ok", name, q, df, max(SMALLEST_P, p), df_error=noise.df)
