"""Spread of the ranks when benchmarks are drawn again: would other benchmarks of this kind agree?

The bootstrap of Efron (1979) over clusters, from 8 benchmarks up, by a generator whose stream is fixed (PCG64,
`SEED`), so that equal inputs give equal bytes. Percentiles of few clusters are too narrow; they are taken at the level
alpha' = 2 Phi(-sqrt(T / (T - 1)) t), t the quantile at 1 - alpha / 2 of T - 1 degrees of freedom (Hesterberg 2015,
American Statistician 69, 371-386, section 5.3). Near ties no bootstrap of ranks is consistent (Xie, Singh and Zhang
2009): of 10 models half a point apart, ranges at 5 % missed 8.5 % over 8 benchmarks and 6.2 % over 15; at half of
alpha, as they are taken here, 5.8 and 3.3 %. Below 8 benchmarks ranges missed the true rank of 9 to 30 % of the models
at a nominal 5 %, and none is served.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import ndtr, stdtrit

from registry.results.policies import Method, Missing
from registry.results.resampling import RankShare, ResampledRank, Resampling
from registry.results.terms import Status
from workers.statistics.blocks import ranks_of
from workers.statistics.contrasts import contrasts_of
from workers.statistics.ranking_methods import (
    Refused,
    block_goodness,
    borda_points,
    helm_rates,
    prepared,
    standardised,
)
from workers.statistics.ranks import rank_rows
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.strengths import bradley_terry, reaches_all
from workers.statistics.tally import parts_of
from workers.statistics.terms import BoolArray, FloatArray, IntArray

FEWEST = 8
"""Benchmarks from which on they are resampled."""
DRAWS = 2_000
SEED = 20_260_101
MOST_WORK = 1_000_000_000
"""Operations that all resamples of a component may cost together (their number times `cost`); above it none is
made."""
MOST_SHARES = 50
"""Names up to which the probability of each rank is listed."""


def resampling(
    standings: ScoreMatrix, method: Method, missing: Missing, ranks: IntArray, level: float, number: int
) -> Resampling:
    """Resamples the benchmarks of names that form the component of this number."""
    benchmarks = int(np.unique(standings.benchmarks).size)
    frame = Resampling("ok", number, benchmarks, level)
    if found := obstacle(standings, method, benchmarks):
        return replace(frame, status=found[0], reason=found[1])
    counts = draws(benchmarks)
    frame = replace(frame, law="bootstrap", resamples=len(counts), seed=SEED)
    again = ranks_again(standings, method, missing, counts)
    # Ranks begin at 1; a row of zeros is a resample without an order.
    there = np.flatnonzero(again[:, 0] > 0)
    if there.size == 0:
        return replace(frame, status="undefined", ranked=0.0, reason="no resample leaves the names connected")
    inside = expanded((1 + level) / 2, benchmarks)
    spreads = tuple(
        spread(name, int(ranks[i]), again[there, i], inside, len(ranks) <= MOST_SHARES)
        for i, name in enumerate(standings.names)
    )
    return replace(frame, ranked=there.size / len(counts), names=spreads)


def expanded(level: float, benchmarks: int) -> float:
    """The level at which percentiles are taken so that they cover at `level`."""
    quantile = float(stdtrit(benchmarks - 1, (1 + level) / 2))
    return 1 - 2 * float(ndtr(-math.sqrt(benchmarks / (benchmarks - 1)) * quantile))


def obstacle(standings: ScoreMatrix, method: Method, benchmarks: int) -> tuple[Status, str] | None:
    """Reason why there is nothing to resample, or too much, or None."""
    if len(standings.names) < 2:
        return "insufficient", "one name has one rank"
    if benchmarks < 2:
        return "insufficient", single(standings)
    if benchmarks < FEWEST:
        return "insufficient", too_few(standings)
    if method == "adjusted_mean":
        return "undefined", "adjusted means are not resampled: each would need a fit"
    work = DRAWS * cost(standings, method, benchmarks)
    if work > MOST_WORK:
        return "insufficient", f"the resamples would take {work:.2g} operations; at most {MOST_WORK:.2g} are made"
    return None


def single(standings: ScoreMatrix) -> str:
    """Reason why one group of slots has no resamples."""
    return f"one {standings.group} cannot be resampled"


def too_few(standings: ScoreMatrix) -> str:
    """Reason why groups are not resampled below `FEWEST`."""
    missed = "resampled ranges then miss the rank of 9 to 30 % of the names at a nominal 5 %"
    return f"fewer than {FEWEST} {standings.group}s: {missed}"


def draws(size: int) -> IntArray:
    """Count of each of `size` benchmarks in each of `DRAWS` resamples of as many; the raw stream of PCG64 is the
    same in every version of numpy."""
    raw = np.random.PCG64(SEED).random_raw(DRAWS * size).reshape(DRAWS, size)
    # The remainder of 64 random bits prefers small numbers by less than size / 2^64. The offset gives each resample
    # numbers of its own, so that one bincount counts them all.
    drawn = (raw % np.uint64(size)).astype(np.int64) + size * np.arange(DRAWS)[:, None]
    return np.bincount(drawn.ravel(), minlength=DRAWS * size).reshape(DRAWS, size)


def cost(standings: ScoreMatrix, method: Method, benchmarks: int) -> int:
    """Operations of one resample, about: its drawing, the sum of its tables, and what is made of them."""
    size = len(standings.names)
    summed = (size**2 + 50) * benchmarks
    if method == "bradley_terry":
        return summed + 40 * size**3 + 200_000
    if method in OF_DIFFERENCES and not standings.present.all():
        return summed + size**3 // 3
    return summed


def ranks_again(standings: ScoreMatrix, method: Method, missing: Missing, counts: IntArray) -> IntArray:
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


OF_DIFFERENCES = ("mean_difference", "standardised_difference")
BY_TABLES = (*OF_DIFFERENCES, "win_rate", "bradley_terry")


def connected(kept: ScoreMatrix, counts: IntArray, benchmarks: IntArray) -> BoolArray:
    """Return whether the drawn benchmarks link all names; looked at once for each set of benchmarks."""
    links = np.stack([linked(kept.present[:, kept.benchmarks == benchmark]) for benchmark in benchmarks])
    sets, place = np.unique(counts > 0, axis=0, return_inverse=True)
    found = np.array([reaches_all(links[chosen].any(axis=0)) for chosen in sets], dtype=np.bool_)
    return np.asarray(found[place.ravel()], dtype=np.bool_)


def linked(present: BoolArray) -> BoolArray:
    """Mask of the pairs of names that meet in any of some slots."""
    held = present.astype(np.float64)
    return np.asarray(held @ held.T > 0, dtype=np.bool_)


def by_tables(
    kept: ScoreMatrix, method: Method, missing: Missing, counts: FloatArray, benchmarks: IntArray
) -> FloatArray:
    """The goodness of every name in every resample, from the summed tables of pairs."""
    size = len(kept.names)
    tables = [table.reshape(len(benchmarks), -1) for table in tables_of(kept, method, missing, benchmarks)]
    step = max(1, 2_000_000 // size**2)
    found = []
    for start in range(0, len(counts), step):
        some = counts[start : start + step]
        met = some @ (tables[0] > 0)
        share = np.divide(1.0, met, out=np.zeros_like(met), where=met > 0)
        shape = (len(some), size, size)
        if method in OF_DIFFERENCES:
            found.append(kept.sign * scores((some @ tables[1] * share).reshape(shape), (met > 0).reshape(shape)))
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


def tables_of(
    kept: ScoreMatrix, method: Method, missing: Missing, benchmarks: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Tables by benchmark, B x M x M: slots in common, and mean differences or the share of them won."""
    if method not in OF_DIFFERENCES:
        parts = parts_of(kept, missing == "zero_votes", benchmarks)
        return parts.meets, parts.wins
    found = contrasts_of(standardised(kept) if method == "standardised_difference" else kept)
    size = len(kept.names)
    meets, gaps = np.zeros((len(benchmarks), size, size)), np.zeros((len(benchmarks), size, size))
    # A policy may have left nothing of a benchmark.
    left = np.isin(benchmarks, kept.benchmarks)
    meets[left] = np.moveaxis(found.count, 2, 0)
    gaps[left] = np.moveaxis(np.nan_to_num(found.by_benchmark), 2, 0)
    return meets, gaps


