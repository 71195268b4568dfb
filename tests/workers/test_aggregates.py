"""Tables over HTTP: the questions of the seeds by one request each, and every way in which a table must not lie."""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

from registry.demo import demo_grids
from tests.house import ACCURACY, ENDED, House, Project
from tests.workers.asking import computed, faults_of, join
from tests.workers.test_seeds_over_http import ALIASES

RATIOS = [0.1, 0.2, 0.3, 0.4, 0.5]


@pytest.fixture(scope="module")
def seeds(house: House) -> Iterator[Project]:
    project = house.make_project()
    for alias, name in ALIASES:
        join(project, "benchmark", alias, name)
    for sent in demo_grids():
        assert project.publish(sent).status_code == 201
    yield project
    ENDED.append(project)


class Cell(NamedTuple):
    """A cell of seeds 2 and 4."""

    model: str
    benchmark: str
    ratio: float
    window: int
    value: float


def cells(*models: str) -> list[Cell]:
    """Read from what was published, without the registry."""
    names, found = dict(ALIASES), []
    for sent in demo_grids():
        if sent["experiment"] != "window-by-ratio":
            continue
        axes = {axis["name"]: axis["levels"] for axis in sent["axes"]}
        place = [list(axes).index(name) for name in ("Ratio", "Local Window Size")]
        values = np.array(sent["values"], dtype=float)
        for at in np.argwhere(np.isfinite(values)):
            ratio, window = (list(axes.values())[i][at[i]] for i in place)
            benchmark = names.get(sent["benchmark"], sent["benchmark"])
            found.append(Cell(sent["model"], benchmark, ratio, window, float(values[tuple(at)])))
    return [one for one in found if not models or one.model in models]


def grouped(pairs: Iterable[tuple[Any, float]], how: Callable[[list[float]], float] = fmean) -> dict[Any, float]:
    groups = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return {key: how(values) for key, values in groups.items()}


def by(
    found: list[Cell], *names: str, over: tuple[str, ...] = (), how: Callable[[list[float]], float] = fmean
) -> dict[tuple[Any, ...], float]:
    """The cells by these fields; where it is said over which other one, the mean of what is found on each of its."""
    each = grouped(((tuple(getattr(one, name) for name in [*names, *over]), one.value) for one in found), how)
    return grouped((key[: len(names)], value) for key, value in each.items())


def table(project: Project, form: str = "", **query: Any) -> Any:
    asked = {"experiment": "window-by-ratio", "metric": "Pass@1"} | query
    return computed(project, f"projects/{project.slug}/aggregates{form}", query_string=asked)


def values_of(found: dict[str, Any]) -> dict[Any, float | None]:
    """Values by the levels of their entries."""
    return {tuple(one["at"].values()): one["value"] for one in found["entries"]}


def close(expected: dict[Any, float]) -> Any:
    return pytest.approx(expected, rel=1e-12)


R1, RATIO, WINDOW = "R1-Qwen", "axis:Ratio", "axis:Local Window Size"
SEEDS: list[tuple[dict[str, Any], Callable[[], dict[Any, float]]]] = [
    ({"model": R1, "group_by": f"{RATIO},{WINDOW}"}, lambda: by(cells(R1), "ratio", "window")),
    ({"model": R1, "group_by": RATIO, "value": "best"}, lambda: by(cells(R1), "ratio", over=("benchmark",), how=max)),
    ({"model": R1, "group_by": WINDOW}, lambda: by(cells(R1), "window", over=("benchmark",))),
    ({"model": R1, "group_by": RATIO}, lambda: by(cells(R1), "ratio", over=("benchmark",))),
    ({"model": R1, "group_by": f"{WINDOW},{RATIO}"}, lambda: by(cells(R1), "window", "ratio", over=("benchmark",))),
    ({"group_by": "benchmark", "over": "model"}, lambda: by(cells(), "benchmark", over=("model",))),
]


def test_means_and_bests_of_the_seeds_are_those_of_plain_python(seeds: Project, subtests: pytest.Subtests) -> None:
    for query, expected in SEEDS:
        with subtests.test(msg=str(query)):
            found = table(seeds, **query)
            assert values_of(found) == close(expected())
            if query.get("model") == R1:
                assert {one["over"] for one in found["entries"]} == {4}
    # Seed 2 has two ratios and seed 4 all five: no slot is lost, for a slot names its model.
    assert found["slots"] == {"total": 28, "shared": 28}


