"""The pairwise table: every two names on the slots that both have. It is the primary result of a ranking.

Order, score, difference, interval, p, rank range and groups all come from one estimate (see `contrasts`), and the test
of a pair is its interval: where all noise is binomial by the score test (`score_test`), else by the normal law, or by
Student's where errors were estimated. What the two are asked about decides whose noise that is: a rerun has that of the
cells, and none where that is not known. An interval of a difference that is shown, so selected, has the level 1 -
R alpha / m, with R shown of m pairs: of all shown differences at most alpha are then outside of theirs (Benjamini and
Yekutieli 2005, Journal of the American Statistical Association 100, 71-93). It leaves 0 out whenever Holm's p is below
alpha, for the R-th p is then below alpha / (m - R + 1), and so below R alpha / m.

Who wins more often needs no noise: fair signs (Fisher 1935, The Design of Experiments, section 21), exact where that is
affordable. Under the hypothesis that both are as good every slot could as well have been won by the other one.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import erfc, ndtri, stdtr, stdtrit

from registry.results.pairs import Pair
from registry.results.ranking import Omission
from registry.results.terms import NO_SPREAD, OF_UNITS, Estimand, Interval, Target
from workers.statistics.cells import Cells
from workers.statistics.contrasts import Contrasts, Meeting, contrasts_of, kept_cells, pairs_of, strata_of
from workers.statistics.judging import holm_of_pairs
from workers.statistics.power import by_student
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.terms import ROUNDING, SMALLEST_P, FloatArray, IntArray, normal_quantile

WORK = 2_000_000
ALL_WORK = 3_000_000_000
"""Additions that an exact null distribution of one pair, and those of all pairs of a ranking, may cost."""


@dataclass(frozen=True, slots=True)
class SignTest:
    """A two-sided p, what it could have been at least, and the name of the test."""

    p: float
    min_attainable_p: float
    test: str


def sign_flip(signs: Sequence[int], work: int = WORK) -> SignTest:
    """Tests whole numbers (weighted signs) for a sum of 0: exactly, or by the normal law where that costs too much."""
    sizes = [abs(sign) for sign in signs if sign]
    if not sizes:
        return SignTest(1.0, 1.0, "sign_flip")
    # The law of the sum is an array as long as the sum of the sizes: a common divisor shortens it and changes no p.
    divisor = math.gcd(*sizes)
    sizes = [size // divisor for size in sizes]
    seen, least = abs(sum(signs)) // divisor, max(SMALLEST_P, 2.0 ** (1 - len(sizes)))
    if len(sizes) * sum(sizes) > work:
        z = seen / math.sqrt(sum(size**2 for size in sizes))
        return SignTest(max(least, float(erfc(z / math.sqrt(2)))), least, "sign_flip_normal")
    return SignTest(tail_of(np.array(sizes, dtype=np.int64), seen), least, "sign_flip")


def tail_of(sizes: IntArray, seen: int) -> float:
    """P(|sum of +- sizes| >= seen) with fair signs: with u the sum of the positive ones, 2u - total."""
    total = int(sizes.sum())
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    reached = 0
    for size in sizes.tolist():
        # Fair signs: half of the chance stays, half moves up by this size.
        moved = chance[: reached + 1] / 2
        chance[: reached + 1] = moved
        chance[size : reached + size + 1] += moved
        reached += size
    if seen == 0:
        return 1.0
    return float(min(1.0, max(SMALLEST_P, 2 * chance[: (total - seen) // 2 + 1].sum())))


APART = "the two have no slot in common"
SCALE = "scale: where the two meet, their values are on different scales"
UNKNOWN = "the noise of some common cell is not known"
UNASKED = "the number of questions behind some common cell is unknown"
ALONE = "one benchmark says nothing of others"
ALIKE = "the difference of the two is the same everywhere, so that its error is not known"
OF_DIFFERENCES = "new questions are answered for differences; ask with the method mean difference"
BOTH = ((0, 1),)
"""The pair of two names."""
MOST_LISTED = 100
"""Names up to which a ranking lists every pair; above, those of neighbours in the order, or those of one name."""


def couples(names: Sequence[str], order: Sequence[int], wanted: str | None) -> list[tuple[int, int]]:
    """The pairs that a ranking lists, of names in this order: those of the wanted name, all, or those of neighbours."""
    if wanted is not None:
        own = names.index(wanted)
        return [(own, other) for other in order if other != own]
    if len(names) <= MOST_LISTED:
        return list(itertools.combinations(range(len(names)), 2))
    return list(itertools.pairwise(order))


def pairs_left_out(names: int, wanted: str | None) -> tuple[Omission, ...]:
    """What a ranking of so many names says of the pairs that it does not list."""
    if wanted is not None:
        return (Omission("pairs", f'only those of "{wanted}"'),)
    if names <= MOST_LISTED:
        return ()
    told = f"only neighbours in the order: more than {MOST_LISTED} names; ask for those of one name"
    return (Omission("pairs", told),)


@dataclass(frozen=True)
class PairTable:
    """All pairs of the standings, judged; each is written when it is asked for. `p`, names x names: NaN where a pair
    was not tested."""

    standings: ScoreMatrix
    alpha: float
    target: Target
    estimand: Estimand
    contrasts: Contrasts
    evidence: "Evidence"
    p: FloatArray
    signs: dict[tuple[int, int], SignTest]

    @cached_property
    def p_holm(self) -> FloatArray:
        """Holm's adjustment over the pairs that have a p."""
        return holm_of_pairs(self.p)

    @cached_property
    def tested(self) -> int:
        """Number of the pairs that have a p."""
        return int(np.isfinite(self.p).sum()) // 2

    @cached_property
    def shown(self) -> int:
        """Number of those that Holm shows."""
        return int((self.p_holm < self.alpha).sum()) // 2

    @cached_property
    def apart(self) -> IntArray:
        """Names x names: 1 where the row is shown to be better than the column, -1 where worse, else 0."""
        size = self.contrasts.lead if self.estimand == "lead" else self.contrasts.difference * self.standings.sign
        return np.where(self.p_holm < self.alpha, np.sign(size), 0).astype(np.int64)

    @property
    def assumes(self) -> tuple[str, ...]:
        """Assumptions of the tests."""
        if self.estimand == "lead":
            return ("exchangeable_cells",) if self.target == "rerun" else ()
        found, tested = self.contrasts, np.isfinite(self.p)
        if self.target == "new_questions":
            words = {"independent_items": found.paired, "p(1-p)/questions": ~found.paired}
        else:
            free = found.independent & (self.target == "rerun")
            words = {"independent_trials": free, "weighed_by_trials": free & self.standings.has_uneven_trials}
        unsaid = self.standings.assumed if self.target == "rerun" and tested.any() else ()
        return (*(word for word, where in words.items() if bool((tested & where).any())), *unsaid)

    def at(self, i: Any, j: Any) -> tuple[Any, Any]:
        """Where the matrices have pairs of these names."""
        return i, j

    def pairs(self, chosen: Sequence[tuple[int, int]]) -> tuple[Pair, ...]:
        """These pairs."""
        if self.estimand == "lead":
            return tuple(self._by_signs(i, j) for i, j in chosen)
        found = zip(
            chosen, *(one.tolist() for one in self._sizes(np.array(chosen, dtype=np.int64).reshape(-1, 2))), strict=True
        )
        return tuple(self._pair(i, j, Interval(*ends), seen) for (i, j), *ends, seen in found)

    def _sizes(self, chosen: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The level and both ends of each interval, and the detectable difference."""
        found, at, cells = self.contrasts, self.at(*chosen.T), kept_cells(self.standings)
        shown = self.p_holm[at] < self.alpha
        tail = np.where(shown, self.alpha * self.shown / max(1, self.tested), self.alpha) / 2
        reach = quantiles(1 - tail, self.evidence.df[at])
        low, high = (found.difference[at] + sign * reach * self.evidence.stderr[at] for sign in (-1, 1))
        strict = self.alpha / max(1, self.tested)
        seen = by_student(self.evidence.df[at], strict) * self.evidence.stderr[at]
        rows = np.flatnonzero(found.of_tables[at] & (self.target == "rerun"))
        if rows.size:
            met, difference = found.benchmarks[at][rows], found.difference[at][rows]
            strata = strata_of(cells, chosen[rows], met, difference)
            low[rows], high[rows] = (end * cells.whole for end in strata.ends(reach[rows]))
            seen[rows] = strata.detectable(normal_quantile(1 - strict / 2)) * cells.whole
        if (span := self.standings.span) is not None:
            seen[seen > span] = np.nan
        return 1 - 2 * tail, low, high, seen

    def _base(self, i: int, j: int) -> Pair:
        """What was counted of a pair."""
        found, names, at = self.contrasts, (self.standings.names[i], self.standings.names[j]), self.at(i, j)
        common = int(found.common[at])
        if common == 0:
            reason = SCALE if would_meet(self.standings, i, j) else APART
            return Pair(*names, "not_comparable", 0, 0, 0, 0, 0, None, self.target, self.estimand, reason=reason)
        wins, ties = int(found.wins[at]), int(found.ties[at])
        losses, lead, benchmarks = common - wins - ties, float(found.lead[at]), int(found.benchmarks[at])
        return Pair(*names, "ok", common, benchmarks, wins, ties, losses, lead, self.target, self.estimand)

    def _pair(self, i: int, j: int, ends: Interval, seen: float) -> Pair:
        """A pair by its difference."""
        base, found, judged, at = self._base(i, j), self.contrasts, self.evidence, self.at(i, j)
        if base.status != "ok":
            return base
        base = replace(base, difference=float(found.difference[at]))
        if not math.isfinite(judged.stderr[at]):
            rerun = NO_SPREAD if found.variance[at] == 0 else UNKNOWN
            reason = {"rerun": rerun, "new_questions": UNASKED, "new_benchmarks": ALONE}[self.target]
            return replace(base, status="insufficient", reason=reason)
        if not math.isfinite(self.p[at]):
            return replace(base, status="undefined", reason=ALIKE)
        name, error, df = judged.name(found, at), float(judged.stderr[at]), float(judged.df[at])
        if name == "score":
            # Every trial came out the same: the error is what the interval has.
            error = error or (ends.high - ends.low) / 2 / float(ndtri(0.5 + ends.level / 2))
        return replace(
            base,
            interval=ends,
            stderr=error,
            df=df if math.isfinite(df) else None,
            p=float(self.p[at]),
            p_holm=float(self.p_holm[at]),
            detectable=seen if math.isfinite(seen) else None,
            test=name,
        )

    def _by_signs(self, i: int, j: int) -> Pair:
        """A pair by who wins more often."""
        base = self._base(i, j)
        if base.status != "ok":
            return base
        if self.target == "new_questions":
            return replace(base, status="insufficient", reason=OF_DIFFERENCES)
        found = self.signs[i, j]
        possible = found.min_attainable_p < self.alpha
        return replace(
            base,
            status="ok" if possible else "insufficient",
            p=found.p,
            p_holm=float(self.p_holm[i, j]),
            min_attainable_p=found.min_attainable_p,
            test=found.test + ("_over_benchmarks" if self.target == "new_benchmarks" else ""),
            reason=None if possible else f"no signs of these differences have a p below {self.alpha}",
        )


class LonePairs(PairTable):
    """Each name of the first half against its own of the second, judged as if there were no other pair; all matrices
    have one column."""

    @cached_property
    def p_holm(self) -> FloatArray:
        return self.p

    @cached_property
    def tested(self) -> int:
        return 1

    @cached_property
    def shown(self) -> int:
        return 1

    def at(self, i: Any, j: Any) -> tuple[Any, Any]:
        return i, np.zeros_like(j)


def quantiles(shares: FloatArray, df: FloatArray | float) -> FloatArray:
    """Quantiles of Student's laws, normal where the degrees of freedom are infinite."""
    normal = ~np.isfinite(df)
    return np.asarray(np.where(normal, ndtri(shares), stdtrit(np.where(normal, 1.0, df), shares)), dtype=np.float64)


def pair_table(
    standings: ScoreMatrix,
    alpha: float,
    target: Target = "rerun",
    estimand: Estimand = "difference",
    work: int = WORK,
) -> PairTable:
    """Every two names; `work` are the additions that the exact law of one pair may cost."""
    every = list(itertools.combinations(range(len(standings.names)), 2))
    work = min(work, ALL_WORK // max(1, len(every)))
    found, signs = contrasts_of(standings), dict[tuple[int, int], SignTest]()
    judged = evidence(found, target)
    p = judged.p
    np.fill_diagonal(p, np.nan)
    if estimand == "lead":
        p = np.full(judged.p.shape, np.nan)
        if target != "new_questions":
            cells = kept_cells(standings)
            signs = {(i, j): signs_of(cells, i, j, target, work) for i, j in every if found.common[i, j]}
        for (i, j), one in signs.items():
            p[i, j] = p[j, i] = one.p
    return PairTable(standings, alpha, target, estimand, found, judged, p, signs)


def lone_pairs(standings: ScoreMatrix, alpha: float) -> LonePairs:
    """The differences of the first half of the names to the second, for a rerun; standings without items."""
    half = len(standings.names) // 2
    found = pairs_of(Meeting(kept_cells(standings), slice(half), slice(half, None)))
    judged = evidence(found, "rerun")
    return LonePairs(standings, alpha, "rerun", "difference", found, judged, judged.p, {})


def estimand_of(method: str, mixed: bool) -> Estimand:
    """Estimand that the pairs of an order are tested for: its differences, or who wins more often."""
    return "difference" if method in OF_UNITS and not mixed else "lead"


def signs_of(cells: Cells, i: int, j: int, target: Target, work: int) -> SignTest:
    """The sign flip of the lead: over the slots, or over the benchmarks."""
    shared = cells.present[i] & cells.present[j]
    signs = np.sign(cells.ticks[i, shared] - cells.ticks[j, shared])
    owners = cells.owners[shared]
    if target == "new_benchmarks":
        used, place, counts = np.unique(owners, return_inverse=True, return_counts=True)
        signs = np.bincount(place, weights=signs, minlength=used.size).astype(np.int64)
    else:
        counts = np.bincount(owners)[owners]
    # Over the least common multiple of the counts every weighted sign is a whole number, and the test stays exact.
    common = math.lcm(*set(counts.tolist()))
    return sign_flip(
        [sign * (common // count) for sign, count in zip(signs.tolist(), counts.tolist(), strict=True)], work
    )


def would_meet(standings: ScoreMatrix, i: int, j: int) -> bool:
    """Return whether two names have cells in places that only their scales keep apart."""
    if standings.places is None:
        return False
    return bool(np.isin(standings.places[standings.present[i]], standings.places[standings.present[j]]).any())


@dataclass(frozen=True)
class Evidence:
    """Matrices over the names: NaN where unknown, `df` infinite for the normal law."""

    target: Target
    stderr: FloatArray
    df: FloatArray
    p: FloatArray

    def name(self, found: Contrasts, at: tuple[int, int]) -> str:
        """The test of a pair."""
        if self.target == "new_questions":
            return "paired_items" if found.paired[at] else "question_bound"
        if self.target == "new_benchmarks":
            return "t_over_benchmarks"
        return "score" if found.of_tables[at] else "welch" if np.isfinite(self.df[at]) else "z"


def evidence(found: Contrasts, target: Target) -> Evidence:
    """Standard errors, degrees of freedom and p-values of all differences, for what they are asked about.

    `rerun`: the noise of the cells. `new_questions`: where both names have the same items, the differences of these
    (`cells`), else the bound of `cells.of_questions`, with one cell's questions shared by all cells of a benchmark.
    `new_benchmarks`: the spread of the benchmarks' differences (Student 1908).
    """
    if target == "new_questions":
        variance, weight = found.questions, found.questions_weight
    elif target == "new_benchmarks":
        variance, weight = over_benchmarks(found)
    else:
        variance, weight = np.where(found.known, found.variance, np.nan), found.weight
    df = np.divide(variance**2, weight, out=np.full(weight.shape, np.inf), where=weight > 0)
    error = np.sqrt(variance)
    z = np.divide(np.abs(found.difference), error, out=np.full(error.shape, np.nan), where=error > 0)
    if target == "rerun":
        z = np.where(found.of_tables, np.abs(found.deviate), z)
    normal = ~np.isfinite(df)
    p = np.where(normal, erfc(z / np.sqrt(2.0)), 2 * stdtr(np.where(normal, 1.0, df), -z))
    return Evidence(target, error, df, np.clip(p, SMALLEST_P, 1.0))


def over_benchmarks(found: Contrasts) -> tuple[FloatArray, FloatArray]:
    """Errors from the spread of the benchmarks' differences, as many as there are."""
    centred = np.where(found.count > 0, found.by_benchmark - found.difference[:, :, None], 0.0)
    # Equal differences have no spread, whatever their mean was rounded to.
    centred[np.abs(centred) <= ROUNDING * np.abs(found.difference[:, :, None])] = 0.0
    several = found.benchmarks > 1
    free = np.where(several, found.benchmarks - 1.0, 1.0)
    variance = np.sum(centred**2, axis=2) / free / np.maximum(found.benchmarks, 1)
    return np.where(several, variance, np.nan), np.where(several, variance**2 / free, 0.0)
