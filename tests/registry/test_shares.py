"""Share links: they open one path, for reading, until they expire or are taken back."""

from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import func, text, update

from registry.logs import redact
from registry.storage.tables import shares
from tests.house import Project

API = "/api/v1/"


def share(project: Project, path: str, **more: Any) -> Any:
    return project.call("POST", f"projects/{project.slug}/shares", "admin", json={"path": path} | more)


def opened(project: Project, url: str, method: str = "GET", **options: Any) -> int:
    parts = urlsplit(url)
    return project.house.call(method, f"{parts.path}?{parts.query}", **options).status_code


def test_a_link_opens_its_path_its_forms_and_what_is_below_and_nothing_else(project: Project) -> None:
    grid, other = project.published()["id"], project.published(model="other")["id"]
    made = share(project, f"/api/v1/grids/{grid}")
    assert made.status_code == 201
    link = urlsplit(made.get_json()["url"]).query
    for path in (f"grids/{grid}", f"grids/{grid}.md", f"grids/{grid}/heatmap.svg", f"grids/{grid}/cells.csv"):
        assert (opened(project, f"{API}{path}?{link}"), opened(project, API + path)) == (200, 401), path
    assert opened(project, f"{API}grids/{grid}/heatmap.svg?theme=dark&{link}") == 200
    for path in (f"grids/{other}", f"projects/{project.slug}", f"projects/{project.slug}/cells"):
        assert opened(project, f"{API}{path}?{link}") == 401, path
    cells = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 1.0}]}
    assert opened(project, f"{API}grids/{grid}/cells?{link}", "PATCH", json=cells) == 401, "a link only reads"
    assert opened(project, f"{API}grids/{grid}?{link}", "DELETE") == 401
    whole = urlsplit(share(project, f"{API}projects/{project.slug}").get_json()["url"]).query
    for part in ("tokens", "shares"):
        assert opened(project, f"{API}projects/{project.slug}/{part}?{whole}") == 403
    first = project.house.call("GET", f"{API}projects/{project.slug}/grids?limit=1&{whole}")
    assert opened(project, first.headers["Link"].partition(">")[0].removeprefix("<")) == 200, "the next page too"


def test_a_link_to_a_name_does_not_open_a_longer_name(project: Project) -> None:
    for experiment in ("size", "size.secret", "size/secret"):
        project.published(experiment=experiment)
    home = f"/projects/{project.slug}/experiments"
    link = urlsplit(share(project, f"{home}/size").get_json()["url"]).query
    views = f"/projects/{project.slug}/results?view=heatmaps&metric=accuracy&experiment="
    for base, then in ((views, "&"), (f"/api/v1{home}/", "?"), (f"/data{home}/", "?")):
        assert [opened(project, f"{base}{name}{then}{link}") for name in ("size", "size.secret", "size%2Fsecret")] == [
            200, 401, 401,
        ]  # fmt: skip


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


def test_the_list_and_the_log_never_show_a_link_and_who_made_it_is_recorded(project: Project) -> None:
    made = share(project, f"/api/v1/projects/{project.slug}/cells").get_json()
    path, url = f"projects/{project.slug}/shares", made["url"]
    listed = project.call("GET", path, "admin")
    assert [one["id"] for one in listed.get_json()["items"]] == [made["id"]]
    assert urlsplit(url).query.removeprefix("share=") not in listed.text
    assert redact(None, "info", {"event": f"GET {url} failed"})["event"].endswith("cells?share=… failed")
    project.call("DELETE", f"{path}/{made['id']}", "admin")
    with project.house.database.reading() as connection:
        query = text("SELECT action FROM audit_log WHERE subject = :id ORDER BY id")
        acts = connection.execute(query, {"id": made["id"]}).scalars().all()
    assert acts == ["share.created", "share.revoked"]
