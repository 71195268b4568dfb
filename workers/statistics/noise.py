"""Noise of some cells: trials, submitted errors, or repeats that estimate them.

Errors that were estimated from few repeats are not known errors. The variance within cells is pooled over the cells
that are compared, and tests have Student's t and F with sum(r - 1) degrees of freedom (Fisher 1925, Statistical
Methods for Research Workers, sections 24 and 40).

The design effect of a grid: what was posted, or else what repeats show that trials do not explain. Trials of one repeat
share what differs from repeat to repeat, such as a seed, so repeats may vary by more than the binomial law allows. The
effect is then the mean over cells of the variance between repeats over the binomial one, with the weights of their
degrees of freedom: the index of dispersion (Fisher 1925), by which quasi-likelihood scales variances (McCullagh and
Nelder 1989, section 4.5). As it is an estimate itself, it is multiplied by (t / z)^2 at 95 %, so that normal intervals
with it are as wide as Student's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import ndtri, stdtrit

from registry.grids.grid import Grid
from registry.results.terms import KnownNoise
from workers.statistics.terms import FloatArray, IntArray

Kind = Literal["trials", "stderr", "repeats"]
_TAIL = 0.025


@dataclass(frozen=True)
class CellErrors:
    """The errors of m cells as they were submitted: each column belongs to every cell, or is `None`.

    `stderr` may be 0 where `repeats` says that it was estimated. `whole` is 1 or 100 for proportions.
    """

    y: FloatArray
    trials: IntArray | None
    stderr: FloatArray | None
    repeats: IntArray | None
    whole: float | None
    design_effect: float = 1.0


@dataclass(frozen=True)
class Noise:
    """The errors of m cells. `error` is the standard error of each in the metric's unit, all positive.

    `df` are the degrees of freedom of the estimate behind the errors, `None` where they are known. With `trials`,
    `k` of `n` are the effective successes and trials: those submitted, divided by the design effect; `counted` are
    the whole ones, `None` where a design effect makes exact tests impossible.
    """

    kind: Kind
    error: FloatArray
    df: float | None = None
    k: FloatArray | None = None
    n: FloatArray | None = None
    whole: float = 1.0
    counted: tuple[IntArray, IntArray] | None = None


def kind_of(
    trials: IntArray | None, stderr: FloatArray | None, repeats: IntArray | None, whole: float | None
) -> KnownNoise:
    """Source of the errors of some cells: trials, else repeats that differ, else submitted errors, none of them 0;
    `unknown` unless it is known of all cells. The columns are those of `CellErrors`."""
    if trials is not None and whole is not None:
        return "trials"
    if stderr is None:
        return "unknown"
    if repeats is not None and np.all(repeats > 1):
        return "repeats" if np.any(stderr > 0) else "unknown"
    return "stderr" if np.all(stderr > 0) else "unknown"


def noise_of_cells(given: CellErrors) -> Noise | None:
    """The noise of cells: by trials, else by estimated errors, else by submitted ones, else `None`."""
    if given.trials is not None and given.whole is not None:
        return by_trials(given, given.trials, given.whole)
    kind = kind_of(given.trials, given.stderr, given.repeats, given.whole)
    if given.stderr is None or kind == "unknown":
        return None
    if given.repeats is None or kind != "repeats":
        return Noise("stderr", given.stderr)
    error, df = pooled(given.stderr, given.repeats)
    return Noise("repeats", error, float(df))


def by_trials(given: CellErrors, trials: IntArray, whole: float) -> Noise:
    """Binomial noise: the nearest whole numbers of successes out of the trials."""
    k, effect = np.rint(given.y * trials / whole).astype(np.int64), given.design_effect
    error = binomial_errors(k, trials, whole, effect)
    return Noise("trials", error, None, k / effect, trials / effect, whole, (k, trials) if effect == 1.0 else None)


def pooled(stderr: FloatArray, repeats: IntArray) -> tuple[FloatArray, FloatArray]:
    """The errors of cells, or of rows of cells, by the variance within cells, pooled along the last axis, and its
    degrees of freedom."""
    # The variance of one repeat in each cell: pooled, then divided by each cell's own number again.
    within = stderr**2 * repeats
    df = np.sum(repeats - 1, axis=-1).astype(np.float64)
    variance = np.sum((repeats - 1) * within, axis=-1) / df
    return np.sqrt(variance[..., None] / repeats), df


def successes_of(y: FloatArray, trials: IntArray, whole: float, decimals: int | IntArray) -> FloatArray:
    """The successes behind values of so many decimals: the nearest whole numbers, which printing has rounded; where no
    whole number prints as the value, the fraction that it says. An estimate then stays the one that was posted."""
    said = np.asarray(y * trials / whole, dtype=np.float64)
    # Rounded first, so that a tie is one on the scale of 1 and on that of 100.
    nearest = np.rint(np.round(said, 9))
    printed = np.abs(nearest * whole / np.maximum(trials, 1) - y)
    return np.where(printed <= 0.5 * 10.0 ** -np.asarray(decimals, dtype=np.float64) + 1e-9 * whole, nearest, said)


def binomial_errors(
    k: FloatArray | IntArray, n: FloatArray | IntArray, whole: float, effect: float | FloatArray
) -> FloatArray:
    """Standard errors of k/n in the metric's unit, at (k + 1/2) / (n + 1) so that none is 0."""
    share = (k + 0.5) / (n + 1)
    return np.asarray(np.sqrt(share * (1 - share) * effect / n) * whole, dtype=np.float64)


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
