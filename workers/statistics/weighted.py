"""Cells with standard errors: inverse-variance weighted slope, Cochran's Q, tests of differences.

Cochran (1954), Biometrics 10, 101-129. Submitted errors are taken as known, and tails are normal or chi-squared.
Errors that repeats estimate have Student's t and F with the degrees of freedom of that estimate; a difference of two
cells by themselves has Welch's t (1947).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc

from registry.results.terms import Interval
from registry.results.trend_tests import FittedChange, Heterogeneity, HeterogeneityTest, Weighted, WeightedTest
from workers.statistics.curves import RowNoise
from workers.statistics.terms import SMALLEST_P, FloatArray, reach_of, two_sided


def weighted_slope(
    x: FloatArray, y: FloatArray, noise: RowNoise, level: float = 0.95
) -> list[tuple[Weighted, FittedChange | None]]:
    """Weighs each of the m cells of a row by 1 / error^2, and what that makes of the change from end to end; two cells
    suffice, because the errors do not come from how they scatter."""
    if x.shape[1] < 2:
        return [(Weighted("insufficient", reason="one point has no slope"), None)] * len(x)
    least = noise.error.min(axis=1)
    weight = (least[:, None] / noise.error) ** 2
    total = weight.sum(axis=1)
    centre = np.sum(weight * x, axis=1) / total
    away = x - centre[:, None]
    sxx = np.sum(weight * away**2, axis=1)
    outweighed = sxx <= 0
    sxx = np.where(outweighed, 1.0, sxx)
    slope = np.sum(weight * away * y, axis=1) / sxx
    intercept = np.sum(weight * y, axis=1) / total - slope * centre
    error, span = least / np.sqrt(sxx), x[:, -1] - x[:, 0]
    columns = (column.tolist() for column in (slope, intercept, error, span, outweighed))
    lines = [_Line(*row) for row in zip(*columns, strict=True)]
    return [_weighted(line, noise.df_of(row), level) for row, line in enumerate(lines)]


class _Line(NamedTuple):
    """A weighted line; nothing is known of its slope where one cell outweighs all others."""

    slope: float
    intercept: float
    error: float
    span: float
    outweighed: bool


def _weighted(line: _Line, df: float | None, level: float) -> tuple[Weighted, FittedChange | None]:
    """One line with its test."""
    if line.outweighed:
        return Weighted("undefined", reason="one cell outweighs all others"), None
    slope, error = line.slope, line.error
    reach, z = reach_of(level, df) * error, slope / error
    test: WeightedTest = "z" if df is None else "t_pooled_repeats"
    around = Interval(level, slope - reach, slope + reach)
    found = Weighted("ok", test, slope, line.intercept, error, z, df, two_sided(z, df), around)
    interval = Interval(level, around.low * line.span, around.high * line.span)
    return found, FittedChange(slope * line.span, interval, "weighted" if df is None else "pooled_repeats")


def cochran_q(y: FloatArray, noise: RowNoise) -> list[Heterogeneity]:
    """Tests, for each row, that all cells estimate one value: chi-squared, or F where the errors are estimated."""
    name: HeterogeneityTest = "cochran_q" if noise.df is None else "f_repeats"
    df = int(y.shape[1]) - 1
    if df < 1:
        return [Heterogeneity("insufficient", name, reason="one cell cannot differ")] * len(y)
    weight = (noise.error.min(axis=1, keepdims=True) / noise.error) ** 2
    mean = np.sum(weight * y, axis=1, keepdims=True) / weight.sum(axis=1, keepdims=True)
    q = np.sum(((y - mean) / noise.error) ** 2, axis=1)
    tail = chdtrc(df, q) if noise.df is None else fdtrc(df, noise.df, q / df)
    columns = (q.tolist(), np.maximum(SMALLEST_P, tail).tolist())
    return [
        Heterogeneity("ok", name, one, df, p, df_error=noise.df_of(i))
        for i, (one, p) in enumerate(zip(*columns, strict=True))
    ]
