"""What a stranger found wrong in rankings: each with the numbers that it was found with."""

from __future__ import annotations

import numpy as np
import pytest

from tests.workers.statistics.documents import rank
from workers.statistics import ScoreMatrix


def board(values, trials=None, **more) -> ScoreMatrix:
    cells = np.array(values, dtype=np.float64)
    owners = np.arange(cells.shape[1])
    names = tuple("ABCDEFGH"[: len(cells)])
    count = None if trials is None else np.broadcast_to(np.array(trials), cells.shape).astype(np.int64)
    benchmarks = tuple(f"b{i}" for i in owners)
    return ScoreMatrix(names, cells, owners, benchmarks, count, "higher", 0.0, 100.0, **more)


def test_a_value_that_no_count_prints_as_stays_the_estimate():
    """54 against 46 of ten trials each: half of 5.4 and 4.6, not of 5 and 5."""
    (pair,) = rank(board([[54.0], [46.0]], 10))["pairs"]
    assert pair["difference"] == pytest.approx(8.0)
    found = rank(board([[100.0] * 3, [99.0] * 3], 50))
    assert found["pairs"][0]["difference"] == pytest.approx(1.0)
    assert found["pairs"][0]["status"] == "ok"


def test_a_value_that_printing_rounded_is_read_as_its_count():
    """46.0 % of 990 trials are 455 successes."""
    (pair,) = rank(board([[46.0], [54.0]], 990))["pairs"]
    assert pair["difference"] == pytest.approx(100 * (455 - 535) / 990)


def test_other_questions_are_never_surer_than_the_same_ones_again():
    """A design effect of 4 of 400 questions with one sample each: the error stays twice the binomial one."""
    effect = np.full((2, 3), 4.0)
    questions = np.full((2, 3), 400)
    cells = board([[80.0] * 3, [74.0] * 3], 400, questions=questions, design_effect=effect)
    again, others = (rank(cells, target=target)["pairs"][0] for target in ("rerun", "new_questions"))
    assert others["stderr"] >= again["stderr"] * (1 - 1e-3)
    assert others["p"] > 0.05


@pytest.mark.parametrize("target", ["rerun", "new_benchmarks"])
def test_equal_differences_have_no_interval_of_no_width(target):
    (pair,) = rank(board([[76.0, 77.0, 78.0], [70.0, 71.0, 72.0]]), target=target)["pairs"]
    assert pair["difference"] == pytest.approx(6.0)
    assert (pair["interval"], pair["stderr"], pair["detectable"]) == (None, None, None)


def test_where_nobody_could_be_tested_no_group_is_claimed():
    found = rank(board([[80.0, 70.0], [74.0, 71.0]], 400), target="new_questions")
    assert found["groups"] == []
    assert [row["group"] for row in found["ranking"]] == [[], []]


def test_a_board_of_derived_grids_alone_has_nobody_to_rank():
    nobody = ScoreMatrix((), np.empty((0, 0)), np.empty(0, dtype=np.int64), ())
    assert (rank(nobody)["status"], rank(nobody)["reason"]) == ("insufficient", "nobody to rank")
