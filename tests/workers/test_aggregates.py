"""Tables over HTTP: the questions of the seeds by one request each, and every way in which a table must not lie."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from registry.demo import demo_grids
from tests.house import House, Project
from tests.workers.test_seeds_over_http import ALIASES

RATIOS, WINDOWS = [0.1, 0.2, 0.3, 0.4, 0.5], [500, 1000, 2000, 3000]
METRIC = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}


@pytest.fixture(scope="module")
def seeds(house: House) -> Project:
    project = house.make_project()
    for alias, name in ALIASES:
        body = {"kind": "benchmark", "alias": alias, "name": name}
        assert project.call("POST", f"projects/{project.slug}/aliases", json=body).status_code == 201
    for sent in demo_grids():
        assert project.publish(sent).status_code == 201
    house.compute()
    return project


def frame() -> pd.DataFrame:
    """The cells of seeds 2 and 4, read from what was published without the registry."""
    names = dict(ALIASES)
    rows = []
    for sent in demo_grids():
        if sent["experiment"] != "window-by-ratio":
            continue
        axes = {axis["name"]: axis["levels"] for axis in sent["axes"]}
        place = [list(axes).index(name) for name in ("Ratio", "Local Window Size")]
        values = np.array(sent["values"], dtype=float)
        for at in np.argwhere(np.isfinite(values)):
            ratio, window = (list(axes.values())[i][at[i]] for i in place)
            benchmark = names.get(sent["benchmark"], sent["benchmark"])
            rows.append((sent["model"], benchmark, ratio, window, values[tuple(at)], sent.get("trials")))
    return pd.DataFrame(rows, columns=["model", "benchmark", "Ratio", "Window", "value", "trials"])


def table(project: Project, form: str = "", **query: Any) -> Any:
    asked = {"experiment": "window-by-ratio", "metric": "Pass@1"} | query
    path = f"projects/{project.slug}/aggregates{form}"
    answer = project.get(path, query_string=asked)
    if answer.status_code == 202:
        project.house.compute()
        answer = project.get(path, query_string=asked)
    assert answer.status_code == 200, answer.text
    return answer if form else answer.get_json()


def values_of(found: dict[str, Any]) -> dict[Any, float | None]:
    """Values by the levels of their entries."""
    return {tuple(one["at"].values()): one["value"] for one in found["entries"]}


def close(series: pd.Series[float]) -> Any:
    keys = [key if isinstance(key, tuple) else (key,) for key in series.index]
    return pytest.approx(dict(zip(keys, series, strict=True)), rel=1e-12)


def test_the_best_window_for_each_ratio_averaged_over_benchmarks(seeds: Project) -> None:
    cells = frame().query("model == 'R1-Qwen'")
    whole = table(seeds, model="R1-Qwen", group_by="axis:Ratio,axis:Local Window Size")
    pivot = cells.groupby(["Ratio", "Window"])["value"].mean()
    assert values_of(whole) == close(pivot)
    best = {ratio: max(WINDOWS, key=lambda window: values_of(whole)[ratio, window] or 0) for ratio in RATIOS}
    assert best == {ratio: pivot[ratio].idxmax() for ratio in RATIOS}
    each = table(seeds, model="R1-Qwen", group_by="axis:Ratio", value="best")
    assert values_of(each) == close(cells.groupby(["Ratio", "benchmark"])["value"].max().groupby("Ratio").mean())


@pytest.mark.parametrize(
    ("group_by", "keys"),
    [
        ("axis:Local Window Size", ["Window"]),
        ("axis:Ratio", ["Ratio"]),
        ("axis:Local Window Size,axis:Ratio", ["Window", "Ratio"]),
    ],
)
def test_means_of_cells_windows_and_ratios_over_benchmarks(seeds: Project, group_by: str, keys: list[str]) -> None:
    found = table(seeds, model="R1-Qwen", group_by=group_by)
    by_benchmark = frame().query("model == 'R1-Qwen'").groupby([*keys, "benchmark"])["value"].mean()
    assert values_of(found) == close(by_benchmark.groupby(keys).mean())
    assert {one["over"] for one in found["entries"]} == {4}


def test_how_hard_the_benchmarks_are(seeds: Project) -> None:
    found = table(seeds, group_by="benchmark", over="model")
    cells = frame()
    expected = cells.groupby(["benchmark", "model"])["value"].mean().groupby("benchmark").mean()
    assert values_of(found) == close(expected)
    # Seed 2 has two ratios and seed 4 all five: no slot is lost, for a slot names its model.
    assert found["slots"] == {"total": 28, "shared": 28}


def test_models_by_benchmarks_are_compared_on_the_cells_that_both_papers_have(seeds: Project) -> None:
    found = table(seeds, group_by=["model", "benchmark"])
    common = frame().query("Ratio in (0.1, 0.5)")
    assert values_of(found) == close(common.groupby(["model", "benchmark"])["value"].mean())
    assert (found["slots"], found["over"]) == ({"total": 20, "shared": 8}, [])
    assert found["left_out"] == {"slots": 12, "cells": 48, "empty": 0, "grids": 0}
    dearest = [(one["dimension"], one["level"], one["lost"]) for one in found["costs"]["levels"][:3]]
    assert dearest == [("axis:Ratio", ratio, 4) for ratio in (0.2, 0.3, 0.4)]
    assert {one["at"]["model"] for one in found["costs"]["entries"]} == {"R1-Llama"}
    own = table(seeds, group_by="model,benchmark", missing="available")
    assert values_of(own) == close(frame().groupby(["model", "benchmark"])["value"].mean())
    assert [one["code"] for one in own["warnings"]] == ["not_comparable"]


def test_the_numbers_of_cells_are_counted_where_they_are(seeds: Project) -> None:
    found = table(seeds, group_by="model,axis:Ratio", over="benchmark", value="count")
    assert found["missing"] == "available"
    counts = frame().groupby(["model", "Ratio", "benchmark"]).size().groupby(["model", "Ratio"]).mean()
    wanted = {(model, ratio): counts.get((model, ratio)) for model in ("R1-Llama", "R1-Qwen") for ratio in RATIOS}
    assert values_of(found) == wanted
    assert wanted["R1-Llama", 0.3] is None
    assert found["left_out"]["empty"] == 3


def test_what_is_asked_twice_is_answered_from_the_same_document(seeds: Project) -> None:
    first = table(seeds, group_by="model", over="benchmark")
    answer = seeds.get(
        f"projects/{seeds.slug}/aggregates",
        query_string={"experiment": "window-by-ratio", "metric": "Pass@1", "group_by": "model"},
    )
    assert answer.status_code == 200
    assert answer.get_json() == first
    again = seeds.get(
        answer.request.path, query_string=answer.request.args, headers={"If-None-Match": answer.headers["ETag"]}
    )
    assert again.status_code == 304


def test_every_form_has_the_numbers_of_the_json(seeds: Project) -> None:
    query = {"group_by": "model,axis:Ratio,axis:Local Window Size"}
    found = table(seeds, **query)
    rows = pd.read_csv(io.StringIO(table(seeds, ".csv", **query).text))
    assert len(rows) == len(found["entries"]) == 40
    for row, one in zip(rows.itertuples(), found["entries"], strict=True):
        assert (row.model, row.Ratio) == (one["at"]["model"], one["at"]["axis:Ratio"])
        assert (row.value == one["value"]) if one["value"] is not None else np.isnan(row.value)
        if one["interval"]:
            assert (row.interval_low, row.interval_high) == (one["interval"]["low"], one["interval"]["high"])
    text = table(seeds, ".txt", **query).text
    assert "All 4 slots were measured for every entry; 12 entries have no cell." in text
    assert ["0.3", "·", "·", "·", "·"] in [line.split() for line in text.splitlines()]
    assert "| 0.3 | · | · | · | · |" in table(seeds, ".md", **query).text.replace("  ", " ").replace("  ", " ")
    svg = table(seeds, ".svg", **query)
    assert svg.content_type == "image/svg+xml"
    assert svg.text.count("not measured</title>") == 12
    assert table(seeds, ".png", **query).data.startswith(b"\x89PNG")
    assert "Only " not in svg.text


def test_the_picture_of_a_sliced_table_says_of_what_it_is(seeds: Project) -> None:
    query = {"group_by": "model,benchmark", "at.Local Window Size": ">=2000"}
    svg = table(seeds, ".svg", **query).text
    said = "Local Window Size at least 2000"
    [told] = re.findall("<desc[^>]*>([^<]*)<", svg)
    assert f"Only {said}; nothing else is counted." in told
    assert said in " ".join(re.findall("<text[^>]*>([^<]*)<", svg))
    assert table(seeds, ".png", **query).data != table(seeds, ".png", group_by="model,benchmark").data


def publish(project: Project, model: str, benchmark: str, values: Any, **changes: Any) -> None:
    axes = (
        [{"name": "Length", "kind": "numeric", "levels": list(range(len(values)))}] if isinstance(values, list) else []
    )
    sent = {"experiment": "e", "benchmark": benchmark, "model": model, "metric": METRIC, "axes": axes, "values": values}
    answer = project.publish(sent | changes)
    assert answer.status_code == 201, answer.text


def asked(project: Project, **query: Any) -> Any:
    return table(project, **{"experiment": "e", "metric": "accuracy", "group_by": "model"} | query)


def test_a_model_that_was_never_measured_on_a_benchmark_has_no_number_there(project: Project) -> None:
    publish(project, "a", "x", 50.0)
    publish(project, "a", "y", 70.0)
    publish(project, "b", "x", 60.0)
    found = asked(project, group_by="model,benchmark")
    assert values_of(found) == {("a", "x"): 50.0, ("a", "y"): 70.0, ("b", "x"): 60.0, ("b", "y"): None}
    entry = found["entries"][3]
    assert (entry["n"], entry["cells"], entry["over"], entry["interval"]) == (0, 0, 0, None)
    assert values_of(asked(project)) == {("a",): 50.0, ("b",): 60.0}


def test_models_without_a_common_slot_have_no_mean_and_a_remedy(project: Project) -> None:
    publish(project, "a", "x", 50.0)
    publish(project, "b", "x", 60.0)
    publish(project, "c", "y", 70.0)
    found = asked(project)
    assert (found["status"], found["reason"]) == ("insufficient", "no slot was measured for every entry")
    assert found["remedy"] == {"without": [{"model": "c"}], "count": 1, "shared": 1}
    assert [one["value"] for one in found["entries"]] == [None, None, None]
    query = {"experiment": "e", "metric": "accuracy", "group_by": "model"}
    text = table(project, ".txt", **query).text
    assert "Without c the others share 1 slot." in text


def test_derived_grids_are_named_and_never_averaged(project: Project) -> None:
    publish(project, "a", "x", 50.0)
    publish(project, "a", "y", 70.0)
    publish(project, "a", "Average", 99.0, derived=["x", "y"])
    found = asked(project)
    assert values_of(found) == {("a",): 60.0}
    assert [one["benchmark"] for one in found["derived"]] == ["Average"]
    assert len(found["inputs"]) == 2


def test_an_alias_joins_and_where_both_measured_the_later_one_counts(project: Project) -> None:
    publish(project, "old name", "x", [10.0, 20.0])
    publish(project, "name", "x", [None, 40.0])
    assert values_of(asked(project, missing="available")) == {("name",): 40.0, ("old name",): 15.0}
    body = {"kind": "model", "alias": "old name", "name": "name"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=body).status_code == 201
    project.house.compute()
    found = asked(project, missing="available")
    assert values_of(found) == {("name",): 25.0}
    assert [one["code"] for one in found["warnings"]] == ["same_slots"]


def test_fractions_and_percentages_are_put_on_one_scale(project: Project) -> None:
    publish(project, "a", "x", 0.5, metric=METRIC | {"unit": None, "lower": 0, "upper": 1}, trials=100)
    publish(project, "a", "y", 70.0, trials=100)
    [entry] = asked(project)["entries"]
    assert entry["value"] == 60.0
    # Wilson's interval with the trials that the error of the mean of 50 and 70 of 100 is worth.
    shares = [50.5 / 101, 70.5 / 101]
    n = 0.25 * sum(shares) * (2 - sum(shares)) / sum(one * (1 - one) / 400 for one in shares)
    z = stats.norm.isf(0.025)
    low = (0.6 + z * z / (2 * n) - z * (0.24 / n + (z / (2 * n)) ** 2) ** 0.5) / (1 + z * z / n)
    assert entry["interval"]["low"] == pytest.approx(100 * low, rel=1e-9)


@pytest.mark.parametrize(("value", "status"), [("mean", "not_comparable"), ("best", "not_comparable"), ("count", "ok")])
def test_values_on_different_scales_are_not_averaged(project: Project, value: str, status: str) -> None:
    publish(project, "a", "x", 50.0)
    publish(project, "a", "y", 3.0, metric={"name": "accuracy", "unit": "s", "direction": "lower"})
    found = asked(project, value=value)
    assert found["status"] == status
    assert "scale" in [one["code"] for one in found["warnings"]]


@pytest.mark.parametrize(
    ("noise", "reach"),
    [
        ({"stderr": 2.0}, 1.959964 * 2),
        ({"trials": 300, "stderr": 2.0}, 1.959964 * 2),
        ({}, None),
    ],
)
def test_intervals_rest_on_the_noise_that_was_posted(project: Project, noise: Any, reach: float | None) -> None:
    publish(project, "a", "x", 50.0, **noise)
    [entry] = asked(project)["entries"]
    if reach is None:
        assert (entry["interval"], entry["interval_reason"]) == (None, "the noise of the cell is unknown")
    else:
        assert entry["interval"] == {"level": 0.95, "low": pytest.approx(50 - reach), "high": pytest.approx(50 + reach)}


def test_a_design_effect_widens_the_interval(project: Project) -> None:
    publish(project, "a", "x", 50.0, trials=400, design_effect=4)
    found = asked(project)
    wanted = stats.binomtest(50, 100).proportion_ci(method="wilson")
    assert found["entries"][0]["interval"]["low"] == pytest.approx(100 * wanted.low)
    assert found["assumes"] == []


def test_repeats_give_students_interval(project: Project) -> None:
    axes = [{"name": "Length", "kind": "numeric", "levels": [0]}]
    cells = [{"at": {"Length": 0}, "value": value} for value in (50.0, 52.0, 57.0)]
    sent = {"experiment": "e", "benchmark": "x", "model": "a", "metric": METRIC, "axes": axes, "cells": cells}
    assert project.publish(sent).status_code == 201
    [entry] = asked(project)["entries"]
    wanted = stats.t.interval(0.95, 2, 53, stats.sem([50, 52, 57]))
    assert (entry["interval"]["low"], entry["interval"]["high"]) == pytest.approx(wanted)


def test_a_slice_is_all_that_is_counted_and_a_suite_all_the_benchmarks(project: Project) -> None:
    publish(project, "a", "x", [10.0, 20.0, 30.0])
    publish(project, "a", "y", [50.0, 60.0, 70.0])
    found = asked(project, **{"at.Length": ">=1"})
    assert (values_of(found), found["slice"]) == ({("a",): 45.0}, {"Length": [">=1"]})
    body = {"benchmarks": ["x", "z"]}
    assert project.call("PUT", f"projects/{project.slug}/suites/mine", "admin", json=body).status_code in (200, 201)
    found = asked(project, suite="mine")
    assert (values_of(found), found["suite"]) == ({("a",): 20.0}, "mine")
    assert [one["code"] for one in found["warnings"]] == ["suite_incomplete"]


def test_grids_without_an_axis_of_the_question_are_counted_and_left_out(project: Project) -> None:
    publish(project, "a", "x", [10.0, 20.0])
    publish(project, "a", "y", 90.0)
    found = asked(project, group_by="axis:Length")
    assert values_of(found) == {(0,): 10.0, (1,): 20.0}
    assert found["left_out"]["grids"] == 1


def test_levels_keep_their_order_and_labels(project: Project) -> None:
    sizes = [{"label": "32b", "number": 32e9}, {"label": "7b", "number": 7e9}]
    axes = [
        {"name": "Size", "kind": "numeric", "levels": sizes},
        {"name": "Kind", "kind": "nominal", "levels": ["z", "a"]},
    ]
    publish(project, "a", "x", [[1.0, 2.0], [3.0, None]], axes=axes)
    found = asked(project, group_by="axis:Kind,axis:Size", missing="available")
    assert [one["levels"] for one in found["dimensions"]] == [["z", "a"], [7_000_000_000, 32_000_000_000]]
    assert found["dimensions"][1]["labels"] == ["7b", "32b"]
    assert [one["value"] for one in found["entries"]] == [3.0, 1.0, None, 2.0]


def test_the_order_of_publishing_changes_no_byte(house: House) -> None:
    sent = [("a", "x", [0.1, 0.2, None]), ("b", "x", [0.3, None, 0.7]), ("a", "y", [0.6, 0.4, 0.1])]
    found = []
    for order in ([0, 1, 2], [2, 1, 0]):
        project = house.make_project()
        for i in order:
            publish(project, *sent[i], trials=10, metric=METRIC | {"upper": 1, "unit": None})
        document = asked(project, missing="available")
        found.append({name: one for name, one in document.items() if name not in ("inputs", "computed_at")})
    assert found[0] == found[1]


def test_a_publication_makes_the_table_anew(project: Project) -> None:
    publish(project, "a", "x", 50.0)
    assert values_of(asked(project)) == {("a",): 50.0}
    publish(project, "a", "x", 80.0)
    project.house.compute()
    assert values_of(asked(project)) == {("a",): 80.0}


def test_more_grids_than_are_listed_are_counted_with_a_checksum(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.aggregates.MOST_INPUTS", 1)
    publish(project, "a", "x", 50.0)
    publish(project, "a", "y", 60.0)
    found = asked(project)
    assert (found["inputs"], found["inputs_left_out"]["count"]) == ([], 2)


def test_a_scope_with_too_many_cells_is_refused_with_a_reason(large: House) -> None:
    project = large.make_project()
    publish(project, "a", "x", 50.0)
    found = asked(project)
    assert (found["status"], found["entries"], found["group_by"]) == ("undefined", [], ["model"])
    assert "too many cells" in found["reason"]


@pytest.mark.parametrize(
    ("query", "pointer", "detail"),
    [
        ({"group_by": "axis:Nope"}, "/group_by", 'no grid of this experiment has the axis "Nope"; there is Length'),
        ({"over": "axis:Nope"}, "/over", 'no grid of this experiment has the axis "Nope"; there is Length'),
        ({"group_by": "models"}, "/group_by", 'is benchmark, model, variant or axis:<name>, not "models"'),
        ({"group_by": ""}, "/group_by", 'is benchmark, model, variant or axis:<name>, not ""'),
        ({"group_by": "model,model"}, "/group_by", 'names "model" twice'),
        ({"group_by": "model,variant,benchmark,axis:Length"}, "/group_by", "names 1 to 3 dimensions, not 4"),
        ({"over": "model"}, "/over", '"model" is grouped by already'),
        ({"value": "median"}, "/value", "must be one of mean, best, count"),
        ({"missing": "worst"}, "/missing", "must be one of matched, available"),
        ({"model": "nobody"}, "/model", 'no grid of this experiment has the model "nobody"; there is a'),
        ({"at.Length": "9"}, "/at.Length", 'the axis "Length" has no level "9"; there are 0, 1'),
        ({"groupby": "model"}, "/groupby", 'Unknown field; did you mean "group_by"?'),
        ({"suite": "none"}, "/suite", 'the project has no suite "none"; there is none'),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_there_is(
    project: Project, query: dict[str, str], pointer: str, detail: str
) -> None:
    publish(project, "a", "x", [50.0, 60.0])
    given = {"experiment": "e", "metric": "accuracy", "group_by": "model"} | query
    answer = project.get(f"projects/{project.slug}/aggregates", query_string=given)
    assert answer.status_code == 422, answer.text
    assert {"pointer": pointer, "detail": detail} in answer.get_json()["errors"]


def test_a_comma_in_the_name_of_an_axis_is_no_end_of_it(project: Project) -> None:
    axes = [{"name": "Length, tokens", "kind": "numeric", "levels": [1, 2]}]
    publish(project, "a", "x", [10.0, 20.0], axes=axes)
    found = asked(project, group_by="model,axis:Length, tokens")
    assert values_of(found) == {("a", 1): 10.0, ("a", 2): 20.0}


def test_an_experiment_that_is_not_there_is_not_found(project: Project) -> None:
    query = {"experiment": "nope", "metric": "accuracy", "group_by": "model"}
    assert project.get(f"projects/{project.slug}/aggregates", query_string=query).status_code == 404
