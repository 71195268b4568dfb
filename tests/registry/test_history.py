"""What cells were at each revision: values as they were posted, holes as holes, and nothing of other cells."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import binomtest

from tests.house import House, Project, publication


def history(project: Project, grid: str, query: str = "", status: int = 200) -> dict[str, Any]:
    answer = project.get(f"grids/{grid}/history{query}")
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.get_json()
    return found


@pytest.fixture(scope="module")
def project(house: House) -> Project:
    return house.make_project()


@pytest.fixture(scope="module")
def revised(project: Project) -> str:
    """Three revisions: Type 2, Length 1 was 100, then 20, then nobody's; Length 3 came with the third."""
    grid = str(project.published()["id"])
    project.published(values=[[99.3, 96.7, 98.3], [None, 20.0, 99.7]])
    axes = [publication()["axes"][0], {"name": "Length", "kind": "numeric", "levels": [0, 1, 2, 3]}]
    project.published(axes=axes, values=[[99.3, 96.7, 98.3, 50.0], [None, None, 99.7, None]])
    return grid


def test_a_cell_is_told_at_each_revision_newest_first(project: Project, revised: str) -> None:
    found = history(project, revised, "?at.Type=2&at.Length=1")
    assert [(one["revision"], [cell["value"] for cell in one["cells"]]) for one in found["items"]] == [
        (3, []), (2, [20.0]), (1, [100.0]),
    ]  # fmt: skip
    cell = found["items"][1]["cells"][0]
    wilson = binomtest(60, 300).proportion_ci(method="wilson")
    assert (cell["at"], cell["trials"]) == ({"Type": "2", "Length": 1}, 300)
    assert [cell["ci_low"], cell["ci_high"]] == pytest.approx([100 * wilson.low, 100 * wilson.high])
    assert found["next"] is None
    later = history(project, revised, "?at.Length=3")["items"]
    assert [[cell["value"] for cell in one["cells"]] for one in later] == [[50.0], [], []]


def test_history_is_read_in_pages(project: Project, revised: str) -> None:
    first = project.get(f"grids/{revised}/history?limit=2&at.Type=1&at.Length=0")
    assert [one["revision"] for one in first.get_json()["items"]] == [3, 2]
    assert f"cursor={first.get_json()['next']}" in first.headers["Link"]
    rest = history(project, revised, f"?limit=2&at.Type=1&at.Length=0&cursor={first.get_json()['next']}")
    assert ([one["revision"] for one in rest["items"]], rest["next"]) == ([1], None)


def test_a_grid_of_many_cells_needs_a_slice(project: Project) -> None:
    levels = list(range(40))
    axes = [{"name": name, "kind": "numeric", "levels": levels} for name in "xy"]
    grid = project.published(model="many", axes=axes, values=[[1.0] * 40] * 40, trials=None)["id"]
    refused = project.get(f"grids/{grid}/history")
    assert refused.status_code == 422
    assert "1,600 cells; choose at most 1,000" in refused.text
    assert len(history(project, grid, "?at.x=<=20")["items"][0]["cells"]) == 840


def test_what_is_not_there_is_named(project: Project, revised: str) -> None:
    for query in ("at.Type=9", "at.Kind=1", "limit=101", "cursor=x", "a=1"):
        refused = project.get(f"grids/{revised}/history?{query}")
        pointers = [one["pointer"] for one in refused.get_json()["errors"]]
        assert (refused.status_code, pointers) == (422, [f"/{query.partition('=')[0]}"])
