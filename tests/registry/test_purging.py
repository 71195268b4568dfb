"""Deleted grids and projects: restored, listed, or purged with all that was computed from them."""

import gzip
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from registry.operations.audit_log import COMMAND
from registry.operations.purge import purge, purge_claims, purge_projects, purge_shapes
from registry.results.columns import unpacked
from registry.storage.tables import claims, derivations, grids, idempotency_keys, metadata, projects
from tests.house import House, Project, publication
from tests.registry.test_audit_log import acts
from tests.workers.feed import feed
from workers import derive
from workers.jobs.leases import claim


def laid_open(table: str, held: bytes) -> str:
    if table == "statistics":
        return str(unpacked(held))
    return (gzip.decompress(held) if held.startswith(b"\x1f\x8b") else held).decode(errors="replace")


def everything(house: House) -> str:
    """Every row of every table but the audit log, as text, with the compressed documents laid open; of the events that
    tell of the purge nothing but the place."""
    parts = []
    with house.database.reading() as connection:
        for table in metadata.sorted_tables:
            if table.name == "audit_log":
                continue
            for row in connection.execute(select(table)):
                if getattr(row, "type", "") == "grid.purged":
                    assert set(row.data) == {"grid"}
                    assert row.subject == f"grids/{row.data['grid']}"
                    continue
                for value in row:
                    if isinstance(value, memoryview | bytes):
                        parts.append(laid_open(table.name, bytes(value)))
                    else:
                        parts.append(str(value))
    return "\n".join(parts)


def age(house: House, table: Any) -> None:
    with house.database.transaction() as connection:
        old = {"deleted_at": func.now() - timedelta(days=40)}
        connection.execute(update(table).where(table.c.deleted_at.is_not(None)).values(old))
        connection.execute(update(idempotency_keys).values(created_at=func.now() - timedelta(days=41)))


def purged(house: House) -> int:
    with house.database.transaction() as connection:
        return purge(connection, COMMAND, older_than_days=30)


def asked(project: Project, secret: dict[str, Any], kept: dict[str, Any]) -> None:
    """Everything that a reader can have computed of a grid."""
    where = f"projects/{project.slug}"
    about = {"experiment": secret["experiment"], "metric": secret["metric"]["name"]}
    for path, query in (
        (f"{where}/rankings", about),
        (f"{where}/rankings", about | {"alpha": 0.1}),
        (f"grids/{secret['id']}/statistics", {"part": "thresholds", "value": 50}),
        (f"grids/{secret['id']}/statistics", {"alpha": 0.1}),
        (f"{where}/comparisons", {"baseline": secret["id"], "contender": kept["id"]}),
    ):
        assert project.get(path, query_string=query).status_code in (200, 202), path
    for groups in ({}, {"for": {"model": "*"}}):
        claim = {"kind": "value", "of": "max", "is": {"op": ">", "number": 90}, "about": about, **groups}
        assert project.call("POST", f"{where}/claims", json=claim).status_code == 201
    project.house.compute()


def test_a_purged_grid_is_named_nowhere_but_in_the_audit_log_and_its_events_keep_their_places(own: House) -> None:
    project = own.make_project()
    sent = publication(model="projectzebra")
    sent["axes"][0]["levels"], sent["values"] = ["1", "2", "levelzebra"], [*sent["values"], [None] * 3]
    secret = project.publish(sent, headers={"Idempotency-Key": "k"}).get_json()
    kept = project.published(model="kept")
    own.compute()
    asked(project, secret, kept)
    assert project.call("DELETE", f"grids/{secret['id']}").status_code == 204
    before = [(one.position, one.type) for one in feed(project)]
    assert "projectzebra" in everything(own)
    age(own, grids)
    assert purged(own) == 1
    assert "projectzebra" not in everything(own)
    with own.database.transaction() as connection:
        assert purge_shapes(connection) == 1
    assert "levelzebra" not in everything(own)
    after = feed(project)
    assert [(one.position, one.type) for one in after][: len(before)] == before
    emptied = [one.type for one in after if not one.data]
    assert {"grid.published", "grid.deleted", "statistics.ready", "ranking.changed", "claim.judged"} == set(emptied)
    assert all(not one.subject for one in after if not one.data)
    assert [one.data for one in after if one.type == "grid.purged"] == [{"grid": secret["id"]}]
    assert [one.data["grid"] for one in after if one.type == "statistics.ready" and one.data] == [kept["id"]]
    own.compute()
    assert secret["id"] not in everything(own), "invalidations were applied"
    about = {"experiment": kept["experiment"], "metric": kept["metric"]["name"]}
    ranking = project.get(f"projects/{project.slug}/rankings", query_string=about)
    assert [row["name"] for row in ranking.get_json()["ranking"]] == ["kept"]
    listed = project.get(f"projects/{project.slug}/claims").get_json()["items"]
    assert [(one["state"], one["judgement_number"]) for one in listed] == [("ready", 2), ("ready", 2)]
    assert project.get(f"grids/{kept['id']}").get_json()["values"] == publication()["values"]


