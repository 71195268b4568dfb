"""registry protocol: which keys bind in an experiment."""

from __future__ import annotations

from tests.commands.terminal import Person
from tests.house import Project


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
