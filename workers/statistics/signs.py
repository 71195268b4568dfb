"""Paired differences without known noise: the exact sign-flip test, and Wilcoxon's where that is out of reach.

Fisher (1935), The Design of Experiments, section 21: under the null hypothesis every difference could as well
have had the other sign. Wilcoxon (1945) does the same with ranks in place of sizes; ties get middle ranks and
zeros are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import erfc

from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray

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
