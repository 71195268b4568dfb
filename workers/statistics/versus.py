"""Two names against each other over all benchmarks, for comparisons of models and changes of rankings: the pair of a
ranking of these two, with the first less the second.

The estimate and its tests are those of `pairs`; beside it stands the same pair for other benchmarks. A name against
itself as it was is such a pair too, in which what was not measured again has no error.

Two names over all benchmarks, where each of them was compared item by item. The mean of the benchmarks' differences,
which weigh equally; its error is the root of the sum of their squared errors over the number of benchmarks, with
Satterthwaite's degrees of freedom. Item sets of different benchmarks are taken as different items.

Whether several estimates, each with its own error, are of one value: `cochran_q`. Where an error was estimated all
weigh the same; Welch's (1951) F, which weighs by estimated errors, finds differences of 20 equal benchmarks of 2
repeats in 14 %.
Errors of shares are by rates that differ alike on all benchmarks, as a score test has them: 20 of 20 has no error by
its own rate, against thousands of trials, and lets every second Q err.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from registry.results.comparison import BenchmarkHeterogeneity, Contrast, GapTest
from registry.results.pairs import Pair, WithoutOne
from registry.results.terms import Estimand, Interval, Status
from workers.statistics.contrasts import kept_cells
from workers.statistics.curves import RowNoise
from workers.statistics.matching import around
from workers.statistics.pairs import APART, BOTH, estimand_of, pair_table
from workers.statistics.power import detectable
from workers.statistics.rank_groups import without_one
from workers.statistics.score_matrix import OF_CELLS, ScoreMatrix, of, only
from workers.statistics.slopes import cochran_q
from workers.statistics.terms import BoolArray, computable, two_sided

_SIZES = ("difference", "stderr", "detectable")


@dataclass(frozen=True, slots=True)
class Versus:
    """A pair for `rerun` and for `new_benchmarks`; of the former, what its tests assume and what it is without each
    benchmark."""

    rerun: Pair
    new_benchmarks: Pair
    assumes: tuple[str, ...]
    without: tuple[WithoutOne, ...] = ()


def versus(standings: ScoreMatrix, a: str, b: str, alpha: float) -> Versus:
    """The pair of two names, which may be missing; not_comparable without a slot in common."""
    both, estimand = _both(standings, a, b), estimand_of("mean_difference", standings.mixed)
    if isinstance(both, str):
        rerun = _nothing(a, b, estimand, both)
        return Versus(rerun, replace(rerun, target="new_benchmarks"), ())
    again = pair_table(both, alpha, "rerun", estimand)
    [others] = pair_table(both, alpha, "new_benchmarks", estimand).pairs(BOTH)
    [rerun] = again.pairs(BOTH)
    return Versus(rerun, others, again.assumes, without_one(both, a, b, alpha))


def change(standings: ScoreMatrix, now: str, then: str, alpha: float, unit: float = 1.0) -> Pair:
    """The pair of a name with itself as it was, for `rerun`; ok without a p where all common cells are the same.
    `unit` is what differences are multiplied by.

    A benchmark without a common cell that is another one was not measured again: its difference is 0 and has no error,
    so that the mean over benchmarks and its error are those of the others, times their share.
    """
    both, estimand = _both(standings, now, then), estimand_of("mean_difference", standings.mixed)
    if isinstance(both, str):
        return _nothing(now, then, estimand, both)
    common = only(both, np.flatnonzero(both.present.all(axis=0)))
    met, slots = np.unique(common.benchmarks).size, common.values.shape[1]
    if not slots:
        return _nothing(now, then, estimand, APART)
    measured = np.unique(common.benchmarks[_other(common)])
    if not measured.size:
        zero = None if estimand == "lead" else 0.0
        return Pair(now, then, "ok", slots, met, 0, slots, 0, 0.0, "rerun", estimand, zero)
    again = only(common, np.flatnonzero(np.isin(common.benchmarks, measured)))
    [found] = pair_table(again, alpha, "rerun", estimand).pairs(BOTH)
    ties = found.ties + slots - found.n_common
    whole = replace(found, n_common=slots, benchmarks=met, ties=ties, lead=(found.lead or 0.0) * measured.size / met)
    return _times(whole, unit * measured.size / met)


def _times(pair: Pair, factor: float) -> Pair:
    """The pair with its difference, and all that is in the unit of that, multiplied."""
    ends = pair.interval
    sizes = {name: size * factor for name in _SIZES if (size := getattr(pair, name)) is not None}
    return replace(pair, **sizes, interval=ends and Interval(ends.level, ends.low * factor, ends.high * factor))


def _both(standings: ScoreMatrix, a: str, b: str) -> ScoreMatrix | str:
    """The standings of two names, or why they have no pair."""
    if a not in standings.names or b not in standings.names:
        return APART
    both = of(standings, [standings.names.index(a), standings.names.index(b)])
    if not both.present.any():
        return APART
    errors = [] if both.stderr is None else [both.stderr]
    return both if computable(both.values, *errors) else "values are not all between 10^-100 and 10^100 in size"


def _nothing(a: str, b: str, estimand: Estimand, reason: str) -> Pair:
    status: Status = "not_comparable" if reason == APART else "undefined"
    return Pair(a, b, status, 0, 0, 0, 0, 0, None, "rerun", estimand, reason=reason)


def _other(common: ScoreMatrix) -> BoolArray:
    """Mask of the slots in which two names differ in anything that is known of the cell."""
    known = [common.values, *(getattr(common, name) for name in OF_CELLS if name != "items")]
    differ = [~((one[0] == one[1]) | ((one[0] != one[0]) & (one[1] != one[1]))) for one in known if one is not None]
    return np.asarray(np.any(differ, axis=0), dtype=np.bool_)


def by_items(pair: Pair, benchmarks: Sequence[Contrast], alpha: float) -> Pair | None:
    """The pair with the error of the items, where each benchmark was compared item by item: of the mean of their
    differences, with Satterthwaite's degrees of freedom, as item sets of different benchmarks are taken as different
    items. None where a benchmark is not paired or has no error, or where the pair is of something else than these."""
    paired = [(one.test, one.items) for one in benchmarks if one.test and one.items and one.items.paired]
    tests = [test for test, _ in paired]
    if pair.status != "ok" or pair.benchmarks != len(tests) or len(tests) != len(benchmarks):
        return None
    if any(one.status != "ok" or not one.stderr or one.difference is None for one in tests):
        return None
    if len(tests) == 1:
        return _of(pair, tests[0])
    difference = math.fsum(one.difference or 0.0 for one in tests) / len(tests)
    parts = [(one.stderr or 0.0) ** 2 for one in tests]
    stderr = math.sqrt(math.fsum(parts)) / len(tests)
    free = [test.df or items.items - 1 for test, items in paired]  # an exact test has no df, its error has
    df = math.fsum(parts) ** 2 / math.fsum(part**2 / one for part, one in zip(parts, free, strict=True))
    ends, p = around(difference, stderr, 1 - alpha, df), two_sided(difference / stderr, df)
    return _of(
        pair, GapTest("ok", "paired_items", difference, ends, stderr, df, p, detectable=detectable(stderr, df, alpha))
    )


def _of(pair: Pair, test: GapTest) -> Pair:
    return replace(
        pair,
        difference=test.difference,
        interval=test.interval,
        stderr=test.stderr,
        df=test.df,
        p=test.p,
        p_holm=test.p,
        detectable=test.detectable,
        min_attainable_p=None,
        test=test.name,
    )


def errors_alike(standings: ScoreMatrix, a: str, b: str) -> dict[str, float]:
    """By benchmark the standard error of the difference of two names, were it the same on all benchmarks, with half a
    success and half a failure more; of the benchmarks where all noise of the two is binomial."""
    both = _both(standings, a, b)
    if isinstance(both, str):
        return {}
    cells = kept_cells(only(both, np.flatnonzero(both.present.all(axis=0))))
    tables = [bool(found) for found in np.logical_and.reduceat((cells.n > 0).all(axis=0), cells.starts)]
    slots = np.isin(cells.owners, np.flatnonzero(tables))
    if not slots.any():
        return {}
    _, owner = np.unique(cells.owners[slots], return_inverse=True)
    (n1, n2), (k1, k2) = cells.n[:, slots], cells.k[:, slots]
    heavy, pooled = n1 * n2 / (n1 + n2), (k1 + k2 + 0.5) / (n1 + n2 + 1)
    weight = heavy / np.bincount(owner, heavy)[owner]
    difference = np.bincount(owner, weight * (k1 / n1 - k2 / n2))
    sure = 1 / np.bincount(owner, weight**2 * pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    gap = float(sure @ difference / sure.sum())
    lower = np.clip((k1 + k2 - n1 * gap) / (n1 + n2), max(0.0, -gap), min(1.0, 1.0 - gap))
    rates = [(rate * n + 0.5) / (n + 1) for rate, n in ((lower + gap, n1), (lower, n2))]
    error = np.sqrt(np.bincount(owner, weight**2 * sum(p * (1 - p) / n for p, n in zip(rates, (n1, n2), strict=True))))
    names = [both.benchmark_names[i] for i, is_table in zip(cells.benchmarks.tolist(), tables, strict=True) if is_table]
    return dict(zip(names, (cells.whole * error).tolist(), strict=True))


def heterogeneity(
    estimates: Sequence[float], stderrs: Sequence[float], dfs: Sequence[float | None]
) -> BenchmarkHeterogeneity:
    """Tests estimates with positive errors; `dfs` are the degrees of freedom of the errors, None where known."""
    count = len(estimates)
    if count < 2:
        reason = "fewer than two benchmarks have a difference with an error"
        return BenchmarkHeterogeneity("insufficient", count, reason=reason)
    y, error = (np.asarray(one, dtype=np.float64)[None] / max(stderrs) for one in (estimates, stderrs))
    free = np.array([[np.inf if one is None else one for one in dfs]])
    estimated = bool(np.isfinite(free).any())
    # Weights that were estimated too would let few repeats err.
    noise = RowNoise("repeats", np.ones_like(error), own=(error**2, free)) if estimated else RowNoise("stderr", error)
    [found] = cochran_q(y, noise)
    name: Literal["brown_forsythe", "cochran_q"] = "brown_forsythe" if estimated else "cochran_q"
    return BenchmarkHeterogeneity("ok", count, name, found.chi2, found.df, found.df_error, found.p)