def test_models_by_benchmarks_are_compared_on_the_cells_that_both_papers_have(seeds: Project) -> None:
    found = table(seeds, group_by=["model", "benchmark"])
    common = [one for one in cells() if one.ratio in (0.1, 0.5)]
    assert values_of(found) == close(by(common, "model", "benchmark"))
    assert (found["slots"], found["over"]) == ({"total": 80, "shared": 32}, [])
    assert found["left_out"] == {"slots": 48, "cells": 48, "empty": 0, "grids": 0}
    own = table(seeds, group_by="model,benchmark", missing="available")
    assert values_of(own) == close(by(cells(), "model", "benchmark"))
    assert [one["code"] for one in own["warnings"]] == ["not_comparable"]


def test_the_numbers_of_cells_are_counted_where_they_are(seeds: Project) -> None:
    found = table(seeds, group_by="model,axis:Ratio", over="benchmark", value="count")
    assert found["missing"] == "available"
    counts = by(cells(), "model", "ratio", over=("benchmark",), how=len)
    wanted = {(model, ratio): counts.get((model, ratio)) for model in ("R1-Llama", "R1-Qwen") for ratio in RATIOS}
    assert values_of(found) == wanted
    assert wanted["R1-Llama", 0.3] is None
    assert found["left_out"]["empty"] == 3


def test_what_is_asked_twice_is_answered_from_the_same_document(seeds: Project) -> None:
    first = table(seeds, group_by="model", over="benchmark")
    query = {"experiment": "window-by-ratio", "metric": "Pass@1", "group_by": "model"}
    answer = seeds.get(f"projects/{seeds.slug}/aggregates", query_string=query)
    assert (answer.status_code, answer.get_json()) == (200, first)
    seen = {"If-None-Match": answer.headers["ETag"]}
    assert seeds.get(answer.request.path, query_string=query, headers=seen).status_code == 304


def test_every_form_has_the_numbers_of_the_json(seeds: Project) -> None:
    query = {"group_by": "model,axis:Ratio,axis:Local Window Size"}
    found = table(seeds, **query)
    rows = list(csv.DictReader(io.StringIO(table(seeds, ".csv", **query).text)))
    assert len(rows) == len(found["entries"]) == 40
    for row, one in zip(rows, found["entries"], strict=True):
        assert (row["model"], float(row["Ratio"])) == (one["at"]["model"], one["at"]["axis:Ratio"])
        ends = one["interval"] or {"low": None, "high": None}
        told = {"value": one["value"], "interval_low": ends["low"], "interval_high": ends["high"]}
        assert {name: float(row[name]) if row[name] else None for name in told} == told
    text = table(seeds, ".txt", **query).text
    assert "All 80 slots were measured for every entry of their column that has cells; 12 entries have no cell." in text
    assert ["0.3", "·", "·", "·", "·"] in [line.split() for line in text.splitlines()]
    assert "these cells measured again" not in text, "no column has an interval"
    assert "| 0.3 | · | · | · | · |" in table(seeds, ".md", **query).text.replace("  ", " ").replace("  ", " ")
    svg = table(seeds, ".svg", **query)
    assert svg.content_type == "image/svg+xml"
    assert svg.text.count("not measured</title>") == 12
    assert table(seeds, ".png", **query).data.startswith(b"\x89PNG")
    assert "Only " not in svg.text
    sliced = {"group_by": "model,benchmark", "at.Local Window Size": ">=2000"}
    svg, said = table(seeds, ".svg", **sliced).text, "Local Window Size at least 2000"
    [told] = re.findall("<desc[^>]*>([^<]*)<", svg)
    assert f"Only {said}; nothing else is counted." in told
    assert said in " ".join(re.findall("<text[^>]*>([^<]*)<", svg))
    assert table(seeds, ".png", **sliced).data != table(seeds, ".png", group_by="model,benchmark").data


