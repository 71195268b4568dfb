"""Which axis matters: shares of variance, what is left over, and level means adjusted for the other axes.

On a full grid the shares are those of the functional analysis of variance (Hoeffding 1948; Sobol' 1993). On a
ragged one the order of the axes matters, and each axis gets its average over all orders (Shapley 1953; Lindeman,
Merenda and Gold 1980, p. 119). Adjusted means of proportions are taken on the logit scale, where an adjusted
accuracy cannot exceed 100 %.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, expit

from workers.statistics.additive import Layout, explained, logistic, normal_matrix, solve, totals
from workers.statistics.best_cells import noise_of
from workers.statistics.table import Place, Table, by_level, place_of
from workers.statistics.terms import MOST_WRITTEN_LEVELS, SMALLEST_P, FloatArray, Status

MOST_LEVELS = 600
"""Observed levels of all axes together, up to which ragged grids and adjusted means are computed."""
UNKNOWN_TRIALS = 100.0
"""Trials assumed for the logit scale of proportions whose trials nobody gave."""


@dataclass(frozen=True, slots=True)
class AdjustedMean:
    """The raw mean of a level's cells, and the mean as if the level had a cell everywhere, by the additive model
    (`mean`, may leave the bounds) and by the logit-additive one (`logit_mean`, proportions only)."""

    level: Place
    raw_mean: float
    mean: float | None
    logit_mean: float | None


@dataclass(frozen=True, slots=True)
class AxisShare:
    """The share of the variance that an axis explains, its degrees of freedom, the means of its first thousand
    measured levels."""

    share: float
    df: int
    levels: tuple[AdjustedMean, ...]


@dataclass(frozen=True, slots=True)
class Interaction:
    """The share of two axes beyond their own, on full grids of three or more axes."""

    axes: tuple[str, str]
    share: float


@dataclass(frozen=True, slots=True)
class Residual:
    """What no axis explains alone. `over_noise` is its mean square over the known variance of the cells: about 1
    where the rest is noise, with the chi-squared p that it is."""

    share: float
    df: int
    over_noise: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Shares sum to 1 with the residual. `levels` have adjusted means where all effects can be told apart."""

    status: Status
    method: str | None = None
    axes: dict[str, AxisShare] | None = None
    interactions: tuple[Interaction, ...] = ()
    residual: Residual | None = None
    reason: str | None = None


def sensitivity(table: Table) -> Sensitivity:
    """The sensitivity of a grid of two or more axes."""
    if len(table.axes) < 2 or table.cells < 3:
        return Sensitivity("insufficient", reason="shares need two axes and three cells")
    values = table.values[table.present]
    if np.ptp(table.ticks[table.present]) == 0:
        return Sensitivity("undefined", reason="every value is the same")
    layout, levels = layout_of(table)
    full = table.cells == math.prod(layout.sizes)
    if not full and sum(layout.sizes) > MOST_LEVELS:
        return Sensitivity("undefined", reason=f"a ragged grid of more than {MOST_LEVELS} measured levels")
    centred = values - values.mean()
    scale = float(np.max(np.abs(centred)))
    matrix, right = sums(layout, centred / scale)
    total = float(np.sum((centred / scale) ** 2))
    shares, rank = (balanced if full else shapley)(layout, matrix, right, total)
    means = adjusted_means(table, layout, matrix, right * scale, rank)
    axes = {
        axis.name: AxisShare(
            shares[a],
            layout.sizes[a] - 1,
            tuple(
                AdjustedMean(place_of(axis, level), *row)
                for level, row in zip(levels[a], means[a][:MOST_WRITTEN_LEVELS], strict=False)
            ),
        )
        for a, axis in enumerate(table.axes)
    }
    rest = residual(table, max(0.0, 1 - sum(shares)), total * scale**2, table.cells - rank)
    found = interactions(table, layout, centred / scale, total, shares) if full else ()
    return Sensitivity("ok", "functional_anova" if full else "shapley", axes, found, rest)


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


