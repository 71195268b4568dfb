"""Courses by their order, for `series.py`: those that only rise or fall, those that turn once, and runs of alike cells.

Whether a course only falls: the likelihood ratio of the fit that never rises, weighted by the errors, against the cells
themselves, by pooling adjacent violators (Barlow, Bartholomew, Bremner and Brunk 1972, ch. 1). Where all cells are
equal, the worst case, it has a mixture of chi-squared laws (Robertson, Wright and Dykstra 1988, ch. 2), of which one
with its mean and variance stands here. A course turns where it is shown neither to rise only nor to fall only, each at
alpha (intersection-union: Berger 1982, Technometrics 24, 295-300), one of its two turns, a fall and then a rise or a
rise and then a fall, is shown not to account for it, and the other one fits.

Plateau of a series: its longest run of cells that are alike.
"""

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean

import numpy as np
from scipy.special import chdtrc, fdtrc

from registry.results.courses import Plateau, Turn
from workers.statistics.curves import Curves
from workers.statistics.terms import FloatArray, IntArray

FITS = 0.2
"""The p from which on a turn, or a monotone course, fits: a zigzag in the noise should not."""
SHORT = 64
"""Cells up to which all runs are tried at once."""


def turns_of(curves: Curves, rows: Sequence[int], alpha: float) -> dict[int, Turn]:
    """The one turn that accounts for each of these series, by its row; none of one that has none, or more than one, or
    where no noise is known."""
    noise, at, none = curves.noise, np.asarray(rows, dtype=np.int64), ((0, 0), (1, 0))
    if noise is None or curves.count < 3 or not at.size:
        return {}
    values, weights = standardised(curves.y[at], noise.error[at])
    rising, falling = misfits(np.stack([values, -values]), np.stack([weights, weights]))
    turned = np.flatnonzero(order_p(np.minimum(rising[:, -1], falling[:, -1]), curves.count, noise.df, at) < alpha)
    at, values, weights = at[turned], values[turned, ::-1], weights[turned, ::-1]
    then_rising, then_falling = misfits(np.stack([-values, values]), np.stack([weights, weights]))
    valley, peak = (
        order_p((np.pad(before[turned], none) + np.pad(after, none)[:, ::-1]).min(axis=1), curves.count, noise.df, at)
        for before, after in ((falling, then_rising), (rising, then_falling))
    )
    one = (np.minimum(valley, peak) < alpha) & (np.maximum(valley, peak) >= FITS)
    words = np.where(valley > peak, "falls_then_rises", "rises_then_falls")[one].tolist()
    return dict(zip(at[one].tolist(), words, strict=True))


def only_rises_p(curves: Curves, rows: Sequence[int], signs: FloatArray) -> FloatArray:
    """The p of the misfit of the best course of each row that only rises (its sign 1) or only falls (-1); noise is
    known."""
    if curves.noise is None:
        raise ValueError("a misfit is measured by known noise")
    at = np.asarray(rows, dtype=np.int64)
    values, weights = standardised(curves.y[at], curves.noise.error[at])
    return order_p(misfits(signs[:, None] * values, weights)[:, -1], curves.count, curves.noise.df, at)


