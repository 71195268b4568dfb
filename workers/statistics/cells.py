"""Cells of rankings, tables and gaps: the value of each in whole ticks, and its noise, which items may tell.

The variance of every difference within a benchmark, by the items that two names both answered: with the weights w of
the estimate, n items and the outcomes x of a name, item i adds y_i, the sum over the common slots of w (x_i - mean of
x) / n; the variance of a difference is G/(G-1) times the sum over the G items of the squared differences of two names'
y (Miller 2024, arXiv 2411.00640, equation 4; `matching`). A set that is in one slot of bits alone counts two items more
that differ, one in favour of either name, as Bonett and Price's interval does (2012).

A posted standard error goes before trials, for who posts both knows something that the trials do not say; trials go
before errors that were estimated from repeats. A binomial error is taken at (k + 1/2) / (n + 1), so that it is never
0 (Agresti and Coull 1998 shift in this way). A design effect divides trials and successes alike (Kish 1965, 8.2).
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from registry.grids.outcomes import Outcomes
from registry.results.terms import ROUNDED
from workers.statistics.matching import array_of
from workers.statistics.score_matrix import UNSAID, ScoreMatrix
from workers.statistics.terms import ROUNDING, BoolArray, FloatArray, IntArray

MOST_WORK = 2_000_000_000
"""Outcomes that are looked at, over all pairs; the benchmarks that come after are taken as without outcomes."""
Objects = NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class SlotItems:
    """Outcomes of a name in a slot; `of` tells the items, and an outcome of 1 is `whole` in the metric's unit."""

    of: tuple[str, int]
    outcomes: Outcomes
    whole: float


@dataclass(frozen=True)
class ItemVariances:
    """M x M x B: variances of the differences and v^2 over the degrees of freedom, NaN and 0 where two names are not
    paired."""

    variance: FloatArray
    weight: FloatArray


Both = tuple[ItemVariances, ItemVariances]
"""For slots that weigh the same, and for slots that weigh by trials."""


@dataclass(frozen=True, slots=True)
class _Alike:
    """Names that have the same slots of a benchmark, with the same items and trials in each."""

    names: IntArray
    slots: dict[int, tuple[tuple[str, int] | None, float]]
    """By slot: the items, None where there are none, and effective trials."""


def item_variances(
    items: Objects, n: FloatArray, present: BoolArray, bounds: Sequence[int], *, by_trials: bool
) -> ItemVariances:
    """The variances of all pairs. `items` are `SlotItems` or None, M x S, `n` effective trials, and `bounds` the first
    slots of the benchmarks with the number of slots. `by_trials`: slots weigh by the trials of both names, as Mantel
    and Haenszel weigh them, and pairs without trials are left out; else they weigh the same."""
    size, count = len(items), len(bounds) - 1
    found = ItemVariances(np.full((size, size, count), np.nan), np.zeros((size, size, count)))
    left = MOST_WORK
    for b, (first, last) in enumerate(itertools.pairwise(bounds)):
        groups = _alike(items, n, present, range(first, last))
        left -= sum(_work(one, other) for one, other in itertools.combinations_with_replacement(groups, 2))
        if left < 0:
            break
        for one, other in itertools.combinations_with_replacement(groups, 2):
            shared = sorted(one.slots.keys() & other.slots.keys())
            weights = _weights(one, other, shared, by_trials=by_trials)
            if weights is None:
                continue
            variance, weight = _of_groups(items, one, other, shared, weights)
            for rows, columns, turn in ((one, other, False), (other, one, True)):
                place = rows.names[:, None], columns.names[None, :], b
                found.variance[place] = variance.T if turn else variance
                found.weight[place] = weight.T if turn else weight
    return found


