"""Sensitivity to each axis, for `describe.py`: shares of variance, what is left over, and adjusted means of levels.

On a full grid the shares are those of the functional analysis of variance (Hoeffding 1948; Sobol' 1993). On a
ragged one the order of the axes matters, and each axis gets its average over all orders (Shapley 1953; Lindeman,
Merenda and Gold 1980, p. 119). What is left is the interaction, on the scale of the values and for proportions with
trials on the logit scale as well: near a bound, effects that add up there do not add up in percent.
Shares are of the plain variance. Where known errors differ, tests are of the model that is weighted by them, whose
residual is chi-squared whatever they are (Aitken 1936; Searle 1987, ch. 3).

The mean of every level of every axis: raw with its interval, and as if the level had a cell everywhere. Adjusted means
are those of the additive model; of proportions on the logit scale as well, where an adjusted accuracy cannot exceed 100
%. Proportions without trials are fitted as fractions (Papke and Wooldridge 1996), which needs all of them inside the
bounds: no trials are invented for a cell of 100 %.

The additive model of proportions with trials on the logit scale: does an axis matter, and do the axes interact?
McCullagh and Nelder (1989), ch. 4: Pearson's statistic of the additive fit tests the interaction. The likelihood ratio
of an axis is chi-squared where no interaction is shown; else it is divided by that statistic over its degrees of
freedom and referred to F. Where next to none of one outcome is expected in a cell (`FEWEST_IN_A_CELL`), the p of the
interaction is the larger of that of Pearson's statistic and that of the likelihood ratio; where fewer than five are in
a level, the p of the axis is the larger of that of the likelihood ratio and that of the score (Rao 1948).
Half a success and half a failure a cell (Anscombe 1956), shared out by the cells' trials, are added, so that the fit
exists where a level has only successes. Cells of one probability keep one: whole halves in cells of few trials would
pull those towards 50 %, and the axis along which trials differ would matter.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, expit, fdtrc, logit, stdtrit

from registry.results.sensitivity import AxisShare, Interaction, LevelMean, LogitInteraction, Residual, Sensitivity
from registry.results.terms import Interval
from workers.statistics.additive import (
    Layout,
    explained,
    half_counts_added,
    left_over,
    log_likelihood,
    logistic,
    normal_matrix,
    predict,
    score,
    solve,
    totals,
)
from workers.statistics.noise import Noise
from workers.statistics.proportions import FEWEST_EXPECTED, shares_and_variances, wilson_limits
from workers.statistics.table import Table, by_level
from workers.statistics.terms import MOST_WRITTEN_LEVELS, ROUNDING, SMALLEST_P, FloatArray, reach_of, within

MOST_LEVELS = 600
"""Observed levels of all axes together, up to which ragged grids and adjusted means are computed."""
FEWEST_IN_A_CELL = 0.4
"""Expected count of one outcome in a cell, half counts included, below which Pearson's statistic alone showed
interactions that are none in up to 23 % of simulated grids; of equal trials few cells expect less."""


def sensitivity(table: Table, alpha: float = 0.05) -> Sensitivity:
    """The sensitivity of a grid of two or more axes."""
    if len(table.axes) < 2 or table.cells < 3:
        return Sensitivity("insufficient", reason="shares need two axes and three cells")
    if np.ptp(table.ticks[table.present]) == 0:
        return Sensitivity("undefined", reason="every value is the same")
    layout, levels = layout_of(table)
    if sum(size > 1 for size in layout.sizes) < 2:
        return Sensitivity("insufficient", reason="shares need cells at two levels or more of each of two axes")
    full = table.cells == math.prod(layout.sizes)
    if not full and sum(layout.sizes) > MOST_LEVELS:
        return Sensitivity("undefined", reason=f"a ragged grid of more than {MOST_LEVELS} measured levels")
    noise = table.noise
    model = model_of(table, layout, full)
    if model.rank >= table.cells:
        # Every cell would be fitted exactly, and its noise would be the share of an axis.
        return Sensitivity("insufficient", reason="the effects of the axes are as many as the cells")
    apart = model.matrix.ndim == 2 and model.rank == layout.full_rank
    tests = logit_tests(layout, noise, alpha) if apart else None
    equations = Equations(model.matrix, model.right * model.scale, model.rank, tests.effects if tests else None)
    means = level_means(table, layout, levels, equations, noise, alpha)
    axes = {
        axis.name: axis_share(model, layout, tests, a, table.cells, tuple(means[a][:MOST_WRITTEN_LEVELS]))
        for a, axis in enumerate(table.axes)
        if layout.sizes[a] > 1
    }
    rest = residual(noise, model, table.cells - model.rank, tests)
    found = interactions(table, layout, model) if full else ()
    return Sensitivity("ok", "functional_anova" if full else "shapley", axes, found, rest)


@dataclass(frozen=True)
class _Model:
    """The additive model of the values, centred and divided by `scale`: its normal equations, the shares of the
    axes, and what each explains beyond the others (scaled) by how many ranks. `left` is the sum of squares that the
    tests are held against; it and `beyond` are weighted where errors are known to differ, `None` where that is too
    large."""

    centred: FloatArray
    scale: float
    matrix: FloatArray
    right: FloatArray
    total: float
    shares: list[float]
    beyond: list[float]
    freedom: list[int]
    rank: int
    left: float | None

    @property
    def rest(self) -> float:
        """The share that no axis explains."""
        return max(0.0, 1 - sum(self.shares))


def model_of(table: Table, layout: Layout, full: bool) -> _Model:
    values = table.values[table.present]
    centred = values - values.mean()
    scale = float(np.max(np.abs(centred)))
    matrix, right = sums(layout, centred / scale)
    total = float(np.sum((centred / scale) ** 2))
    shares, beyond, freedom, rank = (balanced if full else shapley)(layout, matrix, right, total)
    left: float | None = max(0.0, 1 - sum(shares)) * total
    weights = weights_of(table.noise)
    if weights is not None and matrix.ndim == 1:
        left = None
    elif weights is not None:
        left = left_over(layout, centred / scale, weights)
        beyond = [left_over(layout.without(a), centred / scale, weights) - left for a in range(len(layout.sizes))]
    return _Model(centred / scale, scale, matrix, right, total, shares, beyond, freedom, rank, left)


def weights_of(noise: Noise | None) -> FloatArray | None:
    """The mean variance of the cells over that of each; `None` where they are alike, or estimated with the values."""
    if noise is None or noise.kind == "trials" or np.ptp(noise.error) == 0:
        return None
    return np.asarray(np.mean(noise.error**2) / noise.error**2, dtype=np.float64)


def axis_share(
    model: _Model, layout: Layout, tests: "LogitTests | None", a: int, cells: int, levels: tuple[LevelMean, ...]
) -> AxisShare:
    df = model.freedom[a]
    if tests is not None and df > 0:
        return AxisShare(model.shares[a], df, levels, tests.axes[a], "lr_logit")
    rest, left = model.left, cells - model.rank
    # A rest that is rounding errors alone would make any axis significant.
    if df < 1 or left < 1 or rest is None or rest <= 1e-12 * model.total:
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
) -> tuple[list[float], list[float], list[int], int]:
    """Shares of a full grid, where axes are orthogonal, what each explains by how many ranks, and the rank of all."""
    counts = matrix if matrix.ndim == 1 else np.diag(matrix)
    parts = [float(part.sum()) for part in np.split(right**2 / counts, layout.offsets[1:-1])]
    return [part / total for part in parts], parts, [size - 1 for size in layout.sizes], layout.full_rank


def shapley(
    layout: Layout, matrix: FloatArray, right: FloatArray, total: float
) -> tuple[list[float], list[float], list[int], int]:
    """Shares of a ragged grid, averaged over the orders in which axes may enter, and what each adds as the last: to
    what is explained, and to the rank."""
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
    (most, rank), less = worth[everyone], [worth[everyone[:a] + everyone[a + 1 :]] for a in everyone]
    return shares, [most - part for part, _ in less], [rank - lower for _, lower in less], rank


def residual(noise: Noise | None, model: _Model, df: int, tests: "LogitTests | None") -> Residual:
    """The rest, against known noise where there is any."""
    share, logit = model.rest, tests.interaction if tests else None
    if noise is None or df < 1 or model.left is None:
        return Residual(share, df, None, None, logit)
    variance = float(np.mean(noise.error**2))
    chi2 = model.left * model.scale**2 / variance
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


@dataclass(frozen=True)
class Equations:
    """The normal equations of the additive model of centred values, and its rank. The matrix is its diagonal alone
    where axes are very long. `effects` are those of the logit-additive model, where it was fitted."""

    matrix: FloatArray
    right: FloatArray
    rank: int
    effects: FloatArray | None = None

    @property
    def counts(self) -> FloatArray:
        """The cells of every level."""
        return self.matrix if self.matrix.ndim == 1 else np.diag(self.matrix)


def level_means(
    table: Table, layout: Layout, levels: list[list[int]], equations: Equations, noise: Noise | None, alpha: float
) -> list[list[LevelMean]]:
    """Per axis and level; adjusted means are `None` where effects cannot be told apart."""
    mean = float(table.values[table.present].mean())
    means = mean + equations.right / equations.counts
    low, high = ends_of(table, layout, equations.counts, means, noise, alpha)
    plain, logit = adjusted(table, layout, equations, mean, noise)
    found = []
    for a, span in enumerate(layout.spans):
        names, raw = [table.levels[a][level] for level in levels[a]], means[span].tolist()
        intervals = [
            between(table, *ends, 1 - alpha) for ends in zip(low[span].tolist(), high[span].tolist(), strict=True)
        ]
        rest = ([None] * len(raw) if part is None else part[a].tolist() for part in (plain, logit))
        outside = beyond(table, None if plain is None else plain[a], len(raw))
        found.append([LevelMean(*row) for row in zip(names, raw, intervals, *rest, outside, strict=True)])
    return found


def beyond(table: Table, means: FloatArray | None, count: int) -> list[bool]:
    """Whether each adjusted mean is outside the metric's bounds by more than rounding."""
    if means is None:
        return [False] * count
    ends = (table.metric.lower, -1), (table.metric.upper, 1)
    slack = ROUNDING * np.abs(table.values[table.present]).max()
    outside = [side * (means - end) > slack for end, side in ends if end is not None]
    return np.any(outside, axis=0).tolist() if outside else [False] * count


