"""Pictures over HTTP: conditional, of the current statistics, in every form."""

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
