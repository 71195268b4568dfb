"""registry noise: by how much values vary of themselves."""

from __future__ import annotations

from tests.commands.terminal import Person
from tests.house import Project


def test_noise_is_told_in_a_table_and_in_words(person: Person, project: Project) -> None:
    names = {"model": "A", "variant": "", "axes": []}
    project.published(**names, values=70.0, trials=500, repeats=5, sd=2.0)
    asked = ("noise", "-e", "type-by-length", "--metric", "accuracy")
    person.run(*asked, "--wait", "0")
    project.house.compute()
    page = " ".join(person.page(*asked).split())
    assert "On Core Generalization one repeat varies by 2 points (95 % interval 1.2 to 5.75, 4 degrees" in page
    assert "its trials explain 4.58 points" in page
    [row] = person.rows(*asked)
    assert (row["benchmark"], row["cells"], row["between"]) == ("Core Generalization", "1", "2.0")
    project.published(model="B", variant="", axes=[], values=70.0, trials=None, experiment="another")
    person.run("noise", "-e", "another", "--metric", "accuracy", "--wait", "0")
    project.house.compute()
    assert "Nothing is known" in person.run("noise", "-e", "another", "--metric", "accuracy").output
