"""One grid by its names: an address that can be written by hand leads to it, and says what it could not tell apart."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.house import House, Project

NAMES = {"experiment": "type-by-length", "model": "Qwen-2.5 3B"}


def at(project: Project, part: str = "", **query: str) -> str:
    return f"projects/{project.slug}/grid{part}?{urlencode(query)}"


@pytest.fixture
def grid(project: Project) -> str:
    made = str(project.published(labels={"seed": "1"})["id"])
    project.published(model="other", labels={"seed": "2"})
    project.published(model="other", variant="CoT")
    project.house.compute()
    return made


@pytest.mark.parametrize("part", ["", ".csv", "/cells.csv", "/trends", "/heatmap.svg", "/badge.svg", "/thresholds"])
def test_names_lead_to_a_grid_and_what_is_below_it(project: Project, grid: str, part: str) -> None:
    rest = {"value": "90"} if part == "/thresholds" else {}
    answer = project.get(at(project, part, **NAMES, **rest))
    assert (answer.status_code, answer.headers["Cache-Control"]) == (307, "no-store")
    location = answer.headers["Location"]
    assert location == f"/api/v1/grids/{grid}{part}" + (f"?{urlencode(rest)}" if rest else "")
    assert project.get(location).status_code in (200, 202)


def test_other_parameters_go_on_and_names_and_labels_do_not(project: Project, grid: str) -> None:
    answer = project.get(at(project, "/trends.csv", **NAMES, **{"label.seed": "1", "along": "Length", "at.Type": "1"}))
    assert answer.headers["Location"] == f"/api/v1/grids/{grid}/trends.csv?along=Length&at.Type=1"
    assert project.get(answer.headers["Location"]).status_code in (200, 202)


def test_a_label_alone_may_tell_a_grid(project: Project, grid: str) -> None:
    assert project.get(at(project, **{"label.seed": "1"})).headers["Location"] == f"/api/v1/grids/{grid}"


def test_cells_are_amended_by_names(project: Project, grid: str) -> None:
    sent = {"cells": [{"at": {"Type": "2", "Length": 0}, "value": 50.0}]}
    answer = project.call("PATCH", at(project, "/cells", **NAMES), json=sent)
    assert (answer.status_code, answer.headers["Location"]) == (307, f"/api/v1/grids/{grid}/cells")
    assert project.call("PATCH", answer.headers["Location"], json=sent).get_json()["revision"] == 2


def test_a_grid_is_deleted_and_restored_by_names_by_who_may_write(project: Project, grid: str) -> None:
    for method, part in (("DELETE", ""), ("POST", "/restore")):
        assert project.call(method, at(project, part, **NAMES), "reader").status_code == 403
    answer = project.call("DELETE", at(project, **NAMES, revision="1"))
    assert (answer.status_code, answer.headers["Location"]) == (307, f"/api/v1/grids/{grid}?revision=1")
    none = project.call("POST", at(project, "/restore", **NAMES))
    assert (none.status_code, none.get_json()["detail"]) == (404, "No deleted grid has these names.")
    assert project.call("DELETE", answer.headers["Location"]).status_code == 204
    again = project.call("POST", at(project, "/restore", **NAMES))
    assert (again.status_code, again.headers["Location"]) == (307, f"/api/v1/grids/{grid}/restore")
    assert project.call("DELETE", at(project, **NAMES)).status_code == 404


def test_several_grids_are_a_conflict_that_says_in_what_they_differ(project: Project, grid: str) -> None:
    answer = project.get(at(project, model="other"))
    assert answer.status_code == 409
    assert (
        answer.get_json()["detail"] == '2 grids have these names; they differ in variant ("Baseline", "CoT"). Name one.'
    )


def test_a_name_that_no_grid_has_is_told_with_what_there_is(project: Project, grid: str) -> None:
    answer = project.get(at(project, model="Qwen", experiment="type-by-length"))
    assert answer.status_code == 404
    assert answer.get_json()["detail"] == 'No grid has the model "Qwen"; there is "Qwen-2.5 3B", "other".'
    both = project.get(at(project, model="Qwen-2.5 3B", variant="CoT"))
    assert (both.status_code, "at once" in both.text) == (404, True)
    assert project.get(at(project, model="a\x01")).status_code == 422


def test_aliases_join_names_here_too(project: Project, grid: str) -> None:
    project.call(
        "POST",
        f"projects/{project.slug}/aliases",
        "admin",
        json={"kind": "model", "alias": "Q3", "name": "Qwen-2.5 3B"},
    )
    assert project.get(at(project, model="Q3")).headers["Location"].endswith(grid)


def test_strangers_learn_no_id_and_a_share_of_the_project_is_carried(house: House, project: Project, grid: str) -> None:
    assert house.call("GET", at(project, **NAMES)).status_code == 401
    assert house.make_project().get(at(project, **NAMES)).status_code == 404
    home = {"path": f"/api/v1/projects/{project.slug}"}
    url = project.call("POST", f"projects/{project.slug}/shares", "admin", json=home).get_json()["url"]
    share = url.partition("?share=")[2]
    answer = house.call("GET", at(project, "/heatmap.svg", **NAMES, share=share))
    assert answer.headers["Location"] == f"/api/v1/grids/{grid}/heatmap.svg?share={share}"
    assert house.call("GET", answer.headers["Location"]).status_code == 200
