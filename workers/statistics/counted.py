"""What sums of pairs (`pair_sums.py`) say of each two names, for the ranking that `board.py` makes of them: records,
leads, mean differences, and their p-values.

Leads are judged by the sign flip in its normal limit (Fisher 1935, section 21): with signs s and weights w, the sum of
w s has variance sum of (w s)^2 when every sign could as well have been the other one. Differences are judged by
Student's t over benchmarks; of a rerun sums say nothing, for the noise of the cells is not among them.

Sums over all pairs of names, from the cells of a large score matrix: products of arrays make `Counted`.

A benchmark of which every name has all slots or none adds to a pair what it adds to any other pair of names that have
it, so that all such benchmarks are summed by one product of matrices; the others are looked at one by one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import erfc, stdtr

from registry.results.ranking import Slots
from registry.results.terms import Estimand, Target
from workers.statistics import pair_sums as ps
from workers.statistics.judging import holm_of_pairs
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.terms import ROUNDING, SMALLEST_P, BoolArray, FloatArray, IntArray

_COUNTS = {"common": ps.COMMON, "larger": ps.LARGER, "equal": ps.EQUAL}
_SIZES = {
    "benchmarks": (ps.BENCHMARKS, 1),
    "leads": (ps.LEAD, ps.SHARES),
    "leads2": (ps.LEAD2, ps.SHARES),
    "decided": (ps.DECIDED, ps.SHARES),
    "means": (ps.MEAN, 1),
}
"""Stored sums by the name of their matrix, and what one of it is stored as."""


@dataclass(frozen=True)
class Tally:
    """Square matrices over the names, row against column: the slots in which they meet, and wins plus half the ties,
    weighted so that benchmarks count equally while a row's sum stays in slots."""

    meets: FloatArray
    wins: FloatArray

    def of(self, members: Sequence[int]) -> "Tally":
        """The same of some of the names."""
        at = np.ix_(members, members)
        return Tally(self.meets[at], self.wins[at])


@dataclass(frozen=True)
class Counted:
    """Sums of all pairs, as matrices over the names, row against column. `unit` is the size of a tick in the metric's
    unit, `sign` 1 where higher is better and -1 where lower is.

    In slots: `common`, `larger` (the row's value is), `equal`. Over the `benchmarks` in which two names meet: `leads`,
    the sum of (larger less smaller) / common; `decided`, that of (larger plus smaller) / common^2; `leads2`, that of
    squared leads; `means`, that of mean differences in ticks, `means2` of their squares, and `spread`, that of squared
    differences / common^2.
    """

    names: tuple[str, ...]
    cells: tuple[int, ...]
    unit: float
    sign: int
    slots: Slots
    bounded: bool
    benchmarks: FloatArray
    common: IntArray
    larger: IntArray
    equal: IntArray
    leads: FloatArray
    leads2: FloatArray
    decided: FloatArray
    means: FloatArray
    means2: FloatArray

    @cached_property
    def linked(self) -> BoolArray:
        """Mask of the pairs of different names that met at all."""
        linked = self.common > 0
        np.fill_diagonal(linked, False)
        return linked

    @cached_property
    def mean(self) -> FloatArray:
        """Mean differences in ticks, row less column; benchmarks weigh equally, slots equally within."""
        return np.asarray(self.means / np.maximum(self.benchmarks, 1), dtype=np.float64)

    @cached_property
    def lead(self) -> FloatArray:
        """(Wins - losses) / slots of row over column, benchmarks weighing equally."""
        return np.asarray(self.sign * self.leads / np.maximum(self.benchmarks, 1), dtype=np.float64)

    @cached_property
    def tally(self) -> Tally:
        """Wins of all names."""
        meets = np.asarray(self.common * self.linked, dtype=np.float64)
        return Tally(meets, np.asarray((1 + self.lead) / 2 * meets))

    @cached_property
    def records(self) -> list[tuple[int, int, int]]:
        """Wins, ties and losses of each name over all others."""
        larger, smaller = self.larger.sum(axis=1), self.larger.sum(axis=0)
        ends = (larger, smaller) if self.sign > 0 else (smaller, larger)
        return list(zip(ends[0].tolist(), self.equal.sum(axis=1).tolist(), ends[1].tolist(), strict=True))


