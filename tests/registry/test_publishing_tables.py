"""Publishing a table: CSV, tidy or a pivot, and a Markdown pipe table, with the identity in the query."""

import gzip
from hashlib import sha256
from typing import Any

import pytest
from werkzeug.test import TestResponse

from registry.api import examples
from registry.importers import delimited
from registry.importers.imported_grid import Overrides
from registry.importers.source import Source
from tests.house import House, Project, publication

NAMES = {"experiment": "e", "benchmark": "b", "model": "m", "metric": "accuracy"}
PERCENT = {"unit": "%", "direction": "higher", "lower": "0", "upper": "100"}
METRIC = {"name": "m", "lower": 0, "upper": 100}
PIVOT = "Type,0,1,2\n1,99.3,96.7,98.3\n2,,100.0,99.7\n"
TIDY = "Type,Length,value,trials\n1,0,99.3,300\n1,1,96.7,300\n1,2,98.3,300\n2,1,100.0,300\n2,2,99.7,300\n"
PIPES = """\
| Type | Length 0 | Length 1 | Length 2 |
| :--- | :--- | :--- | :--- |
| **1** | 99.3 | 96.7 | 98.3 |
| **2** | | 100.0 | 99.7 |
"""


def post(project: Project, body: str | bytes, media: str = "text/csv", **query: Any) -> TestResponse:
    data = body.encode() if isinstance(body, str) else body
    path = f"projects/{project.slug}/grids"
    return project.call("POST", path, data=data, content_type=media, query_string={**NAMES, **query})


def values(project: Project, answer: TestResponse) -> Any:
    return project.get(f"grids/{answer.get_json()['id']}").get_json()["values"]


EXPECTED = [[99.3, 96.7, 98.3], [None, 100.0, 99.7]]
SHOWN: dict[str, tuple[str, str, dict[str, str]]] = {
    "pivot": (PIVOT, "text/csv", {"columns": "Length"}),
    "CRLF": (PIVOT.replace("\n", "\r\n"), "text/csv; charset=utf-8", {"columns": "Length"}),
    "tabs": (PIVOT.replace(",", "\t"), "text/csv", {"columns": "Length"}),
    "semicolons": (PIVOT.replace(",", ";"), "text/csv", {"columns": "Length"}),
    "corner": (PIVOT.replace("Type", "Type / Length"), "text/csv", {}),
    "tidy": (TIDY, "text/csv", {}),
    "quoted": ('"Type"' + TIDY.removeprefix("Type"), "text/csv", {}),
    "pipes": (PIPES, "text/markdown", {}),
    "pipes with named axes": (PIPES.replace("Length ", ""), "text/markdown", {"rows": "Type", "columns": "Length"}),
}
BOM = b"\xef\xbb\xbf"


def test_a_table_becomes_the_grid_that_it_shows(house: House, subtests: pytest.Subtests) -> None:
    """A byte order mark, or two, is no part of the first heading."""
    for case, (body, media, query) in SHOWN.items():
        project = house.make_project()
        with subtests.test(case):
            answer = post(project, body, media, nominal="Type", **PERCENT, **query)
            assert answer.status_code == 201, answer.text
            grid = answer.get_json()
            assert grid["axes"] == [
                {"name": "Type", "kind": "nominal", "levels": ["1", "2"], "unit": None, "scale": "linear"},
                {"name": "Length", "kind": "numeric", "levels": [0, 1, 2], "unit": None, "scale": "linear"},
            ]
            assert grid["metric"] == {
                "name": "accuracy", "unit": "%", "direction": "higher", "lower": 0.0, "upper": 100.0,
            }  # fmt: skip
            assert grid["warnings"] == []
            assert values(project, answer) == EXPECTED
            for mark in (BOM, BOM + BOM):
                again = post(project, mark + body.encode(), media, nominal="Type", **PERCENT, **query)
                assert (again.status_code, again.get_json()["digest"]) == (200, grid["digest"])


def test_the_same_content_as_json_and_as_a_table_is_one_revision(project: Project) -> None:
    first = post(project, PIVOT, columns="Length", nominal="Type", trials=300, **PERCENT)
    sent = {
        **{name: NAMES[name] for name in ("experiment", "benchmark", "model")},
        "metric": {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100},
        "axes": [{"name": "Type", "levels": ["1", "2"]}, {"name": "Length", "levels": [0, 1, 2]}],
        "values": EXPECTED,
        "trials": 300,
    }
    second = project.publish(sent)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.get_json()["digest"] == second.get_json()["digest"]


