"""registry describe, grid, alias, share, token, suite, project, protocol: what is said, deleted, joined and opened."""

import uuid
from pathlib import Path
from urllib.request import urlopen

from tests.commands.terminal import Person, person_of
from tests.house import House, Project


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


def test_a_suite_is_set_ranked_over_changed_listed_and_deleted(person: Person, project: Project) -> None:
    for benchmark in ("one", "two/three", "four"):
        for model, value in (("A", 90.0), ("B", 80.0)):
            project.published(benchmark=benchmark, model=model, axes=[], values=value, trials=None)
    made = person.json("suite", "set", "both", "one", "two/three")
    assert (made["name"], made["benchmarks"]) == ("both", ["one", "two/three"])
    assert person.rows("suite", "ls") == [
        {"name": "both", "benchmarks": "one, two/three"},
    ]  # fmt: skip
    assert "both  four" in person.page("suite", "set", "both", "four")
    assert "four" in person.page("suite", "ls")
    assert person.says("suite", "rm", "both") == ""
    assert person.json("suite", "ls") == []
    assert "No suite yet" in person.page("suite", "ls")
    assert "no such suite" in person.complains("suite", "rm", "both")


def test_names_of_suites_are_any_text(person: Person, project: Project) -> None:
    name = "a/b ü?"
    person.says("suite", "set", name, "one", "-q")
    assert person.says("suite", "ls", "-q").splitlines() == [name]
    assert person.says("suite", "rm", name) == ""


def test_an_administrator_makes_a_project_lists_it_and_deletes_it(person: Person, house: House) -> None:
    admin = person.having(REGISTRY_TOKEN=house.operator).lacking("REGISTRY_PROJECT")
    slug = f"made-{uuid.uuid4().hex[:8]}"
    made = admin.json("project", "create", slug, "--name", "Ours", "--public")
    assert (made["slug"], made["name"], made["visibility"]) == (slug, "Ours", "public")
    assert f"Made the project {slug}-2, private." in admin.page("project", "create", f"{slug}-2")
    rows = {row["slug"]: row for row in admin.rows("ls", "projects")}
    assert (rows[slug]["visibility"], rows[f"{slug}-2"]["name"]) == ("public", f"{slug}-2")
    assert slug in admin.page("ls", "projects")
    assert slug in admin.complains("project", "create", slug)
    assert admin.says("project", "rm", slug, "--yes") == ""
    assert slug not in {row["slug"] for row in admin.rows("ls", "projects")}
    assert f'There is no project "{slug}"' in admin.complains("project", "rm", slug, "--yes")
    admin.says("project", "restore", slug)
    assert slug in {row["slug"] for row in admin.rows("ls", "projects")}
    assert "that this token may restore" in admin.complains("project", "restore", f"{slug}-3")


def test_a_project_is_not_deleted_without_a_yes(person: Person, project: Project) -> None:
    admin = person.having(REGISTRY_TOKEN=project.tokens["admin"])
    assert admin.run("project", "rm", project.slug, stdin="n\n").exit_code == 1
    assert project.slug in {row["slug"] for row in admin.rows("ls", "projects")}
    assert admin.run("project", "rm", project.slug, stdin="y\n").exit_code == 0


def test_others_are_told_who_makes_projects(person: Person) -> None:
    said = person.complains("project", "create", "mine", status=4)
    assert "Only an administrator's token for every project makes one" in said
    assert "registry login" in person.lacking("REGISTRY_TOKEN").complains("project", "create", "mine", status=4)


def test_keys_are_declared_and_shown(person: Person, project: Project) -> None:
    for model, shots in (("A", 5), ("B", 3)):
        project.published(model=model, protocol={"shots": shots, "git_hash": model})
    assert "no key binds" in person.page("protocol", "show", "type-by-length")
    told = person.page("protocol", "set", "type-by-length", "--binding", "shots", "--free", "git_hash", "--required")
    assert "1 key binds; a grid that does not say them is not compared" in " ".join(told.split())
    rows = person.rows("protocol", "show", "type-by-length")
    assert [(row["role"], row["key"], row["required"]) for row in rows] == [
        ("binding", "shots", "yes"),
        ("free", "git_hash", "yes"),
    ]
    assert person.says("protocol", "show", "type-by-length", "-q").split() == ["shots"]
    assert person.run("protocol", "set", "type-by-length").exit_code == 0
    assert "no key binds" in person.page("protocol", "show", "type-by-length")


def test_a_grid_is_described_from_a_file_and_shown(person: Person, project: Project) -> None:
    grid = project.published(labels={"old": "1", "keep": "2"})["id"]
    (person.home / "notes.md").write_text("# Notes\n\nרשימה *é*\n", encoding="utf-8")
    said = person.json("describe", grid, "--file", "notes.md", "--label", "sha=a=b", "--remove-label", "old")
    assert said == {"description": "# Notes\n\nרשימה *é*\n", "labels": {"keep": "2", "sha": "a=b"}}
    stored = project.get(f"grids/{grid}").get_json()
    assert (stored["description"], stored["labels"], stored["revision"]) == (said["description"], said["labels"], 2)
    assert person.json("describe", "model=Qwen-2.5 3B") == person.json("describe", grid[:13]) == said
    assert "רשימה *é*" in person.page("describe", grid)
    rows = person.rows("describe", grid)
    assert [(row["kind"], row["name"]) for row in rows] == [("description", ""), ("label", "keep"), ("label", "sha")]
    assert person.says("describe", "-q", grid) == said["description"] + "\n"
    (person.home / "empty.md").write_text("\n")
    assert person.json("describe", grid, "--file", "empty.md")["description"] == ""


def test_an_experiment_and_a_project_are_described(person: Person, project: Project) -> None:
    project.published(experiment="a/b = c")
    place = f"{project.slug}/a/b = c"
    assert person.run("describe", place, "--file", "-", stdin="from a pipe").exit_code == 0
    assert person.json("describe", place)["description"] == "from a pipe"
    assert person.json("describe", place, "--label", "x=y")["labels"] == {"x": "y"}
    admin = person.having(REGISTRY_TOKEN=project.tokens["admin"])
    assert admin.json("describe", project.slug, "--label", "x=z")["labels"] == {"x": "z"}
    assert "role admin" in person.complains("describe", project.slug, "--label", "x=w", status=4)


def test_what_cannot_be_described_is_told(person: Person, project: Project) -> None:
    project.published()
    said = person.complains("describe", f"{project.slug}/type-by-lenght", "--label", "a=b")
    assert "type-by-length" in said, "it names what there is"
    assert "describe" not in said
    for wrong in (["--label", "a"], ["--file", "none.md"], ["--label", "a=b", "--remove-label", "a"]):
        person.complains("describe", project.slug, *wrong, status=2)
    (person.home / "binary").write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8" in person.complains("describe", project.slug, "--file", "binary", status=2)
    assert "no PROJECT/EXPERIMENT" in person.complains("describe", "/x", status=2)
    (person.home / "control.md").write_text("a\x07")
    assert "line 1" in person.complains("describe", f"{project.slug}/type-by-length", "--file", "control.md")
