"""The mean of every level of every axis: raw with its interval, and as if the level had a cell everywhere.

Adjusted means are those of the additive model; of proportions on the logit scale as well, where an adjusted accuracy
cannot exceed 100 %. Proportions without trials are fitted as fractions (Papke and Wooldridge 1996), which needs all of
them inside the bounds: no trials are invented for a cell of 100 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from registry.results.sensitivity import LevelMean
from registry.results.terms import Interval
from workers.statistics.additive import Layout, logistic, solve, totals
from workers.statistics.noise import Noise
from workers.statistics.table import Table, by_level
from workers.statistics.terms import FloatArray, reach_of, within


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
    reach = reaches(table, layout, equations.counts, means, noise, alpha)
    plain, logit = adjusted(table, layout, equations, mean, noise)
    found = []
    for a, span in enumerate(layout.spans):
        names, raw = [table.levels[a][level] for level in levels[a]], means[span].tolist()
        intervals = [around(table, *ends, 1 - alpha) for ends in zip(raw, reach[span].tolist(), strict=True)]
        rest = ([None] * len(raw) if part is None else part[a].tolist() for part in (plain, logit))
        found.append([LevelMean(*row) for row in zip(names, raw, intervals, *rest, strict=True)])
    return found


def around(table: Table, mean: float, reach: float, level: float) -> Interval | None:
    """The interval of a mean within the metric's bounds, if its error is known."""
    if not math.isfinite(reach):
        return None
    return within(Interval(level, mean - reach, mean + reach), table.metric.lower, table.metric.upper)


def reaches(
    table: Table, layout: Layout, counts: FloatArray, raw: FloatArray, noise: Noise | None, alpha: float
) -> FloatArray:
    """Half-width of the interval of each level's raw mean; NaN for a single cell without noise."""
    if noise is not None:
        return reach_of(1 - alpha, noise.df) * np.sqrt(totals(layout, noise.error**2)) / counts
    values = table.values[table.present]
    squares = totals(layout, values**2) - counts * raw**2
    freedom = np.maximum(counts - 1, 1)
    error = np.sqrt(np.maximum(squares, 0.0) / freedom / counts)
    quantiles = np.array([reach_of(1 - alpha, float(df)) for df in freedom.tolist()])
    return np.where(counts > 1, quantiles * error, np.nan)


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
        return logistic(layout, noise.k + 0.5, noise.n + 1)
    share = table.values[table.present] / whole
    return logistic(layout, share, np.ones(table.cells)) if share.min() > 0 and share.max() < 1 else None
