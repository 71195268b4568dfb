"""Isotonic fits both ways, and how far a series strays from them.

Pool-adjacent-violators: Barlow, Bartholomew, Bremner and Brunk (1972), ch. 1; equal weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from registry.grids.grid import Direction
from registry.results.courses import Drawdown, Monotone, MonotoneBlock, MonotoneFit
from workers.statistics.table import Curve
from workers.statistics.terms import FloatArray

MOST_BLOCKS = 100


@dataclass(frozen=True)
class Isotonic:
    """The least-squares non-decreasing fit: m values, and the first index of each block of equal ones."""

    fit: FloatArray
    starts: tuple[int, ...]


def monotone(curve: Curve, direction: Direction | None) -> Monotone:
    """Fits a series upwards and downwards; worse is lower unless the metric's better end is the lower one."""
    moves = np.diff(curve.ticks)
    up, down = isotonic(curve.y), isotonic(-curve.y)
    return Monotone(
        fitted(curve, up.fit, up.starts, int(np.count_nonzero(moves < 0))),
        fitted(curve, -down.fit, down.starts, int(np.count_nonzero(moves > 0))),
        drawdown(curve, -1 if direction == "lower" else 1),
    )


def fitted(curve: Curve, fit: FloatArray, starts: tuple[int, ...], violations: int) -> MonotoneFit:
    """Describes one fit by its blocks."""
    ends = (*starts[1:], curve.count)
    blocks = tuple(
        MonotoneBlock(curve.place(start), curve.place(end - 1), end - start, float(fit[start]))
        for start, end in list(zip(starts, ends, strict=True))[:MOST_BLOCKS]
    )
    sse = float(np.sum((curve.y - fit) ** 2))
    return MonotoneFit(sse, blocks, len(starts) - len(blocks), violations)


def isotonic(y: FloatArray) -> Isotonic:
    """Pools neighbours while they fall, in O(m)."""
    sums: list[float] = []
    counts: list[int] = []
    for value in y.tolist():
        total, count = value, 1
        while sums and sums[-1] / counts[-1] >= total / count:
            total += sums.pop()
            count += counts.pop()
        sums.append(total)
        counts.append(count)
    means = [total / count for total, count in zip(sums, counts, strict=True)]
    starts = np.cumsum([0, *counts[:-1]])
    return Isotonic(np.repeat(means, counts), tuple(starts.tolist()))


def drawdown(curve: Curve, sign: int) -> Drawdown | None:
    """The largest loss; `None` for a single point, 0 for a series that never loses."""
    if curve.count < 2:
        return None
    height = sign * curve.ticks
    best = np.maximum.accumulate(height)
    end = int(np.argmax(best - height))
    start = int(np.argmax(height[: end + 1]))
    size = int(best[end] - height[end]) / 10.0**curve.decimals
    return Drawdown(size, curve.place(start), curve.place(end))
