"""Sensitivity to each axis: shares of variance, what is left over, and level means adjusted for the other axes.

On a full grid the shares are those of the functional analysis of variance (Hoeffding 1948; Sobol' 1993). On a
ragged one the order of the axes matters, and each axis gets its average over all orders (Shapley 1953; Lindeman,
Merenda and Gold 1980, p. 119). What is left is the interaction, on the scale of the values and for proportions with
trials on the logit scale as well: near a bound, effects that add up there do not add up in percent.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, fdtrc

from registry.results.sensitivity import AxisShare, Interaction, LevelMean, Residual, Sensitivity
from workers.statistics.additive import Layout, explained, normal_matrix, totals
from workers.statistics.level_means import Equations, level_means
from workers.statistics.logit_additive import LogitTests, logit_tests
from workers.statistics.noise import Noise
from workers.statistics.table import Table
from workers.statistics.table_noise import noise_at
from workers.statistics.terms import MOST_WRITTEN_LEVELS, SMALLEST_P, FloatArray

MOST_LEVELS = 600
"""Observed levels of all axes together, up to which ragged grids and adjusted means are computed."""


def sensitivity(table: Table, alpha: float = 0.05) -> Sensitivity:
    """The sensitivity of a grid of two or more axes."""
    if len(table.axes) < 2 or table.cells < 3:
        return Sensitivity("insufficient", reason="shares need two axes and three cells")
    if np.ptp(table.ticks[table.present]) == 0:
        return Sensitivity("undefined", reason="every value is the same")
    layout, levels = layout_of(table)
    full = table.cells == math.prod(layout.sizes)
    if not full and sum(layout.sizes) > MOST_LEVELS:
        return Sensitivity("undefined", reason=f"a ragged grid of more than {MOST_LEVELS} measured levels")
    noise = noise_at(table, np.flatnonzero(table.present))
    model = model_of(table, layout, full)
    apart = model.matrix.ndim == 2 and model.rank == layout.full_rank
    tests = logit_tests(layout, noise, alpha) if apart else None
    equations = Equations(model.matrix, model.right * model.scale, model.rank, tests.effects if tests else None)
    means = level_means(table, layout, levels, equations, noise, alpha)
    axes = {
        axis.name: axis_share(model, layout, tests, a, table.cells, tuple(means[a][:MOST_WRITTEN_LEVELS]))
        for a, axis in enumerate(table.axes)
    }
    rest = residual(noise, model, table.cells - model.rank, tests)
    found = interactions(table, layout, model) if full else ()
    return Sensitivity("ok", "functional_anova" if full else "shapley", axes, found, rest)


@dataclass(frozen=True)
class _Model:
    """The additive model of the values, centred and divided by `scale`: its normal equations, the shares of the
    axes, and what each explains beyond the others (scaled)."""

    centred: FloatArray
    scale: float
    matrix: FloatArray
    right: FloatArray
    total: float
    shares: list[float]
    beyond: list[float]
    rank: int

    @property
    def rest(self) -> float:
        """The share that no axis explains."""
        return max(0.0, 1 - sum(self.shares))


def model_of(table: Table, layout: Layout, full: bool) -> _Model:
    """Fits the additive model."""
    values = table.values[table.present]
    centred = values - values.mean()
    scale = float(np.max(np.abs(centred)))
    matrix, right = sums(layout, centred / scale)
    total = float(np.sum((centred / scale) ** 2))
    shares, beyond, rank = (balanced if full else shapley)(layout, matrix, right, total)
    return _Model(centred / scale, scale, matrix, right, total, shares, beyond, rank)


def axis_share(
    model: _Model, layout: Layout, tests: LogitTests | None, a: int, cells: int, levels: tuple[LevelMean, ...]
) -> AxisShare:
    """One axis with its test."""
    df = layout.sizes[a] - 1
    if tests is not None and df > 0:
        return AxisShare(model.shares[a], df, levels, tests.axes[a], "lr_logit")
    rest, left = model.rest * model.total, cells - model.rank
    # A rest that is rounding errors alone would make any axis significant.
    if df < 1 or left < 1 or rest <= 1e-12 * model.total:
        return AxisShare(model.shares[a], df, levels)
    f = max(0.0, model.beyond[a]) / df / (rest / left)
    return AxisShare(model.shares[a], df, levels, max(SMALLEST_P, float(fdtrc(df, left, f))), "f")


def layout_of(table: Table) -> tuple[Layout, list[list[int]]]:
    """The measured cells by their observed levels, and those levels' positions on each axis."""
    found = [np.unique(at, return_inverse=True) for at in np.nonzero(table.present)]
    layout = Layout(tuple(inverse for _, inverse in found), tuple(int(levels.size) for levels, _ in found))
    return layout, [levels.tolist() for levels, _ in found]


