"""One grid by its names: an address that can be written by hand reads it, and says what it could not tell apart."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.house import House, Project

NAMES = {"experiment": "type-by-length", "model": "Qwen-2.5 3B"}
AT_ONCE = {"Prefer": "wait=0"}


def at(project: Project, part: str = "", /, **query: str) -> str:
    return f"projects/{project.slug}/grid{part}?{urlencode(query)}"


@pytest.fixture(scope="module")
def project(house: House) -> Project:
    """Three grids, of which a name, a variant or a label tells one."""
    made = house.make_project()
    made.published(labels={"seed": "1"})
    made.published(model="other", labels={"seed": "2"})
    made.published(model="other", variant="CoT")
    house.compute()
    return made


@pytest.fixture(scope="module")
def grid(project: Project) -> str:
    [one] = project.get(f"projects/{project.slug}/grids?label.seed=1").get_json()["items"]
    return str(one["id"])


def test_a_grid_and_what_is_below_it_are_read_by_names(project: Project, grid: str) -> None:
    for part in ("", ".md", "/cells.csv", "/heatmap.svg", "/badge.svg", "/statistics"):
        rest = {"part": "thresholds", "value": "90"} if part == "/statistics" else {}
        here = f"/api/v1/grids/{grid}{part}" + (f"?{urlencode(rest)}" if rest else "")
        # A tag of the grid says nothing of which grid the names mean now.
        answer = project.get(at(project, part, **NAMES, **rest), headers=AT_ONCE | {"If-None-Match": "*"})
        assert (answer.headers["Content-Location"], answer.headers["Cache-Control"]) == (here, "no-store")
        direct = project.get(here, headers=AT_ONCE)
        assert (answer.status_code, answer.data) == (direct.status_code, direct.data)
    assert project.get(at(project, **{"label.seed": "1"})).get_json()["id"] == grid
    told = {"label.seed": "1", "along": "Length", "at.Type": "1"}
    answer = project.get(at(project, "/statistics", **NAMES, **told), headers=AT_ONCE)
    assert answer.headers["Location"] == f"/api/v1/grids/{grid}/statistics?along=Length&at.Type=1"
    answer = project.get(at(project, "/statistics.csv", **NAMES, **told), headers=AT_ONCE)
    assert answer.status_code == 503  # a table says no "pending"
    assert project.get(at(project, "/nothing", **NAMES)).status_code == 404


def test_a_grid_is_amended_by_names_and_deleted_by_the_id_that_they_tell(house: House) -> None:
    project = house.make_project()
    grid = project.published()["id"]
    sent, once = {"cells": [{"at": {"Type": "2", "Length": 0}, "value": 50.0}]}, {"Idempotency-Key": "once"}
    assert project.call("PATCH", at(project, "/cells", **NAMES), "reader", json=sent).status_code == 403
    for replayed in (None, "true"):
        answer = project.call("PATCH", at(project, "/cells", **NAMES), json=sent, headers=once)
        assert (answer.get_json()["id"], answer.get_json()["revision"]) == (grid, 2)
        assert answer.headers.get("Idempotent-Replayed") == replayed
    answer = project.call("DELETE", at(project, **NAMES))
    assert (answer.status_code, "GET" in answer.headers["Allow"]) == (405, True)


def test_several_grids_or_none_are_told_with_what_there_is(project: Project, grid: str) -> None:
    answer = project.get(at(project, model="other"))
    differ = '2 grids have these names; they differ in variant ("Baseline", "CoT"). Name one.'
    assert (answer.status_code, answer.get_json()["detail"]) == (409, differ)
    answer = project.get(at(project, model="Qwen", experiment="type-by-length"))
    none = 'No grid has the model "Qwen"; there is "Qwen-2.5 3B", "other".'
    assert (answer.status_code, answer.get_json()["detail"]) == (404, none)
    both = project.get(at(project, model="Qwen-2.5 3B", variant="CoT"))
    assert (both.status_code, "at once" in both.text) == (404, True)
    assert project.get(at(project, model="a\x01")).status_code == 422


def test_aliases_join_names_here_too(project: Project, grid: str) -> None:
    joined = {"kind": "model", "alias": "Q3", "name": "Qwen-2.5 3B"}
    project.call("POST", f"projects/{project.slug}/aliases", "admin", json=joined)
    assert project.get(at(project, model="Q3")).get_json()["id"] == grid
    again = project.published(model="Q3")["id"]
    for model, read in (("Q3", again), ("Qwen-2.5 3B", grid)):
        assert project.get(at(project, model=model)).get_json()["id"] == read, "the one that has this very name"
    project.call("DELETE", f"grids/{again}")


def test_strangers_learn_no_id_and_a_share_of_the_project_reads_it(house: House, project: Project, grid: str) -> None:
    assert house.call("GET", at(project, **NAMES)).status_code == 401
    assert house.make_project().get(at(project, **NAMES)).status_code == 404
    home = {"path": f"/api/v1/projects/{project.slug}"}
    url = project.call("POST", f"projects/{project.slug}/shares", "admin", json=home).get_json()["url"]
    share = url.partition("?share=")[2]
    answer = house.call("GET", at(project, "/heatmap.svg", **NAMES, share=share))
    assert answer.status_code == 200
    assert answer.headers["Content-Location"] == f"/api/v1/grids/{grid}/heatmap.svg"