def by_items(
    both: Both | None,
    rows: slice,
    weighted: BoolArray,
    met: BoolArray,
    bound: FloatArray,
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Some rows, R x M x B: variances by the items where two names have the same, else the bound; v^2 / df; and which
    pairs (R x M) have the same wherever they met. `weighted` says where slots weigh by trials, the second of `both`."""
    if both is None:
        return bound, np.zeros(bound.shape), np.zeros(bound.shape[:2], dtype=np.bool_)
    plain, trials = both
    variance = np.where(weighted, trials.variance[rows], plain.variance[rows])
    weight = np.where(weighted, trials.weight[rows], plain.weight[rows])
    has = np.isfinite(variance) & met
    paired = np.all(has | ~met, axis=2) & met.any(axis=2)
    return np.where(has, variance, bound), np.where(has, weight, 0.0), paired


def _alike(items: Objects, n: FloatArray, present: BoolArray, slots: range) -> list[_Alike]:
    known: dict[tuple[Any, ...], list[int]] = {}
    for i in range(len(items)):
        key = tuple(
            (s, None if items[i, s] is None else items[i, s].of, float(n[i, s])) for s in slots if present[i, s]
        )
        known.setdefault(key, []).append(i)
    return [_Alike(np.array(names), {s: (of, trials) for s, of, trials in key}) for key, names in known.items() if key]


def _work(one: _Alike, other: _Alike) -> int:
    items = sum(of[1] for of, _ in one.slots.values() if of is not None)
    return (one.names.size + other.names.size) * items + one.names.size * other.names.size * items


def _weights(one: _Alike, other: _Alike, shared: Sequence[int], *, by_trials: bool) -> FloatArray | None:
    """Weights of the shared slots that sum to 1; None where some slot is not paired."""
    if not shared or any(one.slots[s][0] is None or one.slots[s][0] != other.slots[s][0] for s in shared):
        return None
    if any((one.slots[s][0] or ("", 0))[1] < 2 for s in shared):
        return None
    if not by_trials:
        return np.full(len(shared), 1 / len(shared))
    trials = np.array([(one.slots[s][1], other.slots[s][1]) for s in shared])
    if not trials.all():
        return None
    heavy = trials.prod(axis=1) / trials.sum(axis=1)
    return np.asarray(heavy / heavy.sum(), dtype=np.float64)


def _of_groups(
    items: Objects, one: _Alike, other: _Alike, shared: Sequence[int], weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Variances and v^2 / df of all pairs of two groups."""
    shape = one.names.size, other.names.size
    variance, weight = np.zeros(shape), np.zeros(shape)
    for of, places in _by_set(one, shared):
        first = _shares(items, one.names, [shared[p] for p in places], weights[places])
        second = first if other is one else _shares(items, other.names, [shared[p] for p in places], weights[places])
        sizes = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1)
        apart = sizes - 2 * first @ second.T
        apart = np.where(apart > ROUNDING * sizes, apart, 0.0)
        if len(places) == 1:
            whole = items[one.names[0], shared[places[0]]].whole * weights[places[0]]
            bits = np.outer(*(_of_bits(items, group.names, shared[places[0]]) for group in (one, other)))
            apart += np.where(bits, 2 * (whole / of[1]) ** 2, 0.0)
        part = apart * of[1] / (of[1] - 1)
        variance, weight = variance + part, weight + part**2 / (of[1] - 1)
    return variance, weight


def _by_set(group: _Alike, shared: Sequence[int]) -> Iterator[tuple[tuple[str, int], list[int]]]:
    """The sets of the shared slots, each with the positions of its slots among them."""
    known: dict[tuple[str, int], list[int]] = {}
    for position, slot in enumerate(shared):
        of = group.slots[slot][0]
        if of is not None:
            known.setdefault(of, []).append(position)
    yield from known.items()


def _shares(items: Objects, names: IntArray, slots: Sequence[int], weights: FloatArray) -> FloatArray:
    """Part of each item in the estimate of each name: names x items."""
    rows = []
    for i in names.tolist():
        total: Any = 0.0
        for slot, weight in zip(slots, weights.tolist(), strict=True):
            one: SlotItems = items[i, slot]
            given = array_of(one.outcomes)
            total = total + weight * one.whole / given.size * (given - given.mean())
        rows.append(total)
    return np.array(rows, dtype=np.float64)


def _of_bits(items: Objects, names: IntArray, slot: int) -> Any:
    return np.array([items[i, slot].outcomes.bits is not None for i in names.tolist()])


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
    pairs = standings if standings.pair_effect is None else replace(standings, design_effect=standings.pair_effect)
    n, k, variance, df, independent = noise(pairs)
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
    free = np.ones(shape, dtype=np.bool_)
    if whole and standings.trials is not None and standings.successes is not None:
        effect = np.ones(shape)
        if standings.design_effect is not None:
            free = np.isnan(standings.design_effect)
            effect = np.where(free, 1.0, standings.design_effect)
            if standings.unsaid is not None:
                free |= standings.unsaid == UNSAID[ROUNDED]
        binomial = ~posted & standings.present
        n, k = np.where(binomial, standings.trials / effect, 0.0), np.where(binomial, standings.successes / effect, 0.0)
    # Half a success and half a failure more, so that a share of 0 or 1 has a variance too.
    share = (k + 0.5) / (n + 1)
    of_trials = share * (1 - share) / np.maximum(n, 1e-300) * (whole or 1.0) ** 2
    estimated = (repeats > 1) & (error >= 0) & (n == 0)
    variance = np.where(posted | estimated, error**2, np.where(n > 0, of_trials, np.nan))
    # An error that is known has infinitely many degrees of freedom; its part in Satterthwaite's sum is then 0.
    df = np.where(estimated, np.maximum(repeats - 1.0, 1.0), np.inf)
    return n, k, variance, df, np.asarray((n > 0) & free, dtype=np.bool_)


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