def scores(difference: FloatArray, met: BoolArray) -> FloatArray:
    """Least-squares potentials (see `potentials`) of many tables at once, up to a constant."""
    size = met.shape[1]
    met = met & ~np.eye(size, dtype=np.bool_)
    flow = np.where(met, difference, 0.0).sum(axis=2)
    # Where all pairs meet in every resample, the Laplacian is size * I - 1 and the potentials are means of rows.
    if int(met.sum()) == met.size - size * len(met):
        return np.asarray(flow / size, dtype=np.float64)
    laplacian = np.eye(size) * met.sum(axis=2)[:, :, None] - met
    found = np.zeros(flow.shape)
    # Potentials are determined up to a constant: the first is held at 0, which leaves a regular matrix.
    found[:, 1:] = np.linalg.solve(laplacian[:, 1:, 1:], flow[:, 1:, None])[:, :, 0]
    return np.asarray(found - found.mean(axis=1, keepdims=True), dtype=np.float64)


def by_averages(
    kept: ScoreMatrix, method: Method, missing: Missing, counts: FloatArray, benchmarks: IntArray
) -> FloatArray:
    """The same for orders that average what a name has in its slots; NaN where a name has no drawn slot."""
    if method in ("mean_rank", "borda"):
        return by_blocks(kept, missing, counts[:, np.isin(benchmarks, kept.benchmarks)])
    values, sign = averaged(kept, method, missing)
    there = np.isfinite(values)
    sums, sizes = [], []
    for benchmark in benchmarks.tolist():
        chosen = kept.benchmarks == benchmark
        held = there[:, chosen].sum(axis=1)
        total = np.where(there[:, chosen], values[:, chosen], 0.0).sum(axis=1)
        sums.append(total / np.maximum(held, 1))
        sizes.append((held > 0).astype(np.int64))
    weight = counts @ np.array(sizes, dtype=np.float64)
    return np.asarray(
        sign * np.divide(counts @ np.array(sums), weight, out=np.full(weight.shape, np.nan), where=weight > 0),
        dtype=np.float64,
    )


