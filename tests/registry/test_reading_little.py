"""Which statements read cells: those for one grid whose cells are wanted, and no list."""

from __future__ import annotations

import re
from typing import Any

import pytest

from registry.operations.stored_grids import CELLS
from tests.house import Project
from tests.recorder import statements

READS_CELLS = re.compile(rf'SELECT\b.*\brevisions\."?({"|".join(CELLS)})\b', re.DOTALL)


def reading_cells(seen: list[str]) -> list[str]:
    return [one for one in seen if READS_CELLS.search(one)]


LISTS = (
    "/api/v1/projects/{project}/grids",
    "/api/v1/projects/{project}/grids?experiment=type-by-length&sort=model",
    "/api/v1/projects/{project}/models",
    "/api/v1/grids/{grid}/revisions",
    "/api/v1/grids/{grid}/thresholds?value=90",
    "/api/v1/projects/{project}/rankings?experiment=type-by-length&metric=accuracy",
    "/projects/{project}",
    "/projects/{project}/rankings?experiment=type-by-length&metric=accuracy",
    "/projects/{project}/comparisons",
)


@pytest.mark.parametrize("path", LISTS)
def test_a_list_reads_no_cells(house: Any, path: str) -> None:
    project: Project = house.make_project("public")
    grid = project.published()["id"]
    with statements() as seen:
        answer = project.get(path.format(project=project.slug, grid=grid))
    assert answer.status_code in (200, 202)
    assert seen
    assert reading_cells(seen) == []


def test_the_page_of_a_grid_reads_the_cells_of_that_grid_and_of_its_baseline(house: Any) -> None:
    project: Project = house.make_project("public")
    first, second = (project.published(model=model)["id"] for model in "ab")
    for query, reads in (("", 1), (f"?show=difference&baseline={second}", 2)):
        with statements() as seen:
            assert project.get(f"/grids/{first}{query}").status_code == 200
        assert len(reading_cells(seen)) == reads


def test_writing_what_is_there_already_and_deleting_read_no_cells(project: Project) -> None:
    grid = project.published()["id"]
    with statements() as seen:
        assert project.publish().status_code == 200
        assert project.call("DELETE", f"grids/{grid}").status_code == 204
    assert reading_cells(seen) == []


def test_amending_reads_the_cells_once(project: Project) -> None:
    grid = project.published()["id"]
    with statements() as seen:
        sent = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 5}]}
        assert project.call("PATCH", f"grids/{grid}/cells", json=sent).status_code == 200
    assert len(reading_cells(seen)) == 1
