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

import numpy as np
from scipy.special import chdtrc, fdtrc

from registry.results.courses import Plateau, Turn
from workers.statistics.curves import Curves
from workers.statistics.terms import FloatArray

FITS = 0.2
"""The p from which on a turn, or a monotone course, fits: a zigzag in the noise should not."""
SHORT = 64
"""Cells up to which all runs are tried at once."""


def turn_of(curves: Curves, row: int, alpha: float) -> Turn | None:
    """The one turn that accounts for a series; `None` where it has none, more than one, or no noise is known."""
    noise = curves.noise
    if noise is None or curves.count < 3:
        return None
    values, weights = standardised(curves.y[row], noise.error[row])
    rising, falling = ([0.0, *misfits(sign * values, weights)] for sign in (1, -1))
    df = noise.df_of(row)
    if order_p(min(rising[-1], falling[-1]), curves.count, df) >= alpha:
        return None
    then_rising, then_falling = (misfits(sign * values[::-1], weights[::-1]) for sign in (-1, 1))
    p_valley, p_peak = (
        order_p(min(map(sum, zip(before, [*reversed(after), 0.0], strict=True))), curves.count, df)
        for before, after in ((falling, then_rising), (rising, then_falling))
    )
    if min(p_valley, p_peak) >= alpha or max(p_valley, p_peak) < FITS:
        return None
    return "falls_then_rises" if p_valley > p_peak else "rises_then_falls"


def only_rises_p(curves: Curves, row: int, sign: int) -> float:
    """The p of the misfit of the best course that only rises (`sign` 1) or only falls (-1); noise is known."""
    if curves.noise is None:
        raise ValueError("a misfit is measured by known noise")
    values, weights = standardised(curves.y[row], curves.noise.error[row])
    return order_p(misfits(sign * values, weights)[-1], curves.count, curves.noise.df_of(row))


def standardised(y: FloatArray, error: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values in units of their smallest error, and their weights in that unit; a square of any of them is finite."""
    least = error.min()
    return np.clip((y - y[0]) / least, -1e60, 1e60), (least / error) ** 2


def misfits(values: FloatArray, weights: FloatArray) -> list[float]:
    """The weighted residual sums of squares of the fits that never fall to the first 1, 2, ... m values."""
    blocks: list[tuple[float, float, float]] = []
    total, found = 0.0, []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, size, sse = value, weight, 0.0
        while blocks and blocks[-1][0] >= mean:
            other, count, more = blocks.pop()
            total -= more
            both = count + size
            sse += more + count * size / both * (other - mean) ** 2
            mean, size = (count * other + size * mean) / both, both
        blocks.append((mean, size, sse))
        total += sse
        found.append(total)
    return found


@lru_cache(maxsize=256)
def law_of(cells: int) -> tuple[float, float]:
    """The mean of the misfit of an ordered fit to so many equal cells, and the scale of its law."""
    # A fit has as many blocks as records among draws of one law: so many on average, with this variance.
    inverse = 1 / np.arange(1, cells + 1)
    mean = cells - float(inverse.sum())
    return mean, 1 + float(np.sum(inverse - inverse**2)) / (2 * mean)


def order_p(misfit: float, cells: int, df: float | None) -> float:
    """The p of an ordered fit to so many cells; `df` of estimated errors."""
    mean, scale = law_of(cells)
    if df is None:
        return float(chdtrc(mean / scale, misfit / scale))
    return float(fdtrc(mean / scale, df, misfit / mean))


def plateaus(curves: Curves, tolerance: float) -> list[Plateau]:
    """The longest run of each series within the tolerance."""
    limits = tolerance * (1 + 1e-9) + 1e-12 * curves.magnitude
    found = []
    for row, (first, last) in enumerate((runs if curves.count <= SHORT else long_runs)(curves.y, limits)):
        mean, places = float(curves.y[row, first : last + 1].mean()), curves.places[row]
        found.append(Plateau(tolerance, places[first], places[last], last - first + 1, mean))
    return found


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
