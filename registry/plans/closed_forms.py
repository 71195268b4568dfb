"""Sample sizes and detectable effects in closed form. Sizes are rounded up: the first whole number that is enough.

With z(q) the quantile of the normal law, an effect d with the standard error se is found with the power 1 - b at the
level a when d >= (z(1 - a/2) + z(1 - b)) se, one-sided z(1 - a), of which the first se is that under the hypothesis
that is rejected; and se shrinks by the root of the trials (Cohen 1988, Statistical Power Analysis for the Behavioral
Sciences). n of n: Clopper and Pearson 1934, Biometrika 26:404. Allocation: Neyman 1934, J. Royal Statistical Society
97:558.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def all_pass_trials(floor: float, goal: Goal) -> float:
    """Trials of which all must pass for Clopper and Pearson's lower bound to reach a floor, above 0 and below 1: the
    first number n with floor^n no larger than the tail; not rounded."""
    return math.log(goal.tail) / math.log(floor)


def shares_of_contrast(weights: Sequence[float], deviations: Sequence[float]) -> list[float]:
    """Shares of a budget that make the error of a weighted sum smallest: as |weight| times standard deviation."""
    sizes = [abs(weight) * deviation for weight, deviation in zip(weights, deviations, strict=True)]
    total = math.fsum(sizes)
    return [size / total if total else 1 / len(sizes) for size in sizes]
