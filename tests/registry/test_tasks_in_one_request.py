"""First questions of a laboratory: each is one request, sent by somebody who knows names and no ids.

Requests are counted by `tests.registry.asking`: one command is one request, or a request by names and the redirect
that `curl -L` follows. What is expected is computed here, from the numbers that were published.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from statistics import fmean
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from scipy.stats import theilslopes

from tests.house import ACCURACY, House, Project, publication
from tests.registry.asking import commands, computed_at_once

LENGTHS = [1, 2, 4, 8, 16, 32]
METHODS = ["greedy", "beam"]
VALUES = {
    ("easy", "A"): [[98.0, 97.5, 96.0, 94.5, 91.0, 85.5], [99.0, 98.0, 97.0, 95.0, 93.5, 88.0]],
    ("easy", "B"): [[96.0, 95.0, 93.0, 90.5, 86.0, 80.0], [97.5, 96.5, 94.0, 92.0, 87.0, 83.5]],
    ("easy", "C"): [[90.0, 89.5, 89.0, 89.0, 88.0, 87.5], [92.0, 91.0, 90.5, 89.5, 89.0, 89.0]],
    ("hard", "A"): [[70.0, 66.0, 61.5, 55.0, 46.0, 34.0], [73.0, 69.0, 64.0, 58.0, 50.0, 39.0]],
    ("hard", "B"): [[72.0, 69.5, 66.0, 61.0, 54.0, 45.0], [74.0, 71.0, 68.0, 63.5, 57.0, 48.5]],
    ("hard", "C"): [[50.0, 49.0, 48.5, 48.0, 47.0, 46.5], [53.0, 52.5, 51.0, 50.5, 50.0, 49.0]],
}
"""Accuracy of each model on each benchmark, by method and length, of 200 trials each: whole successes."""
OF_ALL = {"experiment": "lengths", "metric": "accuracy"}
GRID = {"experiment": "lengths", "benchmark": "hard", "model": "A"}


def sent(benchmark: str, model: str, **changes: Any) -> dict[str, Any]:
    """One grid of the laboratory as it is posted."""
    axes = [
        {"name": "Method", "kind": "nominal", "levels": METHODS},
        {"name": "Length", "kind": "numeric", "levels": LENGTHS},
    ]
    names = {"experiment": "lengths", "benchmark": benchmark, "model": model, "variant": ""}
    return publication(**names, axes=axes, metric=ACCURACY, values=VALUES[benchmark, model], trials=200) | changes


def publish_all(project: Project) -> Project:
    for benchmark, model in VALUES:
        assert project.publish(sent(benchmark, model)).status_code == 201
    return project


@pytest.fixture(scope="module", autouse=True)
def _workers(house: House) -> Iterator[None]:
    with computed_at_once(house):
        yield


@pytest.fixture(scope="module")
def lab(house: House) -> Project:
    """A project with three models on two benchmarks, which the tests only read."""
    return publish_all(house.make_project())


@pytest.fixture
def own(project: Project) -> Project:
    """The same for one test that writes."""
    return publish_all(project)


def flat(benchmark: str, model: str, length: int | None = None) -> list[float]:
    """The values of a grid, or those at one length."""
    return [
        value
        for row in VALUES[benchmark, model]
        for at, value in zip(LENGTHS, row, strict=True)
        if length in (None, at)
    ]


def scores(benchmarks: list[str], length: int | None = None) -> dict[str, float]:
    """How far each model is from the mean of all three, within each benchmark, then the mean over benchmarks."""
    means = {(one, model): fmean(flat(one, model, length)) for one in benchmarks for model in "ABC"}
    centres = {one: fmean(means[one, model] for model in "ABC") for one in benchmarks}
    return {model: fmean(means[one, model] - centres[one] for one in benchmarks) for model in "ABC"}


def test_publish_a_grid_and_wait_for_its_statistics(project: Project) -> None:
    with commands(project, 1, "writer") as terminal:
        answer = terminal.ask("/grids", "POST", sent("easy", "A"))
    told = answer.get_json()
    assert (answer.status_code, told["revision"], told["cell_count"]) == (201, 1, 12)
    assert told["derivation"]["state"] == "ready"
    assert answer.headers["Preference-Applied"] == "wait=10"


def test_publish_three_models(project: Project) -> None:
    with commands(project, 1, "writer") as terminal:
        told = terminal.ask("/grids/batch", "POST", [sent("easy", model) for model in "ABC"]).get_json()
    assert [one["status"] for one in told["items"]] == [201] * 3
    found = project.get(f"projects/{project.slug}/models").get_json()["items"]
    assert [one["name"] for one in found] == ["A", "B", "C"]


def test_amend_a_cell(own: Project) -> None:
    body = {"cells": [{"at": {"Method": "beam", "Length": 32}, "value": 40.5}]}
    with commands(own, 1, "writer") as terminal:
        told = terminal.ask("/grid/cells", "PATCH", body, **GRID).get_json()
    assert (told["revision"], told["cell_count"]) == (2, 12)
    cells = own.get(f"grids/{told['id']}/cells").get_json()["items"]
    assert math.isclose(math.fsum(one["value"] for one in cells), math.fsum(flat("hard", "A")) + 1.5)


def test_one_slope(lab: Project) -> None:
    query = GRID | {"at.Method": "greedy", "along": "Length", "fields": "series.slope,series.slope_interval"}
    with commands(lab, 1) as terminal:
        answer = terminal.ask("/grid/trends", **query)
    slope, _, low, high = theilslopes(VALUES["hard", "A"][0], LENGTHS)
    [series] = answer.get_json()["series"]
    assert series["slope"] == pytest.approx(slope, rel=1e-12)
    assert series["slope_interval"]["low"] <= low <= series["slope"] <= high <= series["slope_interval"]["high"]
    assert len(answer.data) < 300


def test_the_peak_cell(lab: Project) -> None:
    with commands(lab, 1) as terminal:
        best = terminal.ask("/grid/peaks", **GRID).get_json()["peaks"]["best"]
    row, column = np.unravel_index(np.argmax(VALUES["hard", "A"]), (len(METHODS), len(LENGTHS)))
    assert (best["value"], best["ties"]) == (max(flat("hard", "A")), 1)
    assert best["at"] == [{"Method": METHODS[row], "Length": LENGTHS[column]}]


def test_rank_over_two_benchmarks(lab: Project) -> None:
    with commands(lab, 1) as terminal:
        told = terminal.ask("/rankings", **OF_ALL, benchmark=["easy", "hard"]).get_json()
    wanted = scores(["easy", "hard"])
    assert told["slots"] == {"total": 24, "compared": 24}
    assert [one["name"] for one in told["ranking"]] == sorted(wanted, key=lambda model: -wanted[model])
    assert {one["name"]: one["score"] for one in told["ranking"]} == pytest.approx(wanted, abs=1e-9)


def test_rank_the_levels_of_an_axis(lab: Project) -> None:
    with commands(lab, 1) as terminal:
        told = terminal.ask("/rankings", **OF_ALL, by="axis:Method").get_json()
    gaps = [fmean(VALUES[one][1]) - fmean(VALUES[one][0]) for one in VALUES]
    assert [one["name"] for one in told["ranking"]] == ["beam", "greedy"]
    [pair] = told["pairs"]
    assert (pair["a"], pair["b"], pair["losses"]) == ("greedy", "beam", 36)
    assert pair["difference"] == pytest.approx(-fmean(gaps), abs=1e-9)


def test_rank_models_at_one_level_of_an_axis(lab: Project) -> None:
    with commands(lab, 1) as terminal:
        told = terminal.ask("/rankings", **OF_ALL, **{"at.Length": "32"}).get_json()
    wanted = scores(["easy", "hard"], 32)
    assert told["slots"] == {"total": 4, "compared": 4}
    assert [one["name"] for one in told["ranking"]] == sorted(wanted, key=lambda model: -wanted[model])
    assert {one["name"]: one["score"] for one in told["ranking"]} == pytest.approx(wanted, abs=1e-9)
    assert told["ranking"][0]["name"] != max(scores(["easy", "hard"]), key=scores(["easy", "hard"]).__getitem__)


def test_compare_two_models_on_every_benchmark_and_over_all(lab: Project) -> None:
    with commands(lab, 1) as terminal:
        told = terminal.ask("/comparisons", **OF_ALL, baseline_model="A", contender_model="B").get_json()
    gaps = {one: fmean(flat(one, "B")) - fmean(flat(one, "A")) for one in ("easy", "hard")}
    found = {one["benchmark"]: one["test"]["difference"] for one in told["by_benchmark"]}
    assert found == pytest.approx(gaps, abs=1e-9)
    assert told["whole"]["difference"] == pytest.approx(fmean(gaps.values()), abs=1e-9)
    variance = sum(p * (100 - p) / 200 for one in gaps for model in "AB" for p in flat(one, model))
    reach = (told["whole"]["interval"]["high"] - told["whole"]["interval"]["low"]) / 2
    assert reach == pytest.approx(1.96 * math.sqrt(variance) / 24, rel=0.01)
    wins = sum(b > a for one in gaps for a, b in zip(flat(one, "A"), flat(one, "B"), strict=True))
    assert (told["whole"]["wins"], told["whole"]["n_common"]) == (wins, 24)


def test_where_a_series_falls_below_90(lab: Project) -> None:
    names = GRID | {"benchmark": "easy", "value": "90", "along": "Length"}
    with commands(lab, 1) as terminal:
        told = terminal.ask("/grid/thresholds", **names).get_json()
    for series, row in zip(told["series"], VALUES["easy", "A"], strict=True):
        [found] = series["thresholds"]
        where = float(np.interp(-90, -np.array(row), LENGTHS))
        assert [one["at"] for one in found["crossings"]] == [pytest.approx(where, rel=1e-9)]
        assert (found["crossings"][0]["direction"], found["first_failing"], found["sustained_until"]) == (
            "falling", 32, 16,
        )  # fmt: skip
        assert found["interval"]["low"] <= where  # and no cell is surely below 90: the crossing may lie beyond


def test_what_changed_since_yesterday(own: Project) -> None:
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
    with commands(own, 1) as terminal:
        told = terminal.ask("/grids", updated_since=yesterday).get_json()
    assert {(one["benchmark"], one["model"]) for one in told["items"]} == set(VALUES)
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    assert own.get(f"projects/{own.slug}/grids", query_string={"updated_since": tomorrow}).get_json()["items"] == []


def test_what_changed_since_then_with_what_was_deleted(own: Project) -> None:
    items = own.get(f"projects/{own.slug}/grids").get_json()["items"]
    since = max(one["updated_at"] for one in items)
    newest = {(one["benchmark"], one["model"]) for one in items if one["updated_at"] == since}
    gone = next(one for one in items if one["model"] == "B" and one["benchmark"] == "easy")
    assert own.call("DELETE", f"grids/{gone['id']}").status_code == 204
    with commands(own, 1) as terminal:
        told = terminal.ask("/grids", updated_since=since, deleted="include").get_json()
    assert {(one["benchmark"], one["model"]) for one in told["items"]} == newest | {("easy", "B")}
    assert [one["benchmark"] for one in told["items"] if one.get("deleted_at")] == ["easy"]


def test_everything_as_one_table(lab: Project) -> None:
    with commands(lab, 1) as terminal:
        text = terminal.ask("/cells.csv").text
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    found = {(row["benchmark"], row["model"], row["Method"], row["Length_num"]): float(row["value"]) for row in rows}
    assert found == {
        (benchmark, model, method, str(float(length))): VALUES[benchmark, model][i][j]
        for benchmark, model in VALUES
        for (i, method), (j, length) in itertools.product(enumerate(METHODS), enumerate(LENGTHS))
    }


def test_a_picture_for_a_wiki(lab: Project) -> None:
    with commands(lab, 1) as terminal:
        answer = terminal.ask("/grid/heatmap.svg", **GRID)
    assert answer.mimetype == "image/svg+xml"
    for value in flat("hard", "A"):
        assert f"{value:.1f}" in answer.text


def test_a_badge(lab: Project) -> None:
    with commands(lab, 1) as terminal:
        answer = terminal.ask("/grid/badge.svg", **GRID)
    assert answer.mimetype == "image/svg+xml"
    assert f"{max(flat('hard', 'A')):g}" in answer.text


NAMES = {
    "experiments": ["lengths"],
    "models": ["A", "B", "C"],
    "benchmarks": ["easy", "hard"],
    "metrics": ["accuracy"],
    "variants": [""],
}


@pytest.mark.parametrize(("kind", "names"), NAMES.items())
def test_which_names_there_are(lab: Project, kind: str, names: list[str]) -> None:
    with commands(lab, 1) as terminal:
        told = terminal.ask(f"/{kind}").get_json()
    assert [one["name"] for one in told["items"]] == names


def test_which_models_an_experiment_has_and_how_much_of_each(lab: Project) -> None:
    with commands(lab, 1) as terminal:
        told = terminal.ask("/aggregates", **OF_ALL, group_by="model", value="count", over="variant").get_json()
    assert {one["at"]["model"]: one["value"] for one in told["entries"]} == dict.fromkeys("ABC", 24)


def test_delete_a_grid_and_take_it_back(own: Project) -> None:
    with commands(own, 1, "writer") as terminal:
        assert terminal.ask("/grid", "DELETE", **GRID).status_code == 204
    assert own.get(f"projects/{own.slug}/grid?model=A&benchmark=hard").status_code == 404
    with commands(own, 1, "writer") as terminal:
        told = terminal.ask("/grid/restore", "POST", **GRID).get_json()
    assert (told["benchmark"], told["model"], told["cell_count"]) == ("hard", "A", 12)
    assert own.get(f"projects/{own.slug}/grid?model=A&benchmark=hard").status_code == 307


def test_a_token_for_a_reader(lab: Project) -> None:
    with commands(lab, 1, "admin") as terminal:
        token = terminal.ask("/tokens", "POST", {"name": "dashboard", "role": "reader"}).get_json()["token"]
    grids = f"projects/{lab.slug}/grids"
    assert len(lab.house.call("GET", grids, token=token).get_json()["items"]) == len(VALUES)
    assert lab.house.call("POST", grids, token=token, json=sent("easy", "A")).status_code == 403


def test_a_link_for_somebody_without_a_token(lab: Project) -> None:
    with commands(lab, 1, "admin") as terminal:
        body = {"path": f"/api/v1/projects/{lab.slug}/cells.csv"}
        url = terminal.ask("/shares", "POST", body).get_json()["url"]
    text = lab.house.call("GET", urlsplit(url)._replace(scheme="", netloc="").geturl()).text
    values = [float(row["value"]) for row in csv.DictReader(io.StringIO(text, newline=""))]
    assert math.fsum(values) == pytest.approx(math.fsum(math.fsum(flat(*key)) for key in VALUES))


def test_statistics_that_are_waited_for(own: Project) -> None:
    names = {"experiment": "lengths", "benchmark": "easy", "model": "C"}
    with commands(own, 1) as terminal:
        told = terminal.ask("/grid/statistics", **names).get_json()
    assert (told["state"], told["coverage"]["cells"]) == ("ready", 12)
    means = [series["summary"]["mean"] for series in told["series"] if series["along"] == "Length"]
    assert means == pytest.approx([fmean(row) for row in VALUES["easy", "C"]])


def test_whether_statistics_are_of_what_was_published_last(own: Project) -> None:
    body = {"cells": [{"at": {"Method": "beam", "Length": 32}, "value": 40.5}]}
    with commands(own, 1, "writer") as terminal:
        amended = terminal.ask("/grid/cells", "PATCH", body, **GRID).get_json()
    with commands(own, 1) as terminal:
        told = terminal.ask("/grid/statistics", **GRID, fields="revision,digest,state").get_json()
    assert told == {"revision": 2, "digest": amended["digest"], "state": "ready"}
