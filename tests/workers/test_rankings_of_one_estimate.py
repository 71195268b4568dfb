"""Rankings over HTTP whose order, p, interval and rank range come from one estimate, whatever was published when."""

import itertools
import math
from dataclasses import replace
from typing import Any

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from registry.query import METHODS
from tests.house import House, Project
from tests.workers.test_counted_rankings import QUESTION, from_sums
from tests.workers.test_rankings import all_answered, answered, records, score

PERCENT = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}
BARE = {"name": "accuracy", "unit": None, "direction": "higher"}
LENGTHS = [{"name": "Length", "levels": [1, 2, 3, 4]}]


def content(document: dict[str, Any]) -> dict[str, Any]:
    """What does not name grids or instants."""
    unlike = ("inputs", "computed_at", "warnings", "experiment", "selection")
    return {name: value for name, value in document.items() if name not in unlike}


def codes(document: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in document["warnings"]]


def names(document: dict[str, Any]) -> list[str]:
    return [row["name"] for row in document["ranking"]]


def by_names(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {pair["a"] + pair["b"]: pair for pair in document["pairs"]}


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
        ({"X": {"A": 60.0, "B": 40.0}, "Y": {"A": 50.02, "B": 52.02}}, {"X": 50, "Y": 5000}),
    ],
)
def test_the_test_of_a_pair_weighs_benchmarks_as_the_order_does(
    project: Project, values: dict[str, dict[str, float]], trials: dict[str, int]
) -> None:
    """The variance of each benchmark is p q / n of either side; their mean has the sum over B squared. Under equality p
    is that of both sides together, with N / (N - 1) (Cochran, Mantel and Haenszel). Shares are those of whole numbers
    of successes, 46.0 % of 990 are 455, and differences those of the values."""
    for benchmark, each in values.items():
        for model, value in each.items():
            score(project, model, value, benchmark=benchmark, trials=trials[benchmark])
    document = answered(project)
    [pair] = document["pairs"]
    shares = {
        b: {m: 100 * round(v * trials[b] / 100) / trials[b] for m, v in each.items()} for b, each in values.items()
    }
    gaps = [each["A"] - each["B"] for each in values.values()]
    difference = sum(gaps) / len(gaps)
    parts = [each[m] * (100 - each[m]) / trials[b] for b, each in shares.items() for m in "AB"]
    stderr = math.sqrt(sum(parts)) / len(gaps)
    pooled = {b: sum(each.values()) / 2 for b, each in shares.items()}

    def error(apart: float, reach: float) -> float:
        """Of rates so far apart whose middle is so far from the pooled one, on the side of 50 percent."""
        middles = [(b, min(p + reach / 2, 50) if p < 50 else max(p - reach / 2, 50)) for b, p in pooled.items()]
        rates = [(b, p + half) for b, p in middles for half in (apart / 2, -apart / 2)]
        return math.sqrt(sum(p * (100 - p) * 2 / (2 * trials[b] - 1) for b, p in rates)) / len(gaps)

    null, seen = error(0.0, 0.0), pair["detectable"]
    least = brentq(lambda size: size - norm.ppf(0.975) * error(0.0, size), 0, 100)
    assert (pair["test"], pair["df"], pair["benchmarks"]) == ("score", None, len(gaps))
    assert pair["difference"] == pytest.approx(difference, rel=1e-9)
    assert pair["stderr"] == pytest.approx(stderr, rel=1e-9)
    assert pair["p"] == pytest.approx(2 * norm.sf(abs(difference) / null), rel=1e-6)
    assert pair["interval"]["low"] == pytest.approx(difference - norm.ppf(0.975) * stderr, abs=0.3)
    assert seen == pytest.approx(least + norm.ppf(0.8) * error(seen, seen), rel=1e-9)
    assert document["ranking"][0]["score"] == pytest.approx(difference / 2, rel=1e-9)
    assert all(row["rank_low"] <= row["rank"] <= row["rank_high"] for row in document["ranking"])
    assert document["assumes"] == ["independent_trials"]
    assert document["target"] == "rerun"
    assert replace(QUESTION, target="rerun").key == QUESTION.key


def test_scales_are_joined_where_they_are_one_and_never_meet_where_not(
    project: Project, large: House, subtests: pytest.Subtests
) -> None:
    others = [
        (PERCENT | {"unit": ""}, BARE | {"unit": "points", "lower": 0, "upper": 10}),
        (PERCENT, PERCENT | {"direction": "lower"}),
        (BARE | {"lower": 0, "upper": 1}, BARE | {"unit": "%"}),
    ]
    for place, metrics in enumerate(others):
        for model, value, metric in zip("AB", (0.9, 9.0), metrics, strict=True):
            score(project, model, value, experiment=f"other {place}", metric=metric)
    score(project, "A", 0.92, experiment="fraction", metric=BARE | {"lower": 0, "upper": 1}, trials=300)
    score(project, "B", 61.0, experiment="fraction", metric=BARE | {"lower": 0, "upper": 100}, trials=300)
    for model, value in (("C", 5.0), ("A", 1.0), ("B", 2.0)):
        loss = {"name": "accuracy", "unit": "nats", "direction": None if model == "C" else "lower"}
        score(project, model, value, experiment="undirected", metric=loss)
    experiments = ["fraction", "undirected", *(f"other {place}" for place in range(3))]
    asked = [{"experiment": one, "method": method} for one in experiments for method in METHODS]
    for question, document in zip(asked, all_answered(project, *asked), strict=True):
        with subtests.test(**question):
            if question["experiment"] == "fraction":
                assert names(document) == ["A", "B"]
            elif question["experiment"] == "undirected":
                assert (names(document), codes(document)) == (["A", "B", "C"], ["direction_assumed"])
            else:
                [pair] = document["pairs"]
                assert (pair["status"], pair["n_common"]) == ("not_comparable", 0)
                assert pair["reason"].startswith("scale")
                assert codes(document) == ["scale"]
    [pair] = answered(project, experiment="fraction")["pairs"]
    assert pair["difference"] == pytest.approx(31.0)
    counted = from_sums(large, project, replace(QUESTION, experiment="fraction"))
    assert counted["reason"].startswith("units, directions or bounds differ")


