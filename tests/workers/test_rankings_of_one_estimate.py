"""Rankings over HTTP whose order, p, interval and rank range come from one estimate, whatever was published when."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import norm

from registry.query import METHODS
from tests.house import House, Project
from tests.workers.test_counted_rankings import QUESTION, from_sums
from tests.workers.test_rankings import answered, records, score

PERCENT = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}
BARE = {"name": "accuracy", "unit": None, "direction": "higher"}


def board(project: Project, values: dict[str, dict[str, float]], trials: dict[str, int] | None, **more: Any) -> None:
    """Single scores by benchmark and model."""
    for benchmark, each in values.items():
        for model, value in each.items():
            given = None if trials is None else trials[benchmark]
            score(project, model, value, benchmark=benchmark, trials=given, **{"metric": PERCENT} | more)


def ranges(document: dict[str, Any]) -> dict[str, tuple[int, int, int]]:
    return {row["name"]: (row["rank"], row["rank_low"], row["rank_high"]) for row in document["ranking"]}


def content(document: dict[str, Any]) -> dict[str, Any]:
    """What does not name grids or instants."""
    return {name: value for name, value in document.items() if name not in ("inputs", "computed_at", "warnings")}


FOUR = {
    "AIME24": {"A": 52.0, "B": 46.0},
    "AIME25": {"A": 40.0, "B": 36.0},
    "AMC23": {"A": 90.0, "B": 87.5},
    "GPQA_D": {"A": 46.0, "B": 54.0},
}
TRIALS = {"AIME24": 150, "AIME25": 150, "AMC23": 200, "GPQA_D": 990}


@pytest.mark.parametrize(
    "values, trials",
    [
        (FOUR, TRIALS),
        ({"X": {"A": 60.0, "B": 40.0}, "Y": {"A": 50.0, "B": 52.0}}, {"X": 50, "Y": 5000}),
    ],
)
def test_the_test_of_a_pair_weighs_benchmarks_as_the_order_does(
    project: Project, values: dict[str, dict[str, float]], trials: dict[str, int]
) -> None:
    """The variance of each benchmark is p q / n of either side; their mean has the sum over B squared. Shares are
    those of whole numbers of successes: 46.0 % of 990 are 455."""
    board(project, values, trials)
    document = answered(project)
    [pair] = document["pairs"]
    shares = {
        b: {m: 100 * round(v * trials[b] / 100) / trials[b] for m, v in each.items()} for b, each in values.items()
    }
    gaps = [each["A"] - each["B"] for each in shares.values()]
    difference = sum(gaps) / len(gaps)
    parts = [each[m] * (100 - each[m]) / trials[b] for b, each in shares.items() for m in "AB"]
    stderr = math.sqrt(sum(parts)) / len(gaps)
    assert (pair["test"], pair["df"], pair["benchmarks"]) == ("mantel_haenszel", None, len(gaps))
    assert pair["difference"] == pytest.approx(difference, rel=1e-9)
    assert pair["stderr"] == pytest.approx(stderr, rel=1e-9)
    assert pair["p"] == pytest.approx(2 * norm.sf(abs(difference) / stderr), rel=1e-9)
    assert pair["interval"]["low"] == pytest.approx(difference - norm.ppf(0.975) * stderr, rel=1e-9)
    assert pair["detectable"] == pytest.approx((norm.ppf(0.975) + norm.ppf(0.8)) * stderr, rel=1e-9)
    assert document["ranking"][0]["score"] == pytest.approx(difference / 2, rel=1e-9)
    assert all(low <= rank <= high for rank, low, high in ranges(document).values())
    nearest = ["whole_successes"] if shares != values else []
    assert document["assumes"] == ["independent_trials", *nearest]


def test_a_fraction_is_compared_with_a_percentage_on_one_scale(project: Project, large: House) -> None:
    score(project, "A", 0.92, metric=BARE | {"lower": 0, "upper": 1}, trials=300)
    score(project, "B", 61.0, metric=BARE | {"lower": 0, "upper": 100}, trials=300)
    for method in METHODS:
        document = answered(project, method=method)
        assert [row["name"] for row in document["ranking"]] == ["A", "B"], method
    [pair] = answered(project)["pairs"]
    assert pair["difference"] == pytest.approx(31.0)
    assert from_sums(large, project)["reason"].startswith("units, directions or bounds differ")


@pytest.mark.parametrize(
    "first, second",
    [
        (PERCENT | {"unit": ""}, BARE | {"unit": "points", "lower": 0, "upper": 10}),
        (PERCENT, PERCENT | {"direction": "lower"}),
        (BARE | {"lower": 0, "upper": 1}, BARE | {"unit": "%"}),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_values_on_other_scales_never_meet_in_a_slot(
    project: Project, first: dict[str, Any], second: dict[str, Any], method: str
) -> None:
    score(project, "A", 0.9, metric=first)
    score(project, "B", 9.0, metric=second)
    document = answered(project, method=method)
    [pair] = document["pairs"]
    assert (pair["status"], pair["n_common"]) == ("not_comparable", 0)
    assert pair["reason"].startswith("scale")
    assert [warning["code"] for warning in document["warnings"]] == ["scale"]


@pytest.mark.parametrize("method", METHODS)
def test_a_grid_without_a_direction_takes_that_of_the_others_and_turns_nothing(project: Project, method: str) -> None:
    loss = {"name": "loss", "unit": "nats", "direction": "lower"}
    for model, value in (("C", 5.0), ("A", 1.0), ("B", 2.0)):
        score(project, model, value, metric=loss | ({"direction": None} if model == "C" else {}))
    document = answered(project, metric="loss", method=method)
    assert [row["name"] for row in document["ranking"]] == ["A", "B", "C"]
    assert [warning["code"] for warning in document["warnings"]] == ["direction_assumed"]


def test_what_is_published_last_decides_nothing(house: House) -> None:
    """A and B are bounded and have trials, C has neither."""
    cells = {"A": [90.0, 80.0, 70.0, 60.0], "B": [70.0, 60.0, 55.0, 50.0], "C": [80.0, 70.0, 60.0, 50.0]}
    found = []
    for order in itertools.permutations("ABC"):
        project = house.make_project()
        for model in order:
            metric = BARE if model == "C" else BARE | {"lower": 0, "upper": 100}
            axes = [{"name": "Length", "levels": [1, 2, 3, 4]}]
            score(project, model, cells[model], metric=metric, axes=axes, trials=None if model == "C" else 300)
        found.append(content(answered(project)))
    assert all(one == found[0] for one in found)
    pairs = {(pair["a"], pair["b"]): pair["test"] for pair in found[0]["pairs"]}
    assert pairs == {("A", "B"): "mantel_haenszel", ("A", "C"): "sign_flip", ("B", "C"): "sign_flip"}


def test_a_ranking_over_no_cells_ranks_nobody(project: Project) -> None:
    axes = [{"name": "Length", "levels": [1, 2]}]
    for model in "AB":
        score(project, model, [None, None], axes=axes)
    document = answered(project)
    assert (document["status"], document["ranking"]) == ("insufficient", [])
    assert document["reason"] == "no cell was measured"


def test_a_derived_benchmark_is_shown_and_not_counted(project: Project, large: House) -> None:
    """A leads by one on X, B by one on Y: the average of both says what both say, and adds nothing."""
    for model, x, y in (("A", 61.0, 50.0), ("B", 60.0, 51.0)):
        score(project, model, x, benchmark="X")
        score(project, model, y, benchmark="Y")
    plain = answered(project)
    for model, value in (("A", 70.0), ("B", 40.0)):
        score(project, model, value, benchmark="Average", derived=["X", "Y"])
    document = answered(project)
    assert content(document) | {"derived": []} == content(plain)
    assert sorted((one["benchmark"], one["model"]) for one in document["derived"]) == [
        ("Average", "A"),
        ("Average", "B"),
    ]
    assert records(from_sums(large, project)) == records(plain)


def test_a_benchmark_that_is_called_like_an_average_is_counted_with_a_warning(project: Project, large: House) -> None:
    for benchmark in ("X", "Macro avg"):
        score(project, "A", 61.0, benchmark=benchmark)
        score(project, "B", 60.0, benchmark=benchmark)
    document = answered(project)
    assert [warning["code"] for warning in document["warnings"]] == ["looks_derived"]
    assert records(document)["A"] == (2, 0, 0)
    assert [warning["code"] for warning in from_sums(large, project)["warnings"]] == ["looks_derived"]


def test_a_large_benchmark_makes_no_ties_in_a_small_one(project: Project, large: House) -> None:
    tokens = {"name": "accuracy", "unit": "tokens", "direction": "higher"}
    for benchmark, a, b in (("small", 0.39, 0.31), ("large", 3.2e12, 3.2e12)):
        score(project, "A", a, benchmark=benchmark, metric=tokens)
        score(project, "B", b, benchmark=benchmark, metric=tokens)
    assert records(answered(project)) == {"A": (1, 1, 0), "B": (0, 1, 1)}
    assert records(from_sums(large, project)) == {"A": (1, 1, 0), "B": (0, 1, 1)}


def test_one_benchmark_of_another_size_is_named(project: Project) -> None:
    """Sentences a second beside scores in millions."""
    score_ = {"name": "accuracy", "unit": None, "direction": "higher"}
    for model, each in (
        ("A", (10.0, 9.0, 1_300_000.0)),
        ("B", (9.0, 8.0, 1_310_000.0)),
        ("C", (8.0, 7.0, 1_290_000.0)),
    ):
        for benchmark, value in zip(("X", "Y", "points"), each, strict=True):
            score(project, model, value, benchmark=benchmark, metric=score_)
    document = answered(project)
    [warning] = document["warnings"]
    assert (warning["code"], '"points" carries 100%' in warning["detail"]) == ("one_benchmark_dominates", True)
    assert [row["name"] for row in document["ranking"]] == ["B", "A", "C"]
    standardised = answered(project, method="standardised_difference")
    assert [row["name"] for row in standardised["ranking"]] == ["A", "B", "C"]
    # Each benchmark has the standard deviation of three numbers a step apart, one step: (1 + 1 - 1) / 3.
    pairs = {(pair["a"], pair["b"]): pair["difference"] for pair in standardised["pairs"]}
    assert pairs["A", "B"] == pytest.approx(1 / 3, rel=1e-9)


def test_new_questions_need_the_number_of_questions(project: Project) -> None:
    for model, value in (("A", 70.0), ("B", 60.0)):
        score(project, model, value, metric=PERCENT, trials=480, questions=30)
    score(project, "C", 50.0, metric=PERCENT, trials=480)
    pairs = {(p["a"], p["b"]): p for p in answered(project, target="new_questions")["pairs"]}
    shares = [(0.7 * 30 + 0.5) / 31, (0.6 * 30 + 0.5) / 31]
    stderr = 100 * math.sqrt(sum(p * (1 - p) / 30 for p in shares))
    assert pairs["A", "B"]["stderr"] == pytest.approx(stderr, rel=1e-9)
    assert pairs["A", "B"]["p"] == pytest.approx(2 * norm.sf(10 / stderr), rel=1e-9)
    assert (pairs["A", "C"]["status"], pairs["A", "C"]["p"]) == ("insufficient", None)
    document = answered(project, target="new_questions")
    assert (document["target"], document["assumes"]) == ("new_questions", ["p(1-p)/questions"])


def test_a_design_effect_multiplies_the_variance_and_is_no_assumption(project: Project) -> None:
    for model, value in (("A", 70.0), ("B", 60.0)):
        score(project, model, value, metric=PERCENT, trials=300, design_effect=2.0)
    document = answered(project)
    [pair] = document["pairs"]
    assert pair["stderr"] == pytest.approx(math.sqrt(2 * (70 * 30 + 60 * 40) / 300), rel=1e-9)
    assert document["assumes"] == []


def test_the_old_word_for_the_target_is_still_read_and_is_the_same_question(project: Project) -> None:
    board(project, FOUR, TRIALS)
    new, old = answered(project), answered(project, target="fixed_cells")
    assert new == old
    assert new["target"] == "rerun"
    assert replace(QUESTION, target="rerun").key == QUESTION.key
