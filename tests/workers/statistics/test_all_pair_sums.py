"""The sums of all pairs of a benchmark at once are the integers that they are one by one."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workers.statistics import pair_sums as ps
from workers.statistics.all_pair_sums import all_meetings

CELL = st.none() | st.integers(-100, 100) | st.integers(-ps.MOST_TICKS, ps.MOST_TICKS)


def side(cells: list[list[int | None]]) -> ps.Side:
    ticks = np.array([[cell or 0 for cell in row] for row in cells], dtype=np.int64)
    return ps.Side(ticks, ticks / 1000, np.array([[cell is not None for cell in row] for row in cells]))


def tables(slots: int) -> st.SearchStrategy[list[list[int | None]]]:
    return st.lists(st.lists(CELL, min_size=slots, max_size=slots), min_size=2, max_size=6)


@given(st.integers(1, 7).flatmap(tables))
def test_all_pairs_at_once_have_the_sums_of_each_pair(cells: list[list[int | None]]) -> None:
    given_ = side(cells)
    found = all_meetings(given_)
    if found is None:  # some values of a slot are equal by the noise that is allowed alone
        columns = [sorted({cell for cell in column if cell is not None}) for column in zip(*cells, strict=True)]
        pairs = [pair for column in columns for pair in itertools.pairwise(column)]
        assert any(b - a <= 1.01e-12 * max(abs(a), abs(b)) for a, b in pairs)
        return
    for i in range(len(cells)):
        assert np.array_equal(found[:, i, :i], ps.meeting(given_.rows(slice(0, i)), given_.rows(slice(i, i + 1))))
        assert not found[:, i, i:].any()


def test_many_slots_of_the_largest_values_stay_exact() -> None:
    """600 slots, more than are multiplied together, of values with 44 bits."""
    chance = np.random.default_rng(3)
    ticks = chance.integers(-ps.MOST_TICKS, ps.MOST_TICKS + 1, (4, 600))
    given_ = ps.Side(ticks, ticks.astype(np.float64), chance.random(ticks.shape) < 0.9)
    found = all_meetings(given_)
    assert found is not None
    shared = given_.present[2] & given_.present[1]
    squares = sum((int(a) - int(b)) ** 2 for a, b in zip(ticks[2, shared], ticks[1, shared], strict=True))
    assert int(found[ps.MOVE2, 2, 1]) * 2**48 + int(found[ps.MOVE2 + 1, 2, 1]) == squares
    assert np.array_equal(found[:, 3, :3], ps.meeting(given_.rows(slice(0, 3)), given_.rows(slice(3, 4))))
