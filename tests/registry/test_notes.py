"""Where a grid came from, and what people wrote about projects, experiments and grids."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from registry.operations.audit_log import COMMAND
from registry.operations.purge import purge, purge_projects
from registry.storage.tables import experiments, grids, projects, stored_revisions
from tests.house import House, Project, publication

DIGEST = sha256(b"some file").hexdigest()
SOURCE = {"format": "lm-eval", "name": "results é.json", "sha256": DIGEST}
TEXT = "# A title\n\n\tindented, *with* [a link](https://example.org) — 数学 שלום 🎉\n"


def acts(project: Project, act: str) -> list[dict[str, Any]]:
    entries = project.call("GET", f"projects/{project.slug}/audit", "admin").get_json()["items"]
    return [entry for entry in entries if entry["act"] == act]


def test_a_source_and_a_description_are_read_back_everywhere(project: Project) -> None:
    made = project.published(source=SOURCE, description=TEXT)
    assert (made["source"], made["description"]) == (SOURCE, TEXT)
    grid = project.get(f"grids/{made['id']}").get_json()
    assert (grid["source"], grid["description"]) == (SOURCE, TEXT)
    [listed] = project.get(f"projects/{project.slug}/grids").get_json()["items"]
    assert (listed["source"], listed["description"]) == (SOURCE, TEXT)
    [revision] = project.get(f"grids/{made['id']}/revisions").get_json()["items"]
    assert revision["source"] == SOURCE
    plain = project.published(model="another")
    assert ("source" in plain, plain["description"]) == (False, "")
    assert plain["digest"] == made["digest"], "neither is part of the content"


def test_each_revision_keeps_its_own_source(project: Project) -> None:
    grid = project.published(source=SOURCE)["id"]
    assert project.published(source={"name": "again.csv"}, trials=100)["revision"] == 2
    cells = {"cells": [{"at": {"Type": "2", "Length": 0}, "value": 50.0}]}
    assert "source" not in project.call("PATCH", f"grids/{grid}/cells", json=cells).get_json(), "no file has this cell"
    listed = project.get(f"grids/{grid}/revisions").get_json()["items"]
    assert [one.get("source") for one in listed] == [SOURCE, {"name": "again.csv"}, None]
    assert project.get(f"grids/{grid}?revision=1").get_json()["source"] == SOURCE


def test_the_same_content_from_another_source_changes_nothing(project: Project) -> None:
    made = project.published(source=SOURCE)
    again = project.publish(publication(source={"name": "copy.json"}))
    assert (again.status_code, again.get_json()["source"], again.get_json()["revision"]) == (200, SOURCE, 1)
    assert project.get(f"grids/{made['id']}").get_json()["source"] == SOURCE


def test_a_digest_in_capitals_is_the_same_digest(project: Project) -> None:
    assert project.published(source={"sha256": DIGEST.upper()})["source"] == {"sha256": DIGEST}
    assert "source" not in project.published(model="m2", source={})
    assert "source" not in project.published(model="m3", source=None)


@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        ({"source": {"sha256": DIGEST[:-1]}}, "/source/sha256"),
        ({"source": {"sha256": "g" * 64}}, "/source/sha256"),
        ({"source": {"sha256": f"sha256:{DIGEST}"}}, "/source/sha256"),
        ({"source": {"sha256": DIGEST + "\n"}}, "/source/sha256"),
        ({"source": {"name": "a\nb"}}, "/source/name"),
        ({"source": {"name": "x" * 1_025}}, "/source/name"),
        ({"source": {"format": "x" * 65}}, "/source/format"),
        ({"source": {"format": ""}}, "/source/format"),
        ({"source": {"path": "x"}}, "/source/path"),
        ({"source": "results.csv"}, "/source"),
        ({"description": "x" * 8_001}, "/description"),
        ({"description": "a\x07b"}, "/description"),
        ({"description": "line\nline\x1b[31m"}, "/description"),
        ({"description": 5}, "/description"),
    ],
)
def test_what_is_no_source_and_no_description_is_refused_with_its_place(
    project: Project, sent: dict[str, Any], pointer: str
) -> None:
    answer = project.publish(publication(**sent))
    assert (answer.status_code, [one["pointer"] for one in answer.get_json()["errors"]]) == (422, [pointer])
    assert project.get(f"projects/{project.slug}/grids").get_json()["items"] == []


def test_another_description_makes_no_revision_and_is_logged(project: Project) -> None:
    first = project.publish(publication(description="one"))
    grid = first.get_json()["id"]
    again = project.publish(publication(description="two\r\nlines"))
    assert (again.status_code, again.get_json()["description"], again.get_json()["revision"]) == (200, "two\nlines", 1)
    assert again.headers["ETag"] != first.headers["ETag"]
    assert project.published()["description"] == "two\nlines", "who says nothing changes nothing"
    assert project.published(values=[[1, 2, 3], [4, 5, 6]])["description"] == "two\nlines", "at any revision"
    batch = [publication(description="three", model=name) for name in ("Qwen-2.5 3B", "new", "new")]
    items = project.call("POST", f"projects/{project.slug}/grids/batch", json=batch).get_json()["items"]
    assert [(one["status"], one["grid"]["description"]) for one in items] == [
        (201, "three"),
        (201, "three"),
        (200, "three"),
    ]
    assert project.published(description="")["description"] == ""
    logged = acts(project, "grid.updated")
    assert [one["detail"]["description"] for one in logged] == ["0 characters", "5 characters", "9 characters"]
    assert {one["subject"] for one in logged} == {grid}


def test_a_grid_that_was_read_is_sent_back_with_its_notes(project: Project) -> None:
    grid = project.get(f"grids/{project.published(source=SOURCE, description=TEXT)['id']}").get_json()
    assert project.publish(grid).status_code == 200
    copy = project.published(**{**grid, "model": "copy"})
    assert (copy["source"], copy["description"]) == (SOURCE, TEXT)


def test_a_description_changes_by_patch_without_a_revision(project: Project) -> None:
    path = f"grids/{project.published()['id']}"
    old = project.get(path).headers["ETag"]
    changed = project.call("PATCH", path, json={"description": TEXT})
    assert (changed.status_code, changed.get_json()["description"], changed.get_json()["revision"]) == (200, TEXT, 1)
    tag = changed.headers["ETag"]
    assert project.get(path).headers["ETag"] == tag != old
    assert project.get(path, headers={"If-None-Match": old}).status_code == 200
    assert project.get(path, headers={"If-None-Match": tag}).status_code == 304
    assert project.call("PATCH", path, json={"description": TEXT}).headers["ETag"] == tag
    assert len(acts(project, "grid.updated")) == 1, "what changes nothing is not logged"


def test_changed_labels_are_content_and_make_a_revision_with_the_same_values(project: Project) -> None:
    sent = publication(labels={"sha": "1", "keep": "k"}, source=SOURCE, model="Average")
    before = project.publish(sent).get_json()
    path = f"grids/{before['id']}"
    changed = project.call("PATCH", path, json={"labels": {"sha": "2", "url": "https://example.org/", "none": None}})
    found = changed.get_json()
    assert (found["revision"], found["labels"]) == (2, {"sha": "2", "keep": "k", "url": "https://example.org/"})
    assert found["digest"] != before["digest"]
    assert (found["source"], found["warnings"]) == (SOURCE, before["warnings"])
    assert project.get(f"{path}?revision=1").get_json()["labels"] == sent["labels"]
    again = project.call("PATCH", path, json={"labels": {"sha": "2", "none": None}})
    assert (again.status_code, again.get_json()["revision"]) == (200, 2)
    project.call("PATCH", path, json={"labels": {"sha": None, "url": None, "keep": None}})
    grid = project.get(path).get_json()
    assert (grid["labels"], grid["values"]) == ({}, sent["values"])
    found = project.get(f"projects/{project.slug}/grids", query_string={"label.sha": "2"}).get_json()["items"]
    assert found == []
    difference = project.get(f"{path}/revisions/1..2").get_json()
    assert (difference["labels_changed"], difference["changed"]) == (True, [])


@pytest.mark.parametrize("what", ["grid", "experiment", "project"])
def test_who_read_it_before_it_changed_is_refused(project: Project, what: str) -> None:
    grid = project.published()
    path = {
        "grid": f"grids/{grid['id']}",
        "experiment": f"projects/{project.slug}/experiments/type-by-length",
        "project": f"projects/{project.slug}",
    }[what]
    tag = project.get(path).headers["ETag"]
    first = project.call("PATCH", path, "admin", json={"description": "mine"}, headers={"If-Match": tag})
    assert first.status_code == 200
    late = project.call("PATCH", path, "admin", json={"description": "theirs"}, headers={"If-Match": tag})
    assert late.status_code == 412
    assert project.get(path).get_json()["description"] == "mine"
    for header in (first.headers["ETag"], "*"):
        sent = {"labels": {header[:3]: "x"}}
        assert project.call("PATCH", path, "admin", json=sent, headers={"If-Match": header}).status_code == 200


@pytest.mark.parametrize("what", ["grid", "experiment", "project"])
def test_too_many_labels_an_empty_change_and_a_reader_change_nothing(project: Project, what: str) -> None:
    grid = project.published()
    path = {
        "grid": f"grids/{grid['id']}",
        "experiment": f"projects/{project.slug}/experiments/type-by-length",
        "project": f"projects/{project.slug}",
    }[what]
    assert project.call("PATCH", path, "admin", json={"labels": dict.fromkeys("abc", "x")}).status_code == 200
    many = {f"label {number}": "" for number in range(62)}
    for sent in (
        {},
        {"labels": many},
        {"labels": {"a": 1}},
        {"labels": {"a\n": "x"}},
        {"title": "x"},
        {"labels": None},
    ):
        assert project.call("PATCH", path, "admin", json=sent).status_code == 422, sent
    assert project.call("PATCH", path, "reader", json={"labels": {"a": "y"}}).status_code == 403
    assert project.house.call("PATCH", path, json={"labels": {"a": "y"}}).status_code == 401
    assert project.get(path).get_json()["labels"] == dict.fromkeys("abc", "x")


def test_a_project_has_a_description_and_labels(project: Project) -> None:
    path = f"projects/{project.slug}"
    assert project.get(path).get_json()["labels"] == {}
    sent = {"description": TEXT, "labels": {"paper": "https://example.org/"}}
    changed = project.call("PATCH", path, "admin", json=sent).get_json()
    assert {name: changed[name] for name in sent} == sent
    assert changed["name"] == project.slug
    assert project.call("PATCH", path, "writer", json=sent).status_code == 403
    [entry] = acts(project, "project.updated")
    assert entry["detail"] == {"description": f"{len(TEXT)} characters", "labels": sent["labels"]}


def experiment(project: Project, name: str) -> dict[str, Any]:
    answer = project.get(f"projects/{project.slug}/experiments/{name}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.get_json()
    return found


def test_an_experiment_says_what_it_holds(project: Project) -> None:
    for model, benchmark in (("A", "X"), ("A", "Y"), ("B", "X")):
        project.published(experiment="e/1 é", model=model, benchmark=benchmark)
    project.published(experiment="e/1 é", axes=[], values=1, metric={"name": "loss"}, trials=None)
    project.published(experiment="other", model="C")
    found = experiment(project, "e%2F1%20%C3%A9")
    counts = {"grids": 4, "benchmarks": 3, "models": 3, "variants": 1, "metrics": 2, "axes": 2}
    assert {name: found[name] for name in counts} == counts
    assert (found["name"], found["project"], found["aliases"]) == ("e/1 é", project.slug, [])
    assert (found["description"], found["labels"], found["updated_at"]) == ("", {}, None)
    missing = project.get(f"projects/{project.slug}/experiments/e")
    assert (missing.status_code, "e/1 é" in missing.get_json()["detail"]) == (404, True)
    assert project.call("PATCH", f"projects/{project.slug}/experiments/e", json={"description": "x"}).status_code == 404


def test_what_is_written_about_an_experiment_stays_without_its_grids_until_a_purge(project: Project) -> None:
    grid = project.published()["id"]
    path = f"projects/{project.slug}/experiments/type-by-length"
    old = project.get(path).headers["ETag"]
    changed = project.call("PATCH", path, json={"description": TEXT, "labels": {"a": "b"}})
    assert changed.get_json()["description"] == TEXT
    assert project.get(path).headers["ETag"] == changed.headers["ETag"] != old
    [entry] = acts(project, "experiment.updated")
    assert (entry["subject"], entry["detail"]["labels"]) == ("type-by-length", {"a": "b"})
    project.call("PATCH", path, json={"description": TEXT})
    assert len(acts(project, "experiment.updated")) == 1
    project.call("DELETE", f"grids/{grid}")
    found = experiment(project, "type-by-length")
    assert (found["description"], found["grids"], found["axes"]) == (TEXT, 0, 0)
    with project.house.database.transaction() as connection:
        purge_all(connection)
    assert project.get(path).status_code == 404


def purge_all(connection: Connection) -> None:
    """Purge what this test and those before it have deleted: one call takes a bounded number of grids."""
    while purge(connection, COMMAND, older_than_days=0):
        pass


def test_joined_experiments_have_one_description(project: Project) -> None:
    project.published(experiment="new", model="A", benchmark="X'")
    project.published(experiment="old", model="B", benchmark="X")
    for alias, name, kind in (("old", "new", "experiment"), ("X'", "X", "benchmark")):
        project.call("POST", f"projects/{project.slug}/aliases", json={"kind": kind, "alias": alias, "name": name})
    project.call("PATCH", f"projects/{project.slug}/experiments/old", json={"description": "of both"})
    for name in ("old", "new"):
        found = experiment(project, name)
        assert (found["name"], found["aliases"], found["description"]) == ("new", ["old"], "of both")
        assert (found["grids"], found["models"], found["benchmarks"]) == (2, 2, 1)
    for grid in project.get(f"projects/{project.slug}/grids?model=A").get_json()["items"]:
        project.call("DELETE", f"grids/{grid['id']}")
    with project.house.database.transaction() as connection:
        purge_all(connection)
    assert experiment(project, "new")["description"] == "of both", "grids of its alias are left"


def test_what_was_written_goes_with_a_purged_project(house: House) -> None:
    project = house.make_project()
    project.published(description=TEXT, source=SOURCE)
    project.call("PATCH", f"projects/{project.slug}/experiments/type-by-length", json={"description": TEXT})
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"description": TEXT})
    project.call("DELETE", f"projects/{project.slug}", "admin")
    assert project.get(f"projects/{project.slug}/experiments/type-by-length").status_code == 404
    with house.database.transaction() as connection:
        purge_all(connection)
        assert purge_projects(connection, COMMAND, older_than_days=0) >= 1
        for table in (experiments, grids):
            mine = select(func.count()).select_from(table).where(table.c.project_id == project.id)
            assert connection.scalar(mine) == 0
        assert connection.scalar(select(func.count()).select_from(projects).where(projects.c.id == project.id)) == 0


def test_a_dry_run_tells_of_notes_and_stores_none(project: Project) -> None:
    grid = project.published()["id"]
    sent = publication(description="never", source=SOURCE, values=[[1, 2, 3], [4, 5, 6]])
    answer = project.publish(sent, query_string={"dry_run": "true"})
    assert (answer.get_json()["description"], answer.get_json()["source"]) == ("never", SOURCE)
    assert project.get(f"grids/{grid}").get_json()["description"] == ""
    with project.house.database.reading() as connection:
        found = connection.scalars(select(stored_revisions.c.source).where(stored_revisions.c.grid_id == grid)).all()
    assert found == [None]
    assert acts(project, "grid.updated") == []
