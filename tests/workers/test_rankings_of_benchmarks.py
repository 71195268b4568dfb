"""Rankings of benchmarks: on which of them values are best, over the models that they share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from registry.query import RankingQuery
from registry.renderings.ranking import ranking_markdown, ranking_text
from registry.results.codec import from_document
from registry.results.ranking import Ranking
from tests.house import Project
from tests.workers.test_rankings import answered, ask, score
from workers.queries import document_of
from workers.rankings.board import board_ranking

SCORES = {
    "M1": {"easy": 90.0, "middle": 70.0, "hard": 20.0},
    "M2": {"easy": 85.0, "middle": 80.0, "hard": 35.0},
    "M3": {"easy": 95.0, "middle": 60.0, "hard": 30.0},
    "M4": {"easy": 80.0, "middle": 75.0, "hard": 10.0},
}


@pytest.fixture
def scored(project: Project) -> Project:
    for model, each in SCORES.items():
        for benchmark, value in each.items():
            score(project, model, value, benchmark=benchmark, trials=200)
    return project


def test_the_hardest_benchmark_is_last_and_differences_are_means_over_models(scored: Project) -> None:
    document = answered(scored, by="benchmark")
    assert (document["status"], document["by"]) == ("ok", "benchmark")
    assert [row["name"] for row in document["ranking"]] == ["easy", "middle", "hard"]
    assert document["benchmarks"] == ["easy", "hard", "middle"]
    values = {name: np.array([each[name] for each in SCORES.values()]) for name in ("easy", "middle", "hard")}
    for pair in document["pairs"]:
        a, b = values[pair["a"]] / 100, values[pair["b"]] / 100
        assert pair["difference"] == pytest.approx(100 * (a - b).mean(), rel=1e-12)
        # One table of 200 trials a model: Sato's variance of a single table is p(1 - p) / n of both, summed.
        variances = (a * (1 - a) + b * (1 - b)) / 200
        assert pair["stderr"] == pytest.approx(100 * np.sqrt(variances.sum()) / 4, rel=1e-9)
        assert (pair["n_common"], pair["benchmarks"]) == (4, 4)


def test_only_models_that_both_have_count(project: Project) -> None:
    """C, which only the easy one has, is not compared."""
    for model, easy, hard in (("A", 80.0, 60.0), ("B", 70.0, 30.0)):
        score(project, model, easy, benchmark="easy")
        score(project, model, hard, benchmark="hard")
    score(project, "C", 5.0, benchmark="easy")
    document = answered(project, by="benchmark")
    [pair] = document["pairs"]
    assert (pair["a"], pair["b"], pair["n_common"], pair["difference"]) == ("easy", "hard", 2, 30.0)
    assert document["slots"] == {"total": 3, "compared": 2}
    assert {row["name"]: row["cells"] for row in document["ranking"]} == {"easy": 3, "hard": 2}


def test_a_leaderboard_has_the_same_order_from_matrices(scored: Project) -> None:
    query = RankingQuery("leaderboard", "accuracy", by="benchmark")
    exact = answered(scored, by="benchmark")
    with scored.house.database.snapshot() as connection:
        found = board_ranking(connection, scored.id, query)
    assert found is not None
    board = document_of(found)
    assert [(row["name"], row["rank"]) for row in board["ranking"]] == [("easy", 1), ("middle", 2), ("hard", 3)]
    assert board["benchmarks"] == exact["benchmarks"]
    of_exact = {(pair["a"], pair["b"]): pair["difference"] for pair in exact["pairs"]}
    for pair in board["pairs"]:
        assert pair["difference"] == pytest.approx(of_exact[pair["a"], pair["b"]], abs=1e-9)


@pytest.mark.parametrize("target", ["new_questions", "new_benchmarks"])
def test_the_ranked_benchmarks_are_no_sample(scored: Project, target: str) -> None:
    answer = ask(scored, by="benchmark", target=target)
    assert answer.status_code == 422
    [fault] = answer.get_json()["errors"]
    assert fault == {"pointer": "/target", "detail": "with by=benchmark only target=rerun has a meaning"}


def test_pairs_of_a_benchmark_are_found_by_its_alias(scored: Project) -> None:
    alias = {"kind": "benchmark", "alias": "difficult", "name": "hard"}
    assert scored.call("POST", f"projects/{scored.slug}/aliases", "admin", json=alias).status_code == 201
    found = answered(scored, by="benchmark", pairs_of="difficult")
    assert {frozenset((pair["a"], pair["b"])) for pair in found["pairs"]} == {
        frozenset(("hard", "easy")),
        frozenset(("hard", "middle")),
    }
    assert ask(scored, by="benchmark", pairs_of="nope").status_code == 422


def test_the_texts_say_models_where_rankings_of_models_say_benchmarks(scored: Project) -> None:
    document: dict[str, Any] = answered(scored, by="benchmark")
    found = from_document(Ranking, document)
    for told in (ranking_text(found), ranking_markdown(found)):
        assert "Ranking of benchmarks" in told
        assert "one model less" in told
        assert "the hardest is last" in told
        assert "mean over models" in told
        assert "fewer than 8 models" in told
        assert "one benchmark less" not in told
