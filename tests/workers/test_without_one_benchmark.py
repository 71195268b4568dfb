"""What is shown of the first name with each benchmark left out is what a question about the others answers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.house import Project
from tests.workers.test_comparisons_of_models import NAMES, answered, computed, put

SCORES = {
    "A": {"X": [60.0, 61.0, 62.0, 59.0], "Y": [80.0, 81.0, 80.5, 82.0], "Z": [93.0, 92.0, 94.0, 95.0]},
    "B": {"X": [60.5, 60.0, 61.0, 60.0], "Y": [79.0, 81.5, 81.0, 81.0], "Z": [62.0, 61.0, 60.0, 63.0]},
    "C": {"X": [20.0, 21.0, 19.0, 22.0], "Y": [30.0, 31.0, 29.0, 30.0], "Z": [10.0, 12.0, 11.0, 10.0]},
}


@pytest.fixture
def three(project: Project) -> Project:
    """A leads B by far on Z and by nothing elsewhere; C is behind everywhere."""
    for model, each in SCORES.items():
        for benchmark, values in each.items():
            put(project, model, benchmark, values)
    return project


def ranking(project: Project, **more: Any) -> dict[str, Any]:
    return computed(project, f"projects/{project.slug}/rankings", query_string=NAMES | more)


@pytest.mark.parametrize("more", [{}, {"model": ["A", "B"]}, {"method": "win_rate"}, {"at.Length": ">=3"}])
def test_each_benchmark_left_out_is_the_ranking_of_the_others(three: Project, more: dict[str, Any]) -> None:
    found = ranking(three, **more)["stability"]["without"]
    assert [one["benchmark"] for one in found] == ["X", "Y", "Z"]
    for one in found:
        rest = ranking(three, benchmark=[name for name in "XYZ" if name != one["benchmark"]], **more)
        [pair] = [pair for pair in rest["pairs"] if {pair["a"], pair["b"]} == {"A", "B"}]
        assert pair["a"] == "A"
        assert (one["difference"], one["interval"], one["p_holm"]) == (
            pair["difference"], pair["interval"], pair["p_holm"],
        )  # fmt: skip
        ahead = [p for p in rest["pairs"] if "A" in (p["a"], p["b"]) and p["p_holm"] < 0.05 and p["lead"] > 0]
        assert one["shown"] == len(ahead)


def test_the_second_name_first_turns_the_difference(three: Project) -> None:
    first = ranking(three, model=["A", "B"])["stability"]["without"]
    for benchmark, (mine, theirs) in {name: (SCORES["A"][name], SCORES["B"][name]) for name in "XYZ"}.items():
        put(three, "A", benchmark, theirs)
        put(three, "B", benchmark, mine)
    turned = ranking(three, model=["A", "B"])
    assert [row["name"] for row in turned["ranking"]] == ["B", "A"]
    assert turned["stability"]["without"] == first


def test_a_comparison_of_models_says_the_same_of_the_contender_less_the_baseline(three: Project) -> None:
    of_ranking = ranking(three, model=["A", "B"])["stability"]["without"]
    assert answered(three, "B", "A")["whole"]["without"] == of_ranking
    other = answered(three, "A", "B")["whole"]["without"]
    assert [one["difference"] for one in other] == [-one["difference"] for one in of_ranking]


def test_nothing_is_left_out_of_one_benchmark_and_none_is_first_of_two_that_are_equal(project: Project) -> None:
    put(project, "A", "X", [1.0, 2.0, 3.0, 4.0])
    put(project, "B", "X", [2.0, 3.0, 4.0, 5.0])
    assert ranking(project)["stability"]["without"] == []
    for model in "AB":
        put(project, model, "X", [1.0, 2.0, 3.0, 4.0])
        put(project, model, "Y", [1.0, 2.0, 3.0, 4.0])
    assert ranking(project)["stability"]["without"] == []
