"""Who did what: every act of an administrator is in the log, with token and request; nothing leaves it or changes."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select, text, update
from sqlalchemy.exc import IntegrityError

from registry.operations.audit_log import COMMAND
from registry.operations.purge import count_purgeable, purge
from registry.storage.tables import audit_log, grids, revisions
from tests.house import House, Project


def acts(project: Project) -> list[dict[str, object]]:
    answer = project.call("GET", f"projects/{project.slug}/audit", "admin")
    assert answer.status_code == 200, answer.text
    return answer.get_json()["items"]


def test_every_act_is_in_the_log_newest_first(project: Project) -> None:
    base = f"projects/{project.slug}"
    made = project.call("POST", f"{base}/tokens", "admin", json={"name": "nightly", "role": "writer"})
    token = made.get_json()
    project.call("DELETE", f"{base}/tokens/{token['id']}", "admin")
    alias = {"kind": "model", "alias": "Qwen", "name": "Qwen-2.5 3B"}
    joined = project.call("POST", f"{base}/aliases", json=alias).get_json()
    project.call("DELETE", f"{base}/aliases/{joined['id']}")
    project.call("PUT", f"{base}/suites/maths", json={"benchmarks": ["AIME'24"]})
    project.call("DELETE", f"{base}/suites/maths")
    grid = project.published()
    project.call("DELETE", f"grids/{grid['id']}")
    project.call("POST", f"grids/{grid['id']}/restore")
    project.call("PATCH", base, "admin", json={"visibility": "public"})
    found = acts(project)
    assert [one["act"] for one in found] == [
        "project.updated", "grid.restored", "grid.deleted", "suite.deleted", "suite.set", "alias.deleted",
        "alias.created", "token.revoked", "token.created",
    ]  # fmt: skip
    suite = found[3]["subject"]
    subjects = [str(project.id), *(one for one in (grid["id"], suite, joined["id"], token["id"]) for _ in range(2))]
    assert [one["subject"] for one in found] == subjects
    assert found[-1]["request_id"] == made.headers["X-Request-Id"]
    assert found[-1]["detail"]["name"] == "nightly"
    assert found[3]["detail"] == found[4]["detail"] == {"name": "maths", "benchmarks": ["AIME'24"]}
    assert [one["detail"]["names"]["model"] for one in found[1:3]] == ["Qwen-2.5 3B"] * 2
    assert token["token"] not in str(found)
    tokens = {one["name"]: one["id"] for one in project.call("GET", f"{base}/tokens", "admin").get_json()["items"]}
    assert found[-1]["token_id"] == tokens["admin"]
    assert found[1]["token_id"] == tokens["writer"]


def test_making_and_deleting_a_project_is_in_the_log(house: House) -> None:
    slug = "audited"
    made = house.call("POST", "projects", token=house.operator, json={"slug": slug}).get_json()
    house.call("DELETE", f"projects/{slug}", token=house.operator)
    with house.database.reading() as connection:
        found = connection.scalars(
            select(audit_log.c.action).where(audit_log.c.detail["slug"].astext == slug).order_by(audit_log.c.id)
        )
        assert list(found) == ["project.created", "project.deleted"]
    assert made["slug"] == slug


def test_an_act_that_fails_is_not_in_the_log(project: Project) -> None:
    grid = project.published()
    refused = project.call("DELETE", f"grids/{grid['id']}", headers={"If-Match": '"9-0"'})
    assert refused.status_code == 412
    assert project.call("DELETE", f"projects/{project.slug}/tokens/{grid['id']}", "admin").status_code == 404
    assert acts(project) == []


def test_revisions_and_the_log_are_never_changed_not_even_by_their_owner(
    house: House, project: Project, subtests: pytest.Subtests
) -> None:
    project.call("DELETE", f"grids/{project.published()['id']}")
    for table, column in (
        ("stored_revisions", "cell_count = 0"),
        ("shapes", "axes = '[]'"),
        ("audit_log", "action = ''"),
    ):
        for statement in (f"UPDATE {table} SET {column}", f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE"):
            with (
                subtests.test(statement),
                pytest.raises(IntegrityError, match="never changed"),
                house.database.engine.begin() as connection,
            ):
                connection.execute(text(statement))


def test_a_purge_removes_what_was_deleted_long_ago_and_says_so(house: House, project: Project) -> None:
    old, recent, kept = (project.published(model=model) for model in ("old", "recent", "kept"))
    house.compute()
    for grid in (old, recent):
        assert project.call("DELETE", f"grids/{grid['id']}").status_code == 204
    with house.database.transaction() as connection:
        long_ago = {"deleted_at": func.now() - timedelta(days=40)}
        connection.execute(update(grids).where(grids.c.id == old["id"]).values(long_ago))
    with house.database.reading() as connection:
        assert count_purgeable(connection, older_than_days=30)[0] == 1
    with house.database.transaction() as connection:
        assert purge(connection, COMMAND, older_than_days=30) == 1
        assert purge(connection, COMMAND, older_than_days=30) == 0
    with house.database.reading() as connection:
        left = set(map(str, connection.scalars(select(revisions.c.grid_id))))
    assert old["id"] not in left
    assert {recent["id"], kept["id"]} <= left
    said = acts(project)[0]
    assert (said["act"], said["subject"], said["token_id"]) == ("grid.purged", old["id"], None)
    assert project.published(model="old")["revision"] == 1
