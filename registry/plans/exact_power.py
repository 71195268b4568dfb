"""The power of Fisher's exact test of two rates, by enumeration, and the trials that it takes.

Fisher 1935, The Design of Experiments: the two-sided p of a table is the probability, given both margins, of all tables
that are no more probable. The power goes up and down as the trials grow (Chernick and Liu 2002, The American
Statistician 56:149), so that the trials of a plan are the first from which on it stays above the target.
"""

from __future__ import annotations

import math
from functools import lru_cache

from registry.plans.closed_forms import Goal, trials_of_two_rates

MOST = 150
"""Trials of each sample up to which tables are enumerated: a fifth of a second of a web process."""
_TIE = 1 + 1e-9
"""Tails that are equal differ in the last bits."""


def exact_power(first: float, second: float, trials: int, alpha: float) -> float:
    """The probability that two samples of so many trials with these rates are found different, two-sided."""
    one, other = _binomial(first, trials), _binomial(second, trials)
    found = []
    for successes in range(2 * trials + 1):
        lowest, beyond = _rejected(trials, successes, alpha)
        # With as many trials on both sides the law is symmetric: what is rejected at one end is at the other.
        found += [one[k] * other[successes - k] + one[successes - k] * other[k] for k in range(lowest, beyond)]
    return math.fsum(found)


def exact_trials(first: float, second: float, goal: Goal) -> int | None:
    """The smallest number of trials of each sample with this power, also of all larger numbers; None above `MOST`."""
    # Fisher's test wants about 1 / |difference| more than the normal law says (Casagrande, Pike and Smith 1978).
    rough = trials_of_two_rates(first, second, goal)
    corrected = rough / 4 * (1 + math.sqrt(1 + 4 / (rough * abs(first - second)))) ** 2
    trials = math.ceil(1.15 * corrected) + 5
    if trials > MOST:
        return None
    while trials > 1 and exact_power(first, second, trials - 1, goal.alpha) >= goal.power:
        trials -= 1
    return trials


def _binomial(rate: float, trials: int) -> list[float]:
    return [math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(trials + 1)]


@lru_cache(maxsize=100_000)
def _rejected(trials: int, successes: int, alpha: float) -> tuple[int, int]:
    """Of so many successes in both samples together: from which number in the smaller one on, and below which, two
    samples of so many trials are found different."""
    lowest = max(0, successes - trials)
    chance = math.comb(trials, lowest) * math.comb(trials, successes - lowest) / math.comb(2 * trials, successes)
    tail, k = 0.0, lowest
    while 2 * k < successes and 2 * (tail + chance) <= alpha * _TIE:
        tail += chance
        chance *= (trials - k) * (successes - k) / ((k + 1) * (trials - successes + k + 1))
        k += 1
    return lowest, k
