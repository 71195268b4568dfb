"""registry grid, alias, share and token: what is deleted, joined, opened and revoked from the command line."""

from __future__ import annotations

from pathlib import Path
from urllib.request import urlopen

from tests.commands.terminal import Person, person_of
from tests.house import Project


def sweep(project: Project) -> list[str]:
    """Three grids of one sweep and one of another experiment."""
    names = [("lr", "a"), ("lr", "b"), ("lr", "c"), ("kept", "a")]
    made = [project.published(experiment=experiment, model=model, labels={"run": model}) for experiment, model in names]
    return [one["id"] for one in made]


def test_a_sweep_is_deleted_after_a_question_and_restored(person: Person, project: Project) -> None:
    ids = sweep(project)
    refused = person.run("grid", "rm", "-e", "lr", stdin="n\n")
    assert (refused.exit_code, "Delete 3 grids" in refused.stderr) == (1, True)
    assert sorted(person.says("ls", "-q").split()) == sorted(ids)
    told = person.run("grid", "rm", "-e", "lr", "--yes")
    assert (told.exit_code, told.stdout.count("\n")) == (0, 4)
    assert "Deleted 3 grids of 3." in told.stderr
    assert "Restored 3 grids of 3." in person.run("grid", "restore", "-e", "lr").stderr
    person.says("grid", "rm", "-e", "lr", "--label", "run=b")  # one alone: no question
    person.says("grid", "rm", ids[0])
    assert sorted(person.says("ls", "-q").split()) == sorted(ids[2:])
    assert person.rows("grid", "restore", ids[0], "model=b")[1]["model"] == "b"
    assert sorted(person.says("ls", "-q").split()) == sorted(ids)


def test_nothing_is_deleted_that_nobody_named(person: Person, project: Project) -> None:
    ids = sweep(project)
    assert "Say which grids" in person.complains("grid", "rm", status=2)
    assert "No grid fits" in person.complains("grid", "rm", "-e", "nope", "--yes")
    assert "2 grids fit" in person.complains("grid", "rm", "model=a", "--yes")
    assert "No deleted grid fits" in person.complains("grid", "restore", ids[0])
    assert sorted(person.says("ls", "-q").split()) == sorted(ids)


def test_an_alias_is_set_listed_and_removed(person: Person, project: Project) -> None:
    sweep(project)
    [row] = person.rows("alias", "set", "model", "b", "a")
    assert (row["kind"], row["alias"], row["name"]) == ("model", "b", "a")
    assert person.run("alias", "set", "model", "b", "c").exit_code == 1
    assert [(one["alias"], one["name"]) for one in person.json("alias", "ls")] == [("b", "a")], "as it was"
    person.says("alias", "rm", "model", "b")
    assert 'no alias "b" of a model' in person.complains("alias", "rm", "model", "b")
    assert "No alias yet" in person.page("alias", "ls")


def test_a_link_is_made_opened_listed_and_revoked(project: Project, address: str, tmp_path: Path) -> None:
    admin = person_of(project, address, tmp_path, "admin")
    [grid, *_] = sweep(project)
    link = admin.says("share", "make", f"/api/v1/grids/{grid}", "--days", "2", "-q").strip()
    path = f"{address}/{link.split('/', 3)[3]}"
    with urlopen(path) as answer:
        assert answer.status == 200
    [row] = admin.rows("share", "ls")
    assert (row["path"], "url" in row) == (f"/api/v1/grids/{grid}", False)
    admin.says("share", "rm", row["id"])
    assert admin.json("share", "ls") == []
    assert "/path begins with /" in admin.complains("share", "make", "cells")
    assert "No link has an id that begins" in admin.complains("share", "rm", row["id"])


def test_tokens_are_listed_and_revoked_beside_being_made(project: Project, address: str, tmp_path: Path) -> None:
    admin = person_of(project, address, tmp_path, "admin")
    rows = {row["name"]: row for row in admin.rows("token", "ls")}
    assert {"reader", "writer", "admin"} <= rows.keys()
    told = admin.run("token", "revoke", rows["reader"]["id"])
    assert "Revoked the token reader (reader)." in told.stderr
    assert "reader" not in {row["name"] for row in admin.rows("token", "ls")}
    assert person_of(project, address, tmp_path, "reader").run("whoami").exit_code == 4
    assert "Missing option '--name'" in admin.complains("token", "--role", "reader", status=2)
    assert "--role stands behind ls" in admin.complains("token", "--role", "reader", "ls", status=2)
