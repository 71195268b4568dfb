"""Crossings of a level by a series, both ways, and the levels between which a monotone truth crosses it.

The interval uses the noise of every cell: each is tested against the level on either side, at alpha / 2m (Bonferroni
over m cells and two sides), by the binomial law or by z or t. Of a truth that only falls, the crossing lies after
every cell that is surely above the level and before every one that is surely below; of one that only rises the other
way round. So it holds the crossing with probability 1 - alpha or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import betainc, ndtr, stdtr

from registry.grids.grid import Direction
from registry.results.courses import Crossing, CrossingInterval, Side, Threshold
from registry.results.series import XScale
from registry.results.terms import Place
from workers.statistics.curves import Curves, RowNoise
from workers.statistics.terms import BoolArray, FloatArray, IntArray


def thresholds(
    curves: Curves, levels: Sequence[float], direction: Direction | None, alpha: float = 0.05
) -> list[tuple[Threshold, ...]]:
    """Thresholds of each series, one per level asked for; failing is `above` where lower values are better."""
    if not levels:
        return [()] * len(curves)
    sign = -1.0 if direction == "lower" else 1.0
    intervals = crossing_intervals(curves, levels, alpha)
    by_level = [
        [_threshold(*row) for row in zip(_courses(curves, sign, level), intervals[i], strict=True)]
        for i, level in enumerate(levels)
    ]
    return list(zip(*by_level, strict=True))


@dataclass(frozen=True, slots=True)
class _Course:
    """A series beside a level: which of its cells fail, and how far each lies on the passing side. `sign` is 1 where
    failing is below."""

    x_scale: XScale
    x: Sequence[float]
    level: float
    sign: float
    places: Sequence[Place]
    above: Sequence[float]
    failing: Sequence[bool]
    turns: bool


def _courses(curves: Curves, sign: float, level: float) -> Iterator[_Course]:
    """The series beside one level; rounding is forgiven."""
    above = sign * (curves.y - level)
    slack = np.maximum(1e-12 * curves.magnitude, 1e-12 * abs(level))
    failing = above < -slack[:, None]
    turns = (failing[:, 1:] != failing[:, :-1]).any(axis=1).tolist()
    rows = zip(curves.rows, curves.numbers, curves.places, above.tolist(), failing.tolist(), turns, strict=True)
    return (_Course(curve.x_scale, x, level, sign, *row) for curve, x, *row in rows)


def _threshold(course: _Course, interval: CrossingInterval | None) -> Threshold:
    """Threshold of one series at one level."""
    places, failing, count = course.places, course.failing, len(course.failing)
    side: Side = "below" if course.sign > 0 else "above"
    if not course.turns:
        if failing[0]:
            return Threshold(course.level, side, (), places[0], None, None, None, False, interval)
        return Threshold(course.level, side, (), None, places[0], places[0], places[-1], False, interval)
    first = failing.index(True)
    last = count - 1 - failing[::-1].index(True)
    return Threshold(
        level=course.level,
        side=side,
        crossings=crossings(course),
        first_failing=places[first],
        first_reaching=places[failing.index(False)],
        sustained_from=places[last + 1] if last + 1 < count else None,
        sustained_until=places[first - 1] if first > 0 else None,
        recovers=not all(failing[first:]),
        interval=interval,
    )


def crossings(course: _Course) -> tuple[Crossing, ...]:
    """Every change between failing and reaching, in the order of the axis."""
    found, above, scale = [], course.above, course.x_scale
    for i, (here, there) in enumerate(pairwise(course.failing)):
        if here != there:
            # Interpolated on the abscissa by which slopes divide, so on a logarithmic axis in its logarithm.
            share = above[i] / (above[i] - above[i + 1])
            x = course.x[i] + share * (course.x[i + 1] - course.x[i])
            falls = there == (course.sign > 0)
            found.append(Crossing(10.0**x if scale == "log10" else x, "falling" if falls else "rising"))
    return tuple(found)


def crossing_intervals(curves: Curves, levels: Sequence[float], alpha: float) -> list[list[CrossingInterval | None]]:
    """Intervals, for each level and each series: between which levels of the axis the truth crosses, if it is monotone
    in the direction of the series; `None` without noise, and where the cells contradict such a truth."""
    noise, count = curves.noise, curves.count
    if noise is None or count < 2:
        return [[None] * len(curves)] * len(levels)
    low, high = bounds(curves, noise, np.array(levels), alpha)
    impossible = [noise.kind == "trials" and not 0 < level < noise.whole for level in levels]
    return [
        [
            None
            if impossible[i] or last > first
            else CrossingInterval(
                1 - alpha, None if last < 0 else places[last], None if first == count else places[first]
            )
            for places, last, first in zip(curves.places, low[i].tolist(), high[i].tolist(), strict=True)
        ]
        for i in range(len(levels))
    ]


def bounds(curves: Curves, noise: RowNoise, levels: FloatArray, alpha: float) -> tuple[IntArray, IntArray]:
    """Levels x series: the last cell surely on the side where a monotone truth begins, -1 if there is none, and the
    first one surely on the other, m if there is none."""
    over, under = sure(curves.y, noise, levels, alpha / (2 * curves.count))
    away = curves.x - curves.x.mean(axis=1, keepdims=True)
    # A level course falls, whatever rounding leaves of its slope.
    falls = (np.sum(away * curves.y, axis=1) <= 1e-12 * np.sum(np.abs(away * curves.y), axis=1))[:, None]
    before, after = np.where(falls, over, under), np.where(falls, under, over)
    cells = np.arange(curves.count)
    return np.where(before, cells, -1).max(axis=2), np.where(after, cells, curves.count).min(axis=2)


def sure(y: FloatArray, noise: RowNoise, levels: FloatArray, tail: float) -> tuple[BoolArray, BoolArray]:
    """Masks of the cells that lie surely above each level and surely below, levels x series x cells, each at this
    one-sided probability of error."""
    at = levels[:, None, None]
    if noise.binomial is not None:
        k, n = noise.binomial
        # Clopper and Pearson's tails, P(X >= k) and P(X <= k) at the level, as incomplete beta functions: these also
        # take effective trials that are not whole. They want positive parameters; at k = 0 and k = n the tail is 1.
        share = np.clip(at[:, 0] / noise.whole, 0, 1)
        # Cells with the same counts are asked once, and only on the side on which they lie: of the other the tail holds
        # a half or more.
        cells, place = np.unique(k + 1j * n, return_inverse=True)
        k, n = cells.real, cells.imag
        beyond = k > n * share
        within = betainc(np.where(beyond, k, k + 1), np.where(beyond, n - k + 1, np.maximum(n - k, 1e-9)), share)
        place = place.reshape(y.shape)
        return (beyond & (within <= tail))[:, place], (~beyond & (k < n) & (1 - within <= tail))[:, place]
    deviate = (y - at) / noise.error
    df = None if noise.df is None else noise.df[:, None]
    up, down = (ndtr(d) if df is None else stdtr(df, d) for d in (-deviate, deviate))
    return np.asarray(up <= tail), np.asarray(down <= tail)
