"""The pairwise table: every two names on the slots that both have. It is the primary result of a ranking.

Order, score, difference, interval, p, rank range and groups all come from one estimate (see `contrasts`). Where the
noise of a common cell is unknown, cells are taken as exchangeable: the p is that of the exact sign flip, with the
weights of the same estimate.

Paired differences without known noise: the exact sign-flip test, and Wilcoxon's where that is out of reach.

Fisher (1935), The Design of Experiments, section 21: under the null hypothesis every difference could as well
have had the other sign. Wilcoxon (1945) does the same with ranks in place of sizes; ties get middle ranks and
zeros are dropped.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import erfc, ndtri, stdtr, stdtrit

from registry.results.pairs import Pair
from registry.results.ranking import Omission
from registry.results.terms import OF_UNITS, Estimand, Interval, Target
from workers.statistics.cells import Cells, cells_of
from workers.statistics.contrasts import Contrasts, contrasts_of
from workers.statistics.judging import adjusted
from workers.statistics.score_matrix import ScoreMatrix
from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray, detectable

WORK = 2_000_000
ALL_WORK = 3_000_000_000
"""Additions that an exact null distribution of one pair, and those of all pairs of a ranking, may cost."""
MOST_SIGNS = 14
"""Differences up to which every assignment of signs is looked at."""
FINEST = 50
"""Units that a difference must have on average, where differences are rounded to whole ones."""


@dataclass(frozen=True, slots=True)
class SignTest:
    """A two-sided p, what it could have been at least, and the name of the test."""

    p: float
    min_attainable_p: float
    test: str


def sign_flip(differences: Sequence[int], work: int = WORK) -> SignTest:
    """Tests whole-number differences (weighted ones included) for a sum of 0."""
    sizes = [abs(d) for d in differences if d]
    if not sizes:
        return SignTest(1.0, 1.0, "sign_flip")
    # The law of the sum is an array as long as the sum of the sizes: a common divisor shortens it and changes no p.
    divisor = math.gcd(*sizes)
    sizes = [size // divisor for size in sizes]
    seen = abs(sum(differences)) // divisor
    if len(sizes) * sum(sizes) > work:
        return wilcoxon(differences, work)
    p = tail_of(np.array(sizes, dtype=np.int64), seen)
    return SignTest(p, max(SMALLEST_P, 2.0 ** (1 - len(sizes))), "sign_flip")


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


def wilcoxon(differences: Sequence[int], work: int = WORK) -> SignTest:
    """The signed-rank test: exact while its distribution is affordable, else normal with ties."""
    exact = np.array([d for d in differences if d], dtype=object)
    ranks = middle_ranks(np.array([float(abs(d)) for d in exact]))
    doubled = np.rint(2 * ranks).astype(np.int64)
    positive = np.array([d > 0 for d in exact])
    seen = abs(int(doubled[positive].sum() - doubled[~positive].sum()))
    least = max(SMALLEST_P, 2.0 ** (1 - len(doubled)))
    if doubled.size * int(doubled.sum()) <= work:
        return SignTest(tail_of(doubled, seen), least, "wilcoxon")
    z = seen / math.sqrt(float(np.sum(doubled.astype(np.float64) ** 2)))
    return SignTest(max(SMALLEST_P, float(erfc(z / math.sqrt(2)))), least, "wilcoxon_normal")


def middle_ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1 upwards; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)


def sign_flip_of(differences: FloatArray, work: int) -> SignTest:
    """The same of any numbers: all signs, or rounded to what is affordable, or the normal limit."""
    largest = float(np.max(np.abs(differences), initial=0.0))
    kept = differences[np.abs(differences) > 1e-9 * largest]
    if kept.size == 0:
        return SignTest(1.0, 1.0, "sign_flip")
    least = max(SMALLEST_P, 2.0 ** (1 - int(kept.size)))
    if kept.size <= MOST_SIGNS and 2 ** (int(kept.size) - 1) <= work:
        return SignTest(of_all_signs(kept), least, "sign_flip")
    # Rounding may add one half to each of the sizes; their sum is chosen such that the work stays affordable all the
    # same.
    total = work // int(kept.size) - int(kept.size)
    if total > FINEST * kept.size:
        found = sign_flip([round(d) for d in (kept * (total / np.abs(kept).sum())).tolist()], work)
        return SignTest(found.p, least, found.test)
    z = abs(float(kept.sum())) / math.sqrt(float(np.sum(kept**2)))
    return SignTest(max(SMALLEST_P, least, float(erfc(z / math.sqrt(2)))), least, "sign_flip_normal")


def of_all_signs(differences: FloatArray) -> float:
    """P(|sum| >= seen), the sign of the first one kept: the other half mirrors it."""
    sums = differences[:1]
    for difference in differences[1:]:
        sums = np.concatenate([sums + difference, sums - difference])
    seen = abs(float(differences.sum())) - 1e-9 * float(np.abs(differences).sum())
    return float(np.mean(np.abs(sums) >= seen))


APART = "the two have no slot in common"
SCALE = "scale: where the two meet, their values are on different scales"
UNASKED = "the number of questions behind some common cell is unknown"
OF_DIFFERENCES = "new questions are answered for differences; ask with method=mean_difference"
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


def listed(pairs: Sequence[Pair], names: Sequence[str], wanted: str | None) -> tuple[Pair, ...]:
    """Those of all pairs that a ranking lists, of names in this order."""
    if wanted is None and len(names) <= MOST_LISTED:
        return tuple(pairs)
    kept = {frozenset((names[i], names[j])) for i, j in couples(names, range(len(names)), wanted)}
    return tuple(pair for pair in pairs if {pair.a, pair.b} in kept)


def pairs_left_out(names: int, wanted: str | None) -> tuple[Omission, ...]:
    """What a ranking of so many names says of the pairs that it does not list."""
    if wanted is not None:
        return (Omission("pairs", f'only those of "{wanted}"'),)
    if names <= MOST_LISTED:
        return ()
    told = f"only neighbours in the order: more than {MOST_LISTED} names; those of one name with pairs_of=NAME"
    return (Omission("pairs", told),)


@dataclass(frozen=True)
class PairTable:
    """All pairs in the order of the names, and the matrices they were read from."""

    pairs: tuple[Pair, ...]
    contrasts: Contrasts
    assumes: tuple[str, ...]


def pair_table(
    standings: ScoreMatrix,
    alpha: float,
    target: Target = "rerun",
    estimand: Estimand = "difference",
    work: int = WORK,
) -> PairTable:
    """Every two names, with Holm's adjustment over those that have a p; `work` are the additions that the exact law
    of one pair may cost."""
    cells = cells_of(standings)
    found = contrasts_of(standings)
    every = list(itertools.combinations(range(len(standings.names)), 2))
    judged = evidence(found, alpha, target)
    desk = Desk(standings, cells, found, judged, alpha, target, estimand, min(work, ALL_WORK // max(1, len(every))))
    pairs = [desk.pair(i, j) for i, j in every]
    corrected = adjusted([pair.p for pair in pairs], "holm")
    pairs = [replace(pair, p_holm=p) for pair, p in zip(pairs, corrected, strict=True)]
    return PairTable(tuple(pairs), found, assumed(pairs, found, judged))


def estimand_of(method: str, mixed: bool) -> Estimand:
    """Estimand that the pairs of an order are tested for: its differences, or who wins more often."""
    return "difference" if method in OF_UNITS and not mixed else "lead"


def assumed(pairs: Sequence[Pair], found: Contrasts, judged: Evidence) -> tuple[str, ...]:
    """Assumptions of the tests."""
    tests = {pair.test or "" for pair in pairs}
    noisy = tests & {"mantel_haenszel", "cochran_mantel_haenszel", "z", "welch"}
    words = ["independent_trials"] if noisy and bool(found.independent.any()) else []
    if any(test.startswith(("sign_flip", "wilcoxon")) and not test.endswith("benchmarks") for test in tests):
        words.append("exchangeable_cells")
    known = {"paired_items": "independent_items", "question_bound": "p(1-p)/questions"}
    return (*words, *(word for test, word in known.items() if test in tests))


@dataclass(frozen=True)
class Desk:
    """Input that all pairs are written from."""

    standings: ScoreMatrix
    cells: Cells
    found: Contrasts
    judged: Evidence
    alpha: float
    target: Target
    estimand: Estimand
    work: int

    def pair(self, i: int, j: int) -> Pair:
        """One pair, without Holm's adjustment."""
        found, names = self.found, (self.standings.names[i], self.standings.names[j])
        common = int(found.common[i, j])
        if common == 0:
            reason = SCALE if would_meet(self.standings, i, j) else APART
            return Pair(*names, "not_comparable", 0, 0, 0, 0, 0, None, self.target, self.estimand, reason=reason)
        wins, ties = int(found.wins[i, j]), int(found.ties[i, j])
        benchmarks, lead = int(found.benchmarks[i, j]), float(found.lead[i, j])
        losses = common - wins - ties
        base = Pair(*names, "ok", common, benchmarks, wins, ties, losses, lead, self.target, self.estimand)
        if self.estimand == "lead":
            if self.target == "new_questions":
                return replace(base, status="insufficient", reason=OF_DIFFERENCES)
            return by_signs(base, self.signs(i, j), self.alpha, self.target)
        base = self.estimated(replace(base, difference=float(found.difference[i, j])), i, j)
        if self.target == "new_questions":
            missing = not np.isfinite(found.questions[i, j])
            return replace(base, status="insufficient", reason=UNASKED) if missing else base
        if self.target == "rerun" and found.known[i, j]:
            return base
        return by_signs(base, self.flips(i, j), self.alpha, self.target)

    def estimated(self, base: Pair, i: int, j: int) -> Pair:
        """Adds standard error, interval and, where noise is known, p of the difference."""
        judged = self.judged
        error, df, p = float(judged.stderr[i, j]), float(judged.df[i, j]), float(judged.p[i, j])
        if not math.isfinite(error):
            return base
        reach = float(judged.reach[i, j])
        ends = Interval(1 - self.alpha, (base.difference or 0.0) - reach, (base.difference or 0.0) + reach)
        if error == 0 and self.target == "rerun" and self.found.known[i, j]:
            reason = "every trial came out the same"
            return replace(base, status="undefined", test=judged.name(self.found, i, j), reason=reason)
        if error == 0:  # equal differences say nothing of their error
            return base
        return replace(
            base,
            interval=ends,
            stderr=error,
            df=df if math.isfinite(df) else None,
            p=p if math.isfinite(p) else None,
            detectable=detectable(error, self.alpha),
            test=judged.name(self.found, i, j),
        )

    def flips(self, i: int, j: int) -> SignTest:
        """The exact sign flip of the difference: over its slots, or over its benchmarks."""
        if self.target == "new_benchmarks":
            met = self.found.count[i, j] > 0
            return sign_flip_of(self.found.by_benchmark[i, j][met], self.work)
        shared = self.cells.present[i] & self.cells.present[j]
        moves, owners = self.cells.ticks[i, shared] - self.cells.ticks[j, shared], self.cells.owners[shared]
        counts = np.bincount(owners)[owners]
        return sign_flip(whole(moves, self.cells.decimals[shared], counts), self.work)

    def signs(self, i: int, j: int) -> SignTest:
        """The exact sign flip of the lead."""
        shared = self.cells.present[i] & self.cells.present[j]
        signs = np.sign(self.cells.ticks[i, shared] - self.cells.ticks[j, shared])
        owners = self.cells.owners[shared]
        if self.target == "new_benchmarks":
            used, place, counts = np.unique(owners, return_inverse=True, return_counts=True)
            signs = np.bincount(place, weights=signs, minlength=used.size).astype(np.int64)
        else:
            counts = np.bincount(owners)[owners]
        return sign_flip(whole(signs, np.zeros(signs.size, dtype=np.int64), counts), self.work)


