"""Exact limits on how many of all differ, by a sample in which every set of its size has the same chance.

A sample of n out of N, of which D differ, finds a number that is hypergeometric. The upper limit is the largest D that
finds as few as were found with a chance above alpha, the lower one the smallest D that finds as many (Clopper and
Pearson 1934 for draws without replacement; Buonaccorsi 1987, The American Statistician 41, 215-218). Each limit alone
misses in at most alpha of all samples, both together in at most twice alpha; of a sample of all they are the number.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np


def limits(differing: int, sampled: int, total: int, alpha: float) -> tuple[int, int]:
    """Return the smallest and the largest number of all that may differ, each with error rate `alpha`."""
    possible = range(differing, total - (sampled - differing) + 1)
    lower = bisect_left(possible, x=True, key=lambda among: 1.0 - _up_to(differing - 1, among, sampled, total) > alpha)
    upper = bisect_left(possible, x=True, key=lambda among: _up_to(differing, among, sampled, total) <= alpha)
    return possible[lower], possible[upper - 1]


def _up_to(count: int, among: int, sampled: int, total: int) -> float:
    """Chance to find `count` or fewer in a sample, when `among` of all differ.

    Sums logarithms of factors near 1: those of factorials would lose seven digits at 100 million.
    """
    others = total - among
    fewest = max(0, sampled - others)
    if count < fewest:
        return 0.0
    if count >= min(sampled, among):
        return 1.0
    # The chance of the fewest: no draw is one of those that differ, or every one that does not is drawn.
    left_out, draws = (total - sampled, others) if fewest else (among, sampled)
    start = np.log1p(-left_out / (total - np.arange(draws, dtype=np.float64))).sum()
    k = np.arange(fewest, count, dtype=np.float64)
    steps = np.log(among - k) + np.log(sampled - k) - np.log(k + 1) - np.log(others - sampled + k + 1)
    return float(np.exp(np.logaddexp.reduce(np.concatenate([[start], start + np.cumsum(steps)]))))
