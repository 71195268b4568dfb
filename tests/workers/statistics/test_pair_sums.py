"""Sums of pairs are exact whole numbers, all at once as one by one, and a ranking from them says what it leaves out."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from registry.results.ranking import Slots
from tests.workers.statistics.documents import ends, rank_counted
from workers.statistics import pair_sums as ps
from workers.statistics.counted import Counted, matrices_of
from workers.statistics.pair_sums import all_meetings

TICKS = st.none() | st.integers(-3, 3) | st.integers(-ps.MOST_TICKS, ps.MOST_TICKS)


def side(cells: Any) -> ps.Side:
    """Rows of cells whose values are whole ticks."""
    rows = np.atleast_2d(np.array(cells, dtype=object))
    present = np.array(rows != None, dtype=np.bool_)  # noqa: E711 -- cell by cell
    ticks = np.where(present, rows, 0).astype(np.int64)
    return ps.Side(ticks, ticks.astype(np.float64), present)


def wide(sums: Any, place: int) -> int:
    return int(sums[place]) * 2**48 + int(sums[place + 1])


def nearest(value: Fraction) -> int:
    """To the nearest whole number, halves away from zero."""
    size = abs(value)
    whole = int(size) + (size - int(size) >= Fraction(1, 2))
    return whole if value >= 0 else -whole


@given(st.lists(st.tuples(TICKS, TICKS), min_size=1, max_size=40))
def test_the_sums_of_a_pair_are_those_of_exact_arithmetic(cells: list[tuple[int | None, int | None]]) -> None:
    own, other = (side(cell) for cell in zip(*cells, strict=True))
    sums = ps.meeting(other, own)[:, 0]
    moves = [a - b for a, b in cells if a is not None and b is not None]
    # Values that differ by less than 10^-12 of the larger one are equal, however many ticks that is.
    signs = [
        0 if abs(a - b) <= 1e-12 * max(abs(a), abs(b)) else (a > b) - (a < b)
        for a, b in cells
        if a is not None and b is not None
    ]
    count = len(moves)
    assert sums[ps.COMMON] == count
    assert sums[ps.BENCHMARKS] == (count > 0)
    assert sums[ps.LARGER] == signs.count(1)
    assert sums[ps.EQUAL] == signs.count(0)
    assert sums[ps.MOVE] == sum(moves)
    assert wide(sums, ps.MOVE2) == sum(move * move for move in moves)
    if count:
        mean = nearest(Fraction(sum(moves), count))
        lead = sum(signs)
        assert sums[ps.MEAN] == mean
        assert wide(sums, ps.MEAN2) == mean * mean
        assert sums[ps.LEAD] == nearest(Fraction(lead * 2**30, count))
        decided = count - signs.count(0)
        assert sums[ps.DECIDED] == pytest.approx(decided * 2**30 / count**2, abs=0.51)
        assert sums[ps.LEAD2] == pytest.approx((lead / count) ** 2 * 2**30, abs=0.51)
        spread = Fraction(sum(move * move for move in moves), count * count)
        assert wide(sums, ps.SPREAD) == pytest.approx(float(spread), rel=1e-12, abs=0.51)


@given(st.lists(st.tuples(TICKS, TICKS), min_size=1, max_size=40))
def test_a_pair_seen_from_the_other_side_has_the_same_sums(cells: list[tuple[int | None, int | None]]) -> None:
    """So it does not matter in whose row they stand."""
    own, other = (side(cell) for cell in zip(*cells, strict=True))
    rows = [np.zeros((ps.FIELDS, 2, 2), dtype=np.int64) for _ in range(2)]
    rows[0][:, 0, 1] = ps.meeting(other, own)[:, 0]
    rows[1][:, 1, 0] = ps.meeting(own, other)[:, 0]
    assert np.array_equal(ps.canonical(rows[0]), ps.canonical(rows[1]))


def counted(names: int) -> Counted:
    """Name i has i in each of ten slots of one benchmark."""
    rows = np.zeros((ps.FIELDS, names, names), dtype=np.int64)
    cells = side([[i] * 10 for i in range(names)])
    for i in range(1, names):
        rows[:, i, :i] = ps.meeting(cells.rows(slice(0, i)), cells.rows(slice(i, i + 1)))
    labels = tuple(f"m{i:04}" for i in range(names))
    return Counted(labels, (10,) * names, 0.5, 1, Slots(10, 10), False, **matrices_of(rows))


@pytest.mark.parametrize("method", ["mean_difference", "win_rate", "bradley_terry"])
def test_of_many_names_the_pairs_are_those_of_neighbours_and_groups_are_told(method: str) -> None:
    answer = rank_counted(counted(310), method, "matched", 0.05, "rerun")
    assert [row["name"] for row in answer["ranking"]] == [f"m{i:04}" for i in reversed(range(310))]
    assert [(pair["a"], pair["b"]) for pair in answer["pairs"][:2]] == [("m0309", "m0308"), ("m0308", "m0307")]
    assert len(answer["pairs"]) == 309
    assert answer["pairs"][0]["difference"] == (0.5 if method == "mean_difference" else None)
    assert answer["pairs"][0]["lead"] == 1.0
    assert "pairs" in {one["part"] for one in answer["left_out"]}
    # Of a rerun sums say nothing; of ten signs the least p is 2^-9, which no correction leaves below 0.05.
    together = [] if method == "mean_difference" else [[row["name"] for row in answer["ranking"]]]
    assert answer["groups"] == together
    assert answer["ranking"][0]["wins"] == 10 * 309


def test_more_than_a_thousand_names_are_refused() -> None:
    names, rows = tuple(str(i) for i in range(1_001)), np.zeros((ps.FIELDS, 2, 2), dtype=np.int64)
    many = Counted(names, (1,) * 1_001, 1.0, 1, Slots(1, 1), False, **matrices_of(rows))
    answer = rank_counted(many, "mean_difference", "matched", 0.05, "rerun")
    assert (answer["status"], answer["ranking"]) == ("undefined", [])
    assert "1,000" in answer["reason"]


def test_over_benchmarks_a_difference_has_students_test() -> None:
    rows, moves = np.zeros((ps.FIELDS, 2, 2), dtype=np.int64), [7, 3, 4, -1, 5]
    for move in moves:
        rows[:, 0, 1] += ps.meeting(side([0] * 3), side([move] * 3))[:, 0]
    found = Counted(("A", "B"), (15, 15), 1.0, 1, Slots(15, 15), False, **matrices_of(rows))
    [pair] = rank_counted(found, "mean_difference", "matched", 0.05, "new_benchmarks")["pairs"]
    theirs = stats.ttest_1samp(moves, 0)
    assert (pair["test"], pair["p"]) == ("t_over_benchmarks", pytest.approx(theirs.pvalue))
    interval = theirs.confidence_interval()
    assert sorted(map(abs, ends(pair["interval"]))) == pytest.approx(sorted(map(abs, (interval.low, interval.high))))
    [rerun] = rank_counted(found, "mean_difference", "matched", 0.05, "rerun")["pairs"]
    assert (rerun["status"], rerun["p"]) == ("insufficient", None)


# --- all pairs of a benchmark at once ---------------------------------------------------------------------------------


def tables(slots: int) -> st.SearchStrategy[list[list[int | None]]]:
    return st.lists(st.lists(TICKS, min_size=slots, max_size=slots), min_size=2, max_size=6)


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
