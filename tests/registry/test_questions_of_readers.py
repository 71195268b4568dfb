"""Questions of readers about documents of the demonstration: each is one command by names, without an id, and has the
answer that their numbers give.

A command is one run of `curl`. What is expected is computed from the published values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any
from urllib.parse import urlencode

import pytest
from scipy.stats import norm
from werkzeug.test import TestResponse

from registry.demo import demo_grids
from tests.house import House, Project, publication

CORE = {"benchmark": "Core Generalization"}
GRIDS = {(sent["benchmark"], sent["model"]): sent for sent in demo_grids()}
TRIALS = 300
"""Behind each cell of the first two documents."""


@dataclass(frozen=True)
class _Worker:
    """In place of the notifier: does the work that it would announce, and `Prefer: wait=10` finds it done."""

    house: House

    def notify(self) -> None:
        self.house.compute()


@pytest.fixture(scope="module", autouse=True)
def _computed_at_once(house: House) -> Iterator[None]:
    usual = house.app.extensions["registry"]
    house.app.extensions["registry"] = replace(usual, notifier=_Worker(house))
    yield
    house.app.extensions["registry"] = usual


def send(project: Project, path: str, method: str = "GET", json: Any = None, **query: Any) -> TestResponse:
    """One command; parameters with a dot in their names go as `**{"at.Length": "8"}`."""
    role, wait = "reader" if method == "GET" else "writer", {"Prefer": "wait=10"}
    address = f"projects/{project.slug}{path}?{urlencode(query, doseq=True)}"
    answer = project.call(method, address, role, json=json, headers=wait)
    assert answer.status_code in (200, 201), answer.text
    return answer


def ask(project: Project, path: str, **query: Any) -> Any:
    return send(project, path, **query).get_json()


@pytest.fixture(scope="module")
def demo(house: House) -> Project:
    project = house.make_project()
    sent = [one for one in demo_grids() if one["experiment"] == "type-by-length"]
    assert send(project, "/grids/batch", "POST", sent).get_json()["failed"] == 0
    return project


def rows(benchmark: str, model: str) -> dict[str, dict[float, float]]:
    """The measured cells of a grid of two axes: values by the second level, by the first."""
    sent = GRIDS[benchmark, model]
    first, second = (axis["levels"] for axis in sent["axes"])
    return {
        str(name): {at: value for at, value in zip(second, row, strict=True) if value is not None}
        for name, row in zip(first, sent["values"], strict=True)
    }


QWEN_3B, QWEN_7B = rows("Core Generalization", "Qwen-2.5 3B"), rows("Short-to-Long", "Qwen-2.5 7B")


def level_means(told: Any, axis: str) -> dict[Any, float]:
    return {one["level"]: one["raw_mean"] for one in told["sensitivity"]["axes"][axis]["levels"]}


def test_the_best_cells_the_means_and_the_holes_of_a_grid(demo: Project) -> None:
    told = ask(demo, "/grid/statistics", part="peaks", **CORE, fields="peaks.by.Type")["peaks"]["by"]["Type"]
    found = {one["level"]: (one["value"], [at["Length"] for at in one["at"]]) for one in told}
    best = {name: max(row.values()) for name, row in QWEN_3B.items()}
    assert found == {
        name: (best[name], [at for at, value in row.items() if value == best[name]]) for name, row in QWEN_3B.items()
    }
    means = ask(demo, "/grid/statistics", part="sensitivity", **CORE)
    by_type = {name: fmean(row.values()) for name, row in QWEN_3B.items()}
    assert level_means(means, "Type") == pytest.approx(by_type)
    columns = {at: [row[at] for row in QWEN_3B.values() if at in row] for at in range(20)}
    assert level_means(means, "Length") == pytest.approx({at: fmean(values) for at, values in columns.items()})
    measured = ask(demo, "/grid/statistics", part="coverage", **CORE)["coverage"]
    assert (measured["cells"], measured["possible"]) == (sum(map(len, QWEN_3B.values())), 7 * 20)
    complete = [at for at in range(20) if all(at in row for row in QWEN_3B.values())]
    assert measured["by"]["Length"]["complete"] == complete


def test_what_is_left_of_the_first_value_at_the_end_and_at_a_length(demo: Project) -> None:
    fields = {"along": "Length", "fields": "series.at,series.retained,series.to"}
    for one in ask(demo, "/grid/statistics", part="trends", **CORE, **fields)["series"]:
        values = list(QWEN_3B[one["at"]["Type"]].values())
        left = one["retained"]
        assert left["value"] == pytest.approx(values[-1] / values[0])
        # Katz's interval on the logarithmic scale is close for many trials: the ends agree within 0.02.
        shares = [(value * 3 + 0.5) / (TRIALS + 1) for value in (values[0], values[-1])]
        error = math.sqrt(sum((1 - share) / share / TRIALS for share in shares))
        near = [left["value"] * math.exp(sign * norm.ppf(0.975) * error) for sign in (-1, 1)]
        assert [left["interval"]["low"], left["interval"]["high"]] == pytest.approx(near, abs=0.02)
    told = ask(demo, "/grid/statistics", part="trends", **CORE, **fields, **{"at.Length": "<=9"})["series"]
    found = {one["at"]["Type"]: one["retained"]["value"] for one in told if one["to"] == 9}
    kept = {name: [value for at, value in row.items() if at <= 9] for name, row in QWEN_3B.items() if 9 in row}
    assert found == pytest.approx({name: values[-1] / values[0] for name, values in kept.items()})


def test_which_series_of_one_and_of_all_documents_lose_more_than_10_points(demo: Project) -> None:
    def losing(table: dict[str, dict[float, float]]) -> list[str]:
        ends = {name: list(row.values()) for name, row in table.items()}
        return [name for name, values in ends.items() if values[0] - values[-1] > 10]

    told = ask(demo, "/grid/statistics", part="trends", **CORE, lost="10")
    assert [one["at"]["Type"] for one in told["series"]] == losing(QWEN_3B) == ["1", "3", "7"]
    assert told["lost"] == {"more_than": 10.0, "of": 7}
    assert all(one["fitted_change"]["interval"] for one in told["series"])
    everywhere = ask(demo, "/statistics", part="trends", lost="10")["items"]
    found = {(one["model"], one["Type"]) for one in everywhere if one["experiment"] == "type-by-length"}
    both = {"Qwen-2.5 3B": QWEN_3B, "Qwen-2.5 7B": QWEN_7B}
    assert found == {(model, name) for model, table in both.items() for name in losing(table)}
    assert all(one["first"] - one["last"] > 10 for one in everywhere if one["state"] == "ready" and one["along"])


def test_from_short_lengths_to_long_ones_in_one_grid(demo: Project) -> None:
    told = ask(demo, "/grid/statistics", part="trends", **CORE, along="Length", split="9")
    found = {one["at"]["Type"]: one["split"] for one in told["series"] if "split" in one}
    parts = {
        name: ([value for at, value in row.items() if at <= 9], [value for at, value in row.items() if at > 9])
        for name, row in QWEN_3B.items()
    }
    both = {name: fmean(long) - fmean(short) for name, (short, long) in parts.items() if short and long}
    assert {name: one["difference"] for name, one in found.items()} == pytest.approx(both)
    whole = told["grid_split"]["Length"]
    assert (whole["count"], whole["difference"]) == (6, pytest.approx(fmean(both.values())))
    assert whole["interval"]["low"] < whole["difference"] < whole["interval"]["high"] < 0


def test_the_gap_between_two_documents_by_type_and_along_length(demo: Project) -> None:
    names = {"baseline_model": "Qwen-2.5 3B", "contender_model": "Qwen-2.5 7B"}
    names |= {"baseline_benchmark": "Core Generalization", "contender_benchmark": "Short-to-Long"}
    told = ask(demo, "/comparisons", experiment="type-by-length", metric="accuracy", **names)
    gaps = {
        name: [value - QWEN_3B[name][at] for at, value in row.items() if at in QWEN_3B[name]]
        for name, row in QWEN_7B.items()
    }
    every = [gap for row in gaps.values() for gap in row]
    assert (told["status"], told["n_common"], told["differs"]) == ("confounded", 35, ["model", "benchmark"])
    assert told["mean"] == pytest.approx(fmean(every))
    found = {one["level"]: one["mean"] for one in told["by"]["Type"]["levels"]}
    assert found == pytest.approx({name: fmean(row) for name, row in gaps.items()})


def test_statistics_are_waited_for_and_the_levels_of_an_axis_ranked_by_what_was_published_last(
    project: Project,
) -> None:
    values = [[70.0, 66.0, 61.5], [73.0, 69.0, 64.0]]
    told = send(project, "/grids", "POST", publication(values=values, trials=200)).get_json()
    assert (told["revision"], told["cell_count"], told["derivation"]["state"]) == (1, 6, "ready")
    cells = {"cells": [{"at": {"Type": "2", "Length": 2}, "value": 60.5}]}
    names = {"experiment": "type-by-length", "model": "Qwen-2.5 3B"}
    amended = send(project, "/grid/cells", "PATCH", cells, **names).get_json()
    told = ask(project, "/grid/statistics", **names)
    assert (told["revision"], told["digest"], told["state"]) == (2, amended["digest"], "ready")
    means = [series["summary"]["mean"] for series in told["series"] if series["along"] == "Length"]
    assert means == pytest.approx([fmean([70, 66, 61.5]), fmean([73, 69, 60.5])])
    told = ask(project, "/rankings", experiment="type-by-length", metric="accuracy", by="axis:Type")
    assert [one["name"] for one in told["ranking"]] == ["2", "1"]
    [pair] = told["pairs"]
    assert (pair["a"], pair["b"], pair["wins"], pair["losses"]) == ("1", "2", 1, 2)
    assert pair["difference"] == pytest.approx(-fmean([3.0, 3.0, -1.0]), abs=1e-9)
