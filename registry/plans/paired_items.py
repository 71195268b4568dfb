"""The power of McNemar's exact test of one cell of items that both sides answered, without a numerical library.

Of n items so many differ as a binomial law of their share says, and of these so many are lost as the share of the
losses among them says; the test rejects while these are few enough for equal sides (McNemar 1947; the power as a sum
over the items that differ: Duffy 1984, Biometrics 40:1005). Beyond `MOST_ENUMERATED` items that differ: the normal law,
corrected by one item (Edwards 1948, Psychometrika 13:185).

What is not asked for is as it was measured: a smaller difference than the measured one leaves the share of items that
differ (Connor 1987, Biometrics 43:207), a larger one the share that is lost. A difference that noise alone would show
as well has grown by it, at the cost of the losses: its variance is taken off its square, as that is what it adds.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from registry.plans.closed_forms import MOST_TRIALS, Goal
from registry.results.comparison import Flips

MOST_ENUMERATED = 400
"""Items that differ, on the average, up to which the power is a sum; the normal law is off by 0.2 % there."""
_STEPS = 24
_WIDE = 9.0


@dataclass(frozen=True, slots=True)
class PairedItems:
    """Of `count` items, `up` came out 1 in the one side alone and `down` in the other alone; effects are in the unit
    of which a whole item is so many."""

    up: int
    down: int
    count: int
    whole: float = 1.0

    @classmethod
    def of(cls, flips: Flips, whole: float) -> "PairedItems":
        """The items of a comparison."""
        count = flips.both + flips.only_contender + flips.only_baseline + flips.neither
        return cls(flips.only_contender, flips.only_baseline, count, whole)

    def shares(self, effect: float) -> tuple[float, float]:
        """The shares of items won and lost where the sides differ by this effect, above 0 and up to the whole."""
        effect /= self.whole
        differ, gap = (self.up + self.down) / self.count, abs(self.up - self.down) / self.count
        gap = math.sqrt(max(0.0, gap**2 - (differ - gap**2) / self.count))
        lost = min(max(differ - gap, differ - effect) / 2, (1 - effect) / 2)
        return lost + effect, lost

    def detectable(self, goal: Goal) -> float | None:
        """The smallest effect that as many items show with the goal's power; None where the largest is not shown."""
        if power(self.count, 1.0, 0.0, goal.tail) < goal.power:
            return None
        low, high = 0.0, self.whole
        for _ in range(_STEPS):
            middle = (low + high) / 2
            found = power(self.count, *self.shares(middle), goal.tail) >= goal.power
            low, high = (low, middle) if found else (middle, high)
        return high

    def needed(self, effect: float, goal: Goal) -> int | None:
        """Items that show an effect with the goal's power; None beyond `MOST_TRIALS`."""
        won, lost = self.shares(effect)
        return _first(lambda items: power(items, won, lost, goal.tail) >= goal.power)


def _first(is_enough: Callable[[int], bool]) -> int | None:
    low, high = 0, 1
    while not is_enough(high):
        low, high = high, 2 * high
        if high > MOST_TRIALS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def power(items: int, won: float, lost: float, tail: float) -> float:
    """The probability that McNemar's exact test, at this level on one side, finds the side ahead that wins and loses
    these shares of the items."""
    differ = won + lost
    if items * differ > MOST_ENUMERATED:
        apart = items * (won - lost) - 1 - NormalDist().inv_cdf(1 - tail) * math.sqrt(items * differ)
        return NormalDist().cdf(apart / math.sqrt(items * max(differ - (won - lost) ** 2, 1e-12)))
    spread = _WIDE * (math.sqrt(items * differ * (1 - differ)) + 1)
    most = min(items, math.ceil(items * differ + spread))
    chances = _rejected(lost / differ if differ else 0.0, most, tail)
    least = max(0, math.floor(items * differ - spread))
    return math.fsum(_chance(count, items, differ) * chances[count] for count in range(least, most + 1))


def _chance(count: int, of: int, share: float) -> float:
    """The binomial probability of a count."""
    if share <= 0 or share >= 1:
        return float(count == (of if share >= 1 else 0))
    ways = math.lgamma(of + 1) - math.lgamma(count + 1) - math.lgamma(of - count + 1)
    return math.exp(ways + count * math.log(share) + (of - count) * math.log1p(-share))


def _rejected(share: float, most: int, tail: float) -> list[float]:
    """By the number of items that differ, from none: the probability that so few of them are lost, each with this
    share below 1, that the test rejects. One item more takes from it what leaves the last count that is few enough."""
    limits, found = _limits(tail), []
    below, last, limit = 0.0, 0.0, -1
    for count in range(most + 1):
        if limit >= 0:
            below -= share * last
            last *= (1 - share) * count / (count - limit)
        if limits[count] > limit:
            limit += 1
            last = last * (count - limit + 1) / limit * share / (1 - share) if limit else (1 - share) ** count
            below += last
        found.append(below)
    return found


@lru_cache(maxsize=16)
def _limits(tail: float) -> list[int]:
    """By the number of items that differ: the most losses at which the test rejects, -1 where it never does."""
    found, limit, ways = [], -1, 0
    for count in range(2 * MOST_ENUMERATED):
        ways = 2 * ways - math.comb(count - 1, limit) if limit >= 0 else 0
        more = math.comb(count, limit + 1)
        if ways + more < tail * 2.0**count:
            limit, ways = limit + 1, ways + more
        found.append(limit)
    return found
