"""Two names against each other over all benchmarks: the pair of a ranking of these two, with the first less the second.

The estimate and its tests are those of `pairs`; beside it stands the same pair for other benchmarks. A name against
itself as it was is such a pair too, in which what was not measured again has no error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from registry.results.pairs import Pair
from registry.results.policies import Estimand
from registry.results.stability import WithoutOne
from registry.results.terms import Interval, Status
from workers.statistics.pairs import APART, estimand_of, pair_table
from workers.statistics.score_matrix import OF_CELLS, ScoreMatrix, of, only
from workers.statistics.terms import BoolArray, computable
from workers.statistics.without_one import without_one

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
    others = pair_table(both, alpha, "new_benchmarks", estimand).pairs[0]
    return Versus(again.pairs[0], others, again.assumes, without_one(both, a, b, alpha))


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
    [found] = pair_table(again, alpha, "rerun", estimand).pairs
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
