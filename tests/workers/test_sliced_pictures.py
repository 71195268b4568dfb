"""Pictures, reports and tables of a slice show what a grid would that has nothing else, and say of what they are."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.house import House, Project

TASKS = {"name": "Task", "kind": "nominal", "levels": ["lookup", "sum"]}
CONTEXT = {"name": "Context", "kind": "numeric", "levels": [1000, 8000, 64000, 128000]}
VALUES = [[95, 80, 60, 55], [90, 85, 70, None]]
AT = {"at.Context": ">=64000"}
SAID = "Only Context at least 64000; nothing else is counted."
PICTURES = ("heatmap.svg", "heatmap.vl.json")


@pytest.fixture(scope="module")
def place(house: House) -> tuple[Project, str, str]:
    """A grid, and in another project the same grid with nothing but the slice; statistics of both are there."""
    project, part = house.make_project(), house.make_project()
    grid = project.published(axes=[TASKS, CONTEXT], values=VALUES, trials=200)["id"]
    cut = [row[2:] for row in VALUES]
    alone = part.published(axes=[TASKS, CONTEXT | {"levels": [64000, 128000]}], values=cut, trials=200)["id"]
    house.compute()
    project.get(f"grids/{grid}/peaks", query_string=AT)
    house.compute()
    return project, grid, part.get(f"grids/{alone}").get_json()["id"]


def both(place: Any, path: str, **more: Any) -> tuple[str, str]:
    """A text of the slice, and of the grid that has nothing else, without what tells the grids apart."""
    project, grid, alone = place
    mine = project.get(f"grids/{grid}/{path}" if path[0] != "." else f"grids/{grid}{path}", query_string=AT | more)
    other = project.house.call(
        "GET", f"grids/{alone}/{path}" if path[0] != "." else f"grids/{alone}{path}", token=project.house.operator,
        query_string=more,
    )  # fmt: skip
    assert (mine.status_code, other.status_code) == (200, 200), mine.text
    return plain(mine.text, grid), plain(other.text, alone)


def texts(picture: str) -> list[str]:
    """What a picture says: its title, its description, and every text in it."""
    return re.findall(r"<(?:title|desc|text)[^>]*>([^<]*)<", picture)


def plain(text: str, grid: str) -> str:
    return text.replace(grid, "GRID").replace(f"g{grid.replace('-', '')[-8:]}", "G")


@pytest.mark.parametrize("path", ["report.md", "report.txt", ".md", ".txt", "cells.md"])
def test_a_table_and_a_report_say_the_slice_and_are_else_those_of_the_slice_alone(place: Any, path: str) -> None:
    mine, alone = both(place, path)
    assert mine.count(SAID) == 1
    assert re.sub(rf"{re.escape(SAID)}\n+", "", mine) == alone


def test_csv_of_a_slice_has_its_cells_alone(place: Any) -> None:
    mine, alone = both(place, ".csv")
    assert mine == alone
    assert len(mine.splitlines()) == 4


def test_a_picture_of_a_slice_has_the_marks_of_its_own_statistics(place: Any) -> None:
    mine, alone = (texts(picture) for picture in both(place, "heatmap.svg"))
    assert SAID in mine[1]
    assert "With 95 % confidence the best is this cell." in mine[1]
    assert mine[1].replace(f"{SAID} ", "") == alone[1]
    below = [" ".join(mine[2:]), " ".join(alone[2:])]
    assert below[0].replace("Context at least 64000 · ", "") == below[1] != below[0]


def test_a_specification_for_vega_is_of_the_slice(place: Any) -> None:
    project, grid, _ = place
    found = project.get(f"grids/{grid}/heatmap.vl.json", query_string=AT).get_json(force=True)
    assert len(found["data"]["values"]) == 4
    assert found["title"]["subtitle"][0].startswith("Context at least 64000")


def test_until_its_statistics_are_there_a_picture_leaves_open_what_else_may_be_best(project: Project) -> None:
    grid = project.published(axes=[TASKS, CONTEXT], values=VALUES, trials=200)["id"]
    project.house.compute()
    path, asked = f"grids/{grid}/heatmap.svg", {"at.Task": "sum"}
    before = project.get(path, query_string=asked)
    assert "No statistics of just these cells are shown here" in before.text.replace("</text>", " ")
    assert project.get(f"grids/{grid}/report.md", query_string=asked).status_code == 202
    project.house.compute()
    after = project.get(path, query_string=asked, headers={"If-None-Match": before.headers["ETag"]})
    assert (after.status_code, "95 % confidence" in after.text) == (200, True)
    assert project.get(f"grids/{grid}/report.md", query_string=asked).status_code == 200
    again = {"If-None-Match": after.headers["ETag"]}
    assert project.get(path, query_string=asked, headers=again).status_code == 304
    assert project.get(path, headers=again).status_code == 200


def test_an_older_revision_is_cut_too(project: Project) -> None:
    grid = project.published(axes=[TASKS, CONTEXT], values=VALUES)["id"]
    project.published(axes=[TASKS, CONTEXT], values=[[1, 2, 3, 4], [5, 6, 7, 8]])
    for path in ("/heatmap.svg", ".md"):
        old = project.get(f"grids/{grid}{path}", query_string=AT | {"revision": 1}).text
        assert "60" in old
        # Neither within a word, such as the id of the grid, nor the confidence of its intervals.
        assert not re.search(r"(?<![\w.-])95(?! %)(?![\w.-])", old)


def test_json_of_a_slice_says_so_and_is_no_grid_to_publish(place: Any) -> None:
    project, grid, _ = place
    found = project.get(f"grids/{grid}", query_string=AT).get_json()
    assert (found["values"], found["shape"], found["cell_count"]) == ([[60, 55], [70, None]], [2, 2], 3)
    assert found["slice"] == {"Context": [">=64000"]}
    assert "slice" not in project.get(f"grids/{grid}").get_json()
    answer = project.publish(found)
    assert (answer.status_code, answer.get_json()["errors"][0]["pointer"]) == (422, "/slice")


@pytest.mark.parametrize("path", ["/heatmap.svg", "/heatmap.png", "/heatmap.vl.json", "/report.md", "", ".csv", ".md"])
def test_a_slice_that_the_grid_lacks_is_refused_with_what_there_is(place: Any, path: str) -> None:
    project, grid, _ = place
    for query, told in ({"at.Context": "5"}, "there are 1000"), ({"at.Depth": "1"}, "there are Task, Context"):
        answer = project.get(f"grids/{grid}{path}", query_string=query)
        [error] = answer.get_json()["errors"]
        assert (answer.status_code, told in error["detail"]) == (422, True), error
    assert project.get(f"grids/{grid}{path}?unknown=1").status_code == 422


@pytest.mark.parametrize("part", ["trends", "peaks", "coverage", "changes", "sensitivity", "precision", "thresholds"])
def test_csv_of_a_slices_statistics_says_the_slice_in_every_row(place: Any, part: str) -> None:
    project, grid, _ = place
    more = {"value": "65"} if part == "thresholds" else {}
    for _ in range(3):
        answer = project.get(f"grids/{grid}/{part}.csv", query_string=AT | more)
        project.house.compute()
    head, *rows = answer.text.splitlines()
    assert head.endswith(",slice")
    assert rows
    assert all(row.endswith(",Context at least 64000") for row in rows)
    assert ",slice" not in project.get(f"grids/{grid}/{part}.csv", query_string=more).text.splitlines()[0]
