"""Lines and trade-offs as they are asked for: names, slices, aliases, what is refused, forms, tags."""

from __future__ import annotations

import csv
import io
from typing import Any
from urllib.parse import urlencode

import pytest

from registry.operations import slot_sources
from tests.house import Project

LATENCY = {"name": "latency", "unit": "s", "direction": "lower", "lower": 0}
AXES = [
    {"name": "Type", "kind": "nominal", "levels": ["x", "y"]},
    {"name": "Length", "kind": "numeric", "levels": [1, 2, 4]},
]


def published(project: Project, model: str, values: Any, **changes: Any) -> dict[str, Any]:
    given = {"experiment": "e", "benchmark": "b", "model": model, "variant": "", "axes": AXES, "values": values}
    return project.published(**(given | {"trials": 100} | changes))


def lines(project: Project, status: int = 200, **query: Any) -> Any:
    asked = urlencode({"experiment": "e", "metric": "accuracy"} | query, doseq=True)
    answer = project.get(f"projects/{project.slug}/lines?{asked}")
    assert answer.status_code == status, answer.text
    return answer.get_json()


def trade_off(project: Project, status: int = 200, **query: Any) -> Any:
    asked = {"experiment": "e", "x": "metric:latency", "y": "metric:accuracy"} | query
    answer = project.get(f"projects/{project.slug}/trade-offs?{urlencode(asked, doseq=True)}")
    assert answer.status_code == status, answer.text
    return answer.get_json()


def means(document: Any) -> dict[str, dict[float, float]]:
    return {one["name"]: {point["level"]: point["mean"] for point in one["points"]} for one in document["lines"]}


@pytest.fixture
def three(project: Project) -> Project:
    """Three models, of which c lacks a cell of y at 4, with latencies and sizes."""
    rows = {"a": [[90, 80, 70], [70, 60, 50]], "b": [[80, 80, 80], [60, 60, 60]], "c": [[99, 98, 97], [95, 94, None]]}
    for number, (model, values) in enumerate(rows.items()):
        published(project, model, values, labels={"params": f"{number + 1}b"})
        seconds = [[None if one is None else number + 1.0 for one in row] for row in values]
        published(project, model, seconds, metric=LATENCY, trials=None, stderr=0.01)
    return project


def test_means_are_over_the_slots_that_all_share(three: Project) -> None:
    found = lines(three, along="Length")
    assert means(found) == {"a": {1: 80, 2: 70, 4: 70}, "b": {1: 70, 2: 70, 4: 80}, "c": {1: 97, 2: 96, 4: 97}}
    assert [(level["shared"], level["left_out"]) for level in found["levels"]] == [(2, 0), (2, 0), (1, 1)]
    assert [one["code"] for one in found["warnings"]] == ["slots_vary"]
    own = lines(three, along="Length", missing="available")
    assert means(own)["a"] == {1: 80, 2: 70, 4: 60}


def test_without_an_axis_the_one_in_order_is_taken(three: Project) -> None:
    assert lines(three)["along"] == "Length"


def test_a_slice_is_drawn_as_if_nothing_else_had_been_posted(three: Project) -> None:
    found = lines(three, **{"at.Type": "x", "at.Length": ">=2"})
    assert means(found) == {"a": {2: 80, 4: 70}, "b": {2: 80, 4: 80}, "c": {2: 98, 4: 97}}
    assert found["slice"] == {"Length": [">=2"], "Type": ["x"]}


def test_lines_by_benchmark_variant_and_level(three: Project) -> None:
    published(three, "a", [[10, 20, 30], [10, 20, 30]], benchmark="b2")
    published(three, "a", [[1, 2, 3], [1, 2, 3]], variant="v")
    assert means(lines(three, by="benchmark", model="a", variant=""))["b2"] == {1: 10, 2: 20, 4: 30}
    assert means(lines(three, by="variant", model="a", benchmark="b"))["v"] == {1: 1, 2: 2, 4: 3}
    found = means(lines(three, by="axis:Type", model="b"))
    assert found == {"x": {1: 80, 2: 80, 4: 80}, "y": {1: 60, 2: 60, 4: 60}}


