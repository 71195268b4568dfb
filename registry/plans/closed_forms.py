"""Sample sizes and detectable effects in closed form. Sizes are rounded up: the first whole number that is enough.

With z(q) the quantile of the normal law, an effect d with the standard error se is found with the power 1 - b at the
level a when d >= (z(1 - a/2) + z(1 - b)) se, one-sided z(1 - a), of which the first se is that under the hypothesis
that is rejected; and se shrinks by the root of the trials (Cohen 1988, Statistical Power Analysis for the Behavioral
Sciences). n of n: Clopper and Pearson 1934, Biometrika 26:404. Allocation: Neyman 1934, J. Royal Statistical Society
97:558.

The score test of a difference of two proportions against a margin, and its interval: Miettinen and Nurminen (1985),
Statistics in Medicine 4:213: the variance is that of the maximum likelihood estimates under the hypothesis that the
difference is the margin, with their factor N / (N - 1); the deviate is corrected for its skewness (Laud 2017,
Pharmaceutical Statistics 16:334), and by half a step where one side can only be at its end. Counts may be divided by a
design effect. Workers judge many pairs at once by the same test (`workers.statistics.score_test`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

MOST_TRIALS = 10**9
"""Trials beyond which a plan is not worth being followed."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Goal of a test: its level, the power that it shall have, and whether it is one-sided."""

    alpha: float = 0.05
    power: float = 0.8
    one_sided: bool = False

    @property
    def tail(self) -> float:
        """The level of the test on one side."""
        return self.alpha / (1 if self.one_sided else 2)

    @property
    def critical(self) -> float:
        """Standard errors beyond which the test rejects."""
        return quantile(1 - self.tail)


def quantile(share: float) -> float:
    """The point below which the normal law has this share, above 0 and below 1."""
    return NormalDist().inv_cdf(share)


def whole(count: float) -> int | None:
    """The count rounded up; None beyond `MOST_TRIALS`."""
    # A count that is whole but for the rounding errors of its computation is that number.
    return math.ceil(count * (1 - 1e-12)) if count <= MOST_TRIALS else None


def detectable(stderr: float, goal: Goal, null: float | None = None) -> float:
    """The smallest effect that is found, in the unit of the standard error; `null` is the error if there is none, by
    which a score test rejects."""
    return goal.critical * (stderr if null is None else null) + quantile(goal.power) * stderr


def factor(stderr: float, effect: float, goal: Goal, null: float | None = None) -> float:
    """By how much all trials must be multiplied for the effect (not 0) to be found; below 1 where fewer are enough,
    infinite where that is no number."""
    ratio = detectable(stderr, goal, null) / effect
    return ratio * ratio  # `**` raises OverflowError where this is infinite


def factor_within(stderr: float, near: float, far: float, goal: Goal) -> float:
    """The same for an effect to be found inside two limits that are so far away: both tests must reject."""

    def both(times: float) -> bool:
        beyond = [math.sqrt(times) * one / stderr - goal.critical for one in (near, far)]
        return sum(map(_NORMAL.cdf, beyond)) - 1 >= goal.power

    return smallest_factor(both)


def smallest_factor(is_enough: Callable[[float], bool], precise: float = 1 + 1e-9) -> float:
    """By how much all trials must be multiplied for it to be enough, to this ratio; infinite beyond `MOST_TRIALS`."""
    low, high = 1 / 64, 1.0
    while not is_enough(high):
        low, high = high, 4 * high
        if high > MOST_TRIALS:
            return math.inf
    while high > precise * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def score_factor(samples: "TwoSamples | Slots", margin: float, goal: Goal) -> float:
    """By how much all trials of these rates must be multiplied for the score test to exclude a loss of the margin; at
    its rejection the error is that of a loss of the margin, of what is observed that of the rates themselves."""
    if margin >= 1:
        return 0.0
    variances = [
        math.fsum(weight**2 * sum(_variances(one, *rates(one))) for weight, one in samples.parts)
        for rates in (lambda one: (one.k1 / one.n1, one.k2 / one.n2), lambda one: restricted(one, -margin))
    ]
    needed = goal.critical + quantile(goal.power) * math.sqrt(variances[0] / variances[1])
    return smallest_factor(lambda times: score(samples.times(times), -margin) >= needed)


def all_pass_trials(floor: float, goal: Goal) -> float:
    """Trials of which all must pass for Clopper and Pearson's lower bound to reach a floor, above 0 and below 1: the
    first number n with floor^n no larger than the tail; not rounded."""
    return math.log(goal.tail) / math.log(floor)


def added_trials(
    held: Sequence[float], deviations: Sequence[float], *, variance: float = 0.0, spent: float | None = None
) -> list[float]:
    """Trials to add to those that parts of a sum hold, each by the standard deviation of one trial: the fewest that
    bring the variance of the sum down to one, or those on which so many are best spent.

    The optimum has trials in proportion to deviations (Neyman 1934) where a part holds no more than that already; as
    water fills vessels (Boyd and Vandenberghe 2004, section 5.3).
    """
    parts = sorted((n / d, n, d) for n, d in zip(held, deviations, strict=True) if d > 0)
    level = 0.0
    for last, (reached, _, _) in enumerate(parts):
        if level and level <= reached:
            break
        filled = math.fsum(d for _, _, d in parts[: last + 1])
        if spent is None:
            rest = variance - math.fsum(d * d / n for _, n, d in parts[last + 1 :])
            level = filled / rest if rest > 0 else math.inf
        else:
            level = (spent + math.fsum(n for _, n, _ in parts[: last + 1])) / filled
    return [max(0.0, level * d - n) if d > 0 else 0.0 for n, d in zip(held, deviations, strict=True)]


