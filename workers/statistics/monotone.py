"""Isotonic fits both ways, and how far a series strays from them.

Pool-adjacent-violators: Barlow, Bartholomew, Bremner and Brunk (1972), ch. 1; equal weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from registry.grids.grid import Direction
from registry.results.courses import Drawdown, Monotone, MonotoneBlock, MonotoneFit
from registry.results.terms import Place
from workers.statistics.curves import Curves

MOST_BLOCKS = 100


def monotones(curves: Curves, direction: Direction | None) -> list[Monotone]:
    """Fits each series upwards and downwards; worse is lower unless the metric's better end is the lower one."""
    falls, rises = (np.count_nonzero(sign * curves.tick_moves < 0, axis=1).tolist() for sign in (1, -1))
    losses = drawdowns(curves, -1 if direction == "lower" else 1)
    rows = zip(curves.places, curves.y.tolist(), (-curves.y).tolist(), falls, rises, losses, strict=True)
    return [
        Monotone(fitted(places, values, 1.0, fall), fitted(places, turned, -1.0, rise), loss)
        for places, values, turned, fall, rise, loss in rows
    ]


def fitted(places: Sequence[Place], values: Sequence[float], sign: float, violations: int) -> MonotoneFit:
    """The least-squares fit that never falls (`sign` 1) or never rises (-1), by its blocks, of values turned by the
    sign."""
    blocks: list[MonotoneBlock] = []
    start, sse = 0, 0.0
    found = isotonic(values)
    for mean, count in found:
        end = start + count
        if count > 1:
            sse += sum([(value - mean) ** 2 for value in values[start:end]])
        if len(blocks) < MOST_BLOCKS:
            blocks.append(MonotoneBlock(places[start], places[end - 1], count, sign * mean))
        start = end
    return MonotoneFit(sse, tuple(blocks), len(found) - len(blocks), violations)


def isotonic(values: Sequence[float]) -> list[tuple[float, int]]:
    """The least-squares fit that never falls, as the mean and the length of each block: neighbours are pooled while
    they fall, in O(m)."""
    done: list[tuple[float, float, int]] = []
    mean = total = values[0]
    count = 1
    for value in values[1:]:
        if value > mean:
            done.append((mean, total, count))
            mean, total, count = value, value, 1
            continue
        total, count = value + total, count + 1
        mean = total / count
        while done and done[-1][0] >= mean:
            _, more, length = done.pop()
            total, count = total + more, count + length
            mean = total / count
    return [*((value, length) for value, _, length in done), (mean, count)]


def drawdowns(curves: Curves, sign: int) -> list[Drawdown | None]:
    """The largest loss of each series; `None` for a single point, 0 for a series that never loses."""
    if curves.count < 2:
        return [None] * len(curves)
    height = sign * curves.ticks
    best = np.maximum.accumulate(height, axis=1)
    ends = np.argmax(best - height, axis=1)
    rows = np.arange(len(curves))
    reached = best[rows, ends]
    starts = np.argmax(height == reached[:, None], axis=1)
    sizes = (reached - height[rows, ends]).tolist()
    found = zip(curves.rows, curves.places, sizes, starts.tolist(), ends.tolist(), strict=True)
    return [
        Drawdown(int(size) / 10.0**curve.decimals, places[start], places[end])
        for curve, places, size, start, end in found
    ]