def test_names_that_are_one_by_an_alias_have_one_line(three: Project) -> None:
    published(three, "A", [[0, 0, 0], [0, 0, 0]], benchmark="b2")
    sent = {"kind": "model", "alias": "A", "name": "a"}
    assert three.call("POST", f"projects/{three.slug}/aliases", "admin", json=sent).status_code == 201
    found = lines(three, missing="available", model="A")
    assert means(found) == {"a": {1: 40, 2: 35, 4: 30}}


def test_derived_grids_count_in_no_mean(three: Project) -> None:
    published(three, "a", [[0, 0, 0], [0, 0, 0]], benchmark="Average", derived=True)
    found = lines(three, model="a")
    assert means(found)["a"] == {1: 80, 2: 70, 4: 60}
    assert [one["benchmark"] for one in found["derived"]] == ["Average"]


def test_beyond_twelve_names_those_with_the_most_cells_are_drawn(project: Project) -> None:
    for number in range(14):
        values = [[1, None if number < 2 else 2, 3], [4, 5, 6]]
        published(project, f"m{number:02}", values)
    found = lines(project)
    assert [one["name"] for one in found["lines"]] == [f"m{number:02}" for number in range(2, 14)]
    assert found["not_shown"] == ["m00", "m01"]
    told = lines(project, 422, model=[f"m{number:02}" for number in range(13)])
    assert told["errors"] == [{"pointer": "/model", "detail": "at most 12 are drawn at once, and 13 are named"}]


def test_too_many_cells_are_refused_or_fewer_names_are_drawn(three: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_sources, "MOST_CELLS", 12)
    found = lines(three)
    assert ([one["name"] for one in found["lines"]], found["not_shown"]) == (["a", "b"], ["c"])
    told = lines(three, 422, model=["a", "b", "c"])
    assert "these are 17 cells of 3 grids; a chart is drawn from at most 12 cells" in told["errors"][0]["detail"]


