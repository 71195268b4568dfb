"""What rankings say of benchmarks: of each by itself, of what is left without it, and of which are the hardest."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from registry.query import RankingQuery
from registry.renderings.ranking import page
from registry.renderings.sheet import markdown, text
from registry.renderings.verdicts.ranking import ranking_verdict
from registry.results.codec import from_document
from registry.results.ranking import Ranking
from tests.house import Project
from tests.workers.asking import faults_of, join
from tests.workers.test_comparisons_of_models import answered as compared
from tests.workers.test_rankings import all_answered, answered, ask, score
from workers.queries import document_of
from workers.rankings.direct import board_ranking, read_board
from workers.statistics import ScoreMatrix, rank

Scores = dict[str, dict[str, Any]]


def publish(project: Project, scores: Scores, **changes: Any) -> Project:
    """Values by model and benchmark; several are those of the levels of an axis."""
    for model, each in scores.items():
        for benchmark, values in each.items():
            levels = list(range(1, len(values) + 1)) if isinstance(values, list) else []
            axes = [{"name": "Length", "kind": "numeric", "levels": levels}] if levels else []
            score(project, model, values, benchmark=benchmark, axes=axes, **changes)
    return project


# --- each benchmark by itself ---------------------------------------------------------------------------------------

PARTS: Scores = {
    "A": {"X": [50.0, 60.0, None], "Y": [90.0, 85.0, 80.0]},
    "B": {"X": [55.0, None, 40.0], "Y": [70.0, 75.0, 72.0]},
    "C": {"X": [45.0, 65.0, None]},
}


def test_a_score_is_the_mean_of_the_cells_that_all_have_who_are_not_set_aside(project: Project) -> None:
    """Of X, B lacks one of the two usual cells and alone has a third. Without noise there is no interval."""
    publish(project, PARTS, trials=200)
    publish(project, PARTS, experiment="silent")
    document, silent, *without = all_answered(
        project, {}, {"experiment": "silent"}, {"pairs_of": "A"}, {"by": "benchmark"}
    )
    found = {part["benchmark"]: {one["name"]: one for one in part["names"]} for part in document["by_benchmark"]}
    means = {name: (one["score"], one["cells"]) for name, one in found["X"].items()}
    assert means == {"A": (55.0, 2), "C": (55.0, 2)}
    assert list(found["Y"]) == ["A", "B"]
    assert found["Y"]["A"]["interval"]["low"] < found["Y"]["A"]["score"] == 85.0 < found["Y"]["A"]["interval"]["high"]
    assert {one["interval"] for part in silent["by_benchmark"] for one in part["names"]} == {None}
    assert [one["by_benchmark"] for one in without] == [[], []], "pairs of one name, and benchmarks, have none"


def wilson(p: float, middle: float, variance: float, level: float) -> tuple[float, float]:
    """Wilson's (1927) interval of a share, with the trials that have this variance at the share `middle`."""
    z, n = stats.norm.isf((1 - level) / 2), middle * (1 - middle) / variance
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low, high = ((p + z**2 / (2 * n) + side * half) / (1 + z**2 / n) for side in (-1, 1))
    return low, high


def test_text_and_markdown_have_a_table(project: Project) -> None:
    document = answered(publish(project, PARTS, trials=200))
    where, query = f"projects/{project.slug}/rankings", {"experiment": "leaderboard", "metric": "accuracy"}
    text = project.get(f"{where}.txt", query_string=query).text
    names = " ".join(row["name"] for row in document["ranking"])
    assert f"benchmark {names}" in " ".join(text.split("By benchmark\n")[1].split())
    assert "## By benchmark" in project.get(f"{where}.md", query_string=query).text


def test_more_than_a_thousand_scores_are_left_out_and_said() -> None:
    values = np.random.default_rng(1).normal(size=(26, 39)).round(2)
    names, benchmarks = (tuple(f"{kind}{i:02}" for i in range(count)) for kind, count in (("m", 26), ("b", 39)))
    found, few = (
        rank(ScoreMatrix(names[:count], values[:count], np.arange(39), benchmarks, direction="higher"), "win_rate")
        for count in (26, 25)
    )
    assert (found.by_benchmark, [one.part for one in found.left_out]) == ((), ["by_benchmark"])
    assert sum(len(part.names) for part in few.by_benchmark) == 975


def test_scores_stay_in_the_unit_of_the_metric_and_within_its_bounds() -> None:
    values = np.array([[99.5, 10.0], [98.0, 20.0]])
    board = ScoreMatrix(("a", "b"), values, np.array([0, 1]), ("X", "Y"), np.full((2, 2), 200), "higher", 0.0, 100.0)
    for method in ("mean_difference", "win_rate"):
        first, second = rank(board, method).by_benchmark
        assert [one.score for one in (*first.names, *second.names)] == [99.5, 98.0, 10.0, 20.0]
        assert first.names[0].interval is not None
        # One of 200 trials failed, so that not all can succeed.
        low, high = stats.binomtest(199, 200).proportion_ci(method="wilson")
        assert (first.names[0].interval.low, first.names[0].interval.high) == pytest.approx((100 * low, 100 * high))