def test_a_claim_that_was_removed_long_ago_is_purged_with_its_history(own: House) -> None:
    project = own.make_project()
    project.published()
    about = {"experiment": "type-by-length", "metric": "accuracy"}
    sent = [{"kind": "coverage", "is": kind, "about": about, "text": kind} for kind in ("ragged", "most")]
    sent[1] |= {"axis": "Length", "level": 0}
    answer = project.call("POST", f"projects/{project.slug}/claims", json=sent)
    assert answer.status_code == 201, answer.text
    removed, kept = answer.get_json()["items"]
    own.compute()
    assert project.call("DELETE", f"claims/{removed['id']}").status_code == 204
    own.compute()
    with own.database.transaction() as connection:
        assert purge_claims(connection, older_than_days=30) == 0
        old = func.now() - timedelta(days=40)
        connection.execute(update(claims).where(claims.c.archived_at.is_not(None)).values(archived_at=old))
        assert purge_claims(connection, older_than_days=30) == 1
    assert removed["id"] not in everything(own)
    assert kept["id"] in everything(own)


def test_a_purged_project_leaves_its_line_in_the_audit_log(own: House) -> None:
    project, other = own.make_project(), own.make_project()
    first, second = project.published(model="zebra"), project.published(model="yak")
    other.published(model="other")
    own.compute()
    asked(project, first, second)
    alias = {"kind": "model", "alias": "zebra", "name": "yak"}
    assert project.call("POST", f"projects/{project.slug}/aliases", "admin", json=alias).status_code == 201
    for path in (f"projects/{project.slug}/experiments/type-by-length", f"projects/{project.slug}"):
        assert project.call("PATCH", path, "admin", json={"description": "of a zebra"}).status_code == 200
    suite = {"benchmarks": ["zebra", "yak"]}
    assert project.call("PUT", f"projects/{project.slug}/suites/zebras", json=suite).status_code == 201
    assert project.call("DELETE", f"projects/{project.slug}?cascade=true", "admin").status_code == 204
    age(own, projects)
    while purged(own):
        pass
    own.compute()
    with own.database.transaction() as connection:
        assert purge_projects(connection, COMMAND, older_than_days=30) == 1
    left = everything(own)
    for word in (project.slug, str(project.id), "zebra", "yak"):
        assert word not in left
    assert other.slug in left
    with own.database.reading() as connection:
        acts = connection.scalars(text("SELECT action FROM audit_log WHERE action LIKE '%.purged'")).all()
    assert sorted(acts) == ["grid.purged", "grid.purged", "project.purged"]


def test_who_writes_while_a_grid_is_purged_is_not_harmed(own: House) -> None:
    """A worker that still computes it writes nothing. A publication finds the old row, waits for the purge to end, and
    then there is none."""
    project = own.make_project()
    grid = project.published()
    claimed = claim(own.database, own.settings, derivations, 10)
    assert project.call("DELETE", f"grids/{grid['id']}").status_code == 204
    age(own, grids)
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    with ThreadPoolExecutor(1) as pool:
        with own.database.transaction() as connection:
            revision = connection.execute(text("SELECT * FROM revisions")).one()
            assert purge(connection, COMMAND, older_than_days=30) == 1
            answer = pool.submit(project.publish)
            pause = threading.Event()
            while not connection.scalar(text(waits)):
                pause.wait(0.01)
        assert answer.result().status_code == 201
    derive._settle(own.database, claimed, derive.statistics_rows([revision]))
    own.compute()
    again = project.get(f"projects/{project.slug}/grids").get_json()["items"]
    assert [(one["revision"], one["id"] == grid["id"]) for one in again] == [(1, False)]
    assert grid["id"] not in everything(own)


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
