"""The differences of all pairs of names at once: one estimate within each benchmark, the mean of these over them.

Within a benchmark, over the slots that two names share, the mean of the differences of the posted values: where only
trials speak for the noise, with Mantel and Haenszel's weights (1959), which are equal where trials are, and the
variance of Sato, Greenland and Robins (1989, Biometrics 45, 1323-1324), for which values count as successes; else with
equal weights, and the propagated variance where every cell has one. Over benchmarks: the unweighted mean, its variance
the sum over B^2, and Satterthwaite's (1946) degrees of freedom where variances were estimated. Estimates are summed
without rounding errors, so that they are the same whoever else is there, and in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

import numpy as np

from workers.statistics.cells import Cells, by_items, cells_of
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.terms import BoolArray, FloatArray, IntArray

AT_ONCE = 1_000_000
"""Differences that are looked at together."""


@dataclass(frozen=True)
class Contrasts:
    """Square matrices over the names, row less column; `by_benchmark` and `count` are M x M x B.

    `difference` is the mean over the `benchmarks` in which two names meet (0 where they never do). Where `known`, the
    noise of every common cell is: `variance` is that of the difference and `weight` the sum of v^2 / df over its
    parts, 0 where nothing was estimated. `of_tables` says that every part is Mantel and Haenszel's, `equality` that
    some part has the variance under equality, because Sato's is 0. `strata` and `strata_weight` are the same from the
    spread of the slots' differences within benchmarks, NaN where some benchmark has a single slot, and `strata_df` the
    degrees of freedom if all slots had one variance: estimated ones are too many where a benchmark of two slots
    happens to show little spread. `questions` is the variance under other questions, NaN where unknown, with
    `questions_weight` the sum of v^2 / df: by the items on a benchmark where two names answered the same, as `paired`
    ones do on all, else a bound. `independent` says that a variance rests on trials without a design effect. Wins are
    counted in slots, `lead` is (wins - losses) / slots, benchmarks equal.
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
    equality: BoolArray
    strata: FloatArray
    strata_weight: FloatArray
    strata_df: FloatArray
    questions: FloatArray
    questions_weight: FloatArray
    paired: BoolArray
    independent: BoolArray


def contrasts_of(standings: ScoreMatrix) -> Contrasts:
    """All pairs of the standings, which keep them: several orders of one ranking ask for the same."""
    # What a cached_property does, from outside: the standings cannot know the modules that are built on them.
    kept = standings.__dict__
    if "contrasts" not in kept:
        kept["contrasts"] = contrasts(cells_of(standings))
    found: Contrasts = kept["contrasts"]
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
        yield rows_of(cells, slice(first, min(size, first + step)))


@dataclass(frozen=True)
class Meeting:
    """Some rows against all names: R x M x S, and R x M x B where said."""

    cells: Cells
    rows: slice
    shared: BoolArray
    moves: IntArray
    gaps: FloatArray
    count: IntArray
    """R x M x B."""
    plain: FloatArray
    """R x M x B: the mean difference."""

    @classmethod
    def of(cls, cells: Cells, rows: slice) -> Meeting:
        shared = np.asarray(cells.present[rows, None] & cells.present, dtype=np.bool_)
        moves = np.where(shared, cells.ticks[rows, None] - cells.ticks, 0)
        gaps = np.asarray(moves / np.power(10.0, cells.decimals), dtype=np.float64)
        count = counted(shared, cells)
        return cls(cells, rows, shared, moves, gaps, count, added(gaps, cells, exact_sum) / np.maximum(count, 1))

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
        found = counted(self.shared & has[self.rows, None] & has, self.cells)
        return np.asarray(found == self.count, dtype=np.bool_)


@dataclass(frozen=True)
class Within:
    """R x M x B: the parts that differ with how the noise is known."""

    difference: FloatArray
    variance: FloatArray
    weight: FloatArray
    equality: BoolArray
    questions: FloatArray


def rows_of(cells: Cells, rows: slice) -> Contrasts:
    """The rows of some names."""
    here = Meeting.of(cells, rows)
    benchmarks = here.met.sum(axis=2)
    # The mean over B benchmarks has their variances over B^2, and v^2 / df over B^4 (Satterthwaite). 1 where two names
    # never meet, so that nothing is divided by 0.
    several = np.maximum(benchmarks, 1).astype(np.float64)
    plain = of_means(here)
    pure = here.everywhere(cells.n > 0) & here.met
    best = by_tables(here, pure, plain)
    variance = np.where(here.met, np.nan_to_num(best.variance), 0.0).sum(axis=2) / several**2
    tables = np.all(pure | ~here.met, axis=2)
    known = np.all(np.isfinite(best.variance) | ~here.met, axis=2) & (benchmarks > 0) & ((variance > 0) | tables)
    by_benchmark = np.where(here.met, np.where(known[:, :, None], best.difference, plain.difference), np.nan)
    won, lost = (counted(np.sign(here.moves) * cells.sign == end, cells) for end in (1, -1))
    strata, strata_weight = of_strata(here)
    error = np.where(here.met, np.where(known[:, :, None], best.questions, plain.questions) ** 2, 0.0)
    error, error_weight, paired = by_items(cells.both_item_variances, rows, pure & known[:, :, None], here.met, error)
    free = counted(here.shared & (cells.independent[rows, None] | cells.independent), cells).any(axis=2)
    return Contrasts(
        count=here.count,
        by_benchmark=by_benchmark,
        common=here.count.sum(axis=2),
        benchmarks=benchmarks,
        wins=won.sum(axis=2),
        ties=(here.count - won - lost).sum(axis=2),
        lead=((won - lost) / here.some).sum(axis=2) / several,
        difference=exact_sum(np.nan_to_num(by_benchmark)) / several,
        known=known,
        variance=np.where(known, variance, np.nan),
        weight=np.where(here.met, best.weight, 0.0).sum(axis=2) / several**4,
        of_tables=tables & known,
        equality=np.any(best.equality & here.met, axis=2),
        strata=np.where(benchmarks > 0, strata.sum(axis=2), np.nan) / several**2,
        strata_weight=np.nan_to_num(strata_weight).sum(axis=2) / several**4,
        strata_df=equal_df(here),
        questions=np.where(benchmarks > 0, error.sum(axis=2), np.nan) / several**2,
        questions_weight=error_weight.sum(axis=2) / several**4,
        paired=paired,
        independent=known & free,
    )


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