def would_meet(standings: ScoreMatrix, i: int, j: int) -> bool:
    """Return whether two names have cells in places that only their scales keep apart."""
    if standings.places is None:
        return False
    return bool(np.isin(standings.places[standings.present[i]], standings.places[standings.present[j]]).any())


def whole(moves: IntArray, decimals: IntArray, counts: IntArray) -> list[int]:
    """Differences in 10^-decimals over the counts as whole numbers of one unit."""
    # Over the least common multiple of the counts every weighted difference is a whole number, and the test stays
    # exact.
    common, finest = math.lcm(*set(counts.tolist())), int(decimals.max(initial=0))
    return [
        move * 10 ** (finest - places) * (common // count)
        for move, places, count in zip(moves.tolist(), decimals.tolist(), counts.tolist(), strict=True)
    ]


def by_signs(base: Pair, found: SignTest, alpha: float, target: Target) -> Pair:
    possible = found.min_attainable_p < alpha
    return replace(
        base,
        status="ok" if possible else "insufficient",
        p=found.p,
        min_attainable_p=found.min_attainable_p,
        test=found.test + ("_over_benchmarks" if target == "new_benchmarks" else ""),
        detectable=base.detectable if possible else None,
        reason=None if possible else f"no signs of these differences have a p below {alpha}",
    )


@dataclass(frozen=True)
class Evidence:
    """Matrices over the names: NaN where unknown, `df` infinite for the normal law. `p` is the one that belongs to
    the standard error; where cells or benchmarks are exchangeable an exact one takes its place."""

    target: str
    stderr: FloatArray
    df: FloatArray
    p: FloatArray
    reach: FloatArray

    def name(self, found: Contrasts, i: int, j: int) -> str | None:
        """The test of a pair whose noise is known; `None` without one."""
        if self.target == "new_questions":
            return "paired_items" if found.paired[i, j] else "question_bound"
        if self.target != "rerun" or not found.known[i, j]:
            return None
        if not found.of_tables[i, j]:
            return "welch" if np.isfinite(self.df[i, j]) else "z"
        return "cochran_mantel_haenszel" if found.equality[i, j] else "mantel_haenszel"


def evidence(found: Contrasts, alpha: float, target: str) -> Evidence:
    """Standard errors, degrees of freedom, p-values and intervals of all differences, for what they are asked about.

    `rerun`: the noise of the cells, with Satterthwaite's degrees of freedom; where it is unknown, the spread of slots
    within benchmarks (or of benchmarks of one slot each), for the interval alone. `new_questions`: where both names
    have the same items, the differences of these (`cells`), else the bound of `cells.of_questions`, with one
    cell's questions shared by all cells of a benchmark. `new_benchmarks`: the spread of the benchmarks' differences
    (Student 1908).
    """
    variance, weight = of_target(found, target)
    df = np.divide(variance**2, weight, out=np.full(weight.shape, np.inf), where=weight > 0)
    # Estimated degrees of freedom are too many where a benchmark of two slots happens to show little spread: at most
    # those under equal variances.
    if target == "rerun":
        df = np.where(found.known | (found.common == found.benchmarks), df, np.fmin(df, found.strata_df))
    error = np.sqrt(variance)
    size = np.divide(np.abs(found.difference), error, out=np.zeros(error.shape), where=error > 0)
    normal = ~np.isfinite(df)
    free = np.where(normal, 1.0, df)
    p = np.where(normal, erfc(size / np.sqrt(2.0)), 2 * stdtr(free, -size))
    quantile = np.where(normal, ndtri(1 - alpha / 2), stdtrit(free, 1 - alpha / 2))
    tested = np.isfinite(error) & (error > 0) & (found.known | (target == "new_questions"))
    return Evidence(
        target,
        error,
        df,
        np.where(tested, np.clip(p, SMALLEST_P, 1.0), np.nan),
        np.asarray(quantile * error, dtype=np.float64),
    )


def of_target(found: Contrasts, target: str) -> tuple[FloatArray, FloatArray]:
    """The variance of each difference and the sum of v^2 / df, NaN and 0 where there is none."""
    if target == "new_questions":
        return found.questions, found.questions_weight
    over = over_benchmarks(found)
    if target == "new_benchmarks":
        return over
    single = (found.benchmarks == found.common) & (found.benchmarks > 1)
    variance = np.where(single, over[0], found.strata)
    weight = np.where(single, over[1], found.strata_weight)
    return np.where(found.known, found.variance, variance), np.where(found.known, found.weight, weight)


def over_benchmarks(found: Contrasts) -> tuple[FloatArray, FloatArray]:
    """Errors from the spread of the benchmarks' differences, as many as there are."""
    centred = np.where(found.count > 0, found.by_benchmark - found.difference[:, :, None], 0.0)
    several = found.benchmarks > 1
    free = np.where(several, found.benchmarks - 1.0, 1.0)
    variance = np.sum(centred**2, axis=2) / free / np.maximum(found.benchmarks, 1)
    return np.where(several, variance, np.nan), np.where(several, variance**2 / free, 0.0)