def test_the_mean_of_a_name_is_over_its_compared_cells_with_each_benchmark_alike() -> None:
    # Benchmark X has three slots, Y one; b lacks the second slot of X, which c has.
    values = np.array([[90.0, 80.0, 70.0, 60.0], [85.0, np.nan, 75.0, 50.0], [10.0, 20.0, np.nan, np.nan]])
    trials = np.where(np.isfinite(values), 400, 0)
    board = ScoreMatrix(("a", "b", "c"), values, np.array([0, 0, 0, 1]), ("X", "Y"), trials, "higher", 0.0, 100.0)
    assert [row.mean for row in rank(board, set_aside=("c",)).ranking] == [70.0, 65.0, None]
    rows = {row.name: row for row in rank(board, missing="available", alpha=0.1).ranking}
    weights = {
        "a": [1 / 6, 1 / 6, 1 / 6, 1 / 2],
        "b": [1 / 4, np.nan, 1 / 4, 1 / 2],
        "c": [1 / 2, 1 / 2, np.nan, np.nan],
    }
    for i, (name, weight) in enumerate(weights.items()):
        own = np.isfinite(values[i])
        share = (values[i][own] / 100 * 400 + 1) / 402
        part = np.array(weight)[own]
        mean, variance = np.sum(part * values[i][own]), np.sum(part**2 * share * (1 - share) / 400)
        low, high = wilson(mean / 100, np.sum(part * share), variance, 0.9)
        assert rows[name].mean == pytest.approx(mean, rel=1e-12)
        found = rows[name].mean_interval
        assert found is not None
        assert (found.level, found.low, found.high) == pytest.approx((0.9, 100 * low, 100 * high), rel=1e-9)
    assert {row.mean for row in rank(replace(board, mixed=True), "win_rate").ranking} == {None}


# --- what is left without one of them -------------------------------------------------------------------------------

LEADS: Scores = {
    "A": {"X": [60.0, 61.0, 62.0, 59.0], "Y": [80.0, 81.0, 80.5, 82.0], "Z": [93.0, 92.0, 94.0, 95.0]},
    "B": {"X": [60.5, 60.0, 61.0, 60.0], "Y": [79.0, 81.5, 81.0, 81.0], "Z": [62.0, 61.0, 60.0, 63.0]},
    "C": {"X": [20.0, 21.0, 19.0, 22.0], "Y": [30.0, 31.0, 29.0, 30.0], "Z": [10.0, 12.0, 11.0, 10.0]},
}
"""A leads B by far on Z and by nothing elsewhere; C is behind everywhere."""


def test_each_benchmark_left_out_is_the_ranking_of_the_others(project: Project, subtests: pytest.Subtests) -> None:
    publish(project, LEADS, trials=200)
    for more in ({}, {"model": ["A", "B"]}, {"method": "win_rate"}, {"at.Length": ">=3"}):
        rests = [more | {"benchmark": [name for name in "XYZ" if name != left]} for left in "XYZ"]
        whole, *rest = all_answered(project, more, *rests)
        found = whole["stability"]["without"]
        assert [one["benchmark"] for one in found] == ["X", "Y", "Z"]
        for one, other in zip(found, rest, strict=True):
            with subtests.test(**more, without=one["benchmark"]):
                [pair] = [pair for pair in other["pairs"] if {pair["a"], pair["b"]} == {"A", "B"}]
                told = ("difference", "interval", "p_holm")
                assert (pair["a"], *(one[name] for name in told)) == ("A", *(pair[name] for name in told))
                of_first = [p for p in other["pairs"] if "A" in (p["a"], p["b"])]
                assert one["shown"] == len([p for p in of_first if p["p_holm"] < 0.05 and p["lead"] > 0])


def test_the_second_name_first_and_a_comparison_of_models_turn_the_difference(project: Project) -> None:
    publish(project, LEADS, trials=200)
    first = answered(project, model=["A", "B"])["stability"]["without"]
    assert compared(project, "B", "A")["whole"]["without"] == first
    other = compared(project, "A", "B")["whole"]["without"]
    assert [one["difference"] for one in other] == [-one["difference"] for one in first]
    publish(project, {"A": LEADS["B"], "B": LEADS["A"]}, trials=200)
    turned = answered(project, model=["A", "B"])
    assert [row["name"] for row in turned["ranking"]] == ["B", "A"]
    assert turned["stability"]["without"] == first


