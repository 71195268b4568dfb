"""Where a series rests: its longest run of cells that are alike."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from registry.results.courses import Plateau
from workers.statistics.table import Curve


def plateau(curve: Curve, tolerance: float) -> Plateau:
    """The longest run within the tolerance."""
    limit = tolerance * (1 + 1e-9) + 1e-12 * float(np.max(np.abs(curve.y)))
    first, last = longest_run(curve.y.tolist(), limit)
    mean = float(curve.y[first : last + 1].mean())
    return Plateau(tolerance, curve.place(first), curve.place(last), last - first + 1, mean)


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
