"""Which of several points nobody beats in both quantities, and which of the others noise cannot tell from those.

A point is on the front when no other mean is at least as good in both and better in one (Pareto). It is behind when one
other point is better in both: for each quantity a one-sided test, the larger p of the two deciding, which keeps the
level whatever the truth (intersection-union test: Berger 1982, Technometrics 24, 295-300), at 5 % divided by the number
of other points (Bonferroni). A quantity without noise, as a label is, needs to be at least as good. What is neither is
open: another point looks better, but it may be noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from registry.plans.student import normal_quantile, t_quantile
from registry.results.trade_offs import FrontPlace

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Standing:
    """One quantity of a point, turned so that more is better. `exact`: it has no noise. `stderr` None otherwise: its
    noise is unknown. `df`: of an estimated error."""

    value: float
    stderr: float | None = None
    df: float | None = None
    exact: bool = False


Pair = tuple[Standing, Standing]


def places_of(points: Sequence[Pair], *, tested: bool = True) -> list[FrontPlace]:
    """The place of each point by the front; without tests none is behind."""
    share = 1 - ALPHA / max(1, len(points) - 1)
    found: list[FrontPlace] = []
    for point in points:
        better = [other for other in points if dominates(other, point)]
        if not better:
            found.append("front")
        elif tested and any(_surely(other, point, share) for other in better):
            found.append("behind")
        else:
            found.append("open")
    return found


def dominates(one: Pair, other: Pair) -> bool:
    """Return whether one point is at least as good in both, and better in one."""
    pairs = [(a.value, b.value) for a, b in zip(one, other, strict=True)]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def _surely(one: Pair, other: Pair, share: float) -> bool:
    return all(_better(a, b, share) for a, b in zip(one, other, strict=True))


def _better(one: Standing, other: Standing, share: float) -> bool:
    """Return whether the difference is beyond the noise; an exact quantity is not tested."""
    if one.exact and other.exact:
        return one.value >= other.value
    if one.stderr is None or other.stderr is None:
        return False
    error = math.hypot(one.stderr, other.stderr)
    if error == 0.0 or math.isinf(one.value - other.value):
        return False
    return (one.value - other.value) / error > _critical(one, other, error, share)


def _critical(one: Standing, other: Standing, error: float, share: float) -> float:
    """The quantile of the normal law, or of Student's with Welch's degrees of freedom where errors are estimated."""
    estimated = [(each.stderr or 0.0, each.df) for each in (one, other) if each.df]
    if not estimated:
        return normal_quantile(share)
    return t_quantile(share, max(1, math.floor(1 / sum((each / error) ** 4 / df for each, df in estimated))))
