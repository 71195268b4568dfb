"""Lines and trade-offs as they are asked for: names, slices, aliases, refusals, forms, tags; pictures of grids."""

import csv
import io
import re
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest

from tests.house import House, Project
from tests.workers.asking import answer_due, join

SVG = "{http://www.w3.org/2000/svg}"
LATENCY = {"name": "latency", "unit": "s", "direction": "lower", "lower": 0}
AXES = [
    {"name": "Type", "kind": "nominal", "levels": ["x", "y"]},
    {"name": "Length", "kind": "numeric", "levels": [1, 2, 4]},
]
AGREE = {"repeats": [[3] * 3, [2] * 3], "sd": [[0.0] * 3] * 2}


def published(project: Project, model: str, values: Any, **changes: Any) -> dict[str, Any]:
    given = {"experiment": "e", "benchmark": "b", "model": model, "variant": "", "axes": AXES, "values": values}
    return project.published(**(given | {"trials": 100} | changes))


def answered(project: Project, path: str, status: int = 200) -> Any:
    """The answer, computed as often as more is asked for."""
    answer = project.get(path, headers={"Prefer": "wait=0"})
    while answer.status_code in (202, 503):
        answer_due(project.house)
        answer = project.get(path, headers={"Prefer": "wait=0"})
    assert answer.status_code == status, answer.text
    return answer


def lines(project: Project, status: int = 200, **query: Any) -> Any:
    asked = urlencode({"experiment": "e", "metric": "accuracy"} | query, doseq=True)
    return answered(project, f"projects/{project.slug}/lines?{asked}", status).get_json()


def trade_off(project: Project, status: int = 200, **query: Any) -> Any:
    asked = {"experiment": "e", "x": "metric:latency", "y": "metric:accuracy"} | query
    return answered(project, f"projects/{project.slug}/trade-offs?{urlencode(asked, doseq=True)}", status).get_json()


def means(document: Any) -> dict[str, dict[float, float]]:
    return {one["name"]: {point["level"]: point["mean"] for point in one["points"]} for one in document["lines"]}


def _published_three(project: Project) -> Project:
    """Three models, of which c lacks a cell of y at 4, with latencies and sizes."""
    rows = {"a": [[90, 80, 70], [70, 60, 50]], "b": [[80, 80, 80], [60, 60, 60]], "c": [[99, 98, 97], [95, 94, None]]}
    for number, (model, values) in enumerate(rows.items()):
        published(project, model, values, labels={"params": f"{number + 1}b"})
        seconds = [[None if one is None else number + 1.0 for one in row] for row in values]
        published(project, model, seconds, metric=LATENCY, trials=None, stderr=0.01)
    return project


@pytest.fixture(scope="module")
def three(house: House) -> Project:
    """What tests only look at."""
    return _published_three(house.make_project())


@pytest.fixture
def growing(project: Project) -> Project:
    """What a test may add to."""
    return _published_three(project)


def test_means_are_over_the_slots_that_all_share(three: Project) -> None:
    # Of the two slots at 4 c has one: it is set aside there, and nowhere else.
    assert means(lines(three, along="Length")) == {
        "a": {1: 80, 2: 70, 4: 60}, "b": {1: 70, 2: 70, 4: 70}, "c": {1: 97, 2: 96}
    }  # fmt: skip
    found = lines(three, along="Length", set_aside="none")
    assert means(found) == {"a": {1: 80, 2: 70, 4: 70}, "b": {1: 70, 2: 70, 4: 80}, "c": {1: 97, 2: 96, 4: 97}}
    assert [(level["shared"], level["left_out"]) for level in found["levels"]] == [(2, 0), (2, 0), (1, 1)]
    assert [one["code"] for one in found["warnings"]] == ["slots_vary"]
    own = lines(three, along="Length", missing="available")
    assert means(own)["a"] == {1: 80, 2: 70, 4: 60}
    assert lines(three)["along"] == "Length", "the axis in order, if none is named"


def test_a_slice_is_drawn_as_if_nothing_else_had_been_posted(three: Project) -> None:
    found = lines(three, **{"at.Type": "x", "at.Length": ">=2"})
    assert means(found) == {"a": {2: 80, 4: 70}, "b": {2: 80, 4: 80}, "c": {2: 98, 4: 97}}
    assert found["slice"] == {"Length": [">=2"], "Type": ["x"]}