def test_nothing_is_left_out_of_one_benchmark_and_none_is_first_of_two_that_are_equal(project: Project) -> None:
    publish(project, {"A": {"X": [1.0, 2.0, 3.0]}, "B": {"X": [2.0, 3.0, 4.0]}}, experiment="one", trials=200)
    equal = {"X": [1.0, 2.0, 3.0], "Y": [1.0, 2.0, 3.0]}
    publish(project, {"A": equal, "B": equal}, experiment="equal", trials=200)
    for found in all_answered(project, {"experiment": "one"}, {"experiment": "equal"}):
        assert found["stability"]["without"] == []


def test_without_the_only_benchmark_that_both_have_it_cannot_be_told(project: Project) -> None:
    values = [60.0, 61.0, 62.0]
    scores: Scores = {"A": {"X": [90.0, 91.0, 92.0], "Y": values}, "B": {"X": values, "Z": values}}
    found = answered(publish(project, scores, trials=200))
    sizes = {one["benchmark"]: one["difference"] for one in found["stability"]["without"]}
    assert sizes == {"X": None, "Y": pytest.approx(30), "Z": pytest.approx(30)}
    assert "; without X it cannot be told; this" in ranking_verdict(from_document(Ranking, found)).sentence


# --- which of them are the hardest ----------------------------------------------------------------------------------

HARD: Scores = {
    "M1": {"easy": 90.0, "middle": 70.0, "hard": 20.0},
    "M2": {"easy": 85.0, "middle": 80.0, "hard": 35.0},
    "M3": {"easy": 95.0, "middle": 60.0, "hard": 30.0},
    "M4": {"easy": 80.0, "middle": 75.0, "hard": 10.0},
}


def test_the_hardest_benchmark_is_last_and_differences_are_means_over_models(project: Project) -> None:
    document = answered(publish(project, HARD, trials=200), by="benchmark")
    assert (document["status"], document["by"]) == ("ok", "benchmark")
    order = [("easy", 1), ("middle", 2), ("hard", 3)]
    assert [(row["name"], row["rank"]) for row in document["ranking"]] == order
    assert document["benchmarks"] == ["easy", "hard", "middle"]
    question = RankingQuery("leaderboard", "accuracy", by="benchmark")
    with project.house.database.snapshot() as connection:
        found = board_ranking(read_board(connection, project.id, question), question)
    assert found is not None
    board = document_of(found)
    assert [(row["name"], row["rank"]) for row in board["ranking"]] == order
    assert board["benchmarks"] == document["benchmarks"]
    of_board = {(pair["a"], pair["b"]): pair["difference"] for pair in board["pairs"]}
    values = {name: np.array([each[name] for each in HARD.values()]) for name, _ in order}
    for pair in document["pairs"]:
        a, b = values[pair["a"]] / 100, values[pair["b"]] / 100
        assert pair["difference"] == pytest.approx(100 * (a - b).mean(), rel=1e-12)
        assert of_board[pair["a"], pair["b"]] == pytest.approx(pair["difference"], abs=1e-9)
        # One table of 200 trials a model: the variance of each is p(1 - p) / n of both, summed.
        variances = (a * (1 - a) + b * (1 - b)) / 200
        assert pair["stderr"] == pytest.approx(100 * np.sqrt(variances.sum()) / 4, rel=1e-9)
        assert (pair["n_common"], pair["benchmarks"]) == (4, 4)
    told = from_document(Ranking, document)
    for written in (text(page(told)), markdown(page(told))):
        said = ("Ranking of benchmarks", "one model less", "the hardest is last", "mean over models")
        assert [words for words in said if words not in written] == []
        assert "one benchmark less" not in written


def test_only_models_that_both_have_count(project: Project) -> None:
    """C, which only the easy one has, is not compared."""
    scores = {"A": {"easy": 80.0, "hard": 60.0}, "B": {"easy": 70.0, "hard": 30.0}, "C": {"easy": 5.0}}
    document = answered(publish(project, scores), by="benchmark")
    [pair] = document["pairs"]
    assert (pair["a"], pair["b"], pair["n_common"], pair["difference"]) == ("easy", "hard", 2, 30.0)
    assert document["slots"] == {"total": 3, "compared": 2}
    assert {row["name"]: row["cells"] for row in document["ranking"]} == {"easy": 3, "hard": 2}


def test_the_ranked_benchmarks_are_no_sample_and_are_found_by_their_aliases(project: Project) -> None:
    publish(project, HARD)
    for target in ("new_questions", "new_benchmarks"):
        faults = faults_of(ask(project, by="benchmark", target=target))
        assert faults == {"/target": "must be rerun where benchmarks are ranked: they are no sample of others"}
    join(project, "benchmark", "difficult", "hard")
    found = answered(project, by="benchmark", pairs_of="difficult")
    assert sorted(sorted((pair["a"], pair["b"])) for pair in found["pairs"]) == [["easy", "hard"], ["hard", "middle"]]
    assert ask(project, by="benchmark", pairs_of="nope").status_code == 422