def by_blocks(kept: ScoreMatrix, missing: Missing, counts: FloatArray) -> FloatArray:
    """The mean ranks over the drawn benchmarks, turned; NaN where none of those that have cells is drawn."""
    if missing == "zero_points":
        return counts @ borda_points(kept)
    goodness = block_goodness(kept, missing)
    if isinstance(goodness, Refused):
        return np.full((len(counts), len(kept.names)), np.nan)
    summed, drawn = counts @ ranks_of(goodness), counts.sum(axis=1, keepdims=True)
    found = np.divide(-summed, drawn, out=np.full(summed.shape, np.nan), where=drawn > 0)
    return np.asarray(found, dtype=np.float64)


def averaged(kept: ScoreMatrix, method: Method, missing: Missing) -> tuple[FloatArray, int]:
    """Values to be averaged, names x slots with NaN for nothing, and which way is better; benchmarks weigh the same."""
    if method == "helm_win_rate":
        return helm_rates(kept, missing), 1
    usable = np.full(kept.values.shape[1], True) if missing == "available" else kept.present.all(axis=0)
    return np.where(usable, kept.values, np.nan), kept.sign


def spread(name: str, rank: int, again: IntArray, level: float, listed: bool) -> ResampledRank:
    """The distribution of one name's ranks over resamples."""
    share = np.bincount(again) / again.size
    below = np.cumsum(share)
    # The slack keeps rounding errors of the cumulated shares from moving a percentile by a rank.
    low, median, high = (int(np.searchsorted(below, q - 1e-12)) for q in ((1 - level) / 2, 0.5, (1 + level) / 2))
    found = tuple(RankShare(place, float(share[place])) for place in np.flatnonzero(share).tolist())
    return ResampledRank(name, rank, low, median, high, float(share[1]), found if listed else ())
