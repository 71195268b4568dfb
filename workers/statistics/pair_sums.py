"""Sums of every pair of names, as whole numbers: adding a grid and taking it away are exact.
`workers/rankings/pair_sums.py` keeps them, `counted.py` reads them.

The sums of a pair over the slots that both names have. Values are counted in ticks, a fixed small fraction of the
metric's unit, so every sum is an integer and does not depend on the order in which grids came. Means and shares of a
benchmark are rounded to a tick (or to 2^-30) before they are added: such a term is a function of that benchmark's
values alone, and taking it away again leaves nothing behind.

Sums are kept as rows of 64-bit integers. Sums of squares need more room: `value = high * 2^48 + low`, with
0 <= low < 2^48, so that equal sums are equal integers.
"""

import zlib
from dataclasses import dataclass

import numpy as np

from workers.statistics.terms import BoolArray, FloatArray, IntArray

BENCHMARKS, COMMON, LARGER, EQUAL, MOVE = 0, 1, 2, 3, 4
"""Index of each sum: benchmarks with a common slot, common slots, those where the first value is larger, those
where both are equal, differences (first less second)."""
LEAD, MEAN, DECIDED, LEAD2 = 5, 6, 7, 8
"""Sums over benchmarks: the lead, (larger less smaller) / common, in 2^-30; mean differences; (larger plus smaller) /
common^2 and squared leads, in 2^-30."""
MOVE2, SPREAD, MEAN2 = 9, 11, 13
"""Wide sums, at two places each: squared differences; over benchmarks, squared differences / common^2 and squared
mean differences."""

FIELDS = 15
WIDE = (MOVE2, SPREAD, MEAN2)
TURNED = (MOVE, LEAD, MEAN)
"""Sums that change their sign when the two names change places."""
_LOW = 48
_LOW_MASK = (1 << _LOW) - 1
_HALF = 22
_HALF_MASK = (1 << _HALF) - 1
_CELLS_AT_ONCE = 1 << 15
"""Cells that fit into a processor's cache with all that is computed from them: over twice as fast as the whole at
once."""
SHARES = 1 << 30
SAME = 1e-12
"""Values that differ by less, in relation to the larger one, are equal: their difference is arithmetic noise."""
_BYTES, _FASTEST = 8, 1
_SLOTS_AT_ONCE = 256
_RANKS = np.int16
"""A quarter of the bytes of a double: comparing ranks is that much faster."""
MOST_TICKS = 10**13
"""No value may have more ticks, in size; then no sum over up to 2^20 slots overflows."""


def empty(names: int) -> IntArray:
    """The sums of a name with `names` others that it never met: FIELDS x names zeros."""
    return np.zeros((FIELDS, names), dtype=np.int64)


@dataclass(frozen=True)
class Side:
    """Cells of names (rows) in slots (columns): values in whole ticks and as they were posted, and which are there.

    All ticks are at most `MOST_TICKS` in size; where a value is absent they count for nothing.
    """

    ticks: IntArray
    values: FloatArray
    present: BoolArray

    def rows(self, picked: IntArray | BoolArray | slice) -> "Side":
        """Some names."""
        return Side(self.ticks[picked], self.values[picked], self.present[picked])

    def slots(self, picked: slice) -> "Side":
        """Some slots."""
        return Side(self.ticks[:, picked], self.values[:, picked], self.present[:, picked])