def test_what_is_published_last_decides_nothing(project: Project) -> None:
    """A and B are bounded and have trials, C has neither."""
    cells = {"A": [90.0, 80.0, 70.0, 60.0], "B": [70.0, 60.0, 55.0, 50.0], "C": [80.0, 70.0, 60.0, 50.0]}
    orders = ["".join(order) for order in itertools.permutations("ABC")]
    for order in orders:
        for model in order:
            bounds, trials = ({}, None) if model == "C" else ({"lower": 0, "upper": 100}, 300)
            score(project, model, cells[model], experiment=order, metric=BARE | bounds, axes=LENGTHS, trials=trials)
    found = [content(one) for one in all_answered(project, *({"experiment": order} for order in orders))]
    assert all(one == found[0] for one in found)
    tests = {names: pair["test"] for names, pair in by_names(found[0]).items()}
    assert tests == {"AB": "score", "AC": None, "BC": None}


def test_a_derived_benchmark_is_shown_and_not_counted_and_one_that_looks_derived_is_warned_of(
    project: Project, large: House
) -> None:
    """A leads by one on X, B by one on Y: the average of both says what both say, and adds nothing."""
    for model, x, y in (("A", 61.0, 50.0), ("B", 60.0, 51.0)):
        score(project, model, x, benchmark="X")
        score(project, model, y, benchmark="Y")
    plain = answered(project)
    for model, value in (("A", 70.0), ("B", 40.0)):
        score(project, model, value, benchmark="Average", derived=["X", "Y"])
    document = answered(project)
    assert content(document) | {"derived": []} == content(plain)
    derived = sorted((one["benchmark"], one["model"]) for one in document["derived"])
    assert derived == [("Average", "A"), ("Average", "B")]
    assert records(from_sums(large, project)) == records(plain)
    for model, value in (("A", 61.0), ("B", 60.0)):
        for benchmark in ("X", "Macro avg"):
            score(project, model, value, experiment="named", benchmark=benchmark)
    named = answered(project, experiment="named")
    assert (codes(named), records(named)["A"]) == (["looks_derived"], (2, 0, 0))
    assert codes(from_sums(large, project, replace(QUESTION, experiment="named"))) == ["looks_derived"]


def test_a_large_benchmark_makes_no_ties_in_a_small_one(project: Project, large: House) -> None:
    tokens = {"name": "accuracy", "unit": "tokens", "direction": "higher"}
    for benchmark, a, b in (("small", 0.39, 0.31), ("large", 3.2e12, 3.2e12)):
        score(project, "A", a, benchmark=benchmark, metric=tokens)
        score(project, "B", b, benchmark=benchmark, metric=tokens)
    for document in (answered(project), from_sums(large, project)):
        assert records(document) == {"A": (1, 1, 0), "B": (0, 1, 1)}


def test_new_questions_need_the_number_of_questions(project: Project) -> None:
    for model, value, more in (("A", 70.0, {"questions": 30}), ("B", 60.0, {"questions": 30}), ("C", 50.0, {})):
        score(project, model, value, trials=480, **more)
    document = answered(project, target="new_questions")
    pairs = by_names(document)
    shares = [(0.7 * 30 + 0.5) / 31, (0.6 * 30 + 0.5) / 31]
    stderr = 100 * math.sqrt(sum(p * (1 - p) / 30 for p in shares))
    assert pairs["AB"]["stderr"] == pytest.approx(stderr, rel=1e-9)
    assert pairs["AB"]["p"] == pytest.approx(2 * norm.sf(10 / stderr), rel=1e-9)
    assert (pairs["AC"]["status"], pairs["AC"]["p"]) == ("insufficient", None)
    assert (document["target"], document["assumes"]) == ("new_questions", ["p(1-p)/questions"])


def test_a_design_effect_multiplies_the_variance_and_is_no_assumption(project: Project) -> None:
    for model, value in (("A", 70.0), ("B", 60.0)):
        score(project, model, value, trials=300, design_effect=2.0)
    document = answered(project)
    [pair] = document["pairs"]
    assert pair["stderr"] == pytest.approx(math.sqrt(2 * (70 * 30 + 60 * 40) / 300), rel=1e-9)
    assert document["assumes"] == []


def test_a_ranking_by_trials_says_whose_values_contradict_them(project: Project) -> None:
    """Of 30 trials 13 are 43.3 %, and 43.7 % is no count; of a share with a posted error trials say nothing."""
    for model, value in {"A": 43.3, "B": 43.7, "C": 56.7, "D": 20.1, "E": 20.2, "F": 20.4}.items():
        score(project, model, value, trials=30)
    score(project, "G", 43.7, trials=30, stderr=2.5)
    [warning] = answered(project)["warnings"]
    told = "in 4 of 7 grids values contradict the given trials, of B, D, E and 1 more"
    assert (warning["code"], told in warning["detail"]) == ("off_lattice", True)
    assert codes(answered(project, target="new_benchmarks")) == []
    assert codes(answered(project, method="borda")) == []