def publish(project: Project, scores: dict[str, Any], **changes: Any) -> None:
    """A grid for each model and benchmark, with a value or values along an axis."""
    for names, values in scores.items():
        model, benchmark = names.split()
        lengths = range(len(values)) if isinstance(values, list) else ()
        axes = [{"name": "Length", "kind": "numeric", "levels": list(lengths)}] if lengths else []
        sent = {"experiment": "e", "benchmark": benchmark, "model": model, "metric": ACCURACY, "axes": axes}
        answer = project.publish(sent | {"values": values} | changes)
        assert answer.status_code == 201, answer.text


def asked(project: Project, **query: Any) -> Any:
    return table(project, **{"experiment": "e", "metric": "accuracy", "group_by": "model"} | query)


def test_models_that_were_not_measured_have_no_number_there_and_without_a_common_slot_no_mean(project: Project) -> None:
    publish(project, {"a x": 50.0, "a y": 70.0, "b x": 60.0})
    found = asked(project, group_by="model,benchmark")
    assert values_of(found) == {("a", "x"): 50.0, ("a", "y"): 70.0, ("b", "x"): 60.0, ("b", "y"): None}
    entry = next(one for one in found["entries"] if one["at"] == {"model": "b", "benchmark": "y"})
    assert (entry["n"], entry["cells"], entry["over"], entry["interval"]) == (0, 0, 0, None)
    assert values_of(asked(project)) == {("a",): 50.0, ("b",): 60.0}
    publish(project, {"c z": 70.0})
    assert values_of(asked(project)) == {("a",): 50.0, ("b",): 60.0, ("c",): None}
    found = asked(project, set_aside="none")
    assert (found["status"], found["reason"]) == ("insufficient", "no slot was measured for every entry")
    assert found["remedy"] == {"without": [{"model": "c"}], "count": 1, "shared": 1}
    assert [one["value"] for one in found["entries"]] == [None, None, None]


def test_a_ranking_and_a_table_give_one_interval_of_one_mean(project: Project) -> None:
    scores: dict[str, Any] = {
        "a x": [61.3, 55.0, 48.7], "a y": 99.0, "b x": [70.0, 51.3, 45.0], "b y": 100.0, "c x": [10.1, 9.9, 12.5],
    }  # fmt: skip
    publish(project, scores, trials=2_000)
    publish(project, {"d z": 99.0})
    found = asked(project, group_by="model,benchmark")
    ranked = computed(project, f"projects/{project.slug}/rankings?experiment=e&metric=accuracy")
    names = ("mean", "mean_interval")
    means = {row["level"]: row for row in found["rows"]}
    assert {name: [row[one] for one in names] for name, row in means.items()} == {
        row["name"]: [row.get(one) for one in names] for row in ranked["ranking"]
    }
    assert [(row["level"], row["columns"]) for row in found["rows"]] == [("b", 2), ("a", 2), ("c", 1), ("d", 0)]
    assert [means["d"]["mean"], means["d"]["mean_interval"]] == [None, None]
    best = {row["level"]: row for row in asked(project, group_by="model,benchmark", value="best")["rows"]}
    assert [best["a"]["mean"], best["a"]["mean_interval"]] == [80.15, None]
    of_table = {tuple(one["at"].values()): one["interval"] for one in found["entries"] if one["n"]}
    of_ranking = {(one["name"], part["benchmark"]): one for part in ranked["by_benchmark"] for one in part["names"]}
    assert of_table.keys() - of_ranking.keys() == {("d", "z")}
    for key, one in of_ranking.items():
        assert one["interval"] == pytest.approx(of_table[key], rel=1e-14, abs=1e-14), key


