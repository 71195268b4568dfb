"""Pictures and reports over HTTP: conditional, of the current statistics, in every form."""

from __future__ import annotations

import pytest

from tests.house import Project

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


def test_a_report_waits_for_its_statistics_and_then_says_what_they_show(project: Project) -> None:
    path = f"grids/{project.published()['id']}/report"
    assert project.get(path, headers={"Prefer": "wait=0"}).status_code == 503
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


def test_a_report_names_a_trend_and_a_break_and_claims_nothing_that_noise_explains(project: Project) -> None:
    noise, falls = (
        project.published(
            model=str(values),
            axes=[{"name": "Length", "kind": "numeric", "levels": list(range(len(values)))}],
            values=values,
            trials=200,
        )["id"]
        for values in ([80.0, 81.0, 79.0, 80.5, 79.5], [99.0, 98.5, 98.0, 80.0, 79.0, 78.5])
    )
    project.house.compute()
    said = " ".join(project.get(f"grids/{noise}/report.txt").text.split())
    assert "The grid: no trend was shown (change: 95 % interval" in said
    assert "or more would have been seen with power 80 %." in said
    assert "No step was shown to be sharp." in said
    assert "this one is not higher, so it proves nothing by itself." in said
    for claim in ("grid falls", "grid rises", "is level", "a bend at", "this one is higher"):
        assert claim not in said
    said = " ".join(project.get(f"grids/{falls}/report.txt").text.split())
    assert "The grid falls, from 99.0 at 0 to 78.5 at 5 (6 cells); fitted change -2" in said
    assert "Sharp: -18 from Length 2 to 3, 95 % interval" in said
    assert "after Holm over the grid" in said


def test_the_names_in_a_report_are_text_and_not_markup(project: Project) -> None:
    grid = project.published(model="<script>alert(1)</script>")["id"]
    project.house.compute()
    for name in ("report.html", "heatmap.svg"):
        found = project.get(f"grids/{grid}/{name}").text
        assert ("<script" in found, "&lt;script&gt;" in found) == (False, True)
