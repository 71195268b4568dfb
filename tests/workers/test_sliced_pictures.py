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
WIDE = {"at.Context": ">=8000"}
"""A slice with cells enough for shares of variance."""
SAID = "Only Context at least 64000; nothing else is counted."
PARTS = ["trends", "peaks", "coverage", "changes", "sensitivity", "precision", "thresholds"]


@pytest.fixture(scope="module")
def place(house: House) -> tuple[Project, str, str]:
    """A grid, and in another project the same grid with nothing but the slice; statistics of both are there."""
    project, part = house.make_project(), house.make_project()
    grid = project.published(axes=[TASKS, CONTEXT], values=VALUES, trials=200)["id"]
    cut = [row[2:] for row in VALUES]
    alone = part.published(axes=[TASKS, CONTEXT | {"levels": [64000, 128000]}], values=cut, trials=200)["id"]
    house.compute()
    crossings = {"part": "thresholds", "value": "65"}
    for query in (crossings, AT, AT | crossings, WIDE, WIDE | crossings):
        project.get(f"grids/{grid}/statistics", query_string=query)
    house.compute()
    return project, grid, alone


def both(place: Any, path: str) -> tuple[str, str]:
    """A text of the slice, and of the grid that has nothing else, without what tells the grids apart."""
    project, *grids = place
    texts = []
    for grid, query in zip(grids, (AT, {}), strict=True):
        answer = project.house.call("GET", f"grids/{grid}{path}", token=project.house.operator, query_string=query)
        assert answer.status_code == 200, answer.text
        texts.append(answer.text.replace(grid, "GRID").replace(f"g{grid.replace('-', '')[-8:]}", "G"))
    return texts[0], texts[1]


def test_a_table_says_the_slice_and_is_else_that_of_the_slice_alone(place: Any, subtests: pytest.Subtests) -> None:
    for path in (".md", ".txt"):
        with subtests.test(path):
            mine, alone = both(place, path)
            assert mine.count(SAID) == 1
            assert re.sub(rf"{re.escape(SAID)}\n+", "", mine) == alone


def test_a_picture_of_a_slice_has_the_marks_of_its_own_statistics(place: Any) -> None:
    # What a picture says: its title, its description, and every text in it.
    mine, alone = (re.findall(r"<(?:title|desc|text)[^>]*>([^<]*)<", one) for one in both(place, "/heatmap.svg"))
    assert SAID in mine[1]
    assert "With 95 % confidence no other measured cell is better." in mine[1]
    assert mine[1].replace(f"{SAID} ", "") == alone[1]
    below = [" ".join(mine[2:]), " ".join(alone[2:])]
    assert below[0].replace("Context at least 64000 · ", "") == below[1] != below[0]
    project, grid, _ = place
    vega = project.get(f"grids/{grid}/heatmap.vl.json", query_string=AT).get_json(force=True)
    assert len(vega["data"]["values"]) == 4
    assert vega["title"]["subtitle"][0].startswith("Context at least 64000")


def test_until_its_statistics_are_there_a_picture_leaves_open_what_else_may_be_best(project: Project) -> None:
    grid = project.published(axes=[TASKS, CONTEXT], values=VALUES, trials=200)["id"]
    project.house.compute()
    path, asked = f"grids/{grid}/heatmap.svg", {"at.Task": "sum"}
    before = project.get(path, query_string=asked)
    assert "No statistics of just these cells are shown here" in before.text.replace("</text>", " ")
    project.house.compute()
    after = project.get(path, query_string=asked, headers={"If-None-Match": before.headers["ETag"]})
    assert (after.status_code, "95 % confidence" in after.text) == (200, True)
    again = {"If-None-Match": after.headers["ETag"]}
    assert project.get(path, query_string=asked, headers=again).status_code == 304
    assert project.get(path, headers=again).status_code == 200
    project.published(axes=[TASKS, CONTEXT], values=[[1, 2, 3, 4], [5, 6, 7, 8]], trials=200)
    for path in ("/heatmap.svg", ".md"):
        old = project.get(f"grids/{grid}{path}", query_string=AT | {"revision": 1}).text
        assert "60" in old
        # Neither within a word, such as the id of the grid, nor the confidence of its intervals.
        assert not re.search(r"(?<![\w.-])95(?! %)(?![\w.-])", old), "an older revision is cut too"


def test_json_of_a_slice_says_so_and_is_no_grid_to_publish(place: Any) -> None:
    project, grid, _ = place
    found = project.get(f"grids/{grid}", query_string=AT).get_json()
    assert (found["values"], found["shape"], found["cell_count"]) == ([[60, 55], [70, None]], [2, 2], 3)
    assert found["slice"] == {"Context": [">=64000"]}
    assert "slice" not in project.get(f"grids/{grid}").get_json()
    answer = project.publish(found)
    assert (answer.status_code, answer.get_json()["errors"][0]["pointer"]) == (422, "/slice")


def test_csv_of_a_slices_statistics_says_the_slice_in_every_row(place: Any, subtests: pytest.Subtests) -> None:
    project, grid, _ = place
    for part in PARTS:
        with subtests.test(part):
            more = {"part": part} | ({"value": "65"} if part == "thresholds" else {})
            head, *rows = project.get(f"grids/{grid}/statistics.csv", query_string=WIDE | more).text.splitlines()
            assert head.endswith(",slice")
            assert rows
            assert all(row.endswith(",Context at least 8000") for row in rows)
            assert ",slice" not in project.get(f"grids/{grid}/statistics.csv", query_string=more).text.splitlines()[0]
