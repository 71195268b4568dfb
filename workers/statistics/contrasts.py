"""The differences of all pairs of names at once, for `pairs.py` and the orders of `ranking_methods.py`: one estimate
within each benchmark, the mean of these over them.

Within a benchmark, over the slots that two names share, the mean of the differences of the posted values: where only
trials speak for the noise of all that the two share, with Mantel and Haenszel's weights (1959), which are equal where
trials are; else with equal weights. Over benchmarks: the unweighted mean. So a difference is one weighted sum over
slots. Where all noise is binomial it is judged by the score test (`score_test`), where the noise is known in another
way by the propagated variance, with Satterthwaite's (1946) degrees of freedom where that was estimated. Estimates are
summed without rounding errors, so that they are the same whoever else is there, and in any order.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from workers.statistics.cells import Cells, by_items, cells_of
from workers.statistics.noise import uncertainty
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.score_test import Strata, moments, standardised
from workers.statistics.terms import BoolArray, FloatArray, IntArray

AT_ONCE = 1_000_000
"""Differences that are looked at together."""


@dataclass(frozen=True)
class Contrasts:
    """Matrices over names, row less column, M x M or as a `Meeting` has them; `by_benchmark` and `count` are M x M x B.

    `difference` is the mean over the `benchmarks` in which two names meet (0 where they never do). Where `known`, the
    noise of every common cell is: `variance` is that of the difference and `weight` the sum of v^2 / df over its parts,
    0 where nothing was estimated. Elsewhere `variance` is 0 where all repeats agree, else NaN. `of_tables` says that
    all of it is binomial: then `deviate` is that of the score test against 0. `questions` is the variance under other
    questions, NaN where unknown, with `questions_weight` the sum of v^2 / df: by the items on a benchmark where two
    names answered the same, as `paired` ones do on all, else a bound. `independent` says that a variance rests on
    trials without a design effect. Wins are counted in slots, `lead` is (wins - losses) / slots, benchmarks equal.
    """

    count: IntArray
    by_benchmark: FloatArray
    common: IntArray
    benchmarks: IntArray
    wins: IntArray
    ties: IntArray
    lead: FloatArray
    difference: FloatArray
    known: BoolArray
    variance: FloatArray
    weight: FloatArray
    of_tables: BoolArray
    deviate: FloatArray
    questions: FloatArray
    questions_weight: FloatArray
    paired: BoolArray
    independent: BoolArray


def contrasts_of(standings: ScoreMatrix) -> Contrasts:
    """All pairs of the standings, which keep them: several orders of one ranking ask for the same."""
    # What a cached_property does, from outside: the standings cannot know the modules that are built on them.
    kept = standings.__dict__
    if "contrasts" not in kept:
        kept["contrasts"] = contrasts(kept_cells(standings))
    found: Contrasts = kept["contrasts"]
    return found


def kept_cells(standings: ScoreMatrix) -> Cells:
    """The cells of the standings, which keep them too."""
    kept = standings.__dict__
    if "cells" not in kept:
        kept["cells"] = cells_of(standings)
    found: Cells = kept["cells"]
    return found


def contrasts(cells: Cells) -> Contrasts:
    """All pairs of names that have any slot; a few dozen operations for each of M x M x S differences."""
    parts = list(chunks(cells))
    joined = {field.name: np.concatenate([getattr(p, field.name) for p in parts]) for field in fields(Contrasts)}
    return Contrasts(**joined)


def chunks(cells: Cells) -> Iterator[Contrasts]:
    """Some rows at a time."""
    size, slots = cells.shape
    step = max(1, AT_ONCE // (size * slots))
    for first in range(0, size, step):
        yield pairs_of(Meeting(cells, slice(first, min(size, first + step))))


@dataclass(frozen=True)
class Meeting:
    """Some rows against all names, or each against its own of as many others, so that M = 1: R x M x S, and R x M x B
    where said."""

    cells: Cells
    rows: slice
    others: slice | None = None

    def sides(self, array: Any) -> tuple[Any, Any]:
        """What the rows have, and what those have that they meet, as arrays that broadcast to R x M x S."""
        return array[self.rows, None], array if self.others is None else array[self.others, None]

    @cached_property
    def shared(self) -> BoolArray:
        mine, theirs = self.sides(self.cells.present)
        return np.asarray(mine & theirs, dtype=np.bool_)

    @cached_property
    def moves(self) -> IntArray:
        """Differences in ticks, 0 where a slot is not shared."""
        mine, theirs = self.sides(self.cells.ticks)
        return np.where(self.shared, mine - theirs, 0)

    @cached_property
    def gaps(self) -> FloatArray:
        return np.asarray(self.moves / np.power(10.0, self.cells.decimals), dtype=np.float64)

    @cached_property
    def count(self) -> IntArray:
        """R x M x B: how many slots two names share."""
        return counted(self.shared, self.cells)

    @property
    def plain(self) -> FloatArray:
        """R x M x B: the mean difference."""
        return added(self.gaps, self.cells, exact_sum) / np.maximum(self.count, 1)

    @property
    def met(self) -> BoolArray:
        """R x M x B: whether two names share a slot of a benchmark."""
        return self.count > 0

    @property
    def some(self) -> FloatArray:
        """R x M x B: shared slots, at least 1."""
        return np.maximum(self.count, 1).astype(np.float64)

    def everywhere(self, has: BoolArray) -> BoolArray:
        """R x M x B: whether all shared cells of both names have something."""
        mine, theirs = self.sides(has)
        found = counted(self.shared & mine & theirs, self.cells)
        return np.asarray(found == self.count, dtype=np.bool_)


def pairs_of(here: Meeting) -> Contrasts:
    """The pairs of a meeting."""
    cells, benchmarks = here.cells, here.met.sum(axis=2)
    several = np.maximum(benchmarks, 1).astype(np.float64)
    noisy = added(of_both(here, cells.variance), cells)
    known = np.all(np.isfinite(noisy) | ~here.met, axis=2) & (np.where(here.met, np.nan_to_num(noisy), 0).sum(2) > 0)
    pure = here.everywhere(cells.n > 0) & here.met & known[:, :, None]
    tables = np.all(pure | ~here.met, axis=2) & known
    within, uneven = slot_weights(here, pure)
    by_benchmark = here.plain
    if uneven.any():
        by_benchmark = np.where(uneven, added(within * here.gaps, cells, exact_sum), by_benchmark)
    by_benchmark = np.where(here.met, by_benchmark, np.nan)
    difference = mean_over(by_benchmark)
    weight = within / several[:, :, None]
    variance, squares = variances(here, weight)
    deviate, plain = by_tables(here, weight, difference, tables)
    won, lost = (counted(np.sign(here.moves) * cells.sign == end, cells) for end in (1, -1))
    error = added(within * np.sqrt(of_both(here, cells.question)), cells) ** 2
    error, error_weight, paired = by_items(cells.both_item_variances, here.rows, pure, here.met, error)
    mine, theirs = here.sides(cells.independent)
    free = counted(here.shared & (mine | theirs), cells).any(axis=2)
    return Contrasts(
        count=here.count,
        by_benchmark=by_benchmark,
        common=here.count.sum(axis=2),
        benchmarks=benchmarks,
        wins=won.sum(axis=2),
        ties=(here.count - won - lost).sum(axis=2),
        lead=((won - lost) / here.some).sum(axis=2) / several,
        difference=difference,
        known=known,
        variance=np.where(tables, plain, variance),
        weight=squares,
        of_tables=tables,
        deviate=deviate,
        questions=np.where(benchmarks > 0, error.sum(axis=2), np.nan) / several**2,
        questions_weight=error_weight.sum(axis=2) / several**4,
        paired=paired,
        independent=known & free,
    )


def mean_over(by_benchmark: FloatArray) -> FloatArray:
    """The mean of differences over the benchmarks, the last axis, on which two names meet; 0 where they never do."""
    several = np.maximum(np.isfinite(by_benchmark).sum(axis=-1), 1)
    return np.asarray(exact_sum(np.nan_to_num(by_benchmark)) / several, dtype=np.float64)


def of_both(here: Meeting, own: FloatArray) -> FloatArray:
    """R x M x S: the sum of what two names have in each shared slot, 0 in others."""
    mine, theirs = here.sides(own)
    return np.asarray(np.where(here.shared, mine + theirs, 0.0), dtype=np.float64)


def slot_weights(here: Meeting, pure: BoolArray) -> tuple[FloatArray, BoolArray]:
    """R x M x S: weights that sum to 1 within each benchmark, Mantel and Haenszel's where `pure`; and where (R x M x B)
    they are not all equal."""
    cells = here.cells
    sizes = np.diff(np.append(cells.starts, here.gaps.shape[2]))
    if not pure.any():
        return here.shared / np.repeat(here.some, sizes, axis=2), np.zeros(pure.shape, dtype=np.bool_)
    n1, n2 = (np.where(here.shared, array, 0.0) for array in here.sides(cells.n))
    heavy = np.where(here.shared, n1 * n2 / np.maximum(n1 + n2, 1e-300), 0.0)
    most = np.maximum.reduceat(heavy, cells.starts, axis=2)
    least = np.minimum.reduceat(np.where(here.shared, heavy, np.inf), cells.starts, axis=2)
    # Slots of equal trials weigh the same, to the last bit.
    uneven = pure & (most != least)
    if not uneven.any():
        return here.shared / np.repeat(here.some, sizes, axis=2), uneven
    heavy = np.where(np.repeat(uneven, sizes, axis=2), heavy, here.shared)
    total = np.where(uneven, added(heavy, cells, exact_sum), here.some)
    return heavy / np.repeat(total, sizes, axis=2), uneven


def variances(here: Meeting, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """R x M: the propagated variance of the difference, NaN where some cell has none, and the sum of v^2 / df."""
    cells = here.cells
    variance = (weight**2 * of_both(here, cells.variance)).sum(axis=2)
    if np.isinf(cells.df).all():
        return variance, np.zeros(variance.shape)
    free = cells.df[cells.present & np.isfinite(cells.df)]
    if free.size and np.ptp(free) == 0:
        return variance, (weight**4 * of_both(here, np.nan_to_num(cells.variance) ** 2 / cells.df)).sum(axis=2)
    both = np.stack([weight**2 * np.where(here.shared, one, 0.0) for one in here.sides(np.nan_to_num(cells.variance))])
    df = np.stack([np.where(here.shared, one, 1.0) for one in here.sides(cells.df)])
    return variance, uncertainty(both, df)


def by_tables(
    here: Meeting, weight: FloatArray, difference: FloatArray, tables: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """R x M: the score test's deviate of each difference from 0, and its variance by the observed rates; NaN where
    noise is not binomial."""
    cells, unknown = here.cells, np.full(tables.shape, np.nan)
    if not tables.any():
        return unknown, unknown
    n = np.where(cells.n > 0, cells.n, 1.0)
    n1, n2 = here.sides(n)
    share = of_both(here, cells.k) / (n1 + n2)
    variance, third = (part.sum(axis=2) for part in moments(share, n1, share, n2, weight))
    deviate = standardised(difference / cells.whole, variance, third)
    observed = cells.k * (cells.n - cells.k) / n**3
    plain = (weight**2 * of_both(here, observed)).sum(axis=2)
    return np.where(tables, deviate, np.nan), np.where(tables, plain * cells.whole**2, np.nan)


def strata_of(cells: Cells, pairs: IntArray, benchmarks: IntArray, difference: FloatArray) -> Strata:
    """P pairs of binomial noise (P x 2 names) for the score test: the weights are those of the difference, which is the
    mean over so many benchmarks."""
    first, second = pairs.T
    shared = cells.present[first] & cells.present[second]
    n1, n2 = (np.where(shared, cells.n[side], 0.0) for side in (first, second))
    heavy = np.where(shared, n1 * n2 / np.maximum(n1 + n2, 1e-300), 0.0)
    sizes = np.diff(np.append(cells.starts, shared.shape[1]))
    total = np.repeat(np.add.reduceat(heavy, cells.starts, axis=1), sizes, axis=1)
    weight = heavy / np.where(total > 0, total, 1.0) / benchmarks[:, None]
    return Strata(cells.k[first], n1, cells.k[second], n2, weight, difference / cells.whole)


def added(array: FloatArray, cells: Cells, how: Callable[[FloatArray], FloatArray] | None = None) -> FloatArray:
    """Sums over the slots of each benchmark; `how` sums along the last axis, if not as numpy does."""
    # One slot for each benchmark: nothing is to be added.
    if cells.starts.size == array.shape[2]:
        return array
    if how is None:
        return np.asarray(np.add.reduceat(array, cells.starts, axis=2), dtype=np.float64)
    sizes = np.diff(np.append(cells.starts, array.shape[2]))
    found = np.empty((*array.shape[:2], sizes.size))
    for size in np.unique(sizes):
        alike = np.flatnonzero(sizes == size)
        found[:, :, alike] = how(array[:, :, cells.starts[alike][:, None] + np.arange(size)])
    return found


def exact_sum(array: FloatArray) -> FloatArray:
    """Sums along the last axis that are rounded once, so that neither order nor zeros among the terms change a bit: the
    errors of all additions are added up beside them (Ogita, Rump and Oishi 2005, SIAM J. Sci. Comput. 26, 1955-1988).
    """
    errors = np.zeros(array.shape[:-1])
    while (half := array.shape[-1] // 2) > 0:
        first, second = array[..., :half], array[..., half : 2 * half]
        sums = first + second
        back = sums - first
        errors += ((first - (sums - back)) + (second - back)).sum(axis=-1)
        array = np.concatenate([sums, array[..., 2 * half :]], axis=-1) if array.shape[-1] % 2 else sums
    return np.asarray(errors + array.sum(axis=-1), dtype=np.float64)


def counted(array: BoolArray, cells: Cells) -> IntArray:
    """Count of the slots of each benchmark in which it holds."""
    if cells.starts.size == array.shape[2]:
        return array.astype(np.int64)
    return np.asarray(np.add.reduceat(array, cells.starts, axis=2, dtype=np.int64), dtype=np.int64)
