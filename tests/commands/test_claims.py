"""registry claim: the claims of files kept, listed, shown and removed."""

from __future__ import annotations

import pytest

from tests.commands.terminal import Person
from tests.commands.test_check import README
from tests.house import Project


@pytest.fixture
def readme(person: Person, project: Project) -> str:
    project.published()
    (person.home / "README.md").write_text(README, encoding="utf-8")
    return "README.md"


def test_claims_of_a_file_are_kept_listed_shown_and_removed(person: Person, project: Project, readme: str) -> None:
    kept = person.json("claim", "add", readme)
    assert [one["source"] for one in kept] == [{"url": readme, "line": line} for line in (6, 9, 12)]
    project.house.compute()
    rows = person.rows("claim", "ls")
    assert [(one["verdict"], one["where"]) for one in rows] == [
        ("supported", "README.md:6"),
        ("contradicted", "README.md:9"),
        ("supported", "README.md:12"),
    ]
    assert [one["id"] for one in person.rows("claim", "ls", "--verdict", "contradicted")] == [kept[1]["id"]]
    assert "99.3" in person.page("claim", "show", kept[0]["id"])
    assert person.json("claim", "add", readme)[0]["id"] == kept[0]["id"]
    person.says("claim", "rm", kept[0]["id"])
    assert f"There is no claim {kept[0]['id']}." in person.complains("claim", "rm", kept[0]["id"])
    assert len(person.json("claim", "ls")) == 2


def test_where_one_has_a_fault_none_is_kept(person: Person, project: Project, readme: str) -> None:
    text = README.replace('"Length", "goes"', '"Lenght", "goes"')
    (person.home / readme).write_text(text, encoding="utf-8")
    told = person.complains("claim", "add", readme)
    assert "README.md:9: /along" in told
    assert "None is kept." in told
    assert person.json("claim", "ls") == []
