"""The page of a table: the form answers what it offers, holes are hatched, and hundreds of models stay readable."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.house import Project
from tests.pages.conftest import Browser, Demo, Outline

METRIC = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}
ASKED = "/projects/demo/aggregates?experiment=window-by-ratio&metric=Pass%401"


def computed(demo: Demo, guest: Browser, path: str) -> Outline:
    guest.get(path)
    demo.house.compute()
    return guest.read(path)


def opened(project: Project, sent: list[tuple[str, str, Any]]) -> str:
    """The address of the table of a public project with these scores."""
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    grids = [
        {"experiment": "e", "model": model, "benchmark": benchmark, "metric": METRIC, "axes": [], "values": value}
        for model, benchmark, value in sent
    ]
    for one in grids:
        assert project.publish(one).status_code == 201
    return f"/projects/{project.slug}/aggregates?experiment=e&metric=accuracy"


def test_the_table_is_models_by_benchmarks_with_intervals_and_what_was_left_out(demo: Demo, guest: Browser) -> None:
    page = computed(demo, guest, ASKED)
    assert "Compared on the 8 of 20 slots that every entry has; 12 slots with 48 measured cells left out." in page.text
    assert re.search(r"R1-Qwen 44\.91 4\d\.\d\d–4\d\.\d\d", page.text)
    tips = [given["title"] or "" for tag, given in page.attributes if tag == "td"]
    assert len(tips) == 8
    assert all("95 % interval" in tip and "8 slots" in tip for tip in tips)


def test_the_foot_of_a_project_and_the_form_of_an_experiment_lead_to_it(demo: Demo, guest: Browser) -> None:
    links = [given.get("href") or "" for _, given in guest.read("/projects/demo").attributes]
    assert "/projects/demo/aggregates" in links
    links = [
        given.get("href") or "" for _, given in guest.read("/projects/demo/experiments/window-by-ratio").attributes
    ]
    assert [one for one in links if one.startswith("/projects/demo/aggregates?experiment=window-by-ratio")]


def test_without_an_experiment_it_offers_what_there_is_and_each_is_answered(demo: Demo, guest: Browser) -> None:
    page = guest.read("/projects/demo/aggregates")
    links = [given["href"] for _, given in page.attributes if "/aggregates?experiment=" in (given.get("href") or "")]
    assert len(links) == 3  # the demonstration has three experiments of one metric each
    for link in links:
        assert guest.get(str(link)).status_code == 200, link


def test_axes_are_rows_and_columns_and_a_third_dimension_makes_several_tables(demo: Demo, guest: Browser) -> None:
    path = f"{ASKED}&group_by=model&group_by=axis:Ratio&group_by=axis:Local%20Window%20Size"
    page = computed(demo, guest, path)
    assert [tag for tag, _ in page.attributes].count("table") == 2
    assert "model R1-Llama" in page.text
    kinds = [given["class"] for tag, given in page.attributes if tag == "td"]
    assert kinds.count("bare") == 12
    assert "12 entries have no cell" in page.text


def test_a_single_dimension_is_a_column_of_its_values(demo: Demo, guest: Browser) -> None:
    page = computed(demo, guest, f"{ASKED}&group_by=benchmark&over=model")
    assert "Mean of Pass@1 (%) by benchmark" in page.text
    assert len([given for tag, given in page.attributes if tag == "td"]) == 4


def test_nothing_shared_is_said_with_a_way_on(project: Project, visitor: Browser) -> None:
    path = opened(project, [("a", "x", 50.0), ("b", "y", 60.0), ("b", "z", 60.0), ("c", "z", 1.0)])
    path += "&group_by=model"
    visitor.get(path)
    project.house.compute()
    page = visitor.read(path)
    assert "There is no table: no slot was measured for every entry." in page.text
    assert "Without a the others share 1 slot." in page.text
    assert not [tag for tag, given in page.attributes if tag == "table"]
    [on] = [given["href"] for _, given in page.attributes if "missing=available" in (given.get("href") or "")]
    visitor.get(str(on))
    project.house.compute()
    assert "not comparable" in visitor.read(str(on)).text


@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        ("&group_by=axis:Nope", 422, 'no grid of this experiment has the axis "Nope"'),
        ("&group_by=model&over=model", 422, '"model" is grouped by already'),
        ("&model=nobody", 422, 'no grid of this experiment has the model "nobody"'),
        ("&from=x", 422, "is the number of a row, from 0"),
    ],
)
def test_wrong_questions_are_told(demo: Demo, guest: Browser, query: str, status: int, told: str) -> None:
    computed(demo, guest, ASKED)
    assert told in guest.read(ASKED + query, status).text


def test_an_experiment_that_is_not_there_is_404(demo: Demo, guest: Browser) -> None:
    guest.read("/projects/demo/aggregates?experiment=nope&metric=Pass%401", 404)


def test_three_hundred_models_are_shown_some_rows_at_a_time_in_60_kb(project: Project, visitor: Browser) -> None:
    path = opened(project, [])
    tasks = [{"name": "Task", "kind": "nominal", "levels": [f"task {j:02d}" for j in range(40)]}]
    names = {"experiment": "e", "benchmark": "b", "metric": METRIC, "axes": tasks}
    grids = [
        names | {"model": f"model {i:03d}", "values": [(7 * i + 3 * j) % 101 for j in range(40)]} for i in range(300)
    ]
    assert project.call("POST", f"projects/{project.slug}/grids/batch", json=grids).get_json()["failed"] == 0
    path += "&group_by=model&group_by=axis:Task"
    visitor.get(path)
    project.house.compute()
    seen: list[str] = []
    pages = 0
    while path:
        answer = visitor.get(path)
        assert answer.status_code == 200
        assert len(answer.data) <= 60_000, len(answer.data)
        page = visitor.read(path)
        seen += [given["title"] or "" for tag, given in page.attributes if tag == "th" and given.get("scope") == "row"]
        following = [given["href"] or "" for tag, given in page.attributes if given.get("rel") == "next"]
        path, pages = (following[0] if following else ""), pages + 1
    assert seen == [f"model {i:03d}" for i in range(300)]
    assert pages == 9
    assert re.search("Rows 281 to 300 of 300", page.text)
