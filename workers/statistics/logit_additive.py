"""The additive model of proportions with trials on the logit scale: does an axis matter, and do the axes interact?

McCullagh and Nelder (1989), ch. 4: Pearson's statistic of the additive fit tests the interaction. The likelihood ratio
of an axis is chi-squared where no interaction is shown; else it is divided by that statistic over its degrees of
freedom and referred to F. Half a success
and half a failure are added to every cell (Anscombe 1956), so that the fit exists where a level has only successes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, expit, fdtrc

from registry.results.sensitivity import LogitInteraction
from workers.statistics.additive import Layout, log_likelihood, logistic, predict
from workers.statistics.noise import Noise
from workers.statistics.terms import SMALLEST_P, FloatArray


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
    k, n = noise.k + 0.5, noise.n + 1
    effects = logistic(layout, k, n)
    if effects is None:
        return None
    logits = predict(layout, effects)
    share = expit(logits)
    chi2 = float(np.sum((k - n * share) ** 2 / (n * share * (1 - share))))
    found = LogitInteraction(chi2, df, chi2 / df, max(SMALLEST_P, float(chdtrc(df, chi2))))
    best = log_likelihood(k, n, logits)
    axes = tuple(axis_p(layout, a, k, n, best, found, alpha) for a in range(len(layout.sizes)))
    return LogitTests(found, axes, effects)


def axis_p(
    layout: Layout, a: int, k: FloatArray, n: FloatArray, best: float, found: LogitInteraction, alpha: float
) -> float | None:
    """The p of one axis, by how much the likelihood loses without it."""
    df = layout.sizes[a] - 1
    others = [i for i in range(len(layout.sizes)) if i != a]
    rest = Layout(tuple(layout.codes[i] for i in others), tuple(layout.sizes[i] for i in others))
    logits = one_axis(rest, k, n) if len(others) == 1 else several_axes(rest, k, n)
    if df < 1 or logits is None:
        return None
    lr = max(0.0, 2 * (best - log_likelihood(k, n, logits)))
    if found.p >= alpha:
        return max(SMALLEST_P, float(chdtrc(df, lr)))
    return max(SMALLEST_P, float(fdtrc(df, found.df, lr / df / max(1.0, found.over_noise))))


def one_axis(layout: Layout, k: FloatArray, n: FloatArray) -> FloatArray:
    """The fitted log-odds of a single axis: those of its levels."""
    (code,), (size,) = layout.codes, layout.sizes
    hits, trials = np.bincount(code, k, size), np.bincount(code, n, size)
    # Never 0: every cell has half a success and half a failure more.
    return np.asarray(np.log(hits / (trials - hits))[code], dtype=np.float64)


def several_axes(layout: Layout, k: FloatArray, n: FloatArray) -> FloatArray | None:
    """The fitted log-odds of the additive model of several axes."""
    effects = logistic(layout, k, n)
    return None if effects is None else predict(layout, effects)
