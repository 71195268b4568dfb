"""Crossings of a level by a series, for `series.py`, and the levels between which a monotone truth crosses it.

The interval uses the noise of every cell: each is tested against the level on its side, at alpha / 2m (Bonferroni over
m cells), by the binomial law or by z or t. Of a truth that only falls, the crossing lies after every cell that is
surely above the level and before every one that is surely below; of one that only rises the other way round. The other
half of alpha is that of the slope, which tells falling from rising; where it shows neither, the interval spans what
both leave. So it holds the crossing with probability 1 - alpha or more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from scipy.special import betainc, ndtr, stdtr, stdtrit

from registry.grids.grid import Direction
from registry.results.courses import Crossing, CrossingInterval, Side, Threshold
from registry.results.terms import Place
from workers.statistics.curves import Curves, RowNoise
from workers.statistics.terms import BoolArray, FloatArray, IntArray, reach_of


def thresholds(
    curves: Curves, levels: Sequence[float], direction: Direction | None, alpha: float = 0.05
) -> list[tuple[Threshold, ...]]:
    """Thresholds of each series, one per level asked for; failing is `above` where lower values are better."""
    if not levels:
        return [()] * len(curves)
    sign = -1.0 if direction == "lower" else 1.0
    intervals = crossing_intervals(curves, levels, alpha)
    # One place more, for what lies beyond the series at either end: nowhere.
    places = [(*row, None) for row in curves.places]
    by_level = [_at(_Level(curves, level, sign), places, intervals[i]) for i, level in enumerate(levels)]
    return list(zip(*by_level, strict=True))


@dataclass(frozen=True)
class _Level:
    """Series beside a level. `sign` is 1 where failing is below."""

    curves: Curves
    level: float
    sign: float

    @cached_property
    def above(self) -> FloatArray:
        """The distance of each cell from the level on the passing side."""
        return self.sign * (self.curves.y - self.level)

    @cached_property
    def failing(self) -> BoolArray:
        """The cells that fail; rounding is forgiven."""
        slack = np.maximum(1e-12 * self.curves.magnitude, 1e-12 * abs(self.level))
        return np.asarray(self.above < -slack[:, None])


def _at(
    level: _Level, places: Sequence[tuple[Place | None, ...]], intervals: Sequence[CrossingInterval | None]
) -> list[Threshold]:
    """The threshold of each series at one level, given the levels of its cells and nowhere."""
    side: Side = "below" if level.sign > 0 else "above"
    first, last = ends(level.failing)
    reaching, last_reaching = ends(~level.failing)
    columns = [column.tolist() for column in (first, reaching, last + 1, first - 1, last_reaching > first)]
    rows = zip(crossings(level), places, *columns, intervals, strict=True)
    return [
        Threshold(level.level, side, crossed, at[failing], at[passing], at[start], at[end], recovers, interval)
        for crossed, at, failing, passing, start, end, recovers, interval in rows
    ]


def ends(mask: BoolArray) -> tuple[IntArray, IntArray]:
    """The first and the last cell of each row that a mask has; the row's length and -1 where it has none."""
    count, some = mask.shape[1], mask.any(axis=1)
    last = count - 1 - mask[:, ::-1].argmax(axis=1)
    return np.where(some, mask.argmax(axis=1), count), np.where(some, last, -1)


def crossings(level: _Level) -> Iterator[tuple[Crossing, ...]]:
    """Every change of each series between failing and reaching, in the order of the axis."""
    curves, above, failing = level.curves, level.above, level.failing
    rows, at = np.nonzero(failing[:, 1:] != failing[:, :-1])
    # Interpolated on the abscissa by which slopes divide, so on a logarithmic axis in its logarithm.
    share = above[rows, at] / (above[rows, at] - above[rows, at + 1])
    x = curves.x[rows, at] + share * (curves.x[rows, at + 1] - curves.x[rows, at])
    falls = failing[rows, at + 1] == (level.sign > 0)
    holes = np.diff(np.array([row.positions for row in curves.rows]), axis=1)[rows, at] - 1
    found = zip(x.tolist(), falls.tolist(), holes.tolist(), strict=True)
    for curve, count in zip(curves.rows, np.bincount(rows, minlength=len(curves)).tolist(), strict=True):
        logarithmic = curve.x_scale == "log10"
        yield tuple(
            [
                Crossing(10.0**one if logarithmic else one, "falling" if fell else "rising", between or None)
                for one, fell, between in islice(found, count)
            ]
        )


def crossing_intervals(curves: Curves, levels: Sequence[float], alpha: float) -> list[list[CrossingInterval | None]]:
    """Intervals, for each level and each series: between which levels of the axis the truth crosses, if it is monotone;
    `None` without noise, and where the cells contradict such a truth."""
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
    """Levels x series: the last cell before which a monotone truth does not cross, -1 if there is none, and the first
    one after which it does not, m if there is none; the former beyond the latter where no such truth fits."""
    over, under = sure(curves.y, noise, levels, alpha / (2 * curves.count))
    away = curves.x - curves.x.mean(axis=1, keepdims=True)
    error, df = noise.of_sum(away)
    slope, cells = np.sum(away * curves.y, axis=1), np.arange(curves.count)
    # Of cells without noise a level course goes nowhere, whatever rounding leaves of its slope.
    reach = error * (reach_of(1 - alpha) if df is None else stdtrit(df, 1 - alpha / 2))
    reach = np.fmax(reach, 1e-12 * np.sum(np.abs(away * curves.y), axis=1))
    low, high = np.full(over.shape[:2], curves.count), np.full(over.shape[:2], -1)
    for before, after, contradicted in ((over, under, slope > reach), (under, over, slope < -reach)):
        begin = np.where(before, cells, -1).max(axis=2)
        end = np.where(after, cells, curves.count).min(axis=2)
        fits = (begin < end) & ~contradicted
        low, high = np.where(fits, np.minimum(low, begin), low), np.where(fits, np.maximum(high, end), high)
    return low, high


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
