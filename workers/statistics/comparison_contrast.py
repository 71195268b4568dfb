"""Two grids on some of the cells that they share: who wins more of them, the mean gap and its test."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from registry.grids.grid import Direction
from registry.results.terms import Interval, Reason, Status
from workers.statistics.pairs import pair_table
from workers.statistics.score_matrix import ScoreMatrix


@dataclass(frozen=True, slots=True)
class Test:
    """Whether the mean gap differs from 0, were these very cells run again: `difference` is the estimate that
    `interval`, `stderr` and `p` belong to, Mantel and Haenszel's where only trials speak for the noise, else the mean.
    `df` are the degrees of freedom of its error (`None`: the normal law), `detectable` the smallest difference that
    would be seen with a power of 80 %."""

    status: Status
    name: str | None = None
    difference: float | None = None
    interval: Interval | None = None
    stderr: float | None = None
    df: float | None = None
    p: float | None = None
    p_holm: float | None = None
    detectable: float | None = None
    min_attainable_p: float | None = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """Some cells: the contender's wins, ties and losses (`None` for a metric without a better end) and its gap in
    the metric's unit; `not_comparable` without a common cell."""

    status: Status
    n_common: int = 0
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    mean: float | None = None
    median: float | None = None
    test: Test | None = None
    reason: Reason = None


def contrast(
    standings: ScoreMatrix, direction: Direction | None, alpha: float, work: int
) -> tuple[Contrast, tuple[str, ...]]:
    """The contender against the baseline over all slots of the standings, which both have, and what that assumes."""
    if standings.values.shape[1] == 0:
        return Contrast("not_comparable", reason="no common cell"), ()
    table = pair_table(standings, alpha, work=work)
    [pair] = table.pairs
    gaps = (standings.ticks[0] - standings.ticks[1]) / 10.0**standings.decimals
    test = Test(
        pair.status,
        pair.test,
        pair.difference,
        pair.interval,
        pair.stderr,
        pair.df,
        pair.p,
        None,
        pair.detectable,
        pair.min_attainable_p,
        pair.reason,
    )
    wins, ties, losses = (pair.wins, pair.ties, pair.losses) if direction else (None, None, None)
    mean, median = math.fsum(gaps.tolist()) / gaps.size, float(np.median(gaps))
    return Contrast("ok", pair.n_common, wins, ties, losses, mean, median, test), table.assumes
