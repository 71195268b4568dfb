"""Where a series crosses a level, and where it rests."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from registry.grid import Direction
from workers.statistics.monotone import isotonic
from workers.statistics.table import Curve, Place
from workers.statistics.terms import FloatArray


@dataclass(frozen=True, slots=True)
class Threshold:
    """How a series meets a level. A cell fails when it lies on `side` of the level, strictly.

    `first_below` is the first failing level of the axis; `crossing` the interpolated axis value just before it
    (along log10 on a logarithmic axis, given back as an axis value); `sustained_until` the last level before the
    first failure; `recovers` whether a later cell passes again; `isotonic_first_below` the same on the monotone
    fit towards failure. `None`: it never happens.
    """

    level: float
    side: Literal["below", "above"]
    first_below: Place | None
    crossing: float | None
    sustained_until: Place | None
    recovers: bool
    isotonic_first_below: Place | None


@dataclass(frozen=True, slots=True)
class Plateau:
    """The longest run of neighbouring cells that differ by at most `tolerance`; the first of equals."""

    tolerance: float
    start: Place
    end: Place
    length: int
    mean: float


def thresholds(curve: Curve, levels: Sequence[float], direction: Direction | None) -> tuple[Threshold, ...]:
    """One answer per level asked for; failing is `above` where lower values are better."""
    sign = -1.0 if direction == "lower" else 1.0
    fitted = -isotonic(-sign * curve.y).fit
    return tuple(threshold(curve, level, sign, fitted - sign * level) for level in levels)


def threshold(curve: Curve, level: float, sign: float, fitted: FloatArray) -> Threshold:
    """One level; `sign` is 1 where failing is below, `fitted` how far the monotone fit lies above failing."""
    above = sign * (curve.y - level)
    slack = 1e-12 * max(abs(level), float(np.max(np.abs(curve.y))))
    failing = np.flatnonzero(above < -slack)
    smooth = np.flatnonzero(fitted < -slack)
    first = int(failing[0]) if failing.size else None
    last_good = curve.count - 1 if first is None else first - 1
    crossing = None
    if first:
        share = above[first - 1] / (above[first - 1] - above[first])
        x = float(curve.x[first - 1] + share * (curve.x[first] - curve.x[first - 1]))
        crossing = 10.0**x if curve.x_scale == "log10" else x
    return Threshold(
        level=level,
        side="below" if sign > 0 else "above",
        first_below=None if first is None else curve.place(first),
        crossing=crossing,
        sustained_until=curve.place(last_good) if last_good >= 0 else None,
        recovers=first is not None and failing.size < curve.count - first,
        isotonic_first_below=curve.place(int(smooth[0])) if smooth.size else None,
    )


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
