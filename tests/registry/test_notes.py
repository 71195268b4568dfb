"""Where a grid came from, and what people wrote about projects, experiments and grids."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import Connection

from registry.operations.audit_log import COMMAND
from registry.operations.purge import purge
from tests.house import Project, publication

DIGEST = sha256(b"some file").hexdigest()
SOURCE = {"format": "lm-eval", "name": "results é.json", "sha256": DIGEST}
TEXT = "# A title\n\n\tindented, *with* [a link](https://example.org) — 数学 שלום 🎉\n"


def acts(project: Project, act: str) -> list[dict[str, Any]]:
    entries = project.call("GET", f"projects/{project.slug}/audit", "admin").get_json()["items"]
    return [entry for entry in entries if entry["act"] == act]


def test_a_source_and_a_description_are_read_back_everywhere(project: Project) -> None:
    made = project.published(source=SOURCE, description=TEXT)
    path = f"grids/{made['id']}"
    [listed] = project.get(f"projects/{project.slug}/grids").get_json()["items"]
    for told in (made, project.get(path).get_json(), listed):
        assert (told["source"], told["description"]) == (SOURCE, TEXT)
    plain = project.published(model="another")
    assert ("source" in plain, plain["description"]) == (False, "")
    assert plain["digest"] == made["digest"], "neither is part of the content"
    assert project.publish(project.get(path).get_json()).status_code == 200
    copy = project.published(**{**project.get(path).get_json(), "model": "copy"})
    assert (copy["source"], copy["description"]) == (SOURCE, TEXT)


def test_each_revision_keeps_its_own_source(project: Project) -> None:
    path = f"grids/{project.published(source=SOURCE)['id']}"
    again = project.publish(publication(source={"name": "copy.json"}))
    assert (again.status_code, again.get_json()["source"], again.get_json()["revision"]) == (200, SOURCE, 1)
    assert project.get(path).get_json()["source"] == SOURCE, "the same content from elsewhere changes nothing"
    assert project.published(source={"name": "again.csv"}, trials=100)["revision"] == 2
    cells = {"cells": [{"at": {"Type": "2", "Length": 0}, "value": 50.0}]}
    assert "source" not in project.call("PATCH", f"{path}/cells", json=cells).get_json(), "no file has this cell"
    listed = project.get(f"{path}/revisions").get_json()["items"]
    assert [one.get("source") for one in listed] == [SOURCE, {"name": "again.csv"}, None]
    assert project.get(f"{path}?revision=1").get_json()["source"] == SOURCE
    assert project.published(model="m1", source={"sha256": DIGEST.upper()})["source"] == {"sha256": DIGEST}
    assert "source" not in project.published(model="m2", source={})
    assert "source" not in project.published(model="m3", source=None)


WRONG: dict[str, list[Any]] = {
    "/source/sha256": [DIGEST[:-1], "g" * 64, f"sha256:{DIGEST}", DIGEST + "\n"],
    "/source/name": ["a\nb", "x" * 1_025],
    "/source/format": ["x" * 65, ""],
    "/source/path": ["x"],
    "/source": ["results.csv"],
    "/description": ["x" * 8_001, "a\x07b", "line\nline\x1b[31m", 5],
}


def test_what_is_no_source_and_no_description_is_refused_with_its_place(project: Project) -> None:
    for pointer, values in WRONG.items():
        _, name, *inner = pointer.split("/")
        for value in values:
            answer = project.publish(publication(**{name: {inner[0]: value} if inner else value}))
            pointers = [one["pointer"] for one in answer.get_json()["errors"]]
            assert (answer.status_code, pointers) == (422, [pointer]), value
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
    assert [one["status"] for one in items] == [201, 201, 200]
    assert {one["grid"]["description"] for one in items} == {"three"}
    assert project.published(description="")["description"] == ""
    logged = acts(project, "grid.updated")
    assert [one["detail"]["description"] for one in logged] == ["0 characters", "5 characters", "9 characters"]
    assert {one["subject"] for one in logged} == {grid}


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
    difference = project.get(f"{path}/difference?from=1&to=2").get_json()
    assert (difference["labels_changed"], difference["changed"]) == (True, [])


@pytest.mark.parametrize("what", ["grid", "experiment", "project"])
def test_who_read_it_before_it_changed_or_sends_what_cannot_be_is_refused(project: Project, what: str) -> None:
    grid, home = project.published()["id"], f"projects/{project.slug}"
    paths = {"grid": f"grids/{grid}", "experiment": f"{home}/experiments/type-by-length", "project": home}

    def sent(document: dict[str, Any], **headers: str) -> Any:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return project.call("PATCH", paths[what], "admin", json=document, headers=given)

    tag = project.get(paths[what]).headers["ETag"]
    first = sent({"description": "mine"}, If_Match=tag)
    assert first.status_code == 200
    assert sent({"description": "theirs"}, If_Match=tag).status_code == 412
    if what == "project":
        assert project.call("DELETE", paths[what], "admin", headers={"If-Match": tag}).status_code == 412
    for header in (first.headers["ETag"], "*"):
        assert sent({"labels": {header[:3]: "x"}}, If_Match=header).status_code == 200
    before = project.get(paths[what]).get_json()
    assert (before["description"], len(before["labels"])) == ("mine", 2)
    many = {f"label {number}": "" for number in range(63)}
    wrong = {"a": 1}, {"a\n": "x"}, None
    for document in ({}, {"title": "x"}, {"labels": many}, *({"labels": labels} for labels in wrong)):
        assert sent(document).status_code == 422, document
    assert project.get(paths[what]).get_json() == before


def experiment(project: Project, name: str) -> dict[str, Any]:
    return project.get(f"projects/{project.slug}/experiments/{name}").get_json()


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