def test_lines_by_benchmark_variant_and_level_with_one_line_of_names_that_are_one(growing: Project) -> None:
    published(growing, "a", [[10, 20, 30], [10, 20, 30]], benchmark="b2")
    published(growing, "a", [[1, 2, 3], [1, 2, 3]], variant="v")
    assert means(lines(growing, by="benchmark", model="a", variant=""))["b2"] == {1: 10, 2: 20, 4: 30}
    assert means(lines(growing, by="variant", model="a", benchmark="b"))["v"] == {1: 1, 2: 2, 4: 3}
    found = means(lines(growing, by="axis:Type", model="b"))
    assert found == {"x": {1: 80, 2: 80, 4: 80}, "y": {1: 60, 2: 60, 4: 60}}
    published(growing, "A", [[0, 0, 0], [0, 0, 0]], benchmark="b3")
    join(growing, "model", "A", "a")
    found = lines(growing, missing="available", model="A", variant="", benchmark=["b", "b3"])
    assert means(found) == {"a": {1: 40, 2: 35, 4: 30}}
    published(growing, "b", [[0, 0, 0], [0, 0, 0]], benchmark="Average", derived=True)
    found = lines(growing, model="b")
    assert means(found)["b"] == {1: 70, 2: 70, 4: 70}, "derived grids count in no mean"
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


REFUSED = [
    ({"along": "Depth"}, "/along", 'an axis "Depth"; there are Length, Type'),
    ({"along": "Type", "by": "axis:Type"}, "/by", "is the axis that the lines run along"),
    ({"by": "colour"}, "/by", "is model, variant, benchmark or axis:<name>"),
    ({"model": "z"}, "/model", 'has the model "z"; there are a, b, c'),
    ({"at.Length": "8"}, "/at.Length", 'no level "8"; there are 1, 2, 4'),
    ({"missing": "worst"}, "/missing", "must be one of matched, available"),
    ({"x": "cubic"}, "/x", "must be one of linear, log"),
    ({"colour": "red"}, "/colour", "Unknown"),
]


def test_what_cannot_be_drawn_is_refused_with_what_there_is(three: Project, subtests: pytest.Subtests) -> None:
    for query, pointer, told in REFUSED:
        with subtests.test(told):
            [error] = lines(three, 422, **query)["errors"]
            assert (error["pointer"], told in error["detail"]) == (pointer, True), error


def test_every_form_says_the_same(three: Project) -> None:
    base, asked = f"projects/{three.slug}/lines", "?experiment=e&metric=accuracy&along=Length"
    found = lines(three, along="Length")
    rows = list(csv.DictReader(io.StringIO(answered(three, f"{base}.csv{asked}").text)))
    points = [(one["name"], point) for one in found["lines"] for point in one["points"]]
    assert [(row["name"], float(row["number"]), float(row["mean"]), float(row["low"])) for row in rows] == [
        (name, point["level"], point["mean"], point["interval"]["low"]) for name, point in points
    ]
    for suffix, media in ((".svg", "image/svg+xml"), (".txt", "text/plain"), (".md", "text/markdown")):
        answer = three.get(f"{base}{suffix}{asked}")
        assert (answer.status_code, answer.mimetype) == (200, media)
        assert "with that level share" in answer.text
    assert three.get(f"{base}.png{asked}&scale=2&theme=dark").data[:4] == b"\x89PNG"
    assert len(three.get(f"{base}.vl.json{asked}").get_json(force=True)["data"]["values"]) == len(points)
    assert three.get(f"{base}.png{asked}&scale=9").status_code == 422
    assert three.get(f"{base}.svg{asked}&width=100").status_code == 422


def test_the_tag_changes_with_the_numbers_and_with_nothing_else(growing: Project) -> None:
    path = f"projects/{growing.slug}/lines.svg?experiment=e&metric=accuracy"
    tag = answered(growing, path).headers["ETag"]
    assert growing.get(path, headers={"If-None-Match": tag}).status_code == 304
    published(growing, "a", [[1, 1, 1], [1, 1, 1]], experiment="other")
    assert growing.get(path, headers={"If-None-Match": tag}).status_code == 304
    published(growing, "a", [[91, 80, 70], [70, 60, 50]])
    assert answered(growing, path).headers["ETag"] != tag


