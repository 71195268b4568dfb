"""A deleted grid is listed to who may know of it, and comes back with everything that it had."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select

from registry.storage.tables import grids
from tests.house import House, Project
from tests.registry.test_audit_log import acts


def listed(project: Project, role: str = "reader", **query: str) -> list[dict[str, Any]]:
    answer = project.call("GET", f"projects/{project.slug}/grids", role, query_string=query)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.get_json()["items"]
    return items


def deleted(project: Project, **changes: Any) -> dict[str, Any]:
    grid = project.published(**changes)
    gone = project.call("DELETE", f"grids/{grid['id']}")
    assert (gone.status_code, "Content-Type" in gone.headers) == (204, False)
    return grid


def test_a_restored_grid_has_its_revisions_values_and_statistics_and_its_place(house: House, project: Project) -> None:
    project.published(trials=100)
    grid = project.published(trials=200)
    project.published(model="another")
    path, query = f"projects/{project.slug}/rankings", {"experiment": grid["experiment"], "metric": "accuracy"}

    def ranked() -> set[str]:
        while (answer := project.get(path, query_string=query)).status_code == 202:
            house.compute()
        return {row["name"] for row in answer.get_json()["ranking"]}

    house.compute()
    assert ranked() == {grid["model"], "another"}
    before = project.get(f"grids/{grid['id']}").get_json()
    statistics = project.get(f"grids/{grid['id']}/statistics").data
    assert project.call("DELETE", f"grids/{grid['id']}").status_code == 204
    assert project.get(f"grids/{grid['id']}").status_code == 404
    assert ranked() == {"another"}
    answer = project.call("POST", f"grids/{grid['id']}/restore")
    assert (answer.status_code, answer.get_json()["revision"]) == (200, 2)
    assert project.get(f"grids/{grid['id']}").get_json() == before
    assert project.get(f"grids/{grid['id']}/statistics").data == statistics
    assert [one["revision"] for one in project.get(f"grids/{grid['id']}/revisions").get_json()["items"]] == [1, 2]
    assert ranked() == {grid["model"], "another"}


def test_restoring_what_is_not_deleted_changes_nothing(house: House, project: Project) -> None:
    grid = project.published()
    with house.database.reading() as connection:
        when = connection.scalar(select(grids.c.updated_at).where(grids.c.id == grid["id"]))
    assert project.call("POST", f"grids/{grid['id']}/restore").status_code == 200
    with house.database.reading() as connection:
        assert connection.scalar(select(grids.c.updated_at).where(grids.c.id == grid["id"])) == when
    assert "grid.restored" not in {entry["act"] for entry in acts(project)}


def test_lists_say_what_was_deleted_and_when(project: Project) -> None:
    kept, gone = project.published(model="kept"), deleted(project, model="gone")
    assert [one["id"] for one in listed(project)] == [kept["id"]]
    [tombstone] = listed(project, deleted="only")
    assert (tombstone["id"], tombstone["model"]) == (gone["id"], "gone")
    assert tombstone["deleted_at"] > tombstone["created_at"]
    both = listed(project, deleted="include", sort="created_at")
    assert [(one["id"], "deleted_at" in one) for one in both] == [(kept["id"], False), (gone["id"], True)]


def test_a_mirror_that_asks_what_changed_sees_the_deletion(house: House, project: Project) -> None:
    grid = project.published()
    with house.database.reading() as connection:
        since = connection.scalar(select(func.clock_timestamp())).isoformat()
    assert listed(project, deleted="include", updated_since=since) == []
    project.call("DELETE", f"grids/{grid['id']}")
    assert [one["id"] for one in listed(project, deleted="include", updated_since=since)] == [grid["id"]]
    project.call("POST", f"grids/{grid['id']}/restore")
    [back] = listed(project, deleted="include", updated_since=since)
    assert "deleted_at" not in back


def test_strangers_do_not_see_what_a_public_project_has_deleted(house: House) -> None:
    public, stranger = house.make_project(visibility="public"), house.make_project()
    deleted(public)
    path = f"projects/{public.slug}/grids"
    assert house.call("GET", path).status_code == 200
    for word in ("only", "include"):
        assert house.call("GET", path, query_string={"deleted": word}).status_code == 401
        assert stranger.call("GET", path, query_string={"deleted": word}).status_code == 404
    assert len(listed(public, deleted="only")) == 1


def test_pages_of_deleted_and_restored_grids_lose_none(project: Project, subtests: pytest.Subtests) -> None:
    ids = [project.published(model=name)["id"] for name in "abcdef"]
    for number in (4, 0, 5, 1, 3):
        project.call("DELETE", f"grids/{ids[number]}")
    project.call("POST", f"grids/{ids[5]}/restore")
    for kind, order in (("only", (4, 0, 1, 3)), ("include", (2, 4, 0, 1, 3, 5))):
        for sort, step in (("updated_at", 1), ("-updated_at", -1)):
            seen, path = [], f"/api/v1/projects/{project.slug}/grids?deleted={kind}&sort={sort}&limit=2"
            while path and len(seen) < 10:
                answer = project.get(path)
                seen += [one["id"] for one in answer.get_json()["items"]]
                path = answer.headers.get("Link", "").partition(">")[0].removeprefix("<")
            with subtests.test(kind, sort=sort):
                assert seen == [ids[number] for number in order][::step]
