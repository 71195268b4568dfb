"""The scores of a ranking on each benchmark, over the slots that were compared."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.house import Project
from tests.workers.test_rankings import answered, ask, score
from workers.statistics import ScoreMatrix, rank

AXES = [{"name": "Length", "kind": "numeric", "levels": [1, 2, 3]}]
VALUES = {
    "A": {"X": [50.0, 60.0, None], "Y": [90.0, 85.0, 80.0]},
    "B": {"X": [55.0, None, 40.0], "Y": [70.0, 75.0, 72.0]},
    "C": {"X": [45.0, 65.0, None]},
}


def published(project: Project, **changes: Any) -> None:
    for model, each in VALUES.items():
        for benchmark, values in each.items():
            score(project, model, values, benchmark=benchmark, axes=AXES, **changes)  # type: ignore[arg-type]


def test_a_score_is_the_mean_of_the_cells_that_another_name_has_too(project: Project) -> None:
    """B alone has the third cell of X, which no other name meets."""
    published(project, trials=200)
    document = answered(project)
    found = {part["benchmark"]: {one["name"]: one for one in part["names"]} for part in document["by_benchmark"]}
    assert {name: (one["score"], one["cells"]) for name, one in found["X"].items()} == {
        "A": (55.0, 2),
        "B": (55.0, 1),
        "C": (55.0, 2),
    }
    assert list(found["Y"]) == ["A", "B"]
    values = np.array(VALUES["A"]["Y"], dtype=float) / 100
    share = (values * 200 + 0.5) / 201  # half a success and half a failure more (Agresti and Coull 1998)
    reach = 100 * stats.norm.ppf(0.975) * np.sqrt((share * (1 - share) / 200).sum()) / 3
    assert found["Y"]["A"]["score"] == pytest.approx(85.0)
    assert found["Y"]["A"]["interval"]["low"] == pytest.approx(85.0 - reach, rel=1e-9)
    assert found["Y"]["A"]["interval"]["high"] == pytest.approx(85.0 + reach, rel=1e-9)


def test_without_noise_there_is_no_interval(project: Project) -> None:
    published(project)
    document = answered(project)
    assert {one["interval"] for part in document["by_benchmark"] for one in part["names"]} == {None}


def test_text_and_markdown_have_a_table_and_csv_has_rows(project: Project) -> None:
    published(project, trials=200)
    document = answered(project)
    where, query = f"projects/{project.slug}/rankings", {"experiment": "leaderboard", "metric": "accuracy"}
    text = project.get(f"{where}.txt", query_string=query).text
    names = " ".join(row["name"] for row in document["ranking"])
    assert f"benchmark {names}" in " ".join(text.split("By benchmark\n")[1].split())
    assert "## By benchmark" in project.get(f"{where}.md", query_string=query).text
    answer = project.get(f"{where}.csv", query_string=query | {"part": "by_benchmark"})
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    want = [
        (part["benchmark"], one["name"], one["score"]) for part in document["by_benchmark"] for one in part["names"]
    ]
    assert [(row["benchmark"], row["name"], float(row["score"])) for row in rows] == want
    order = project.get(f"{where}.csv", query_string=query)
    assert answer.headers["ETag"] != order.headers["ETag"]
    tag = {"If-None-Match": answer.headers["ETag"]}
    assert project.get(f"{where}.csv", query_string=query | {"part": "by_benchmark"}, headers=tag).status_code == 304
    refused = ask(project, part="by_benchmark")
    assert (refused.status_code, refused.get_json()["errors"][0]["pointer"]) == (422, "/part")


def test_a_ranking_of_pairs_of_one_name_or_of_benchmarks_has_none(project: Project) -> None:
    published(project)
    assert answered(project, pairs_of="A")["by_benchmark"] == []
    assert answered(project, by="benchmark")["by_benchmark"] == []


def test_more_than_a_thousand_scores_are_left_out_and_said() -> None:
    values = np.random.default_rng(1).normal(size=(26, 39)).round(2)
    names = tuple(f"m{i:02}" for i in range(26))
    board = ScoreMatrix(names, values, np.arange(39), tuple(f"b{i:02}" for i in range(39)), direction="higher")
    found = rank(board, "win_rate")
    assert found.by_benchmark == ()
    assert [one.part for one in found.left_out] == ["by_benchmark"]
    few = ScoreMatrix(names[:25], values[:25], np.arange(39), board.benchmark_names, direction="higher")
    assert sum(len(part.names) for part in rank(few, "win_rate").by_benchmark) == 975


def test_scores_stay_in_the_unit_of_the_metric_and_within_its_bounds() -> None:
    values = np.array([[99.5, 10.0], [98.0, 20.0]])
    board = ScoreMatrix(("a", "b"), values, np.array([0, 1]), ("X", "Y"), np.full((2, 2), 200), "higher", 0.0, 100.0)
    for method in ("mean_difference", "standardised_difference"):
        first, second = rank(board, method).by_benchmark
        assert [one.score for one in (*first.names, *second.names)] == [99.5, 98.0, 10.0, 20.0]
        assert first.names[0].interval is not None
        assert first.names[0].interval.high == 100.0