_HALVINGS, _CERTAIN = 50, 1e-7
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class TwoSamples:
    """k1 successes of n1 trials, and k2 of n2; the difference is the first rate less the second."""

    k1: float
    n1: float
    k2: float
    n2: float

    @property
    def parts(self) -> "tuple[tuple[float, TwoSamples], ...]":
        """The one slot that these are."""
        return ((1.0, self),)

    @property
    def difference(self) -> float:
        """The difference as it was observed."""
        return self.k1 / self.n1 - self.k2 / self.n2

    def times(self, factor: float) -> "TwoSamples":
        """So many times the trials, at the same rates."""
        return TwoSamples(self.k1 * factor, self.n1 * factor, self.k2 * factor, self.n2 * factor)

    def turned(self) -> "TwoSamples":
        """The second less the first."""
        return TwoSamples(self.k2, self.n2, self.k1, self.n1)


@dataclass(frozen=True, slots=True)
class Slots:
    """Two samples in each of several slots; weights sum to 1, and the difference is the weighted sum."""

    parts: tuple[tuple[float, TwoSamples], ...]

    @property
    def difference(self) -> float:
        """The difference as it was observed."""
        return math.fsum(weight * one.difference for weight, one in self.parts)

    def times(self, factor: float) -> "Slots":
        """So many times the trials, at the same rates."""
        return Slots(tuple((weight, one.times(factor)) for weight, one in self.parts))

    def turned(self) -> "Slots":
        """The second less the first."""
        return Slots(tuple((weight, one.turned()) for weight, one in self.parts))


def score(samples: TwoSamples | Slots, margin: float) -> float:
    """Distance of the observed difference above the margin, from -1 to 1, as a standard normal deviate; infinite where,
    were the margin the difference, nothing else could have been observed."""
    variance, third = 0.0, 0.0
    certain: tuple[list[float], list[float]] = [], []
    for weight, one in samples.parts:
        first, second = restricted(one, margin)
        (v1, v2), both = _variances(one, first, second), one.n1 + one.n2
        variance += weight**2 * (v1 + v2) * both / max(both - 1, 1)
        third += weight**3 * (v1 * (1 - 2 * first) / one.n1 - v2 * (1 - 2 * second) / one.n2)
        for steps, rate, trials in zip(certain, (first, second), (one.n2, one.n1), strict=True):
            if min(rate, 1 - rate) < _CERTAIN:
                steps.append(weight / trials)
    step = max((min(steps) for steps in certain if len(steps) == len(samples.parts)), default=0.0)
    apart = samples.difference - margin
    apart = math.copysign(max(abs(apart) - step / 2, 0.0), apart)
    if variance <= 0:
        return 0.0 if abs(apart) < 1e-12 else math.copysign(math.inf, apart)
    z = apart / math.sqrt(variance)
    # z is the deviate d and a sixth of the skewness times d^2 - 1 (Cornish and Fisher 1937).
    a = third / variance**1.5 / 6
    return (math.sqrt(max(0.0, 1 + 4 * a * (a + z))) - 1) / (2 * a) if abs(a) > 1e-9 else z


def _variances(samples: TwoSamples, first: float, second: float) -> tuple[float, float]:
    """Those of both observed rates, were these the true ones."""
    return first * (1 - first) / samples.n1, second * (1 - second) / samples.n2


def restricted(samples: TwoSamples, margin: float) -> tuple[float, float]:
    """The maximum likelihood estimates of both rates where their difference is the margin: the root of a cubic."""
    n1, n2, both, k = samples.n1, samples.n2, samples.n1 + samples.n2, samples.k1 + samples.k2
    b = (n1 + 2 * n2) * margin - both - k
    c = (n2 * margin - both - 2 * samples.k2) * margin + k
    d = samples.k2 * margin * (1 - margin)
    q = b**3 / (27 * both**3) - b * c / (6 * both**2) + d / (2 * both)
    p = math.copysign(math.sqrt(max(0.0, b**2 / (9 * both**2) - c / (3 * both))), q)
    angle = 0.0 if p == 0 else (math.pi + math.acos(max(-1.0, min(1.0, q / p**3)))) / 3
    second = 2 * p * math.cos(angle) - b / (3 * both)
    second = min(max(second, 0.0, -margin), 1.0, 1 - margin)
    return second + margin, second


def score_interval(samples: TwoSamples | Slots, alpha: float) -> tuple[float, float]:
    """The margins that neither one-sided test at the level alpha rejects: their ends, of level 1 - 2 alpha."""
    critical = _NORMAL.inv_cdf(1 - alpha)
    observed = samples.difference
    return _end(samples, critical, -1.0, observed), -_end(samples.turned(), critical, -1.0, -observed)


def _end(samples: TwoSamples | Slots, critical: float, low: float, high: float) -> float:
    """The largest margin between these that the test rejects."""
    if score(samples, low) < critical:
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if score(samples, middle) > critical else (low, middle)
    return (low + high) / 2
