"""Plateau of a series: its longest run of cells that are alike."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from registry.results.courses import Plateau
from workers.statistics.curves import Curves
from workers.statistics.terms import FloatArray

SHORT = 64
"""Cells up to which all runs are tried at once."""


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