def matrices_of(rows: IntArray) -> dict[str, Any]:
    """The matrices of what was counted, from the stored rows of all names, FIELDS x names x names."""
    counts = {name: ps.of_pairs(rows, place) for name, place in _COUNTS.items()}
    sizes = {name: np.asarray(ps.of_pairs(rows, place) / unit) for name, (place, unit) in _SIZES.items()}
    return counts | sizes | {"means2": ps.wide_of_pairs(rows, ps.MEAN2)}


@dataclass(frozen=True)
class SumEvidence:
    """Of an estimand, names x names: p-values, NaN where there is no test, and those corrected by Holm. Of leads the
    smallest p that there could be; of differences their standard errors in ticks, and degrees of freedom."""

    estimand: Estimand
    p: FloatArray
    p_holm: FloatArray
    least: FloatArray
    stderr: FloatArray
    df: FloatArray


def evidence_of(counted: Counted, estimand: Estimand, target: Target) -> SumEvidence:
    """The tests of all pairs."""
    benchmarks, over = counted.benchmarks, target == "new_benchmarks"
    least = stderr = df = np.full(benchmarks.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        if estimand == "lead":
            null = counted.leads2 if over else counted.decided
            units = benchmarks if over else (counted.common - counted.equal).astype(np.float64)
            # Of u signs the smallest two-sided p is 2^(1 - u).
            least = np.exp2(np.clip(1 - units, -1000, 0))
            size = np.abs(counted.lead) * benchmarks / np.sqrt(null)
            p = np.maximum(np.where(counted.lead == 0, 1.0, erfc(size / math.sqrt(2))), least)
        elif over:
            df = np.where(benchmarks > 1, benchmarks - 1, np.nan)
            squares = counted.means2 / benchmarks
            spread = squares - counted.mean**2
            # Equal differences have no spread, whatever their sums were rounded to.
            stderr = np.sqrt(np.where(spread > ROUNDING * squares, spread, 0) / df)
            p = np.where(stderr > 0, 2 * stdtr(df, -np.abs(counted.mean) / stderr), np.nan)
        else:
            p = stderr
    p = np.where(counted.linked, np.clip(p, SMALLEST_P, 1.0), np.nan)
    return SumEvidence(estimand, p, holm_of_pairs(p), least, stderr, df)


_RANKS = np.int16
"""Holds the rank of a value among up to 32,767 names: comparing takes a quarter of the time that whole values take."""


@dataclass(frozen=True)
class Blocks:
    """M names x S slots, those of each benchmark side by side, and M x B: how many slots of a benchmark a name has.

    `values` are centred by slot, 0 where absent; `ranks` are equal for ties.
    """

    present: BoolArray
    values: FloatArray
    ranks: IntArray
    starts: IntArray
    sizes: IntArray
    held: IntArray

    @property
    def whole(self) -> BoolArray:
        """Mask of the benchmarks of which every name has all slots or none."""
        return np.asarray(np.all((self.held == 0) | (self.held == self.sizes), axis=0), dtype=np.bool_)

    def slots(self, benchmark: int) -> slice:
        """The slots of a benchmark."""
        return slice(int(self.starts[benchmark]), int(self.starts[benchmark] + self.sizes[benchmark]))


def blocks_of(standings: ScoreMatrix) -> Blocks:
    """The cells in the order of their benchmarks; slots that nobody has are left out."""
    order = np.argsort(standings.benchmarks, kind="stable")
    order = order[np.any(standings.present[:, order], axis=0)]
    present = standings.present[:, order]
    values = np.where(present, standings.values[:, order], 0.0)
    # Sums of squared differences are taken from squares: centred, they lose no digits to a common offset.
    values = np.where(present, values - values.sum(axis=0) / np.maximum(present.sum(axis=0), 1), 0.0)
    starts = np.unique(standings.benchmarks[order], return_index=True)[1]
    sizes = np.diff(np.append(starts, order.size))
    held = np.add.reduceat(present, starts, axis=1, dtype=np.int64) if order.size else np.zeros((len(present), 0))
    ranks = dense_ranks(standings.ticks[:, order], present)
    return Blocks(present, values, ranks, starts, sizes, np.asarray(held, dtype=np.int64))


def dense_ranks(ticks: IntArray, present: BoolArray) -> IntArray:
    """Ranks within each column, from 1 for the smallest, equal for ties; 0 where absent."""
    least = np.iinfo(np.int64).min
    keyed = np.where(present, ticks, least)
    order = np.argsort(keyed, axis=0, kind="stable")
    sorted_ = np.take_along_axis(keyed, order, axis=0)
    steps = np.zeros(ticks.shape, dtype=np.int64)
    steps[1:] = sorted_[1:] != sorted_[:-1]
    steps[:1] = sorted_[:1] != least
    ranks = np.empty(ticks.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.cumsum(steps, axis=0), axis=0)
    return ranks


def counted_cells(standings: ScoreMatrix) -> Counted:
    """All pairs of the standings; M^2 operations for each slot."""
    found, size = blocks_of(standings), len(standings.names)
    total = {name: np.zeros((size, size)) for name in ("benchmarks", "common", "larger", "leads", "leads2", "decided")}
    total |= {name: np.zeros((size, size)) for name in ("means", "means2")}
    _add_whole(total, found)
    _add_signs(total, found)
    for benchmark in np.flatnonzero(~found.whole).tolist():
        _add_ragged(total, found, benchmark)
    for matrix in total.values():
        np.fill_diagonal(matrix, 0)
    common, larger = total.pop("common"), total.pop("larger")
    return Counted(
        names=standings.names,
        cells=tuple(standings.present.sum(axis=1).tolist()),
        unit=1.0,
        sign=standings.sign,
        slots=standings.slots,
        bounded=standings.bounded,
        common=common.astype(np.int64),
        larger=larger.astype(np.int64),
        equal=(common - larger - larger.T).astype(np.int64),
        **total,
    )


def _add_whole(total: dict[str, FloatArray], found: Blocks) -> None:
    """Add what the whole benchmarks say about values."""
    chosen = np.flatnonzero(found.whole)
    if not chosen.size:
        return
    sizes = found.sizes[chosen]
    has = (found.held[:, chosen] > 0).astype(np.float64)
    means = np.add.reduceat(found.values, found.starts, axis=1)[:, chosen] / sizes
    total["benchmarks"] += has @ has.T
    total["common"] += (has * sizes) @ has.T
    total["means"] += means @ has.T - has @ means.T
    total["means2"] += squares(means, has)


def _add_signs(total: dict[str, FloatArray], found: Blocks) -> None:
    """Add who has the larger value in how many slots of the whole benchmarks, and the leads made of it."""
    size, single = len(found.present), np.zeros(total["larger"].shape, dtype=np.int32)
    for benchmark in np.flatnonzero(found.whole).tolist():
        rows = np.flatnonzero(found.held[:, benchmark] > 0)
        here = larger(found, benchmark, rows)
        at: Any = (slice(None), slice(None)) if rows.size == size else np.ix_(rows, rows)
        if found.sizes[benchmark] == 1:
            single[at] += here
        else:
            _add_leads(total, at, here, float(found.sizes[benchmark]))
    total["larger"] += single
    total["leads"] += single - single.T
    # Of a single slot the lead is -1, 0 or 1: its square is whether it was decided.
    total["leads2"] += single + single.T
    total["decided"] += single + single.T


def larger(found: Blocks, benchmark: int, rows: IntArray) -> IntArray:
    """Rows x rows: in how many slots of a benchmark the first value is larger, where both are there."""
    count = np.zeros((rows.size, rows.size), dtype=np.int32)
    for slot in range(*found.slots(benchmark).indices(found.ranks.shape[1])):
        ranks = found.ranks[rows, slot].astype(_RANKS)
        # An absent value has rank 0 and is never larger; what is larger than it is not counted either.
        there = np.where(ranks > 0, ranks, np.iinfo(_RANKS).max)
        count += ranks[:, None] > there
    return count.astype(np.int64)


def _add_leads(total: dict[str, FloatArray], at: Any, here: IntArray, count: FloatArray | float) -> None:
    lead, decided = (here - here.T) / count, (here + here.T) / count**2
    for name, more in (("larger", here), ("leads", lead), ("leads2", lead**2), ("decided", decided)):
        total[name][at] += more


def difference_within(found: Blocks, benchmark: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """The names that have any slot of a benchmark, and of each two of them the common slots and the mean difference."""
    rows, slots = np.flatnonzero(found.held[:, benchmark] > 0), found.slots(benchmark)
    has, values = found.present[rows, slots].astype(np.float64), found.values[rows, slots]
    common = has @ has.T
    return rows, common, (values @ has.T - has @ values.T) / np.maximum(common, 1)


def _add_ragged(total: dict[str, FloatArray], found: Blocks, benchmark: int) -> None:
    """Add a benchmark of which names have different slots."""
    rows, common, means = difference_within(found, benchmark)
    at, some = np.ix_(rows, rows), np.maximum(common, 1)
    added: dict[str, Any] = {
        "benchmarks": common > 0,
        "common": common,
        "means": means,
        "means2": means**2,
    }
    for name, more in added.items():
        total[name][at] += more
    _add_leads(total, at, larger(found, benchmark, rows), some)


def squares(values: FloatArray, has: FloatArray) -> FloatArray:
    """M x M: sums of squared differences over the columns that both rows have."""
    own = values**2 @ has.T
    return np.asarray(np.maximum(own + own.T - 2 * values @ values.T, 0.0), dtype=np.float64)


def zero_vote_tally(standings: ScoreMatrix) -> Tally:
    """The tally in which a name that skipped a slot loses there to every name that did not."""
    found, size = blocks_of(standings), len(standings.names)
    chosen = np.flatnonzero(found.whole)
    has, sizes = (found.held[:, chosen] > 0).astype(np.float64), found.sizes[chosen]
    signs = {name: np.zeros((size, size)) for name in ("larger", "leads", "leads2", "decided")}
    _add_signs(signs, found)
    both, alone = has @ has.T, has @ (1 - has).T
    meets = (has * sizes) @ has.T + (has * sizes) @ (1 - has).T + ((has * sizes) @ (1 - has).T).T
    benchmarks = both + alone + alone.T
    shares = (both + standings.sign * signs["leads"]) / 2 + alone
    for benchmark in np.flatnonzero(~found.whole).tolist():
        met, won = _zero_votes(found, benchmark, standings.sign)
        meets += met
        benchmarks += met > 0
        shares += np.divide(won, met, out=np.zeros_like(won), where=met > 0)
    wins = shares / np.maximum(benchmarks, 1) * meets
    for matrix in (meets, wins):
        np.fill_diagonal(matrix, 0)
    return Tally(meets, wins)


def _zero_votes(found: Blocks, benchmark: int, sign: int) -> tuple[FloatArray, FloatArray]:
    """Slots that either of two names has, and wins plus half the ties, in one benchmark."""
    every = np.arange(len(found.present))
    has = found.present[:, found.slots(benchmark)].astype(np.float64)
    common, alone = has @ has.T, has @ (1 - has).T
    above = larger(found, benchmark, every).astype(np.float64)
    return common + alone + alone.T, (common + sign * (above - above.T)) / 2 + alone
