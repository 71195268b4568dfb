"""registry describe: what is said of projects, experiments and grids is shown and changed."""

from __future__ import annotations

from tests.commands.terminal import Person
from tests.house import Project


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
