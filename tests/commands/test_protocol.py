"""registry protocol: what binds in an experiment, and in which keys two grids differ."""

from __future__ import annotations

from tests.commands.terminal import Person
from tests.house import Project


def test_keys_are_declared_shown_and_told_where_two_grids_differ(person: Person, project: Project) -> None:
    grids = [
        project.published(model=model, protocol={"shots": shots, "git_hash": model})["id"]
        for model, shots in (("A", 5), ("B", 3))
    ]
    comparison = f"projects/{project.slug}/comparisons?baseline={grids[0]}&contender={grids[1]}"
    assert project.get(comparison).status_code == 202
    project.house.compute()
    assert "no key binds" in person.page("protocol", "show", "type-by-length")
    assert "Their values are compared." in person.page("protocol", "diff", *grids)
    told = person.page("protocol", "set", "type-by-length", "--binding", "shots", "--free", "git_hash", "--required")
    assert "1 key binds; a grid that does not say them is not compared" in " ".join(told.split())
    project.house.compute()
    rows = person.rows("protocol", "show", "type-by-length")
    assert [(row["role"], row["key"], row["required"]) for row in rows] == [
        ("binding", "shots", "yes"),
        ("free", "git_hash", "yes"),
    ]
    assert person.says("protocol", "show", "type-by-length", "-q").split() == ["shots"]
    page = " ".join(person.page("protocol", "diff", *grids).split())
    assert "They are not compared: the protocols differ in shots (5 and 3)." in page
    found = {row["key"]: row for row in person.rows("protocol", "diff", *grids)}
    assert (found["shots"]["baseline"], found["shots"]["contender"], found["shots"]["role"]) == ("5", "3", "binding")
    assert person.run("protocol", "set", "type-by-length").exit_code == 0
    assert "no key binds" in person.page("protocol", "show", "type-by-length")