def balanced(layout: Layout, matrix: FloatArray, right: FloatArray, total: float) -> tuple[list[float], int]:
    """Shares of a full grid, where axes are orthogonal, and the rank of the additive model."""
    counts = matrix if matrix.ndim == 1 else np.diag(matrix)
    parts = np.split(right**2 / counts, layout.offsets[1:-1])
    return [float(part.sum()) / total for part in parts], layout.full_rank


def shapley(layout: Layout, matrix: FloatArray, right: FloatArray, total: float) -> tuple[list[float], int]:
    """Shares of a ragged grid, averaged over the orders in which axes may enter."""
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
            weight = math.factorial(len(axes)) * math.factorial(count - len(axes) - 1) / math.factorial(count)
            gain += weight * (worth[tuple(sorted((*axes, a)))][0] - worth[axes][0])
        shares.append(gain / total)
    return shares, worth[everyone][1]


def residual(table: Table, share: float, total: float, df: int) -> Residual:
    """The rest, against known noise where there is any."""
    noise = noise_of(table)
    if noise is None or df < 1 or noise.v.mean() <= 0:
        return Residual(share, df, None, None)
    chi2 = share * total / float(noise.v.mean())
    return Residual(share, df, chi2 / df, max(SMALLEST_P, float(chdtrc(df, chi2))))


def interactions(
    table: Table, layout: Layout, centred: FloatArray, total: float, shares: list[float]
) -> tuple[Interaction, ...]:
    """The second-order terms of a full grid of three axes or more; of two, the residual is the interaction."""
    if len(layout.sizes) < 3:
        return ()
    found = []
    for a, b in itertools.combinations(range(len(layout.sizes)), 2):
        size = layout.sizes[a] * layout.sizes[b]
        cells = np.bincount(layout.codes[a] * layout.sizes[b] + layout.codes[b], centred, size)
        joint = float(np.sum(cells**2)) * size / centred.size / total
        pair = table.axes[a].name, table.axes[b].name
        found.append(Interaction(pair, max(0.0, joint - shares[a] - shares[b])))
    return tuple(found)


def adjusted_means(
    table: Table, layout: Layout, matrix: FloatArray, right: FloatArray, rank: int
) -> list[list[tuple[float, float | None, float | None]]]:
    """Per axis and level: raw, additive and logit-additive mean; `None` where effects cannot be told apart."""
    counts = matrix if matrix.ndim == 1 else np.diag(matrix)
    mean = float(table.values[table.present].mean())
    raw = np.split(mean + right / counts, layout.offsets[1:-1])
    if matrix.ndim == 1 or rank < layout.full_rank:
        return [[(float(value), None, None) for value in axis] for axis in raw]
    plain = np.split(solve(layout, matrix, right), layout.offsets[1:-1])
    centre = mean + sum(float(part.mean()) for part in plain)
    logit = logit_means(table, layout)
    return [
        [
            (float(raw[a][i]), float(centre + part[i] - part.mean()), None if logit is None else float(logit[a][i]))
            for i in range(part.size)
        ]
        for a, part in enumerate(plain)
    ]


def logit_means(table: Table, layout: Layout) -> list[FloatArray] | None:
    """Means of the fitted proportions over all combinations of observed levels, in the metric's unit."""
    whole = table.metric.proportion_of
    if whole is None:
        return None
    n = np.full(table.cells, UNKNOWN_TRIALS)
    k = table.values[table.present] / whole * n
    if table.trials is not None and np.all(table.trials[table.present] > 0):
        n = table.trials[table.present].astype(np.float64)
        k = np.rint(table.values[table.present] / whole * n)
    effects = logistic(layout, k + 0.5, n + 1)
    if effects is None:
        return None
    parts = np.split(effects, layout.offsets[1:-1])
    grid = np.zeros(layout.sizes)
    for a, part in enumerate(parts):
        grid = grid + part.reshape([-1 if i == a else 1 for i in range(len(parts))])
    fitted = np.asarray(expit(grid) * whole, dtype=np.float64)
    return [by_level(fitted, a).mean(axis=1) for a in range(len(parts))]