def test_a_trade_off_has_the_front(three: Project) -> None:
    found = trade_off(three)
    points = {one["name"]: (one["x"]["mean"], pytest.approx(one["y"]["mean"]), one["place"]) for one in found["points"]}
    # Five slots are shared: c has no cell of y at 4.
    assert points == {"a": (1, 74, "front"), "b": (2, 72, "open"), "c": (3, 96.6, "front")}
    assert (found["front"], found["x"]["shared"], found["y"]["shared"]) == (["a", "c"], 5, 5)
    assert {one["y"]["interval"]["level"] for one in trade_off(three, alpha=0.2)["points"]} == {0.8}
    levels = {point["interval"]["level"] for one in lines(three, alpha=0.2)["lines"] for point in one["points"]}
    assert levels == {0.8}


def test_means_without_intervals_say_whether_repeats_agree_or_nothing_is_posted(project: Project) -> None:
    for model, noise in (("a", AGREE), ("b", AGREE), ("c", {}), ("d", {})):
        published(project, model, [[4, 5, 6], [7, 8, 9]], trials=None, labels={"params": "1b"}, **noise)
    agree = "the repeats of every cell agree, which says nothing of its noise."
    unknown = "some cells have neither trials, a standard error above 0 nor repeats."
    asked = {"x": "label:params", "y": "metric:accuracy"}
    some = [f"2 of the 4 means of accuracy have no interval: {why}" for why in (unknown, agree)]
    assert [one["detail"] for one in trade_off(project, **asked)["warnings"]] == [f"accuracy: {one}" for one in some]
    base, query = f"projects/{project.slug}/lines.txt", "experiment=e&metric=accuracy"
    told = answered(project, f"{base}?{query}&model=a&model=b").text
    assert f"No mean has an interval: {agree}" in told
    assert f"No mean has an interval: {unknown}" in answered(project, f"{base}?{query}&model=c&model=d").text


def test_a_metric_is_set_against_a_label(three: Project) -> None:
    found = trade_off(three, x="label:params", x_scale="log")
    assert [(one["name"], one["x"]["mean"], one["x"]["interval"]) for one in found["points"]] == [
        ("a", 1e9, None),
        ("b", 2e9, None),
        ("c", 3e9, None),
    ]
    assert found["x"]["direction"] == "lower"
    assert trade_off(three, x="label:params", x_better="higher")["front"] == ["c"]


def test_a_name_without_a_label_is_said(growing: Project) -> None:
    published(growing, "d", [[1, 2, 3], [4, 5, 6]], labels={"params": "many"})
    published(growing, "e", [[1, 2, 3], [4, 5, 6]])
    found = trade_off(growing, x="label:params")
    assert found["without"] == [
        {"name": "d", "reason": "its label params is not one number: many"},
        {"name": "e", "reason": "has no label params"},
    ]


def test_names_that_share_no_slot_have_their_own_lines_and_are_said_not_to_be_compared(project: Project) -> None:
    published(project, "a", [[1, 2, 3], [4, 4, 4]])
    published(project, "b", [[10, 20, None], [30, 40, None]], benchmark="b2")
    found = lines(project, along="Length")
    assert means(found) == {"a": {1: 2.5, 2: 3, 4: 3.5}, "b": {1: 20, 2: 30}}
    assert [one["code"] for one in found["warnings"]] == ["nothing_shared"]
    text = answered(project, f"projects/{project.slug}/lines.txt?experiment=e&metric=accuracy&along=Length").text
    for said in (
        "No two models share a slot: each is over its own cells, and they are not compared.",
        "Each mean is over the slots that its model has.",
        "1 mean is missing for want of cells: lines",
    ):
        assert said in text
    asked = f"projects/{project.slug}/aggregates.txt?experiment=e&metric=accuracy&group_by=model,axis:Length"
    assert "Each entry over its own of 10 slots; 1 entry has no cell." in answered(project, asked).text
    published(project, "c", [[1, 2, 3], [4, 4, 4]])
    assert means(lines(project, along="Length", set_aside="none")) == {"a": {4: 3.5}, "b": {}, "c": {4: 3.5}}


