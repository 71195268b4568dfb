"""By how much repeats, or items with scores, are multiplied for a test with an estimated error to find an effect.

The error is estimated twice: now, where the effect is c such errors once all is multiplied, and when the test is done,
which finds it beyond t of its own. Their difference is normal enough (Johnson, Kotz and Balakrishnan 1994, chapter 18):
its mean is c m - t m' errors and its variance 1 + c^2 (1 - m^2) + t^2 (1 - m'^2), with m the mean of an estimated
error of 1. By the normal law plans of three to five repeats were found in 38 to 72 % where 80 % was meant.
"""

import math

from registry.plans.closed_forms import Goal, quantile, smallest_factor
from registry.plans.noise import t_quantile


def factor(stderr: float, effect: float, goal: Goal, df: float, count: float | None) -> float:
    """By how much what a cell has of them, `count`, is multiplied: repeats, or without a number the items of which the
    degrees of freedom are one fewer; two at least."""
    count = count or df + 1
    mean, power = _mean_square(df), quantile(goal.power)

    def is_enough(times: float) -> bool:
        after = max(1.0, df * (count * times - 1) / (count - 1))
        errors, t, later = (
            abs(effect) * math.sqrt(times) / stderr,
            t_quantile(1 - goal.tail, int(after)),
            _mean_square(after),
        )
        variance = 1 + errors**2 * (1 - mean) + t**2 * (1 - later)
        return count * times >= 2 and errors * math.sqrt(mean) - t * math.sqrt(later) >= power * math.sqrt(variance)

    return smallest_factor(is_enough)


def _mean_square(df: float) -> float:
    """The square of the mean of an estimated standard deviation of 1."""
    return 2 / df * math.exp(2 * (math.lgamma((df + 1) / 2) - math.lgamma(df / 2))) if df < 1e6 else 1.0