def meeting(rivals: Side, own: Side) -> IntArray:
    """The sums of one name with each of its rivals on the slots of one benchmark, FIELDS x rivals; `own` is a side of
    one row."""
    names, slots = rivals.ticks.shape
    total = empty(names)
    step = max(1, _CELLS_AT_ONCE // max(1, slots))
    for first in range(0, names, step):
        some = slice(first, first + step)
        for start in range(0, slots, _CELLS_AT_ONCE):
            here = slice(start, start + _CELLS_AT_ONCE)
            _add_slots(total[:, some], rivals.rows(some).slots(here), own.slots(here))
    add_benchmark(total)
    return total


def _add_slots(total: IntArray, rivals: Side, own: Side) -> None:
    common = rivals.present & own.present
    moves = np.where(common, own.ticks - rivals.ticks, 0)
    gaps = np.where(common, own.values - rivals.values, 0.0)
    # Not by ticks, which are those of the largest value of the whole scope.
    noise = SAME * np.where(common, np.maximum(np.abs(own.values), np.abs(rivals.values)), 0.0)
    count = common.sum(axis=1)
    larger, smaller = (gaps > noise).sum(axis=1), (gaps < -noise).sum(axis=1)
    total[COMMON] += count
    total[LARGER] += larger
    total[EQUAL] += count - larger - smaller
    total[MOVE] += moves.sum(axis=1)
    # A difference has up to 45 bits, so its square has no room in 64. With difference = top * 2^22 + rest the square is
    # top^2 * 2^44 + top * rest * 2^23 + rest^2; >> rounds down, so rest is never negative.
    top, rest = moves >> _HALF, moves & _HALF_MASK
    squares = (top * top).sum(axis=1), (top * rest).sum(axis=1), (rest * rest).sum(axis=1)
    for shift, sums in zip((2 * _HALF, _HALF + 1, 0), squares, strict=True):
        add_wide(total, MOVE2, sums, shift)
    carry(total)


def add_wide(total: IntArray, place: int, sums: IntArray, shift: int) -> None:
    """Add sums * 2^shift to a wide sum, which `carry` brings into its form afterwards."""
    kept = _LOW - shift
    total[place] += sums >> kept
    total[place + 1] += (sums & ((1 << kept) - 1)) << shift


def add_benchmark(total: IntArray) -> None:
    """The terms that weigh benchmarks equally: functions of the integers that are there already."""
    count = total[COMMON]
    met = count > 0
    total[BENCHMARKS] = met
    some = np.maximum(count, 1)
    # Larger less smaller, for smaller = count - larger - equal. It and the mean below are rounded half away from 0:
    # then the sums of a pair differ only in sign when the two names change places.
    lead = 2 * total[LARGER] + total[EQUAL] - count
    total[LEAD] = np.sign(lead) * ((2 * np.abs(lead) * SHARES + some) // (2 * some))
    total[DECIDED] = np.rint((count - total[EQUAL]) / some.astype(np.float64) ** 2 * SHARES).astype(np.int64)
    total[LEAD2] = np.rint((lead / some) ** 2 * SHARES).astype(np.int64)
    size = (2 * np.abs(total[MOVE]) + some) // (2 * some)
    total[MEAN] = np.sign(total[MOVE]) * size
    top, rest = size >> _HALF, size & _HALF_MASK
    for shift, sums in ((2 * _HALF, top * top), (_HALF + 1, top * rest), (0, rest * rest)):
        add_wide(total, MEAN2, sums, shift)
    share = np.rint(wide(total, MOVE2) / some.astype(np.float64) ** 2)
    # Dividing by a power of two is exact, so both places together hold the very float.
    high = np.floor(share / 2.0**_LOW)
    total[SPREAD] = high.astype(np.int64)
    total[SPREAD + 1] = (share - high * 2.0**_LOW).astype(np.int64)
    carry(total)


def carry(total: IntArray) -> None:
    """Bring wide sums into their one form, in place."""
    for place in WIDE:
        total[place] += total[place + 1] >> _LOW
        total[place + 1] &= _LOW_MASK


def wide(total: IntArray, place: int) -> FloatArray:
    """A wide sum as the nearest float."""
    return np.asarray(total[place] * 2.0**_LOW + total[place + 1], dtype=np.float64)


def of_pairs(rows: IntArray, place: int) -> IntArray:
    """One sum of all pairs, names x names, first name x second, from the rows of the names.

    What the grids of a name brought stands in its own row, so the sum of a pair is that of one row and, seen from
    the other side, that of the other. `rows` is FIELDS x names x names; for a wide sum ask for both places.
    """
    there = rows[place].T
    if place == LARGER:
        # Seen from the other side, the larger ones are those where the first is smaller.
        there = (rows[COMMON] - rows[LARGER] - rows[EQUAL]).T
    if place in TURNED:
        there = -there
    return np.asarray(rows[place] + there, dtype=np.int64)


def wide_of_pairs(rows: IntArray, place: int) -> FloatArray:
    """One wide sum of all pairs, names x names: carried as integers first, so equal sums are equal floats."""
    high, low = of_pairs(rows, place), of_pairs(rows, place + 1)
    return np.asarray((high + (low >> _LOW)) * 2.0**_LOW + (low & _LOW_MASK), dtype=np.float64)


def packed(sums: IntArray) -> bytes:
    """Sums of a name as they are stored: bytes of equal weight side by side (the shuffle filter of HDF5), deflated."""
    return zlib.compress(np.ascontiguousarray(sums).view(np.uint8).reshape(-1, _BYTES).T.tobytes(), _FASTEST)


def unpacked(stored: bytes | memoryview) -> IntArray:
    """FIELDS x names, as they were packed."""
    planes = np.frombuffer(zlib.decompress(stored), dtype=np.uint8).reshape(_BYTES, -1)
    return np.ascontiguousarray(planes.T).view(np.int64).reshape(FIELDS, -1)


def canonical(rows: IntArray) -> IntArray:
    """All sums of all pairs, FIELDS x names x names: equal exactly when the grids that were counted are."""
    total = np.stack([of_pairs(rows, place) for place in range(FIELDS)])
    carry(total)
    return total


def all_meetings(side: Side) -> IntArray | None:
    """FIELDS x names x names: the sums of each name (row) with those before it (columns), zeros elsewhere; the very
    integers that `meeting` gives one by one.

    None where two values of a slot differ by less than what counts as equal: whether names tie then depends on more
    than their order.
    """
    # Products of matrices of doubles are exact as long as no sum leaves 2^53: a value of up to 10^13 ticks is split
    # into two halves of 22 bits, and a product of halves over up to 256 slots has 52.
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
    high, low = (ticks >> _HALF).astype(np.float64), (ticks & _HALF_MASK).astype(np.float64)
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
