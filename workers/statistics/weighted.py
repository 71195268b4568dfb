"""Cells with known standard errors: inverse-variance weighted slope, Cochran's Q, z for differences.

Cochran (1954), Biometrics 10, 101-129. The errors are taken as known, so every tail is normal or chi-squared;
only differences of cells whose errors come from repeats have Welch's t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, erfc, ndtri, stdtr, stdtrit

from workers.statistics.proportions import Heterogeneity
from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray, Interval, Status


@dataclass(frozen=True, slots=True)
class WeightedSlope:
    """A slope in the metric's unit per unit of the abscissa, with the z-test against 0."""

    status: Status
    slope: float | None = None
    intercept: float | None = None
    stderr: float | None = None
    z: float | None = None
    p: float | None = None
    interval: Interval | None = None
    fitted_change: float | None = None
    reason: str | None = None


def weighted_slope(x: FloatArray, y: FloatArray, stderr: FloatArray, level: float = 0.95) -> WeightedSlope:
    """Weighs each of m cells by 1 / stderr^2; two cells suffice, because the errors are known."""
    if x.size < 2:
        return WeightedSlope("insufficient", reason="one point has no slope")
    weight = (stderr.min() / stderr) ** 2
    centre = float(np.sum(weight * x) / weight.sum())
    sxx = float(np.sum(weight * (x - centre) ** 2))
    if sxx <= 0:
        return WeightedSlope("undefined", reason="one cell outweighs all others")
    slope = float(np.sum(weight * (x - centre) * y)) / sxx
    error = float(stderr.min()) / math.sqrt(sxx)
    z = slope / error
    reach = float(ndtri(0.5 + level / 2)) * error
    return WeightedSlope(
        "ok",
        slope,
        float(np.sum(weight * y) / weight.sum()) - slope * centre,
        error,
        z,
        max(SMALLEST_P, float(erfc(abs(z) / math.sqrt(2)))),
        Interval(level, slope - reach, slope + reach),
        slope * float(x[-1] - x[0]),
    )


def cochran_q(y: FloatArray, stderr: FloatArray) -> Heterogeneity:
    """Tests that all cells estimate one value."""
    if y.size < 2:
        return Heterogeneity("insufficient", "cochran_q", reason="one cell cannot differ")
    weight = (stderr.min() / stderr) ** 2
    mean = np.sum(weight * y) / weight.sum()
    q = float(np.sum(((y - mean) / stderr) ** 2))
    return Heterogeneity("ok", "cochran_q", q, int(y.size) - 1, max(SMALLEST_P, float(chdtrc(y.size - 1, q))))


def difference_test(
    difference: FloatArray, stderr: FloatArray, repeats: IntArray | None, level: float
) -> tuple[FloatArray, FloatArray]:
    """Two-sided p of m - 1 differences between m neighbours, and how far each interval reaches to either side.

    Normal, unless the errors were estimated from repeats: then Welch's t (1947) with Satterthwaite's degrees of
    freedom.
    """
    return gap_test(
        difference,
        (stderr[:-1], stderr[1:]),
        None if repeats is None else (repeats[:-1], repeats[1:]),
        level,
    )


def gap_test(
    difference: FloatArray,
    stderr: tuple[FloatArray, FloatArray],
    repeats: tuple[IntArray, IntArray] | None,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """The same for any differences of two values with an error each."""
    error = np.hypot(*stderr)
    if repeats is None:
        p = np.asarray(erfc(np.abs(difference) / error / math.sqrt(2)), dtype=np.float64)
        return np.maximum(p, SMALLEST_P), float(ndtri(0.5 + level / 2)) * error
    first, second = (stderr[0] / error) ** 4, (stderr[1] / error) ** 4
    df = 1 / (first / (repeats[0] - 1) + second / (repeats[1] - 1))
    p = np.asarray(2 * stdtr(df, -np.abs(difference) / error), dtype=np.float64)
    return np.maximum(p, SMALLEST_P), np.asarray(stdtrit(df, 0.5 + level / 2) * error, dtype=np.float64)
