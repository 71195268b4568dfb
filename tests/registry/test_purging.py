"""A purge leaves nothing of what was deleted but the audit log, and nobody who writes meanwhile is harmed."""

from __future__ import annotations

import gzip
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select, text, update

from registry.operations.audit_log import COMMAND
from registry.operations.purge import purge, purge_claims, purge_projects, purge_shapes
from registry.storage.tables import claims, derivations, grids, idempotency_keys, metadata, projects
from tests.house import House, Project, publication
from tests.workers.feed import feed
from workers import derive
from workers.jobs.leases import claim


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
                        held = bytes(value)
                        packed = held.startswith(b"\x1f\x8b")
                        parts.append((gzip.decompress(held) if packed else held).decode(errors="replace"))
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