def standardised(y: FloatArray, error: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values of rows in units of their smallest error, and their weights in that unit; a square of any is finite."""
    least = error.min(axis=1, keepdims=True)
    return np.clip((y - y[:, :1]) / least, -1e60, 1e60), (least / error) ** 2


def misfits(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The weighted residual sums of squares of the fits that never fall to the first 1, 2, ... m values of each row,
    by pooling adjacent violators in all rows at once."""
    shape, cells = values.shape, values.shape[-1]
    values, weights = (np.reshape(one, (-1, cells)).T for one in (values, weights))
    mean, size = np.empty(values.shape), np.empty(values.shape)  # of the blocks of each row, the last at its `top`
    top, total, found = np.full(values.shape[1], -1), np.zeros(values.shape[1]), np.empty(values.shape)
    every = np.arange(values.shape[1])
    for i in range(cells):
        top += 1
        mean[top, every], size[top, every] = values[i], weights[i]
        rows = np.flatnonzero(top > 0)
        while (rows := rows[mean[top[rows] - 1, rows] >= mean[top[rows], rows]]).size:
            own, last = (top[rows], rows), (top[rows] - 1, rows)
            both = size[last] + size[own]
            apart = size[last] * size[own] / both * (mean[last] - mean[own]) ** 2
            mean[last] = (size[last] * mean[last] + size[own] * mean[own]) / both
            size[last] = both
            total[rows] += apart
            top[rows] -= 1
            rows = rows[top[rows] > 0]
        found[i] = total
    return found.T.reshape(shape)


@lru_cache(maxsize=256)
def law_of(cells: int) -> tuple[float, float]:
    """The mean of the misfit of an ordered fit to so many equal cells, and the scale of its law."""
    # A fit has as many blocks as records among draws of one law: so many on average, with this variance.
    inverse = 1 / np.arange(1, cells + 1)
    mean = cells - float(inverse.sum())
    return mean, 1 + float(np.sum(inverse - inverse**2)) / (2 * mean)


def order_p(misfit: FloatArray, cells: int, df: FloatArray | None, rows: IntArray) -> FloatArray:
    """The p of ordered fits to so many cells each; `df` of the estimated errors of all rows, these among them."""
    mean, scale = law_of(cells)
    if df is None:
        return np.asarray(chdtrc(mean / scale, misfit / scale))
    return np.asarray(fdtrc(mean / scale, df[rows], misfit / mean))


def plateaus(curves: Curves, tolerance: float) -> list[Plateau]:
    """The longest run of each series within the tolerance."""
    limits = tolerance * (1 + 1e-9) + 1e-12 * curves.magnitude
    at = (runs if curves.count <= SHORT else long_runs)(curves.y, limits)
    return [
        Plateau(tolerance, places[first], places[last], last - first + 1, fmean(values[first : last + 1]))
        for (first, last), values, places in zip(at, curves.y.tolist(), curves.places, strict=True)
    ]


def runs(y: FloatArray, limits: FloatArray) -> list[tuple[int, int]]:
    """First and last position of the longest run of each row with max - min <= limit: all runs of one length at once,
    as long as some row has one."""
    best, start = np.ones(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
    high = low = y
    for length in range(2, y.shape[1] + 1):
        high, low = np.maximum(high[:, :-1], y[:, length - 1 :]), np.minimum(low[:, :-1], y[:, length - 1 :])
        fits = high - low <= limits[:, None]
        some = fits.any(axis=1)
        if not some.any():
            break
        best[some], start[some] = length, fits[some].argmax(axis=1)
    return list(zip(start.tolist(), (start + best - 1).tolist(), strict=True))


def long_runs(y: FloatArray, limits: FloatArray) -> list[tuple[int, int]]:
    """The same of long rows, one by one."""
    return [longest_run(values, limit) for values, limit in zip(y.tolist(), limits.tolist(), strict=True)]


def longest_run(values: Sequence[float], limit: float) -> tuple[int, int]:
    """First and last position of the longest run with max - min <= limit, by monotone queues in O(m)."""
    highs: deque[int] = deque()
    lows: deque[int] = deque()
    best, start = (0, 0), 0
    for end, value in enumerate(values):
        while highs and values[highs[-1]] <= value:
            highs.pop()
        while lows and values[lows[-1]] >= value:
            lows.pop()
        highs.append(end)
        lows.append(end)
        while values[highs[0]] - values[lows[0]] > limit:
            start += 1
            if highs[0] < start:
                highs.popleft()
            if lows[0] < start:
                lows.popleft()
        if end - start > best[1] - best[0]:
            best = (start, end)
    return best
