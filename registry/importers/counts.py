"""Recognise a mean that is the share of successes in n trials, by its standard error.

The sample standard error (ddof 1) of n zeros and ones with mean p is sqrt(p (1 - p) / (n - 1)), and p n is whole. A
mean that agrees with both to a millionth is taken for a share; of any other, only the standard error is kept.
A standard error of exactly 0 beside a mean between 0 and 1 was never computed: then the n are handed on, because a mean
of scores from 0 to 1 varies at most as much as a share of n trials.
"""

from __future__ import annotations

import math

_CLOSE = 1e-6


def trials_of(mean: float, stderr: float | None, n: int | None, scale: float = 1.0) -> int | None:
    """The n that are handed on as trials; None where the standard error tells more, or there is none."""
    never_computed = stderr == 0 and 0 < mean < scale
    return n if never_computed or are_trials(mean, stderr, n, scale) else None


def are_trials(mean: float, stderr: float | None, n: int | None, scale: float = 1.0) -> bool:
    """Whether n zeros and ones have this mean and this standard error, both multiplied by `scale`."""
    if n is None or stderr is None or n < 2 or not 0 <= mean <= scale:
        return False
    p = mean / scale
    if abs(p * n - round(p * n)) > _CLOSE * n:
        return False
    return math.isclose(stderr / scale, math.sqrt(p * (1 - p) / (n - 1)), rel_tol=_CLOSE, abs_tol=1e-9)
