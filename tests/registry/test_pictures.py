"""Pictures and reports over HTTP: conditional, of the current statistics, in every form."""

from __future__ import annotations

import pytest

from registry.api.pictures import heatmap_as_svg
from registry.renderings.heatmap import panels
from tests.house import Project

PICTURES = {
    "heatmap.svg": "image/svg+xml",
    "heatmap.png": "image/png",
    "heatmap.vl.json": "application/vnd.vegalite.v6+json",
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_sent_once_until_something_in_it_changes(project: Project, name: str) -> None:
    path = f"grids/{project.published()['id']}/{name}"
    first = project.get(path)
    assert first.status_code == 200
    assert first.mimetype == PICTURES[name]
    again = {"If-None-Match": first.headers["ETag"]}
    assert project.get(path, headers=again).status_code == 304
    assert project.get(f"{path}?palette=blues", headers=again).status_code == 200
    project.house.compute()
    marked = project.get(path, headers=again)
    assert marked.status_code == 200  # now with the set of best cells
    project.published(values=[[1.0, 96.7, 98.3], [None, 100.0, 99.7]])
    assert project.get(path, headers={"If-None-Match": marked.headers["ETag"]}).status_code == 200


@pytest.mark.parametrize("name", PICTURES)
def test_head_says_what_get_would(project: Project, name: str) -> None:
    path = f"grids/{project.published()['id']}/{name}"
    got, head = project.get(path), project.call("HEAD", path, "reader")
    assert head.status_code == 200
    assert head.data == b""
    for header in ("ETag", "Content-Type", "Content-Length"):
        assert head.headers[header] == got.headers[header]


def test_an_older_revision_is_drawn_as_it_was(project: Project) -> None:
    grid = project.published()["id"]
    project.published(values=[[1.0, 96.7, 98.3], [None, 100.0, 99.7]])
    old = project.get(f"grids/{grid}/heatmap.svg?revision=1").text
    assert "99.3" in old
    assert "revision 1" in old
    assert "99.3" not in project.get(f"grids/{grid}/heatmap.svg").text
    assert project.get(f"grids/{grid}/heatmap.svg?revision=3").status_code == 404


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("palette=jet", "/palette"),
        ("theme=blue", "/theme"),
        ("range=1", "/range"),
        ("range=nan,1", "/range"),
        ("range=1,2,3", "/range"),
        ("range=5,1", "/range"),
        ("range=1e999,2", "/range"),
        ("revision=0", "/revision"),
        ("colour=red", "/colour"),
    ],
)
def test_a_picture_that_cannot_be_is_422_at_its_place(project: Project, query: str, pointer: str) -> None:
    answer = project.get(f"grids/{project.published()['id']}/heatmap.svg?{query}")
    assert answer.status_code == 422
    assert answer.get_json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize("scale", ["0", "5", "x"])
def test_a_scale_out_of_bounds_is_422(project: Project, scale: str) -> None:
    answer = project.get(f"grids/{project.published()['id']}/heatmap.png?scale={scale}")
    assert (answer.status_code, answer.get_json()["errors"][0]["pointer"]) == (422, "/scale")


def test_a_report_waits_for_its_statistics_and_then_says_what_they_show(project: Project) -> None:
    path = f"grids/{project.published()['id']}/report"
    assert project.get(path).status_code == 202
    project.house.compute()
    forms = {form: project.get(f"{path}.{form}") for form in ("md", "txt", "html")}
    assert [answer.mimetype for answer in forms.values()] == ["text/markdown", "text/plain", "text/html"]
    for answer in forms.values():
        assert "5 of 6 cells were measured (83 %)." in answer.text
        assert "Never measured: Type 2, Length 0." in answer.text
        assert "100.0: Type 2, Length 1." in answer.text
        tag = {"If-None-Match": answer.headers["ETag"]}
        assert project.get(answer.request.path, headers=tag).status_code == 304
    assert project.get(path).data == forms["md"].data
    assert project.get(path, headers={"Accept": "text/html,*/*;q=0.8"}).data == forms["html"].data


def test_a_report_claims_nothing_that_noise_explains(project: Project) -> None:
    levels = [{"name": "Length", "kind": "numeric", "levels": [0, 1, 2, 3, 4]}]
    grid = project.published(axes=levels, values=[80.0, 81.0, 79.0, 80.5, 79.5], trials=200)["id"]
    project.house.compute()
    said = " ".join(project.get(f"grids/{grid}/report.txt").text.split())
    assert "The grid: no trend was shown (change: 95 % interval" in said
    assert "or more would have been seen with power 80 %." in said
    assert "No step was shown to be sharp." in said
    assert "this one is not higher, so it proves nothing by itself." in said
    for claim in ("grid falls", "grid rises", "is level", "a bend at", "this one is higher"):
        assert claim not in said


def test_a_report_names_the_trend_the_break_and_their_uncertainty(project: Project) -> None:
    levels = [{"name": "Length", "kind": "numeric", "levels": [0, 1, 2, 3, 4, 5]}]
    grid = project.published(axes=levels, values=[99.0, 98.5, 98.0, 80.0, 79.0, 78.5], trials=200)["id"]
    project.house.compute()
    said = " ".join(project.get(f"grids/{grid}/report.txt").text.split())
    assert "The grid falls, from 99.0 at 0 to 78.5 at 5 (6 cells); fitted change -2" in said
    assert "Sharp: -18 from Length 2 to 3, 95 % interval" in said
    assert "after Holm over the grid" in said


def test_the_names_in_a_report_are_text_and_not_markup(project: Project) -> None:
    grid = project.published(model="<script>alert(1)</script>")["id"]
    project.house.compute()
    for name in ("report.html", "heatmap.svg"):
        found = project.get(f"grids/{grid}/{name}").text
        assert "<script" not in found
        assert "&lt;script&gt;" in found


def test_the_manual_of_the_picture_has_the_bounds_that_the_picture_has() -> None:
    told = " ".join((heatmap_as_svg.__doc__ or "").split())
    numbers = f"Beyond {panels.MOST_NUMBERS:,} cells or {panels.MOST_NUMBERED_COLUMNS} columns there are no numbers."
    joined = f"{panels.MOST_ROWS} rows, {panels.MOST_COLUMNS} columns or {panels.MOST_BLOCKS:,} cells in all panels"
    assert numbers in told
    assert f"Beyond {joined} neighbouring cells are joined." in told
    assert f"the first {panels.MOST_PANELS} are drawn" in told


def test_the_picture_of_an_older_revision_promises_no_statistics(project: Project) -> None:
    grid = project.published()
    project.house.compute()
    project.published(trials=100)
    picture = project.get(f"grids/{grid['id']}/heatmap.svg?revision=1").get_data(as_text=True)
    assert "No statistics of just these cells are shown here" in picture
