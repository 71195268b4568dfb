"""How the ranks spread when benchmarks are drawn again: would other benchmarks of this kind agree?

The bootstrap of Efron (1979) over clusters. With 2 to 7 benchmarks its law is enumerated: every multiset of as many
benchmarks, weighted by its multinomial probability (Fisher and Hall 1991, Biometrika 78, 157-167). From 8 up so many
multisets are drawn, by a generator whose stream is fixed (PCG64, `SEED`), so that equal inputs give equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from workers.statistics.blocks import ranks_of
from workers.statistics.orders import Method, Missing, block_goodness, helm_rates, prepared
from workers.statistics.ranks import rank_rows
from workers.statistics.standings import Standings
from workers.statistics.strengths import bradley_terry, reaches_all
from workers.statistics.tally import parts_of
from workers.statistics.terms import BoolArray, FloatArray, IntArray, Status

ENUMERATED = 7
"""Benchmarks up to which every multiset is looked at: 1,716 at seven."""
DRAWS = 2_000
SEED = 20_260_101
MOST_WORK = 1_000_000_000
"""Operations that all resamples of a component may cost together (their number times `cost`); above it none is
made."""
MOST_SHARES = 50
"""Names up to which the probability of each rank is listed."""

Law = Literal["enumeration", "bootstrap"]


@dataclass(frozen=True, slots=True)
class RankShare:
    """The probability of a rank."""

    rank: int
    share: float


@dataclass(frozen=True, slots=True)
class Spread:
    """One name: its rank, the central interval of its ranks at the level of the resampling, their median, and the
    probability of being first (shared first ranks count)."""

    name: str
    rank: int
    low: int
    median: int
    high: int
    first: float
    shares: tuple[RankShare, ...]


@dataclass(frozen=True, slots=True)
class Resampling:
    """The ranks of one component under resampled benchmarks.

    `resamples` multisets were looked at; `seed` belongs to `bootstrap`. `ranked` is the probability that a resample
    leaves the names connected and the order defined: all else holds given that.
    """

    status: Status
    component: int
    benchmarks: int
    level: float
    law: Law | None = None
    resamples: int = 0
    seed: int | None = None
    ranked: float | None = None
    names: tuple[Spread, ...] = ()
    reason: str | None = None


def resampling(
    standings: Standings, method: Method, missing: Missing, ranks: IntArray, level: float, number: int
) -> Resampling:
    """Resamples the benchmarks of names that form the component of this number."""
    benchmarks = int(np.unique(standings.benchmarks).size)
    frame = Resampling("ok", number, benchmarks, level)
    if found := obstacle(standings, method, benchmarks):
        return replace(frame, status=found[0], reason=found[1])
    enumerated = benchmarks <= ENUMERATED
    counts, weights = multisets(benchmarks) if enumerated else draws(benchmarks)
    law: Law = "enumeration" if enumerated else "bootstrap"
    frame = replace(frame, law=law, resamples=len(counts), seed=None if enumerated else SEED)
    again = ranks_again(standings, method, missing, counts)
    there = np.flatnonzero(again[:, 0] > 0)
    ranked = float(weights[there].sum() / weights.sum())
    if there.size == 0:
        return replace(frame, status="undefined", ranked=0.0, reason="no resample leaves the names connected")
    chances = weights[there] / weights[there].sum()
    spreads = tuple(
        spread(name, int(ranks[i]), again[there, i], chances, level, len(ranks) <= MOST_SHARES)
        for i, name in enumerate(standings.names)
    )
    return replace(frame, ranked=ranked, names=spreads)


def obstacle(standings: Standings, method: Method, benchmarks: int) -> tuple[Status, str] | None:
    """Why there is nothing to resample, or too much, if so."""
    if len(standings.names) < 2:
        return "insufficient", "one name has one rank"
    if benchmarks < 2:
        return "insufficient", "one benchmark cannot be resampled"
    if method == "adjusted_mean":
        return "undefined", "adjusted means are not resampled: each would need a fit"
    resamples = math.comb(2 * benchmarks - 1, benchmarks) if benchmarks <= ENUMERATED else DRAWS
    work = resamples * cost(standings, method, benchmarks)
    if work > MOST_WORK:
        return "insufficient", f"the resamples would take {work:.2g} operations; at most {MOST_WORK:.2g} are made"
    return None


def multisets(size: int) -> tuple[IntArray, FloatArray]:
    """How often each of `size` benchmarks is in every multiset of as many, and in how many ordered draws that is:
    whole numbers that sum to size^size."""
    counts = np.array(list(compositions(size, size)), dtype=np.int64)
    factorials = np.array([math.factorial(i) for i in range(size + 1)], dtype=np.int64)
    return counts, (factorials[size] // factorials[counts].prod(axis=1)).astype(np.float64)


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to write a total as so many numbers from 0 up."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total, -1, -1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def draws(size: int) -> tuple[IntArray, FloatArray]:
    """`DRAWS` multisets; the raw stream of PCG64 is the same in every version of numpy."""
    raw = np.random.PCG64(SEED).random_raw(DRAWS * size).reshape(DRAWS, size)
    drawn = (raw % np.uint64(size)).astype(np.int64) + size * np.arange(DRAWS)[:, None]
    return np.bincount(drawn.ravel(), minlength=DRAWS * size).reshape(DRAWS, size), np.ones(DRAWS)


def cost(standings: Standings, method: Method, benchmarks: int) -> int:
    """Operations of one resample, about: its drawing, the sum of its tables, and what is made of them."""
    size = len(standings.names)
    summed = (size**2 + 50) * benchmarks
    if method == "bradley_terry":
        return summed + 40 * size**3 + 200_000
    if method == "mean_difference" and not standings.present.all():
        return summed + size**3 // 3
    return summed


def ranks_again(standings: Standings, method: Method, missing: Missing, counts: IntArray) -> IntArray:
    """The ranks in every resample, resamples x names; a row of zeros where there is no order.

    What a benchmark adds to an order does not depend on the others, so that it is computed once."""
    kept = prepared(standings, missing)
    benchmarks = np.unique(standings.benchmarks)
    again = np.zeros((len(counts), len(standings.names)), dtype=np.int64)
    usable = np.flatnonzero(connected(kept, counts, benchmarks))
    if usable.size:
        drawn = counts[usable].astype(np.float64)
        view = by_tables if method in BY_TABLES else by_averages
        goodness = view(kept, method, missing, drawn, benchmarks)
        defined = np.isfinite(goodness).all(axis=1)
        again[usable[defined]] = rank_rows(goodness[defined])
    return again


BY_TABLES = ("mean_difference", "win_rate", "bradley_terry")


def connected(kept: Standings, counts: IntArray, benchmarks: IntArray) -> BoolArray:
    """Whether the drawn benchmarks link all names; looked at once for each set of benchmarks."""
    links = np.stack([linked(kept.present[:, kept.benchmarks == benchmark]) for benchmark in benchmarks])
    sets, place = np.unique(counts > 0, axis=0, return_inverse=True)
    found = np.array([reaches_all(links[chosen].any(axis=0)) for chosen in sets], dtype=np.bool_)
    return np.asarray(found[place.ravel()], dtype=np.bool_)


def linked(present: BoolArray) -> BoolArray:
    """Which names meet in any of some slots."""
    held = present.astype(np.float64)
    return np.asarray(held @ held.T > 0, dtype=np.bool_)


def by_tables(
    kept: Standings, method: Method, missing: Missing, counts: FloatArray, benchmarks: IntArray
) -> FloatArray:
    """The goodness of every name in every resample, from the summed tables of pairs."""
    parts = parts_of(kept, missing == "zero_votes", benchmarks)
    size = len(kept.names)
    tables = [table.reshape(len(benchmarks), -1) for table in (parts.meets, parts.wins, parts.gaps)]
    step = max(1, 2_000_000 // size**2)
    found = []
    for start in range(0, len(counts), step):
        some = counts[start : start + step]
        met = some @ (tables[0] > 0)
        share = np.divide(1.0, met, out=np.zeros_like(met), where=met > 0)
        shape = (len(some), size, size)
        if method == "mean_difference":
            found.append(kept.sign * scores((some @ tables[2] * share).reshape(shape), (met > 0).reshape(shape)))
            continue
        meets = (some @ tables[0]).reshape(shape)
        wins = (some @ tables[1] * share).reshape(shape) * meets
        if method == "win_rate":
            games = meets.sum(axis=2)
            found.append(np.divide(wins.sum(axis=2), games, out=np.full(games.shape, np.nan), where=games > 0))
        else:
            fits = (bradley_terry(one, held > 0) for one, held in zip(wins, meets, strict=True))
            found.append(np.array([fit.values for fit in fits]))
    return np.concatenate(found)


def scores(difference: FloatArray, met: BoolArray) -> FloatArray:
    """Least-squares potentials (see `potentials`) of many tables at once, up to a constant."""
    size = met.shape[1]
    met = met & ~np.eye(size, dtype=np.bool_)
    flow = np.where(met, difference, 0.0).sum(axis=2)
    if int(met.sum()) == met.size - size * len(met):
        return np.asarray(flow / size, dtype=np.float64)
    laplacian = np.eye(size) * met.sum(axis=2)[:, :, None] - met
    found = np.zeros(flow.shape)
    found[:, 1:] = np.linalg.solve(laplacian[:, 1:, 1:], flow[:, 1:, None])[:, :, 0]
    return np.asarray(found - found.mean(axis=1, keepdims=True), dtype=np.float64)


def by_averages(
    kept: Standings, method: Method, missing: Missing, counts: FloatArray, benchmarks: IntArray
) -> FloatArray:
    """The same for orders that average what a name has in its slots; NaN where a name has no drawn slot."""
    values, sign, every_slot = averaged(kept, method, missing)
    there = np.isfinite(values)
    sums, sizes = [], []
    for benchmark in benchmarks.tolist():
        chosen = kept.benchmarks == benchmark
        held = there[:, chosen].sum(axis=1)
        total = np.where(there[:, chosen], values[:, chosen], 0.0).sum(axis=1)
        sums.append(total if every_slot else total / np.maximum(held, 1))
        sizes.append(held if every_slot else (held > 0).astype(np.int64))
    weight = counts @ np.array(sizes, dtype=np.float64)
    return np.asarray(
        sign * np.divide(counts @ np.array(sums), weight, out=np.full(weight.shape, np.nan), where=weight > 0),
        dtype=np.float64,
    )


def averaged(kept: Standings, method: Method, missing: Missing) -> tuple[FloatArray, int, bool]:
    """What is averaged, names x slots with NaN for nothing; which way is better; whether every slot weighs the same
    (else benchmarks do)."""
    if method in ("mean_rank", "borda"):
        return ranks_of(np.asarray(block_goodness(kept, missing))).T, -1, True
    if method == "helm_win_rate":
        return helm_rates(kept, missing), 1, False
    usable = np.full(kept.values.shape[1], True) if missing == "observed" else kept.present.all(axis=0)
    return np.where(usable, kept.values, np.nan), kept.sign, False


def spread(name: str, rank: int, again: IntArray, chances: FloatArray, level: float, listed: bool) -> Spread:
    """The distribution of one name's ranks over resamples with these chances."""
    share = np.bincount(again, weights=chances)
    below = np.cumsum(share)
    low, median, high = (int(np.searchsorted(below, q - 1e-12)) for q in ((1 - level) / 2, 0.5, (1 + level) / 2))
    found = tuple(RankShare(place, float(share[place])) for place in np.flatnonzero(share).tolist())
    return Spread(name, rank, low, median, high, float(share[1]), found if listed else ())
