"""Two grids on some of the cells that they share: who wins more of them, the mean gap and its test."""

from __future__ import annotations

import math

import numpy as np

from registry.grids.grid import Direction
from registry.results.gaps import Contrast, GapTest
from workers.statistics.pairs import pair_table
from workers.statistics.score_matrix import ScoreMatrix


def contrast(
    standings: ScoreMatrix, direction: Direction | None, alpha: float, work: int
) -> tuple[Contrast, tuple[str, ...]]:
    """The contender against the baseline over all slots of the standings, which both have, and what that assumes."""
    if standings.values.shape[1] == 0:
        return Contrast("not_comparable", reason="no common cell"), ()
    table = pair_table(standings, alpha, work=work)
    [pair] = table.pairs
    gaps = (standings.ticks[0] - standings.ticks[1]) / 10.0**standings.decimals
    test = GapTest(
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