def test_a_chart_of_nothing_says_so_in_every_form(project: Project) -> None:
    for name in "abcd":  # of two halves that share no slot
        published(project, name, [[1, 2, 3], [None, None, None]][:: 1 if name in "ab" else -1])
    assert (lines(project)["status"], lines(project)["lines"][0]["points"]) == ("insufficient", [])
    found = trade_off(project, x="label:params", y="metric:accuracy")
    assert (found["status"], found["points"]) == ("insufficient", [])
    assert [one["reason"] for one in found["without"]] == ["has no label params"] * 4
    forms = ("txt", "md", "csv", "svg", "png", "vl.json")
    for form in forms:
        for query in ("lines.{}?metric=accuracy", "trade-offs.{}?x=label:params&y=metric:accuracy"):
            answered(project, f"projects/{project.slug}/{query.format(form)}&experiment=e")
    published(project, "e", [[1, 2, 3], [4, 5, 6]], metric={"name": "accuracy", "unit": "s"}, trials=None)
    assert lines(project)["status"] == "not_comparable"
    for form in forms:
        answered(project, f"projects/{project.slug}/lines.{form}?metric=accuracy&experiment=e")
    [error] = trade_off(project, 422, x="label:params", y="metric:accuracy")["errors"]
    assert (error["pointer"], "different scales" in error["detail"]) == ("/y", True)


def test_one_metric_at_two_slices(three: Project) -> None:
    query = {"x": "metric:accuracy", "x.at.Length": "<=1", "y.at.Length": ["2", "4"], "at.Type": "x"}
    found = trade_off(three, **query)
    points = {one["name"]: (one["x"]["mean"], one["y"]["mean"]) for one in found["points"]}
    assert points == {"a": (90, 75), "b": (80, 80), "c": (99, 97.5)}
    assert found["x"]["slice"] == {"Length": ["<=1"], "Type": ["x"]}
    assert found["front"] == ["c"]


def test_a_trade_off_without_better_ends_is_refused(growing: Project) -> None:
    bare = {"name": "tokens", "unit": None, "direction": None}
    for model in "ab":
        published(growing, model, [[1, 2, 3], [4, 5, 6]], metric=bare, trials=None)
    [error] = trade_off(growing, 422, x="metric:tokens")["errors"]
    assert (error["pointer"], "x_better" in error["detail"]) == ("/x", True)
    assert trade_off(growing, x="metric:tokens", x_better="lower")["x"]["direction"] == "lower"
    [error] = trade_off(growing, 422, x="label:params", y="label:cost")["errors"]
    assert error["pointer"] == "/y"


