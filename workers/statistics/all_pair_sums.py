"""The sums of all pairs of names on one benchmark at once, the very integers that `pair_sums.meeting` gives one by one.

Products of matrices of doubles are exact as long as no sum leaves 2^53: a value of up to 10^13 ticks is split into two
halves of 22 bits, and a product of halves over up to 256 slots has 52.
"""

from __future__ import annotations

import numpy as np

from workers.statistics.pair_sums import (
    COMMON,
    EQUAL,
    FIELDS,
    LARGER,
    MOVE,
    MOVE2,
    SAME,
    Side,
    add_benchmark,
    add_wide,
    carry,
)
from workers.statistics.terms import IntArray

_HALF = 22
_SLOTS_AT_ONCE = 256
_RANKS = np.int16
"""A quarter of the bytes of a double: comparing ranks is that much faster."""


def all_meetings(side: Side) -> IntArray | None:
    """FIELDS x names x names: the sums of each name (row) with those before it (columns), zeros elsewhere.

    None where two values of a slot differ by less than what counts as equal: whether names tie then depends on more
    than their order.
    """
    names, slots = side.ticks.shape
    ranks = _ranks(side)
    if ranks is None:
        return None
    total = np.zeros((FIELDS, names, names), dtype=np.int64)
    for start in range(0, slots, _SLOTS_AT_ONCE):
        _add_values(total, side.slots(slice(start, start + _SLOTS_AT_ONCE)))
    larger = _larger(ranks)
    total[LARGER] = larger
    total[EQUAL] = total[COMMON] - larger - larger.T
    total *= np.tri(names, names, -1, dtype=np.int64)
    flat = total.reshape(FIELDS, -1)
    carry(flat)
    add_benchmark(flat)
    return total


def _add_values(total: IntArray, side: Side) -> None:
    """Add common slots, differences and their squares over some slots."""
    has = side.present.astype(np.float64)
    ticks = np.where(side.present, side.ticks, 0)
    high, low = (ticks >> _HALF).astype(np.float64), (ticks & ((1 << _HALF) - 1)).astype(np.float64)
    size = len(has)
    # Only the products that are needed: others could leave what a double holds exactly.
    held = (np.concatenate([has, high, low, high * high, high * low, low * low]) @ has.T).astype(np.int64)
    common, highs, lows, high2, both, low2 = (held[row * size : (row + 1) * size] for row in range(6))
    cross = (np.concatenate([high, low]) @ np.concatenate([high, low]).T).astype(np.int64)
    total[COMMON] += common
    total[MOVE] += ((highs - highs.T) << _HALF) + lows - lows.T
    mixed = cross[:size, size:]
    squares = (
        (2 * _HALF, high2 + high2.T - 2 * cross[:size, :size]),
        (_HALF + 1, both + both.T - mixed - mixed.T),
        (0, low2 + low2.T - 2 * cross[size:, size:]),
    )
    for shift, sums in squares:
        add_wide(total, MOVE2, sums, shift)


def _ranks(side: Side) -> IntArray | None:
    """Ranks within each slot, from 1 for the smallest, equal for equal values; 0 where absent. None where values are
    equal only by the noise that is allowed."""
    values = np.where(side.present, side.values, -np.inf)
    order = np.argsort(values, axis=0, kind="stable")
    sorted_ = np.take_along_axis(values, order, axis=0)
    with np.errstate(invalid="ignore"):
        steps = np.diff(sorted_, axis=0)  # NaN between two that are absent
        noise = SAME * np.maximum(np.abs(sorted_[1:]), np.abs(sorted_[:-1]))
    finite = np.isfinite(sorted_[:-1])
    if np.any(finite & (steps > 0) & (steps <= noise)):
        return None
    begins = np.zeros(values.shape, dtype=_RANKS)
    begins[:1] = np.isfinite(sorted_[:1])
    begins[1:] = np.isfinite(sorted_[1:]) & ~(finite & (steps == 0))
    ranks = np.empty(values.shape, dtype=_RANKS)
    np.put_along_axis(ranks, order, np.cumsum(begins, axis=0, dtype=_RANKS), axis=0)
    return np.asarray(ranks)


def _larger(ranks: IntArray) -> IntArray:
    """Names x names: slots in which the row's value is larger, where both are there."""
    count = np.zeros((len(ranks), len(ranks)), dtype=np.int32)
    there = np.where(ranks > 0, ranks, np.iinfo(_RANKS).max)
    for own, other in zip(ranks.T.copy(), there.T.copy(), strict=True):
        count += own[:, None] > other
    return count.astype(np.int64)