def test_nothing_is_guessed_over_the_wire_and_a_dry_run_stores_nothing(project: Project) -> None:
    answer = post(project, PIPES, "text/markdown", dry_run="true")
    assert (answer.status_code, answer.get_json()["shape"]) == (200, [2, 3])
    unknown = {"unit": None, "direction": None, "lower": None, "upper": None}
    assert answer.get_json()["metric"] == {"name": "accuracy"} | unknown
    assert "Location" not in answer.headers
    assert project.get(f"projects/{project.slug}/grids").get_json()["items"] == []


def test_a_row_that_comes_twice_is_repeats_of_one_cell(project: Project) -> None:
    answer = post(project, "Length,value\n0,1\n0,2\n1,5\n")
    grid = project.get(f"grids/{answer.get_json()['id']}").get_json()
    assert grid["values"] == [1.5, 5.0]
    assert grid["repeats"] == [2, None]
    assert grid["sd"][0] == pytest.approx(0.7071067811865476, rel=1e-15)
    [warning] = answer.get_json()["warnings"]
    assert (warning["code"], warning["detail"][:10]) == ("repeats_read", "1 coordina")


def test_a_column_has_its_meaning_or_is_an_axis(project: Project) -> None:
    metric = post(project, "T,lower,upper,value\na,-1,2e1,5\n").get_json()["metric"]
    assert (metric["lower"], metric["upper"]) == (-1, 20)
    for name in ("grid", "Revision"):
        grid = post(project, f"{name},value\na,1\nb,2\n", model=f"a column {name}").get_json()
        assert [(axis["name"], axis["levels"]) for axis in grid["axes"]] == [(name, ["a", "b"])]
    table = "experiment,benchmark,model,variant,metric,unit,value\nE,B,M,V,loss,nats,0.5\n"
    path = f"projects/{project.slug}/grids"
    grid = project.call("POST", path, data=table.encode(), content_type="text/csv").get_json()
    assert [grid[name] for name in ("experiment", "benchmark", "model", "variant")] == ["E", "B", "M", "V"]
    assert (grid["metric"]["name"], grid["metric"]["unit"], grid["axes"]) == ("loss", "nats", [])
    grid = post(project, "Task,value\n'=1+1,1\n'-x,2\n-3,4\n", model="quoted against formulas").get_json()
    assert grid["axes"][0]["levels"] == ["=1+1", "-x", "-3"]


FED: dict[str, dict[str, Any]] = {
    "nominal and numeric": {},
    "ordinal": {"axes": [{"name": "Size", "kind": "ordinal", "levels": ["s", "m"]}], "values": [1, 2]},
    "labels with numbers": {
        "axes": [{"name": "Size", "kind": "numeric", "levels": [{"label": "7b", "number": 7e9}, 5]}], "values": [1, 2]
    },
    "an axis called like a column": {"axes": [{"name": "model", "levels": ["a", "b"]}], "values": [1, 2]},
    "formulas": {"axes": [{"name": "+x", "levels": ["=1", "-y"]}], "values": [1, 2]},
    "no axes": {"axes": [], "values": 5},
    "a protocol": {"axes": [], "values": 5, "protocol": {"harness": "a, \"b\"", "shots": 5, "cot": True}},
    "an axis called protocol": {"axes": [{"name": "protocol", "levels": ["a", "b"]}], "values": [1, 2],
                                "protocol": {"shots": 5}},
}  # fmt: skip


def test_the_registrys_own_csv_can_be_posted_back(project: Project, subtests: pytest.Subtests) -> None:
    path, query = f"projects/{project.slug}/grids", {"lower": "0", "upper": "100"}
    for case, given in FED.items():
        with subtests.test(case):
            metric = {"name": "m", "lower": 0, "upper": 100}
            grid = project.published(metric=metric, model=case, **given)
            table = project.get(f"grids/{grid['id']}/cells.csv").data
            told = query | ({"ordinal": "Size"} if case == "ordinal" else {})
            answer = project.call("POST", path, data=table, content_type="text/csv", query_string=told)
            assert answer.status_code in (200, 201), answer.text
            again = answer.get_json()
            lost = " ".join(one["detail"] for one in again["warnings"] if one["code"] == "left_out")
            for word in ("labels", "units and scales", "order", "levels", "reasons", "design_effect", "derived"):
                assert word in lost
            assert (again["id"], again["axes"]) == (grid["id"], grid["axes"])
            assert again.get("protocol") == grid.get("protocol")
            assert values(project, answer) == project.get(f"grids/{grid['id']}?revision=1").get_json()["values"]


WRITTEN = {
    "93.1%": "93.1",
    "1,234,567": "1234567",
    "71.2 ± 0.4": "71.2",
    "93.1*": "93.1",
    "−5": "-5",
    "~0.1 (3)": "0.1",
}


