"""Cells of a ranking: the value of each in whole ticks, and its noise.

A posted standard error goes before trials, for who posts both knows something that the trials do not say; trials go
before errors that were estimated from repeats. A binomial error is taken at (k + 1/2) / (n + 1), so that it is never
0 (Agresti and Coull 1998 shift in this way). A design effect divides trials and successes alike (Kish 1965, 8.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workers.statistics.item_variances import Both, Objects, item_variances
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.terms import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Cells:
    """M names x S slots, the slots of each benchmark side by side.

    A difference in a slot is that of the `ticks` times 10^-decimals. `n` and `k` are effective trials and successes, 0
    where the noise of a cell is not binomial; `whole` is 1 or 100 where they exist. `variance` is NaN where unknown,
    `df` its degrees of freedom, infinite unless it was estimated from repeats. `question` is the bound on the
    variance of a cell under other questions, NaN where their number is unknown. `starts` are the first slots of the
    benchmarks, `benchmarks` their indices. `independent` says where only trials without a posted design effect
    speak for the noise. `items` are the outcomes of items; None without any.
    """

    present: BoolArray
    ticks: IntArray
    decimals: IntArray
    sign: int
    n: FloatArray
    k: FloatArray
    whole: float
    variance: FloatArray
    df: FloatArray
    question: FloatArray
    independent: BoolArray
    starts: IntArray
    benchmarks: IntArray
    items: Objects | None = None

    @cached_property
    def owners(self) -> IntArray:
        """The benchmark of each slot, numbered as in `benchmarks`."""
        sizes = np.diff(np.append(self.starts, self.present.shape[1]))
        return np.repeat(np.arange(sizes.size), sizes)

    @cached_property
    def both_item_variances(self) -> Both | None:
        """Variances of all differences, for slots that weigh the same and by trials; None without outcomes of items."""
        if self.items is None:
            return None
        given = self.items, self.n, self.present, [*self.starts.tolist(), self.present.shape[1]]
        return item_variances(*given, by_trials=False), item_variances(*given, by_trials=True)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of names and of slots."""
        return len(self.present), int(self.present.shape[1])


def cells_of(standings: ScoreMatrix) -> Cells:
    """The cells of the standings."""
    order = np.argsort(standings.benchmarks, kind="stable")
    benchmarks, starts = np.unique(standings.benchmarks[order], return_index=True)
    n, k, variance, df, independent = noise(standings)
    return Cells(
        standings.present[:, order],
        standings.ticks[:, order],
        standings.decimals[order],
        standings.sign,
        n[:, order],
        k[:, order],
        standings.proportion_of or 1.0,
        variance[:, order],
        df[:, order],
        of_questions(standings, variance)[:, order],
        independent[:, order],
        starts,
        benchmarks,
        None if standings.items is None else standings.items[:, order],
    )


def noise(standings: ScoreMatrix) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, BoolArray]:
    """Effective trials and successes, variances and their degrees of freedom, and where independence is assumed."""
    shape, whole = standings.values.shape, standings.proportion_of
    error = np.full(shape, np.nan) if standings.stderr is None else standings.stderr
    repeats = np.zeros(shape, dtype=np.int64) if standings.repeats is None else standings.repeats
    posted = (error > 0) & (repeats == 0)
    n, k = np.zeros(shape), np.zeros(shape)
    posted_effect = np.zeros(shape, dtype=np.bool_)
    if whole and standings.trials is not None and standings.successes is not None:
        effect = np.ones(shape)
        if standings.design_effect is not None:
            posted_effect = np.isfinite(standings.design_effect)
            effect = np.where(posted_effect, standings.design_effect, 1.0)
        binomial = ~posted & standings.present
        n, k = np.where(binomial, standings.trials / effect, 0.0), np.where(binomial, standings.successes / effect, 0.0)
    # Half a success and half a failure more, so that a share of 0 or 1 has a variance too.
    share = (k + 0.5) / (n + 1)
    of_trials = share * (1 - share) / np.maximum(n, 1e-300) * (whole or 1.0) ** 2
    estimated = (repeats > 1) & (error >= 0) & (n == 0)
    variance = np.where(posted | estimated, error**2, np.where(n > 0, of_trials, np.nan))
    # An error that is known has infinitely many degrees of freedom; its part in Satterthwaite's sum is then 0.
    df = np.where(estimated, np.maximum(repeats - 1.0, 1.0), np.inf)
    return n, k, variance, df, np.asarray((n > 0) & ~posted_effect, dtype=np.bool_)


def of_questions(standings: ScoreMatrix, variance: FloatArray) -> FloatArray:
    """The bound p (1 - p) / questions on the variance of a proportion under other questions; NaN where unknown.

    Samples of one question agree at most completely: then every question counts as one trial (Miller 2024,
    arXiv 2411.00640, section 2.2). Where the noise of the cell by itself is larger, by a posted error or a design
    effect, it counts in its place: other questions cannot be surer than the same ones again.
    """
    whole = standings.proportion_of
    if whole is None or standings.questions is None:
        return np.full(standings.values.shape, np.nan)
    asked = standings.questions.astype(np.float64)
    share = (np.where(standings.present, standings.values, 0.0) / whole * asked + 0.5) / (asked + 1)
    bound = share * (1 - share) / np.maximum(asked, 1) * whole**2
    # fmax, not maximum: a variance that is NaN, so unknown, leaves the bound.
    bound = np.fmax(bound, variance)
    return np.asarray(np.where(asked > 0, bound, np.nan), dtype=np.float64)
