"""The pairwise table: every two names on the slots that both have. It is the primary result of a ranking."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import erfc, ndtri, stdtrit

from workers.statistics.mantel import risk_difference
from workers.statistics.multiplicity import adjusted
from workers.statistics.signs import ALL_WORK, WORK, SignTest, sign_flip
from workers.statistics.standings import Standings
from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray, Interval, Status

Target = Literal["fixed_cells", "new_benchmarks"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two names on their common slots; wins, ties and losses are a's, the differences a minus b in the unit.

    `mean_difference` weighs slots equally within a benchmark and benchmarks equally; `difference` is the
    estimate that `interval` and `p` belong to: the same, or Mantel and Haenszel's where trials are known.
    `not_comparable` without a common slot; `insufficient` where no p below alpha was attainable.
    """

    a: str
    b: str
    status: Status
    n_common: int
    wins: int
    ties: int
    losses: int
    target: Target
    difference: float | None = None
    mean_difference: float | None = None
    interval: Interval | None = None
    p: float | None = None
    p_holm: float | None = None
    min_attainable_p: float | None = None
    test: str | None = None
    reason: str | None = None


def pair_table(standings: Standings, alpha: float, target: Target) -> tuple[Pair, ...]:
    """All pairs in the order of the names, with Holm's adjustment over those that have a p."""
    couples = list(itertools.combinations(range(len(standings.names)), 2))
    work = min(WORK, ALL_WORK // max(1, len(couples)))
    found = [compare(standings, i, j, alpha, target, work) for i, j in couples]
    corrected = adjusted([pair.p for pair in found], "holm")
    return tuple(replace(pair, p_holm=p) for pair, p in zip(found, corrected, strict=True))


def compare(standings: Standings, i: int, j: int, alpha: float, target: Target, work: int) -> Pair:
    """One pair."""
    slots = np.flatnonzero(standings.present[i] & standings.present[j])
    names = standings.names[i], standings.names[j]
    if slots.size == 0:
        reason = "the two have no slot in common"
        return Pair(*names, "not_comparable", 0, 0, 0, 0, target, reason=reason)
    moves = standings.ticks[i, slots] - standings.ticks[j, slots]
    signs = np.sign(moves) * standings.sign
    mean = float(standings.weights(slots) @ moves) / 10.0**standings.decimals
    base = Pair(
        *names,
        status="ok",
        n_common=int(slots.size),
        wins=int(np.count_nonzero(signs > 0)),
        ties=int(np.count_nonzero(signs == 0)),
        losses=int(np.count_nonzero(signs < 0)),
        target=target,
        difference=None if standings.mixed else mean,
        mean_difference=None if standings.mixed else mean,
    )
    if standings.mixed:
        return by_signs(base, sign_flip(signs.tolist(), work), alpha)
    if target == "new_benchmarks":
        return by_clusters(base, standings, slots, moves, alpha, work)
    return (
        by_trials(base, standings, i, j, slots, alpha)
        or by_errors(base, standings, i, j, slots, alpha)
        or by_slots(base, standings, slots, moves, alpha, work)
    )


def by_trials(base: Pair, standings: Standings, i: int, j: int, slots: IntArray, alpha: float) -> Pair | None:
    """The Mantel–Haenszel difference, where every common cell of both names has trials."""
    whole, k, n = standings.proportion_of, standings.successes, standings.trials
    if k is None or n is None or whole is None or not (np.all(n[i, slots] > 0) and np.all(n[j, slots] > 0)):
        return None
    found = risk_difference(k[i, slots], n[i, slots], k[j, slots], n[j, slots], 1 - alpha)
    interval = found.interval and Interval(1 - alpha, found.interval.low * whole, found.interval.high * whole)
    return replace(base, difference=found.difference * whole, interval=interval, p=found.p, test=found.test)


def by_errors(base: Pair, standings: Standings, i: int, j: int, slots: IntArray, alpha: float) -> Pair | None:
    """The z of the weighted mean difference, where every common cell of both names has a standard error."""
    if standings.stderr is None or base.difference is None:
        return None
    variance = standings.stderr[i, slots] ** 2 + standings.stderr[j, slots] ** 2
    if not np.all(variance > 0):
        return None
    error = math.sqrt(float(standings.weights(slots) ** 2 @ variance))
    reach = float(ndtri(1 - alpha / 2)) * error
    p = max(SMALLEST_P, float(erfc(abs(base.difference) / error / math.sqrt(2))))
    interval = Interval(1 - alpha, base.difference - reach, base.difference + reach)
    return replace(base, interval=interval, p=p, test="z")


def by_slots(base: Pair, standings: Standings, slots: IntArray, moves: IntArray, alpha: float, work: int) -> Pair:
    """The exact sign-flip test of the weighted mean over slots."""
    counts = np.bincount(standings.benchmarks[slots])[standings.benchmarks[slots]]
    common = math.lcm(*set(counts.tolist()))
    weighted = [move * (common // count) for move, count in zip(moves.tolist(), counts.tolist(), strict=True)]
    interval = t_interval(moves / 10.0**standings.decimals, standings.weights(slots), alpha)
    return by_signs(replace(base, interval=interval), sign_flip(weighted, work), alpha)


def by_clusters(base: Pair, standings: Standings, slots: IntArray, moves: IntArray, alpha: float, work: int) -> Pair:
    """The same over the mean differences of benchmarks: would other benchmarks agree?"""
    owners = standings.benchmarks[slots]
    used, place, counts = np.unique(owners, return_inverse=True, return_counts=True)
    sums = np.bincount(place, weights=moves, minlength=used.size)
    common = math.lcm(*counts.tolist())
    whole = [round(s) * (common // c) for s, c in zip(sums.tolist(), counts.tolist(), strict=True)]
    means = sums / counts / 10.0**standings.decimals
    interval = t_interval(means, np.full(used.size, 1 / used.size), alpha)
    return by_signs(replace(base, interval=interval), sign_flip(whole, work), alpha, "_over_benchmarks")


def by_signs(base: Pair, found: SignTest, alpha: float, suffix: str = "") -> Pair:
    """Adds the outcome of a sign test."""
    possible = found.min_attainable_p < alpha
    return replace(
        base,
        status="ok" if possible else "insufficient",
        p=found.p,
        min_attainable_p=found.min_attainable_p,
        test=found.test + suffix,
        reason=None if possible else f"no signs of these differences have a p below {alpha}",
    )


def t_interval(differences: FloatArray, weights: FloatArray, alpha: float) -> Interval | None:
    """Student's interval of a weighted mean difference of m >= 2 slots, with m - 1 degrees of freedom."""
    count = int(differences.size)
    if count < 2:
        return None
    mean = float(weights @ differences)
    variance = float(np.sum((weights * (differences - mean)) ** 2)) * count / (count - 1)
    reach = float(stdtrit(count - 1, 1 - alpha / 2)) * math.sqrt(variance)
    return Interval(1 - alpha, mean - reach, mean + reach)