def test_a_number_written_for_people_is_refused_with_the_one_that_push_reads(project: Project) -> None:
    for written, plain in WRITTEN.items():
        sent = f'Type,value\na,"{written}"\nb,1\n'
        faults = post(project, sent, metric="score").get_json()["errors"]
        assert faults == [{"pointer": "/line/2/column/2", "detail": f'"{written}" is not a number; write {plain}'}]
        [read] = delimited.read(Source("a file", given=sent.encode()), Overrides(metric="score"))
        grid = post(project, sent.replace(written, plain), metric="score").get_json()["id"]
        assert project.get(f"grids/{grid}").get_json()["values"] == read.submission["values"] == [float(plain), 1.0]
        axes = [{"name": "Type", "levels": ["a"]}]
        [fault] = project.publish(publication(axes=axes, values=[written], trials=None)).get_json()["errors"]
        assert fault == {"pointer": "/values/0", "detail": 'must be a finite number or null: 93.1, not "93.1%"'}


def test_a_slice_is_published_in_no_form(project: Project) -> None:
    axes = [{"name": name, "kind": "nominal", "levels": ["a", "b"]} for name in ("Type", "slice")]
    grid = project.published(axes=axes, values=[[1, 2], [3, 4]], trials=None, metric=METRIC)
    path = f"projects/{project.slug}/grids"
    one, every = f"grids/{grid['id']}", f"projects/{project.slug}/cells"
    for read, media, told in (
        (f"{one}.json", "application/json", {}), (f"{one}/cells.json", "application/json", {}),
        (f"{one}.md", "text/markdown", NAMES | PERCENT),
        *((f"{table}.csv", "text/csv", PERCENT) for table in (f"{one}/cells", every)),
    ):  # fmt: skip
        cut = project.get(f"{read}?at.Type=a").data
        answer = project.call("POST", path, data=cut, content_type=media, query_string=told)
        assert answer.status_code == 422, (read, answer.text)
    bounds = {"lower": "0", "upper": "100"}
    whole = project.get(f"{one}/cells.csv").data
    answer = project.call("POST", path, data=whole, content_type="text/csv", query_string=bounds)
    assert (answer.status_code, answer.get_json()["axes"]) == (200, grid["axes"])


def test_what_is_doubted_is_told_at_its_place(project: Project) -> None:
    warnings = post(project, "# A title\n\n" + PIPES, "text/markdown").get_json()["warnings"]
    assert [one["code"] for one in warnings] == ["text_left_out"]
    [warning] = post(project, TIDY.replace("96.7", "96.6"), nominal="Type", **PERCENT).get_json()["warnings"]
    assert (warning["code"], warning["pointer"]) == ("off_lattice", "/line/3/column/3")


def test_the_examples_of_the_document_can_be_sent(house: House) -> None:
    for body, media, query in (
        (examples.GRID_TIDY, "text/csv", {}),
        (examples.GRID_PIVOT, "text/csv", {"columns": "Length"}),
        (examples.GRID_PIPES, "text/markdown", {}),
    ):
        assert post(house.make_project(), body, media, **PERCENT, **query).status_code == 201, body


def test_what_is_sent_as_something_else_is_told_how_to_send_it(project: Project) -> None:
    answer = project.publish(None, query_string={"model": "x", "rows": "Type"})
    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.get_json()["errors"]] == ["/model", "/rows"]
    answer = post(project, PIVOT, "application/x-www-form-urlencoded")  # by curl, unasked
    assert answer.status_code == 415
    for word in ("application/json", "text/csv", "text/markdown", "curl -d"):
        assert word in answer.get_json()["detail"]


@pytest.mark.parametrize(("body", "media", "form"), [(TIDY, "text/csv", "csv"), (PIPES, "text/markdown", "markdown")])
def test_a_table_is_the_source_of_its_grid(project: Project, body: str, media: str, form: str) -> None:
    answer = post(project, body, media, **PERCENT, source_name="results/März.csv")
    digest = sha256(body.encode()).hexdigest()
    wanted = {"format": form, "name": "results/März.csv", "sha256": digest}
    assert project.get(f"grids/{answer.get_json()['id']}").get_json()["source"] == wanted
    packed = project.call(
        "POST", f"projects/{project.slug}/grids", data=gzip.compress(body.encode()), content_type=media,
        query_string={**NAMES, **PERCENT, "model": "other"}, headers={"Content-Encoding": "gzip"},
    )  # fmt: skip
    assert packed.get_json()["source"] == {"format": form, "sha256": digest}, "of the table, not of how it was sent"
    assert post(project, body, media, source_name="a\nb").status_code == 422
