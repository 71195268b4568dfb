"""Share links: they open one path, for reading, until they expire or are taken back; and badges, which they are for."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import func, text, update

from registry.logs import redact
from registry.storage.tables import shares
from tests.house import Project


def share(project: Project, path: str, **more: Any) -> Any:
    return project.call("POST", f"projects/{project.slug}/shares", "admin", json={"path": path} | more)


def opened(project: Project, url: str) -> int:
    parts = urlsplit(url)
    return project.house.call("GET", f"{parts.path}?{parts.query}").status_code


def carried(url: str) -> str:
    return urlsplit(url).query


def test_a_link_opens_its_path_its_forms_and_what_is_below_and_nothing_else(project: Project) -> None:
    grid, other = project.published()["id"], project.published(model="other")["id"]
    made = share(project, f"/api/v1/grids/{grid}")
    assert made.status_code == 201
    link = carried(made.get_json()["url"])
    inside = [f"grids/{grid}", f"grids/{grid}.csv", f"grids/{grid}/heatmap.svg", f"grids/{grid}/cells.csv"]
    outside = [f"grids/{other}", f"projects/{project.slug}", f"projects/{project.slug}/cells"]
    for path in inside:
        assert project.house.call("GET", f"{path}?{link}").status_code == 200, path
        assert project.house.call("GET", path).status_code == 401
    for path in outside:
        assert project.house.call("GET", f"{path}?{link}").status_code == 401, path
    assert project.house.call("GET", f"grids/{grid}/heatmap.svg?theme=dark&{link}").status_code == 200


def test_the_next_page_of_a_link_is_open_too(project: Project) -> None:
    for model in ("a", "b", "c"):
        project.published(model=model)
    path = f"/api/v1/projects/{project.slug}"
    link = carried(share(project, path).get_json()["url"])
    following, seen = f"{path}/grids?limit=2&{link}", 0
    while following:
        answer = project.house.call("GET", following)
        assert answer.status_code == 200
        seen += len(answer.get_json()["items"])
        following = answer.headers.get("Link", "").partition(">")[0].removeprefix("<")
    assert seen == 3


def test_a_link_only_reads(project: Project) -> None:
    grid = project.published()["id"]
    link = carried(share(project, f"/api/v1/grids/{grid}").get_json()["url"])
    cells = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 1.0}]}
    assert project.house.call("PATCH", f"grids/{grid}/cells?{link}", json=cells).status_code == 401
    assert project.house.call("DELETE", f"grids/{grid}?{link}").status_code == 401
    whole = carried(share(project, f"/api/v1/projects/{project.slug}").get_json()["url"])
    assert project.house.call("GET", f"projects/{project.slug}/tokens?{whole}").status_code == 403
    assert project.house.call("GET", f"projects/{project.slug}/shares?{whole}").status_code == 403


def test_a_link_that_was_taken_back_or_expired_or_altered_is_worthless(project: Project) -> None:
    project.published()
    path = f"/api/v1/projects/{project.slug}/cells"
    first, second = (share(project, path).get_json() for _ in range(2))
    assert opened(project, first["url"]) == opened(project, second["url"]) == 200
    own = f"projects/{project.slug}/shares/{first['id']}"
    assert project.call("DELETE", own, "admin").status_code == 204
    assert opened(project, first["url"]) == 401
    assert opened(project, second["url"]) == 200
    for altered in (
        second["url"][:-2],  # of the last character two bits say nothing
        second["url"].replace("share=", "share=x"),
        f"{path}?share=",
        f"{path}?share=é",
    ):
        assert opened(project, altered) == 401
    with project.house.database.transaction() as connection:
        connection.execute(update(shares).values(expires_at=func.now()).where(shares.c.project_id == project.id))
    assert opened(project, second["url"]) == 401


def test_a_link_of_one_project_cannot_be_made_for_another(project: Project) -> None:
    other = project.house.make_project()
    grid = other.published()["id"]
    refused = [
        f"/api/v1/grids/{grid}", f"/api/v1/projects/{other.slug}/cells", "/metrics", "/api/v1/projects", "/",
        f"/api/v1/projects/{project.slug}-b/cells", f"/api/v1/projects/{project.slug}/../{other.slug}", "grids",
        f"/api/v1/projects/{project.slug}/cells?model=a", f"/api/v1/projects/{project.slug}/c d",
    ]  # fmt: skip
    for path in refused:
        answer = share(project, path)
        assert (answer.status_code, answer.get_json()["errors"][0]["pointer"]) == (422, "/path"), path
    assert share(project, f"/api/v1/projects/{project.slug}/cells", expires_in=5).status_code == 422


def test_the_list_never_shows_a_link_again(project: Project) -> None:
    made = share(project, f"/api/v1/projects/{project.slug}/cells").get_json()
    listed = project.call("GET", f"projects/{project.slug}/shares", "admin")
    assert [one["id"] for one in listed.get_json()["items"]] == [made["id"]]
    assert carried(made["url"]).removeprefix("share=") not in listed.text
    assert project.call("GET", f"projects/{project.slug}/shares", "writer").status_code == 403


def test_who_makes_a_link_or_takes_it_back_is_recorded(project: Project) -> None:
    made = share(project, f"/api/v1/projects/{project.slug}/cells").get_json()
    project.call("DELETE", f"projects/{project.slug}/shares/{made['id']}", "admin")
    with project.house.database.reading() as connection:
        query = text("SELECT action FROM audit_log WHERE subject = :id ORDER BY id")
        acts = connection.execute(query, {"id": made["id"]}).scalars().all()
    assert acts == ["share.created", "share.revoked"]


def test_a_link_does_not_reach_the_log(project: Project) -> None:
    url = share(project, f"/api/v1/projects/{project.slug}/cells").get_json()["url"]
    logged = redact(None, "info", {"event": f"GET {url} failed"})
    assert logged["event"].endswith("cells?share=… failed")


@pytest.mark.parametrize(
    ("query", "message"),
    [("", "100.0 %"), ("?axis=Type&level=1", "99.3 %"), ("?axis=Length&level=2", "99.7 %")],
)
def test_a_badge_says_the_best_value(project: Project, query: str, message: str) -> None:
    grid = project.published()["id"]
    found = project.get(f"grids/{grid}/badge.json{query}").get_json()
    assert found == {"schemaVersion": 1, "label": "accuracy", "message": message, "color": "0b5a8f"}
    svg = project.get(f"grids/{grid}/badge.svg{query}")
    assert svg.mimetype == "image/svg+xml"
    assert f"<title>accuracy: {message}</title>" in svg.text


def test_a_badge_says_what_ties_and_what_was_never_measured(project: Project) -> None:
    grid = project.published()["id"]
    project.house.compute()
    assert json.loads(project.get(f"grids/{grid}/badge.json").data)["message"].endswith("cells may be best)")
    bare = project.published(model="bare", values=[[None] * 3] * 2)["id"]
    assert project.get(f"grids/{bare}/badge.json").get_json()["message"] == "not measured"
    for query in ("axis=Type", "axis=Type&level=9", "axis=No&level=1"):
        assert project.get(f"grids/{grid}/badge.svg?{query}").status_code == 422
