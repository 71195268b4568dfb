"""Where a series crosses a level, both ways, and between which levels a monotone truth crosses it.

The interval uses the noise of every cell: each is tested against the level on either side, at alpha / 2m (Bonferroni
over m cells and two sides), by the binomial law or by z or t. Of a truth that only falls, the crossing lies after
every cell that is surely above the level and before every one that is surely below; of one that only rises the other
way round. So it holds the crossing with probability 1 - alpha or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import betainc, ndtr, stdtr

from registry.grids.grid import Direction
from registry.results.courses import Crossing, CrossingInterval, Threshold
from workers.statistics.noise import Noise
from workers.statistics.table import Curve
from workers.statistics.terms import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class _Course:
    """What all levels ask of a series: `sign` is 1 where failing is below; `slack` forgives rounding; `low` and `high`
    are per level the last cell that is surely on the side where a monotone truth begins and the first that is surely
    on the other, -1 and m where there is none."""

    curve: Curve
    sign: float
    slack: float
    alpha: float
    low: IntArray | None
    high: IntArray | None


def thresholds(
    curve: Curve, levels: Sequence[float], direction: Direction | None, alpha: float = 0.05
) -> tuple[Threshold, ...]:
    """One answer per level asked for; failing is `above` where lower values are better."""
    if not levels:
        return ()
    sign = -1.0 if direction == "lower" else 1.0
    low, high = bounds(curve, np.array(levels), alpha)
    course = _Course(curve, sign, 1e-12 * float(np.abs(curve.y).max()), alpha, low, high)
    return tuple(threshold(course, i, level) for i, level in enumerate(levels))


def threshold(course: _Course, i: int, level: float) -> Threshold:
    """The i-th level."""
    curve = course.curve
    above = (course.sign * (curve.y - level)).tolist()
    slack = max(course.slack, 1e-12 * abs(level))
    failing = [value < -slack for value in above]
    fails = [place for place, fails in enumerate(failing) if fails]
    first = fails[0] if fails else None
    last_before = curve.count - 1 if first is None else first - 1
    reaching = failing.index(False) if len(fails) < curve.count else None
    held = fails[-1] + 1 if fails else 0
    return Threshold(
        level=level,
        side="below" if course.sign > 0 else "above",
        crossings=crossings(course, above, failing),
        first_failing=None if first is None else curve.place(first),
        first_reaching=None if reaching is None else curve.place(reaching),
        sustained_from=curve.place(held) if held < curve.count else None,
        sustained_until=curve.place(last_before) if last_before >= 0 else None,
        recovers=first is not None and len(fails) < curve.count - first,
        interval=crossing_interval(course, i, level),
    )


def crossings(course: _Course, above: Sequence[float], failing: Sequence[bool]) -> tuple[Crossing, ...]:
    """Every change between failing and reaching, in the order of the axis."""
    found, curve = [], course.curve
    for i, (here, there) in enumerate(pairwise(failing)):
        if here != there:
            share = above[i] / (above[i] - above[i + 1])
            x = float(curve.x[i] + share * (curve.x[i + 1] - curve.x[i]))
            falls = there == (course.sign > 0)
            found.append(Crossing(10.0**x if curve.x_scale == "log10" else x, "falling" if falls else "rising"))
    return tuple(found)


def crossing_interval(course: _Course, i: int, level: float) -> CrossingInterval | None:
    """Between which levels of the axis the truth crosses, if it is monotone in the direction of the series."""
    curve = course.curve
    if course.low is None or course.high is None or curve.noise is None:
        return None
    low, high = int(course.low[i]), int(course.high[i])
    if low > high or (curve.noise.kind == "trials" and not 0 < level < curve.noise.whole):
        return None
    ends = (None if low < 0 else curve.place(low)), (None if high == curve.count else curve.place(high))
    return CrossingInterval(1 - course.alpha, *ends)


def bounds(curve: Curve, levels: FloatArray, alpha: float) -> tuple[IntArray | None, IntArray | None]:
    """For each level the last cell surely on the side where a monotone truth begins, -1 if there is none, and the
    first one surely on the other, m if there is none; `None` without noise."""
    if curve.noise is None or curve.count < 2:
        return None, None
    over, under = sure(curve.y, curve.noise, levels, alpha / (2 * curve.count))
    falls = float((curve.x - curve.x.mean()) @ curve.y) <= 0
    before, after = (over, under) if falls else (under, over)
    places = np.arange(curve.count)
    return np.where(before, places, -1).max(axis=1), np.where(after, places, curve.count).min(axis=1)


def sure(y: FloatArray, noise: Noise, levels: FloatArray, tail: float) -> tuple[BoolArray, BoolArray]:
    """Which cells lie surely above each level and which surely below, levels x cells, each at this one-sided
    probability of error."""
    if noise.k is not None and noise.n is not None:
        share, k, n = np.clip(levels / noise.whole, 0, 1)[:, None], noise.k, noise.n
        up = np.where(k > 0, betainc(np.maximum(k, 1e-9), n - k + 1, share), 1.0)
        down = np.where(k < n, 1 - betainc(k + 1, np.maximum(n - k, 1e-9), share), 1.0)
        return np.asarray(up <= tail), np.asarray(down <= tail)
    deviate = (y - levels[:, None]) / noise.error
    up, down = (ndtr(d) if noise.df is None else stdtr(noise.df, d) for d in (-deviate, deviate))
    return np.asarray(up <= tail), np.asarray(down <= tail)
