"""The pairs of a ranking from sums of pairs, as `pairs.Desk` writes them from cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from scipy.special import stdtrit

from registry.results.pairs import Pair
from registry.results.ranking import Ranking
from registry.results.terms import Interval
from workers.statistics.counted import Counted, SumEvidence
from workers.statistics.pairs import APART, couples
from workers.statistics.terms import detectable


def listed_pairs(counted: Counted, evidence: SumEvidence, frame: Ranking, order: Sequence[int]) -> tuple[Pair, ...]:
    """The pairs that a ranking lists, in this order of the names."""
    chosen = couples(counted.names, order, frame.pairs_of)
    return tuple(pair_of(counted, evidence, i, j, frame) for i, j in chosen)


def record_of(counted: Counted, larger: int, ties: int, smaller: int) -> tuple[int, int, int]:
    """Wins, ties and losses: where lower is better, smaller values win."""
    return (larger, ties, smaller) if counted.sign > 0 else (smaller, ties, larger)


def pair_of(counted: Counted, evidence: SumEvidence, i: int, j: int, frame: Ranking) -> Pair:
    """One pair as `pairs.compare` writes it."""
    names, estimand = (counted.names[i], counted.names[j]), evidence.estimand
    if not counted.linked[i, j]:
        return Pair(*names, "not_comparable", 0, 0, 0, 0, 0, None, frame.target, estimand, reason=APART)
    common, ties = int(counted.common[i, j]), int(counted.equal[i, j])
    larger = int(counted.larger[i, j])
    possible = bool(evidence.least[i, j] < frame.alpha)
    base = Pair(
        *names,
        "ok" if possible else "insufficient",
        common,
        int(counted.benchmarks[i, j]),
        *record_of(counted, larger, ties, common - ties - larger),
        float(counted.lead[i, j]),
        frame.target,
        estimand,
        p=float(evidence.p[i, j]),
        p_holm=float(evidence.p_holm[i, j]),
        min_attainable_p=float(evidence.least[i, j]),
        test="sign_flip_normal" + ("_over_benchmarks" if frame.target == "new_benchmarks" else ""),
        reason=None if possible else f"no signs of these differences have a p below {frame.alpha}",
    )
    return _estimated(base, counted, evidence, i, j, frame.alpha) if estimand == "difference" else base


def _estimated(base: Pair, counted: Counted, evidence: SumEvidence, i: int, j: int, alpha: float) -> Pair:
    """Adds the difference and, where there is one, its standard error."""
    difference = float(counted.mean[i, j]) * counted.unit
    error, df = float(evidence.stderr[i, j]) * counted.unit, float(evidence.df[i, j])
    if not math.isfinite(error):
        return replace(base, difference=difference)
    reach = float(stdtrit(df, 1 - alpha / 2)) * error
    return replace(
        base,
        difference=difference,
        interval=Interval(1 - alpha, difference - reach, difference + reach),
        stderr=error,
        df=df,
        detectable=detectable(error, alpha) if base.status == "ok" else None,
    )