def sums(layout: Layout, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The normal equations; of very long axes of full grids only the diagonal, which is all they need."""
    if sum(layout.sizes) > MOST_LEVELS:
        counts = totals(layout, np.ones(values.size))
        return counts, totals(layout, values)
    return normal_matrix(layout, np.ones(values.size)), totals(layout, values)


def balanced(
    layout: Layout, matrix: FloatArray, right: FloatArray, total: float
) -> tuple[list[float], list[float], int]:
    """Shares of a full grid, where axes are orthogonal, what each explains, and the rank of the additive model."""
    counts = matrix if matrix.ndim == 1 else np.diag(matrix)
    parts = [float(part.sum()) for part in np.split(right**2 / counts, layout.offsets[1:-1])]
    return [part / total for part in parts], parts, layout.full_rank


def shapley(
    layout: Layout, matrix: FloatArray, right: FloatArray, total: float
) -> tuple[list[float], list[float], int]:
    """Shares of a ragged grid, averaged over the orders in which axes may enter, and what each adds as the last."""
    count = len(layout.sizes)
    everyone = tuple(range(count))
    worth = {
        axes: explained(layout, matrix, right, axes)
        for size in range(count + 1)
        for axes in itertools.combinations(everyone, size)
    }
    shares = []
    for a in everyone:
        gain = 0.0
        for axes in (axes for axes in worth if a not in axes):
            # The share of all orders in which exactly these axes come before this one.
            weight = math.factorial(len(axes)) * math.factorial(count - len(axes) - 1) / math.factorial(count)
            gain += weight * (worth[tuple(sorted((*axes, a)))][0] - worth[axes][0])
        shares.append(gain / total)
    beyond = [worth[everyone][0] - worth[everyone[:a] + everyone[a + 1 :]][0] for a in everyone]
    return shares, beyond, worth[everyone][1]


def residual(noise: Noise | None, model: _Model, df: int, tests: LogitTests | None) -> Residual:
    """The rest, against known noise where there is any."""
    share, logit = model.rest, tests.interaction if tests else None
    if noise is None or df < 1:
        return Residual(share, df, None, None, logit)
    variance = float(np.mean(noise.error**2))
    chi2 = share * model.total * model.scale**2 / variance
    p = float(chdtrc(df, chi2)) if noise.df is None else float(fdtrc(df, noise.df, chi2 / df))
    return Residual(share, df, chi2 / df, max(SMALLEST_P, p), logit)


def interactions(table: Table, layout: Layout, model: _Model) -> tuple[Interaction, ...]:
    """The second-order terms of a full grid of three axes or more; of two, the residual is the interaction."""
    if len(layout.sizes) < 3:
        return ()
    found = []
    for a, b in itertools.combinations(range(len(layout.sizes)), 2):
        size = layout.sizes[a] * layout.sizes[b]
        cells = np.bincount(layout.codes[a] * layout.sizes[b] + layout.codes[b], model.centred, size)
        # The share that the means of the pair's cells explain; what the two axes explain alone is taken off below.
        joint = float(np.sum(cells**2)) * size / model.centred.size / model.total
        pair = table.axes[a].name, table.axes[b].name
        found.append(Interaction(pair, max(0.0, joint - model.shares[a] - model.shares[b])))
    return tuple(found)