def test_table_and_ranking_show_one_mean_of_a_name_adjusted_where_it_lacks_a_benchmark(project: Project) -> None:
    """c lacks y, which is harder than x by 50 points for a and by 39 for b: 22.25 below its mean on x of 98."""
    cells = {"a x": [90.0, 70.0], "a y": [40.0, 20.0], "b x": [84.0, 74.0], "b y": [50.0, 30.0], "c x": [99.0, 97.0]}
    publish(project, cells, trials=200)
    ranked = computed(project, f"projects/{project.slug}/rankings?experiment=e&metric=accuracy")["ranking"]
    means = {"c": 75.75, "b": 59.5, "a": 55.0}
    assert [(one["name"], one["mean"]) for one in ranked] == list(means.items())
    assert [one.get("adjusted") for one in ranked] == [True, None, None]
    for across in ("benchmark", "axis:Length", "variant"):
        rows = asked(project, group_by=f"model,{across}", sort="mean")["rows"]
        assert [(one["level"], one["mean"]) for one in rows] == list(means.items()), across
    where = f"projects/{project.slug}/lines"
    lines = computed(project, where, query_string={"experiment": "e", "metric": "accuracy"})["lines"]
    points = {one["name"]: [point["mean"] for point in one["points"]] for one in lines}
    assert points == {"a": [65.0, 45.0], "b": [67.0, 52.0], "c": []}
    told = project.get(f"projects/{project.slug}/aggregates.txt?experiment=e&metric=accuracy&group_by=model,benchmark")
    assert "75.75*" in told.text
    adjusted = "* adjusted: it lacks some of what the others have, for which least squares allow"
    assert f"{adjusted}; its interval is about noise alone" in " ".join(told.text.split())
    rows = csv.DictReader(io.StringIO(asked(project, group_by="model,benchmark", form=".csv").text))
    assert {(row["model"], row["row_mean"], row["row_adjusted"]) for row in rows} == {
        ("c", "75.75", "true"), ("b", "59.5", "false"), ("a", "55.0", "false")
    }  # fmt: skip
    aside = asked(project, group_by="model,benchmark", set_aside="c")["rows"]
    assert {one["level"]: one["mean"] for one in aside} == {"a": 55.0, "b": 59.5, "c": None}


def test_the_best_row_is_first_by_its_mean_or_by_a_column_or_rows_are_in_the_order_of_names(project: Project) -> None:
    publish(project, {"a x": 1.0, "a y": 9.0, "b x": 6.0, "b y": 2.0, "c x": 7.0, "c y": 8.0, "d x": 3.0})

    def order(**query: Any) -> list[str]:
        return [one["level"] for one in asked(project, group_by="model,benchmark", **query)["rows"]]

    # d has a mean over one column alone.
    assert (order(), order(sort="name")) == (["c", "a", "b", "d"], ["a", "b", "c", "d"])
    assert (order(sort="x"), order(sort="y")) == (["c", "b", "d", "a"], ["a", "c", "b", "d"])
    lower = {"name": "loss", "direction": "lower"}
    publish(project, {"a x": 1.0, "b x": 6.0, "c x": 7.0}, metric=lower)
    assert [tuple(one["at"].values()) for one in asked(project, metric="loss")["entries"]] == [("a",), ("b",), ("c",)]
    assert order(metric="loss") == ["a", "b", "c"]
    join(project, "benchmark", "why", "y")
    assert order(sort="why") == ["a", "c", "b", "d"]
    for form, told in ((".txt", "\nc"), (".md", "| c "), (".csv", ",c,"), (".tex", "\nc &")):
        text = asked(project, group_by="model,benchmark", form=form).text
        assert text.index(told) < text.index(told.replace("c", "a")), form
        assert "7.5" in text, form
    path = f"projects/{project.slug}/aggregates?experiment=e&metric=accuracy"
    for query, at in {
        "&group_by=model,benchmark&sort=z": "/sort",
        "&group_by=axis:Length,model&sort=mean": "sort",
        "&group_by=model&sort=x": "sort",
        "&group_by=model,benchmark,variant&sort=mean": "sort",
        "&group_by=model,benchmark&value=count&sort=mean": "sort",
    }.items():
        answer = project.get(path + query)
        assert answer.status_code == 422, query
        assert at in answer.text