@pytest.mark.parametrize(
    "query, status, pointer, told",
    [
        ({"along": "Depth"}, 422, "/along", 'an axis "Depth"; there are Length, Type'),
        ({"along": "Type", "by": "axis:Type"}, 422, "/by", "is the axis that the lines run along"),
        ({"by": "colour"}, 422, "/by", "is model, variant, benchmark or axis:<name>"),
        ({"model": "z"}, 422, "/model", 'has the model "z"; there are a, b, c'),
        ({"at.Length": "8"}, 422, "/at.Length", 'no level "8"; there are 1, 2, 4'),
        ({"missing": "worst"}, 422, "/missing", "must be one of matched, available"),
        ({"x": "cubic"}, 422, "/x", "must be one of linear, log"),
        ({"colour": "red"}, 422, "/colour", "Unknown"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_what_there_is(
    three: Project, query: dict[str, str], status: int, pointer: str, told: str
) -> None:
    [error] = lines(three, status, **query)["errors"]
    assert (error["pointer"], told in error["detail"]) == (pointer, True), error


def test_an_experiment_that_is_not_there_is_not_found(three: Project) -> None:
    lines(three, 404, experiment="nowhere")
    lines(three, 404, metric="loss")
    answer = three.house.call("GET", f"projects/{three.slug}/lines?experiment=e&metric=accuracy")
    assert answer.status_code in (401, 404)


def test_every_form_says_the_same(three: Project) -> None:
    base, asked = f"projects/{three.slug}/lines", "?experiment=e&metric=accuracy&along=Length"
    found = lines(three, along="Length")
    rows = list(csv.DictReader(io.StringIO(three.get(f"{base}.csv{asked}").text)))
    points = [(one["name"], point) for one in found["lines"] for point in one["points"]]
    assert [(row["name"], float(row["number"]), float(row["mean"]), float(row["low"])) for row in rows] == [
        (name, point["level"], point["mean"], point["interval"]["low"]) for name, point in points
    ]
    for suffix, media in ((".svg", "image/svg+xml"), (".txt", "text/plain"), (".md", "text/markdown")):
        answer = three.get(f"{base}{suffix}{asked}")
        assert (answer.status_code, answer.mimetype) == (200, media)
        assert "share at that level" in answer.text
    assert three.get(f"{base}.png{asked}&scale=2&theme=dark").data[:4] == b"\x89PNG"
    assert len(three.get(f"{base}.vl.json{asked}").get_json(force=True)["data"]["values"]) == len(points)
    assert three.get(f"{base}.png{asked}&scale=9").status_code == 422
    assert three.get(f"{base}.svg{asked}&width=100").status_code == 422


def test_the_tag_changes_with_any_input_and_with_nothing_else(three: Project) -> None:
    path = f"projects/{three.slug}/lines.svg?experiment=e&metric=accuracy"
    tag = three.get(path).headers["ETag"]
    assert three.get(path, headers={"If-None-Match": tag}).status_code == 304
    published(three, "a", [[1, 1, 1], [1, 1, 1]], experiment="other")
    assert three.get(path, headers={"If-None-Match": tag}).status_code == 304
    published(three, "a", [[91, 80, 70], [70, 60, 50]])
    again = three.get(path, headers={"If-None-Match": tag})
    assert (again.status_code, again.headers["ETag"] == tag) == (200, False)


def test_a_trade_off_has_the_front(three: Project) -> None:
    found = trade_off(three)
    points = {one["name"]: (one["x"]["mean"], pytest.approx(one["y"]["mean"]), one["place"]) for one in found["points"]}
    # Five slots are shared: c has no cell of y at 4.
    assert points == {"a": (1, 74, "front"), "b": (2, 72, "open"), "c": (3, 96.6, "front")}
    assert (found["front"], found["x"]["shared"], found["y"]["shared"]) == (["a", "c"], 5, 5)


def test_a_metric_is_set_against_a_label(three: Project) -> None:
    found = trade_off(three, x="label:params", x_scale="log")
    assert [(one["name"], one["x"]["mean"], one["x"]["interval"]) for one in found["points"]] == [
        ("a", 1e9, None),
        ("b", 2e9, None),
        ("c", 3e9, None),
    ]
    assert found["x"]["direction"] == "lower"
    assert trade_off(three, x="label:params", x_better="higher")["front"] == ["c"]


def test_a_name_without_a_label_is_said(three: Project) -> None:
    published(three, "d", [[1, 2, 3], [4, 5, 6]], labels={"params": "many"})
    published(three, "e", [[1, 2, 3], [4, 5, 6]])
    found = trade_off(three, x="label:params")
    assert found["without"] == [
        {"name": "d", "reason": "its label params is not one number: many"},
        {"name": "e", "reason": "has no label params"},
    ]


def test_one_metric_at_two_slices(three: Project) -> None:
    query = {"x": "metric:accuracy", "x.at.Length": "<=1", "y.at.Length": ["2", "4"], "at.Type": "x"}
    found = trade_off(three, **query)
    points = {one["name"]: (one["x"]["mean"], one["y"]["mean"]) for one in found["points"]}
    assert points == {"a": (90, 75), "b": (80, 80), "c": (99, 97.5)}
    assert found["x"]["slice"] == {"Length": ["<=1"], "Type": ["x"]}
    assert found["front"] == ["c"]


def test_a_trade_off_without_better_ends_is_refused(three: Project) -> None:
    bare = {"name": "tokens", "unit": None, "direction": None}
    for model in "ab":
        published(three, model, [[1, 2, 3], [4, 5, 6]], metric=bare, trials=None)
    [error] = trade_off(three, 422, x="metric:tokens")["errors"]
    assert (error["pointer"], "x_better" in error["detail"]) == ("/x", True)
    assert trade_off(three, x="metric:tokens", x_better="lower")["x"]["direction"] == "lower"
    [error] = trade_off(three, 422, x="label:params", y="label:cost")["errors"]
    assert error["pointer"] == "/y"


@pytest.mark.parametrize("suffix", ["svg", "png", "csv", "txt", "md", "vl.json"])
def test_a_trade_off_in_every_form(three: Project, suffix: str) -> None:
    path = f"projects/{three.slug}/trade-offs.{suffix}?experiment=e&x=metric:latency&y=metric:accuracy"
    answer = three.get(path)
    assert (answer.status_code, len(answer.data) > 100) == (200, True)
    assert three.get(path, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