def between(table: Table, low: float, high: float, level: float) -> Interval | None:
    """The interval of a mean within the metric's bounds, if its error is known."""
    if not math.isfinite(high - low):
        return None
    return within(Interval(level, low, high), table.metric.lower, table.metric.upper)


def ends_of(
    table: Table, layout: Layout, counts: FloatArray, raw: FloatArray, noise: Noise | None, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """The ends of the interval of each level's raw mean, as series and tables have them (`means`); NaN without one."""
    if noise is not None and noise.k is not None and noise.n is not None:
        share, variance = shares_and_variances(noise.k, noise.n)
        sums = totals(layout, share) / counts, totals(layout, variance) / counts**2
        low, high = wilson_limits(raw / noise.whole, *sums, alpha, counts > 1)
        return low * noise.whole, high * noise.whole
    reach = reaches(table, layout, counts, raw, noise, alpha)
    return raw - reach, raw + reach


def reaches(
    table: Table, layout: Layout, counts: FloatArray, raw: FloatArray, noise: Noise | None, alpha: float
) -> FloatArray:
    """Half-width of the interval of each level's raw mean; NaN for cells, or repeats of them, that all agree."""
    if noise is not None and noise.kind == "repeats" and table.stderr is not None and table.repeats is not None:
        # Each cell with the variance of its own repeats, and Satterthwaite's degrees of freedom.
        own, free = table.stderr[table.present] ** 2, table.repeats[table.present] - 1.0
        variance, uncertain = totals(layout, own), totals(layout, own**2 / free)
        df = np.divide(variance**2, uncertain, out=np.full(counts.shape, np.inf), where=uncertain > 0)
        return np.where(variance > 0, stdtrit(df, 1 - alpha / 2) * np.sqrt(variance) / counts, np.nan)
    if noise is not None:
        return reach_of(1 - alpha) * np.sqrt(totals(layout, noise.error**2)) / counts
    values = table.values[table.present]
    squares = totals(layout, values**2) - counts * raw**2
    freedom = np.maximum(counts - 1, 1)
    error = np.sqrt(np.maximum(squares, 0.0) / freedom / counts)
    quantiles = np.array([reach_of(1 - alpha, float(df)) for df in freedom.tolist()])
    # Cells that all agree say nothing of how far their mean could be off.
    return np.where((counts > 1) & (error > 1e-12 * np.abs(raw)), quantiles * error, np.nan)


def adjusted(
    table: Table, layout: Layout, equations: Equations, mean: float, noise: Noise | None
) -> tuple[list[FloatArray] | None, list[FloatArray] | None]:
    """The additive and the logit-additive means of all levels, by axis."""
    if equations.matrix.ndim == 1 or equations.rank < layout.full_rank:
        return None, None
    effects = np.split(solve(layout, equations.matrix, equations.right), layout.offsets[1:-1])
    centre = mean + sum(float(part.mean()) for part in effects)
    return [centre + part - part.mean() for part in effects], logit_means(table, layout, equations.effects, noise)


def logit_means(
    table: Table, layout: Layout, effects: FloatArray | None, noise: Noise | None
) -> list[FloatArray] | None:
    """Means of the fitted proportions over all combinations of observed levels, in the metric's unit."""
    whole = table.metric.proportion_of
    if whole is None:
        return None
    if effects is None:
        effects = fitted_effects(table, layout, whole, noise)
    if effects is None:
        return None
    parts = np.split(effects, layout.offsets[1:-1])
    grid = np.zeros(layout.sizes)
    for a, part in enumerate(parts):
        grid = grid + part.reshape([-1 if i == a else 1 for i in range(len(parts))])
    fitted = np.asarray(expit(grid) * whole, dtype=np.float64)
    return [by_level(fitted, a).mean(axis=1) for a in range(len(parts))]


def fitted_effects(table: Table, layout: Layout, whole: float, noise: Noise | None) -> FloatArray | None:
    """The logit-additive fit of the counts, or of fractions that all lie inside the bounds."""
    if noise is not None and noise.k is not None and noise.n is not None:
        return logistic(layout, *half_counts_added(noise.k, noise.n))
    share = table.values[table.present] / whole
    return logistic(layout, share, np.ones(table.cells)) if share.min() > 0 and share.max() < 1 else None


@dataclass(frozen=True)
class LogitTests:
    """The interaction, and for each axis the p that it does not matter beside the others; `effects` are the fit."""

    interaction: LogitInteraction
    axes: tuple[float | None, ...]
    effects: FloatArray


def logit_tests(layout: Layout, noise: Noise | None, alpha: float) -> LogitTests | None:
    """The tests of axes whose effects can be told apart; `None` without trials, or where nothing is left over."""
    if noise is None or noise.k is None or noise.n is None:
        return None
    df = int(noise.k.size) - layout.full_rank
    if df < 1:
        return None
    k, n = half_counts_added(noise.k, noise.n)
    effects = logistic(layout, k, n)
    if effects is None:
        return None
    logits = predict(layout, effects)
    share = expit(logits)
    chi2 = float(np.sum((k - n * share) ** 2 / (n * share * (1 - share))))
    best, least = log_likelihood(k, n, logits), chi2
    if np.min(n * np.minimum(share, 1 - share)) < FEWEST_IN_A_CELL:
        least = min(chi2, 2 * (log_likelihood(k, n, logit(k / n)) - best))
    found = LogitInteraction(chi2, df, chi2 / df, max(SMALLEST_P, float(chdtrc(df, least))))
    axes = tuple(axis_p(layout, a, k, n, best, found, alpha) for a in range(len(layout.sizes)))
    return LogitTests(found, axes, effects)


def axis_p(
    layout: Layout, a: int, k: FloatArray, n: FloatArray, best: float, found: LogitInteraction, alpha: float
) -> float | None:
    """The p of one axis, by how much the likelihood loses without it; of rare outcomes no less than by the score."""
    df = layout.sizes[a] - 1
    rest = layout.without(a)
    logits = one_axis(rest, k, n) if len(rest.sizes) == 1 else several_axes(rest, k, n)
    if df < 1 or logits is None:
        return None
    lr = max(0.0, 2 * (best - log_likelihood(k, n, logits)))
    share = expit(logits)
    if np.bincount(layout.codes[a], n * np.minimum(share, 1 - share)).min() < FEWEST_EXPECTED:
        lr = min(lr, score(layout, k, n, share))
    if found.p >= alpha:
        return max(SMALLEST_P, float(chdtrc(df, lr)))
    return max(SMALLEST_P, float(fdtrc(df, found.df, lr / df / max(1.0, found.over_noise))))


def one_axis(layout: Layout, k: FloatArray, n: FloatArray) -> FloatArray:
    """The fitted log-odds of a single axis: those of its levels."""
    (code,), (size,) = layout.codes, layout.sizes
    hits, trials = np.bincount(code, k, size), np.bincount(code, n, size)
    # Never 0: half counts are added.
    return np.asarray(np.log(hits / (trials - hits))[code], dtype=np.float64)


def several_axes(layout: Layout, k: FloatArray, n: FloatArray) -> FloatArray | None:
    """The fitted log-odds of the additive model of several axes."""
    effects = logistic(layout, k, n)
    return None if effects is None else predict(layout, effects)