def test_a_trade_off_in_every_form(three: Project, subtests: pytest.Subtests) -> None:
    for suffix in ("svg", "png", "csv", "txt", "md", "vl.json"):
        with subtests.test(suffix):
            path = f"projects/{three.slug}/trade-offs.{suffix}?experiment=e&x=metric:latency&y=metric:accuracy"
            answer = answered(three, path)
            assert len(answer.data) > 100
            assert three.get(path, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304


def test_rankings_and_comparisons_of_models_are_drawn_with_their_numbers(three: Project) -> None:
    """Each dot and whisker stands where the tick marks say that its number is."""
    asked = {"experiment": "e", "metric": "accuracy"}
    ranked = f"projects/{three.slug}/rankings{{}}?{urlencode(asked)}"
    sides = {"contender_model": "a", "baseline_model": "b"}
    compared = f"projects/{three.slug}/comparisons{{}}?{urlencode(asked | sides)}"
    ranking, models = (answered(three, path.format("")).get_json() for path in (ranked, compared))
    means = [(one["name"], one["mean"], one["mean_interval"]) for one in ranking["ranking"]]
    whole, [single] = models["whole"], models["by_benchmark"]
    gaps = [("over 1 benchmark", whole["difference"], whole["interval"])]
    gaps += [("b", single["test"]["difference"], single["test"]["interval"])]
    for path, rows in ((ranked, means), (compared, gaps)):
        svg = ElementTree.fromstring(answered(three, path.format(".svg")).data)  # noqa: S314 (our own)
        ticks = {
            float((one.text or "").replace("−", "-")): float(one.get("x", ""))
            for one in svg.iter(SVG + "text")
            if is_tick(one)
        }
        (low, left), *_, (high, right) = sorted(ticks.items())
        per = (right - left) / (high - low)
        whiskers = [
            re.findall(r"[\d.]+", one.get("d", "")) for one in svg.iter(SVG + "path") if one.get("stroke-width")
        ]
        drawn = [float(one.get("cx", "")) for one in svg.iter(SVG + "circle")]
        ends = [(float(x), float(end)) for x, _, end in whiskers]
        assert drawn == pytest.approx([left + (value - low) * per for _, value, _ in rows], abs=0.2)
        told = [tuple(left + (one[end] - low) * per for end in ("low", "high")) for _, _, one in rows]
        assert [end for one in ends for end in one] == pytest.approx([end for one in told for end in one], abs=0.2)
        vega = answered(three, path.format(".vl.json")).get_json(force=True)
        assert [(one["name"], one["value"], one["low"]) for one in vega["data"]["values"]] == [
            (name, value, one["low"]) for name, value, one in rows
        ]
        assert answered(three, path.format(".png")).data.startswith(b"\x89PNG")
    grids = {f"{side}": models["by_benchmark"][0][side]["grid"] for side in ("baseline", "contender")}
    answered(three, f"projects/{three.slug}/comparisons.svg?{urlencode(grids)}", 422)


def is_tick(one: ElementTree.Element) -> bool:
    """Whether a text is a number below the axis: one in the middle of where it stands."""
    return one.get("text-anchor") == "middle" and re.fullmatch(r"[−-]?[\d.]+", one.text or "") is not None


def colours(project: Project, **query: Any) -> dict[str, str]:
    """The colour of each name in the SVG; the Vega-Lite specification has the same."""
    asked = urlencode({"experiment": "e", "metric": "accuracy", "along": "Length"} | query, doseq=True)
    root = ElementTree.fromstring(answered(project, f"projects/{project.slug}/lines.svg?{asked}").text)  # noqa: S314 (our own)
    groups = [(one.get("color"), one.find(f"{SVG}text/{SVG}title")) for one in root.iter(f"{SVG}g")]
    found = {str(title.text): str(colour) for colour, title in groups if title is not None}
    scale = answered(project, f"projects/{project.slug}/lines.vl.json?{asked}").get_json()["encoding"]["color"]["scale"]
    assert found == dict(zip(scale["domain"], scale["range"], strict=True))
    return found


def test_a_name_keeps_its_colour_when_others_join_or_are_filtered_away(project: Project) -> None:
    for model in ("m", "k", "z"):
        published(project, model, [[90, 80, 70], [70, 60, 50]])
    three = colours(project)
    assert len(set(three.values())) == 3
    for model in ("a", "n"):
        published(project, model, [[90, 80, 70], [70, 60, 50]])
    five = colours(project)
    assert {name: five[name] for name in three} == three
    assert len(set(five.values())) == 5
    assert colours(project, model=["a", "z"]) == {name: five[name] for name in ("a", "z")}


PICTURES = {
    "heatmap.svg": "image/svg+xml",
    "heatmap.png": "image/png",
    "heatmap.vl.json": "application/vnd.vegalite.v6+json",
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_sent_once_until_something_in_it_changes(project: Project, name: str) -> None:
    path = f"grids/{project.published()['id']}/{name}"
    first, head = project.get(path), project.call("HEAD", path, "reader")
    assert (first.status_code, first.mimetype) == (200, PICTURES[name])
    assert (head.status_code, head.data) == (200, b"")
    for header in ("ETag", "Content-Type", "Content-Length"):
        assert head.headers[header] == first.headers[header]
    again = {"If-None-Match": first.headers["ETag"]}
    assert project.get(path, headers=again).status_code == 304
    assert project.get(f"{path}?palette=blues", headers=again).status_code == 200
    project.house.compute()
    marked = project.get(path, headers=again)
    assert marked.status_code == 200  # now with the set of best cells
    project.published(values=[[1.0, 96.7, 98.3], [None, 100.0, 99.7]])
    assert project.get(path, headers={"If-None-Match": marked.headers["ETag"]}).status_code == 200


def test_an_older_revision_is_drawn_as_it_was_and_promises_no_statistics(project: Project) -> None:
    path = f"grids/{project.published()['id']}/heatmap.svg"
    project.house.compute()
    project.published(values=[[1.0, 96.7, 98.3], [None, 100.0, 99.7]])
    old = project.get(f"{path}?revision=1").text
    for told in ("99.3", "revision 1", "No statistics of just these cells are shown here"):
        assert told in old
    assert "99.3" not in project.get(path).text
    assert project.get(f"{path}?revision=3").status_code == 404


def test_a_picture_that_cannot_be_is_422_at_its_place(project: Project) -> None:
    path = f"grids/{project.published()['id']}/heatmap"
    ranges = [f"range={one}" for one in ("1", "nan,1", "1,2,3", "5,1", "1e999,2")]
    for query in (*ranges, "palette=jet", "theme=blue", "revision=0", "colour=red", "scale=0", "scale=5", "scale=x"):
        name = query.partition("=")[0]
        answer = project.get(f"{path}.{'png' if name == 'scale' else 'svg'}?{query}")
        assert (answer.status_code, answer.get_json()["errors"][0]["pointer"]) == (422, f"/{name}"), query