def test_derived_grids_are_named_and_never_averaged(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(project, {"a x": 50.0, "a y": 70.0})
    publish(project, {"a Average": 99.0}, derived=["x", "y"])
    found = asked(project)
    assert values_of(found) == {("a",): 60.0}
    assert [one["benchmark"] for one in found["derived"]] == ["Average"]
    assert len(found["inputs"]) == 2
    # More grids than are listed are counted, with a checksum.
    monkeypatch.setattr("workers.answers.aggregates.MOST_INPUTS", 1)
    found = asked(project, alpha=0.1)
    assert (found["inputs"], found["inputs_left_out"]["count"]) == ([], 2)


def test_an_alias_joins_and_where_both_measured_the_later_one_counts(project: Project) -> None:
    publish(project, {"old x": [10.0, 20.0], "name x": [None, 40.0]})
    assert values_of(asked(project, missing="available")) == {("name",): 40.0, ("old",): 15.0}
    join(project, "model", "old", "name")
    found = asked(project, missing="available")
    assert values_of(found) == {("name",): 25.0}
    assert [one["code"] for one in found["warnings"]] == ["same_slots"]


def test_fractions_and_percentages_are_put_on_one_scale(project: Project) -> None:
    publish(project, {"a x": 0.5}, metric=ACCURACY | {"unit": None, "upper": 1}, trials=100)
    publish(project, {"a y": 70.0}, trials=100)
    [entry] = asked(project)["entries"]
    assert entry["value"] == 60.0
    publish(project, {"a z": 3.0}, metric={"name": "accuracy", "unit": "s", "direction": "lower"})
    for value, status in (("mean", "not_comparable"), ("best", "not_comparable"), ("count", "ok")):
        found = asked(project, value=value)
        assert found["status"] == status
        assert "scale" in [one["code"] for one in found["warnings"]]


def test_shares_of_one_are_no_percentages_in_any_view_of_a_table(project: Project) -> None:
    shares = ACCURACY | {"unit": None, "upper": 1}
    publish(project, {"a x": [0.25, 0.5], "b x": [0.5, 0.75]}, metric=shares)
    publish(project, {"a x": [0.5, 0.5], "b x": [0.25, 0.25]}, metric=shares | {"name": "recall"})
    found = asked(project)
    assert (values_of(found), found["unit"]) == ({("a",): 0.375, ("b",): 0.625}, None)
    path, of_metric = f"projects/{project.slug}", {"experiment": "e", "metric": "accuracy"}
    assert computed(project, f"{path}/lines", query_string=of_metric)["metric"]["unit"] is None
    assert computed(project, f"{path}/rankings", query_string=of_metric)["scale"]["unit"] is None
    both = {"experiment": "e", "x": "metric:accuracy", "y": "metric:recall"}
    traded = computed(project, f"{path}/trade-offs", query_string=both)
    assert [traded[axis]["unit"] for axis in "xy"] == [None, None]
    told = table(project, ".txt", experiment="e", metric="accuracy", group_by="model").get_data(as_text=True)
    assert told.splitlines()[0] == "Mean of accuracy by model — e"


def test_intervals_rest_on_the_noise_that_was_posted(project: Project) -> None:
    publish(project, {"a x": 50.0}, experiment="posted", stderr=2.0)
    publish(project, {"a x": 50.0}, experiment="both", stderr=2.0, trials=300)
    publish(project, {"a x": 50.0}, experiment="unknown")
    publish(project, {"a x": 50.0}, experiment="design", trials=400, design_effect=4)
    cells = [{"at": {"Length": 0}, "value": value} for value in (50.0, 52.0, 57.0)]
    sent = {"experiment": "e", "benchmark": "x", "model": "a", "metric": ACCURACY, "cells": cells}
    axes = [{"name": "Length", "kind": "numeric", "levels": [0]}]
    assert project.publish(sent | {"axes": axes}).status_code == 201
    worth = stats.binomtest(50, 100).proportion_ci(method="wilson")  # what 400 trials are worth
    normal = 50 - 1.959964 * 2, 50 + 1.959964 * 2
    repeats = tuple(stats.t.interval(0.95, 2, 53, stats.sem([50, 52, 57])))
    design = 100 * worth.low, 100 * worth.high
    for name, ends in {"posted": normal, "both": normal, "design": design, "e": repeats}.items():
        found = asked(project, experiment=name)
        [entry] = found["entries"]
        assert entry["interval"]["level"] == 0.95
        assert (entry["interval"]["low"], entry["interval"]["high"]) == pytest.approx(ends)
        assert name != "design" or found["assumes"] == []
    [entry] = asked(project, experiment="unknown")["entries"]
    assert (entry["interval"], entry["interval_reason"]) == (None, "the noise of the cell is unknown")


def test_a_slice_is_all_that_is_counted_and_a_suite_all_the_benchmarks(project: Project) -> None:
    publish(project, {"a x": [10.0, 20.0, 30.0], "a y": [50.0, 60.0, 70.0]})
    found = asked(project, **{"at.Length": ">=1"})
    assert (values_of(found), found["slice"]) == ({("a",): 45.0}, {"Length": [">=1"]})
    body = {"benchmarks": ["x", "z"]}
    assert project.call("PUT", f"projects/{project.slug}/suites/mine", "admin", json=body).status_code in (200, 201)
    found = asked(project, suite="mine")
    assert (values_of(found), found["suite"]) == ({("a",): 20.0}, "mine")
    assert [one["code"] for one in found["warnings"]] == ["suite_incomplete"]
    [row] = csv.DictReader(io.StringIO(asked(project, suite="mine", form=".csv").text))
    assert row["suite"] == "mine"
    # A grid without an axis of the question is counted and left out.
    publish(project, {"a w": 90.0})
    found = asked(project, group_by="axis:Length")
    assert values_of(found) == {(0,): 30.0, (1,): 40.0, (2,): 50.0}
    assert found["left_out"]["grids"] == 1


def test_levels_keep_their_order_and_labels_and_a_comma_in_the_name_of_an_axis_is_no_end_of_it(
    project: Project,
) -> None:
    sizes = [{"label": "32b", "number": 32e9}, {"label": "7b", "number": 7e9}]
    axes = [
        {"name": "Size, of all", "kind": "numeric", "levels": sizes},
        {"name": "Kind", "kind": "nominal", "levels": ["z", "a"]},
    ]
    publish(project, {"a x": [[1.0, 2.0], [3.0, None]]}, axes=axes)
    found = asked(project, group_by="axis:Kind,axis:Size, of all", missing="available")
    assert [one["levels"] for one in found["dimensions"]] == [["z", "a"], [7_000_000_000, 32_000_000_000]]
    assert found["dimensions"][1]["labels"] == ["7b", "32b"]
    assert [one["value"] for one in found["entries"]] == [3.0, 1.0, None, 2.0]


def test_the_order_of_publishing_changes_no_byte(house: House) -> None:
    sent = {"a x": [0.1, 0.2, None], "b x": [0.3, None, 0.7], "a y": [0.6, 0.4, 0.1]}
    found = []
    for order in (sent, dict(reversed(sent.items()))):
        project = house.make_project()
        publish(project, order, trials=10, metric=ACCURACY | {"upper": 1, "unit": None})
        document = asked(project, missing="available")
        found.append({name: one for name, one in document.items() if name not in ("inputs", "computed_at")})
    assert found[0] == found[1]


def test_a_publication_makes_the_table_anew(project: Project) -> None:
    for value in (50.0, 80.0):
        publish(project, {"a x": value})
        assert values_of(asked(project)) == {("a",): value}


def test_a_scope_with_too_many_cells_is_refused_with_a_reason(large: House) -> None:
    project = large.make_project()
    publish(project, {"a x": 50.0})
    found = asked(project)
    assert (found["status"], found["entries"], found["group_by"]) == ("undefined", [], ["model"])
    assert "too many cells" in found["reason"]


NO_AXIS = 'no grid of this experiment has the axis "Nope"; there is Length'
WRONG = [
    ({"group_by": "axis:Nope"}, "/group_by", NO_AXIS),
    ({"over": "axis:Nope"}, "/over", NO_AXIS),
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
]


def test_what_cannot_be_asked_is_refused_with_what_there_is(project: Project, subtests: pytest.Subtests) -> None:
    publish(project, {"a x": [50.0, 60.0]})
    path, given = f"projects/{project.slug}/aggregates", {"experiment": "e", "metric": "accuracy", "group_by": "model"}
    for query, pointer, detail in WRONG:
        with subtests.test(msg=str(query)):
            assert faults_of(project.get(path, query_string=given | query))[pointer] == detail
    assert project.get(path, query_string=given | {"experiment": "nope"}).status_code == 404