def of_means(here: Meeting) -> Within:
    """The mean of the slots' differences; its variance is NaN where some cell has none. The bound for new questions
    takes the cells of a benchmark as completely correlated, and is NaN where the questions of a cell are unknown."""
    cells, rows = here.cells, here.rows
    unknown = np.full(here.plain.shape, np.nan)
    variance, weight, questions = unknown, np.zeros(unknown.shape), unknown
    if np.isfinite(cells.variance).any():
        squares = np.nan_to_num(cells.variance) ** 2 / cells.df
        variance = added(np.where(here.shared, cells.variance[rows, None] + cells.variance, 0.0), cells) / here.some**2
        weight = added(np.where(here.shared, squares[rows, None] + squares, 0.0), cells) / here.some**4
    if np.isfinite(cells.question).any():
        questions = added(question_errors(here), cells) / here.some
    return Within(here.plain, variance, weight, np.zeros(unknown.shape, dtype=np.bool_), questions)


def question_errors(here: Meeting) -> FloatArray:
    """The standard error of each difference for new questions, 0 where there is none."""
    total = here.cells.question[here.rows, None] + here.cells.question
    return np.asarray(np.where(here.shared, np.sqrt(total), 0.0), dtype=np.float64)


def by_tables(here: Meeting, pure: BoolArray, other: Within) -> Within:
    """Mantel and Haenszel's difference where `pure`, the other one elsewhere."""
    if not pure.any():
        return other
    cells, scale = here.cells, here.cells.whole
    n1, k1 = (np.where(here.shared, array[here.rows, None], 0.0) for array in (cells.n, cells.k))
    n2, k2 = (np.where(here.shared, array, 0.0) for array in (cells.n, cells.k))
    # Slots that are not shared have 0 of 0 and add nothing.
    both, total = np.maximum(n1 + n2, 1e-300), k1 + k2
    share1, share2 = n1 / both, n2 / both
    heavy = np.asarray(n1 * share2, dtype=np.float64)
    weight = np.where(pure, added(heavy, cells, exact_sum), 1.0)
    difference = added(k1 * share2 - k2 * share1, cells) / weight
    # Slots of equal trials weigh the same, to the last bit.
    most = np.maximum.reduceat(heavy, cells.starts, axis=2)
    least = np.minimum.reduceat(np.where(here.shared, heavy, np.inf), cells.starts, axis=2)
    uneven = pure & (most != least)
    p = added(k2 * share1**2 - k1 * share2**2 + share1 * share2 * (n2 - n1) / 2, cells)
    q = added((k1 * (n2 - k2) + k2 * (n1 - k1)) / both / 2, cells)
    variance = np.maximum(difference * p + q, 0.0) / weight**2
    silent = pure & (variance * weight <= 1e-12)
    # Sato's variance is 0 where one name always succeeds and the other never: then that under equality.
    equal = added(share1 * share2 * total * (n1 + n2 - total) / np.maximum(n1 + n2 - 1, 1), cells) / weight**2
    questions = other.questions
    if np.isfinite(cells.question).any():
        questions = np.where(pure, added(heavy * question_errors(here), cells) / weight, questions)
    return Within(
        np.where(uneven, added(heavy * here.gaps, cells, exact_sum) / weight, other.difference),
        np.where(pure, np.where(silent, equal, variance) * scale**2, other.variance),
        np.where(pure, 0.0, other.weight),
        silent & (equal > 0),
        questions,
    )


def of_strata(here: Meeting) -> tuple[FloatArray, FloatArray]:
    """Errors from the spread of the slots: the variance of each benchmark's mean difference, NaN where one slot has
    none, and v^2 / df."""
    sizes = np.diff(np.append(here.cells.starts, here.gaps.shape[2]))
    centred = np.where(here.shared, here.gaps - np.repeat(here.plain, sizes, axis=2), 0.0)
    free = np.maximum(here.count - 1, 1)
    variance = added(centred**2, here.cells) / free / here.some
    return np.where(here.count == 1, np.nan, variance), np.where(here.count > 1, variance**2 / free, 0.0)


def equal_df(here: Meeting) -> FloatArray:
    """Satterthwaite's degrees of freedom of the mean over benchmarks, if the slots' differences had one variance."""
    part = np.where(here.met, 1 / here.some, 0.0)
    square = np.where(here.count > 1, part**2 / np.maximum(here.count - 1, 1), 0.0).sum(axis=2)
    found = np.divide(part.sum(axis=2) ** 2, square, out=np.full(square.shape, np.nan), where=square > 0)
    return np.asarray(found, dtype=np.float64)
