"""registry project: made, listed, deleted, and who may."""

from __future__ import annotations

import uuid

from tests.commands.terminal import Person
from tests.house import House, Project


def test_an_administrator_makes_a_project_lists_it_and_deletes_it(person: Person, house: House) -> None:
    admin = person.having(REGISTRY_TOKEN=house.operator).lacking("REGISTRY_PROJECT")
    slug = f"made-{uuid.uuid4().hex[:8]}"
    made = admin.json("project", "create", slug, "--name", "Ours", "--public")
    assert (made["slug"], made["name"], made["visibility"]) == (slug, "Ours", "public")
    assert f"Made the project {slug}-2, private." in admin.page("project", "create", f"{slug}-2")
    rows = {row["slug"]: row for row in admin.rows("project", "ls")}
    assert (rows[slug]["visibility"], rows[f"{slug}-2"]["name"]) == ("public", f"{slug}-2")
    assert slug in admin.page("project", "ls")
    assert slug in admin.complains("project", "create", slug)
    assert admin.says("project", "rm", slug, "--yes") == ""
    assert slug not in {row["slug"] for row in admin.rows("project", "ls")}
    assert f'There is no project "{slug}"' in admin.complains("project", "rm", slug, "--yes")
    admin.says("project", "restore", slug)
    assert slug in {row["slug"] for row in admin.rows("project", "ls")}
    assert "that this token may restore" in admin.complains("project", "restore", f"{slug}-3")


def test_a_project_is_not_deleted_without_a_yes(person: Person, project: Project) -> None:
    admin = person.having(REGISTRY_TOKEN=project.tokens["admin"])
    assert admin.run("project", "rm", project.slug, stdin="n\n").exit_code == 1
    assert project.slug in {row["slug"] for row in admin.rows("project", "ls")}
    assert admin.run("project", "rm", project.slug, stdin="y\n").exit_code == 0


def test_others_are_told_who_makes_projects(person: Person) -> None:
    said = person.complains("project", "create", "mine", status=4)
    assert "Only an administrator's token for every project makes one" in said
    assert "registry login" in person.lacking("REGISTRY_TOKEN").complains("project", "create", "mine", status=4)
