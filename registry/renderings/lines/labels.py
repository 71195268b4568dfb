"""Names beside a chart: where they stand so that no two overlap."""

from __future__ import annotations

from collections.abc import Sequence


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places in the order of the wanted ones, at least `gap` apart, each as near to its own as that allows in the least
    squares, and between the ends where there is room (pool-adjacent-violators: Ayer et al. 1955)."""
    order = sorted(range(len(wanted)), key=lambda one: wanted[one])
    blocks: list[tuple[float, int]] = []
    for rank, one in enumerate(order):
        mean, size = wanted[one] - rank * gap, 1
        while blocks and blocks[-1][0] >= mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    bases = [mean for mean, size in blocks for _ in range(size)]
    room = max(low, high - (len(order) - 1) * gap)
    found = [0.0] * len(wanted)
    for rank, one in enumerate(order):
        found[one] = min(max(bases[rank], low), room) + rank * gap
    return found
