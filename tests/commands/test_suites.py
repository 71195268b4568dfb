"""registry suite: set, ranked over, listed, deleted."""

from __future__ import annotations

from tests.commands.terminal import Person
from tests.house import Project


def test_a_suite_is_set_ranked_over_changed_listed_and_deleted(person: Person, project: Project) -> None:
    for benchmark in ("one", "two/three", "four"):
        for model, value in (("A", 90.0), ("B", 80.0)):
            project.published(benchmark=benchmark, model=model, axes=[], values=value, trials=None)
    made = person.json("suite", "set", "both", "one", "two/three")
    assert (made["name"], made["benchmarks"]) == ("both", ["one", "two/three"])
    assert person.rows("suite", "ls") == [
        {"suite": "both", "benchmark": "one"}, {"suite": "both", "benchmark": "two/three"},
    ]  # fmt: skip
    assert "both   four" in person.page("suite", "set", "both", "four")
    assert "four" in person.page("suite", "ls")
    assert person.says("suite", "rm", "both") == ""
    assert person.json("suite", "ls") == []
    assert "No suite yet" in person.page("suite", "ls")
    assert f'The project {project.slug} has no suite "both".' in person.complains("suite", "rm", "both")


def test_names_of_suites_are_any_text(person: Person, project: Project) -> None:
    name = "a/b ü?"
    person.says("suite", "set", name, "one", "-q")
    assert person.says("suite", "ls", "-q").splitlines() == [name]
    assert person.says("suite", "rm", name) == ""


def test_a_level_that_no_grid_has_is_told_when_a_suite_is_set(person: Person, project: Project) -> None:
    project.published(benchmark="one")
    result = person.run("suite", "set", "own", "one@Type=1,Type=9")
    assert (result.exit_code, result.stdout.splitlines()[1]) == (0, "own\tone@Type=1,Type=9")
    assert 'Warning: one@Type=1,Type=9: the axis "Type" has no level "9"' in result.stderr
