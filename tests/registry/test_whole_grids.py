"""Grids with their cells, a line each: what mirrors read, and the place in the events that they are as new as."""

import json
import uuid
from typing import Any

from registry.api.schemas import MOST_GRIDS
from tests.house import House, Project, publication


def lines(project: Project, query: str = "", **options: Any) -> list[dict[str, Any]]:
    answer = project.get(f"projects/{project.slug}/grids.ndjson?{query}", **options)
    assert answer.status_code == 200, answer.text
    assert answer.content_type == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def test_a_line_is_the_grid_as_its_own_path_has_it(project: Project) -> None:
    first = project.published(protocol={"seed": 1})["id"]
    failed = {"at": {"Length": 2}, "value": None, "reason": "failed"}
    cells = [{"at": {"Length": 1}, "value": 3.0}, {"at": {"Length": 1}, "value": 5.0}, failed]
    axis = {"name": "Length", "kind": "numeric", "levels": [1, 2]}
    sent = publication(model="B", axes=[axis], cells=cells, trials=None)
    del sent["values"]
    second = project.publish(sent).get_json()["id"]
    project.published(model="C")
    gone = project.published(model="C")["id"]
    project.call("DELETE", f"grids/{gone}")
    found = lines(project)
    assert found == [project.get(f"grids/{one}").get_json() for one in (first, second)]
    assert found[1]["repeats"] == [2, None]
    assert found[1]["reasons"] == [{"at": {"Length": 2}, "reason": "failed"}]


def test_only_those_that_are_named(house: House, project: Project) -> None:
    first, second = (project.published(model=model)["id"] for model in ("A", "B"))
    elsewhere = house.make_project().published()["id"]
    asked = "&".join(f"grid={one}" for one in (second, elsewhere, uuid.uuid4()))
    assert [one["id"] for one in lines(project, asked)] == [second]
    assert [one["id"] for one in lines(project)] == [first, second]
    many = "&".join(f"grid={uuid.uuid4()}" for _ in range(MOST_GRIDS + 1))
    for wrong in ("grid=x", many, "model=A"):
        assert project.get(f"projects/{project.slug}/grids.ndjson?{wrong}").status_code == 422


def test_events_after_its_cursor_tell_what_came_later(house: House, project: Project) -> None:
    project.published()
    house.compute()
    answer = project.get(f"projects/{project.slug}/grids.ndjson")
    cursor = answer.headers["Registry-Events-Cursor"]
    told = project.get(f"projects/{project.slug}/events").get_json()
    assert cursor == told["head"]
    assert int(answer.headers["Registry-Events-Position"]) == told["items"][-1]["position"]
    later = project.published(model="Later")["id"]
    house.compute()
    events = project.get(f"projects/{project.slug}/events?after={cursor}&type=grid.published").get_json()["items"]
    assert [one["data"]["grid"] for one in events] == [later]


def test_its_lines_can_be_published_elsewhere(house: House, project: Project) -> None:
    mine = project.published()
    body = project.get(f"projects/{project.slug}/grids.ndjson").data
    other = house.make_project()
    path, kind = f"projects/{other.slug}/grids/batch", "application/x-ndjson"
    [item] = other.call("POST", path, data=body, content_type=kind).get_json()["items"]
    assert (item["status"], item["grid"]["digest"]) == (201, mine["digest"])


def test_large_answers_are_streamed_and_compressed_and_whole(project: Project) -> None:
    axes = [{"name": name, "kind": "numeric", "levels": list(range(150))} for name in ("x", "y")]
    values = [[float(x * 150 + y) for y in range(150)] for x in range(150)]
    for model in ("A", "B"):
        project.published(model=model, axes=axes, values=values, metric={"name": "loss"}, trials=None)
    assert [one["values"] for one in lines(project)] == [values, values]
    packed = project.get(f"projects/{project.slug}/grids.ndjson", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert project.call("HEAD", f"projects/{project.slug}/grids.ndjson", "reader").data == b""
