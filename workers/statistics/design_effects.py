"""The design effect of a grid: what was posted, or else what repeats show that trials do not explain.

Trials of one repeat share what differs from repeat to repeat, such as a seed, so repeats may vary by more than the
binomial law allows. The effect is then the mean over cells of the variance between repeats over the binomial one, with
the weights of their degrees of freedom: the index of dispersion (Fisher 1925), by which quasi-likelihood scales
variances (McCullagh and Nelder 1989, section 4.5). As it is an estimate itself, it is multiplied by (t / z)^2 at 95 %,
so that normal intervals with it are as wide as Student's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from registry.grids.grid import Grid
from workers.statistics.terms import FloatArray

_TAIL = 0.025


def effect_of(grid: Grid) -> float | None:
    """The design effect of a grid; None where none was posted and repeats vary by no more than their trials explain."""
    whole = grid.metric.proportion_of
    if grid.design_effect is not None or whole is None or grid.repeats is None or grid.sd is None:
        return grid.design_effect
    trials: Any = grid.trials
    return effect_of_repeats(grid.values, trials, grid.sd, grid.repeats, whole)


def effect_of_repeats(values: Any, trials: Any, sd: Any, repeats: Any, whole: float) -> float | None:
    """The design effect that repeats show; None where they vary by no more than their trials explain, or where there
    are no trials. Trials are all those of a cell, one number or one a cell; what is None is unknown."""
    y, spread = (np.array(column, dtype=np.float64) for column in (values, sd))
    times, n = (np.array(column, dtype=np.float64) for column in (repeats, trials))
    free = np.where((times > 1) & np.isfinite(spread) & (n > 0) & np.isfinite(y), times - 1, 0.0)
    df = float(np.sum(free))
    if df == 0:
        return None
    ratio = float(np.sum(free * np.nan_to_num(spread**2 / _explained(y / whole, n, times, whole)))) / df
    if ratio <= 1:
        return None
    return ratio * float(stdtrit(df, _TAIL) / ndtri(_TAIL)) ** 2


def _explained(share: FloatArray, n: FloatArray, times: FloatArray, whole: float) -> FloatArray:
    """The binomial variance of one repeat, with half a success and half a failure more."""
    smooth = (share * n + 0.5) / (n + 1)
    return np.asarray(smooth * (1 - smooth) * whole**2 * times / n, dtype=np.float64)
