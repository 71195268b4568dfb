"""pull, completion: files, whole or not at all."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.commands.terminal import Person
from tests.house import Project

ONE = "model=Qwen-2.5 3B"


@pytest.mark.parametrize("form", ["json", "md", "txt"])
def test_a_grid_is_written_as_the_api_sends_it(person: Person, ready: Project, form: str) -> None:
    grid = person.json("show", ONE)["id"]
    assert person.says("pull", ONE, "-o", f"x.{form}") == ""
    assert (person.home / f"x.{form}").read_bytes() == ready.get(f"grids/{grid}.{form}").data
    assert person.says("pull", ONE, "--format", form) == ready.get(f"grids/{grid}.{form}").text


def test_all_cells_that_fit_are_one_table(person: Person, ready: Project) -> None:
    person.says("pull", "-o", "all.csv")
    rows = list(csv.DictReader((person.home / "all.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 10
    assert {row["model"] for row in rows} == {"Qwen-2.5 3B", "Qwen-2.5 7B"}
    lines = person.says("pull", "-m", "Qwen-2.5 7B", "--format", "ndjson").splitlines()
    assert [json.loads(line)["value"] for line in lines] == [99.7, 99.0, 98.7, 98.0, 99.7]


def test_a_statistic_of_every_grid_is_one_table(person: Person, ready: Project) -> None:
    person.says("pull", "--statistic", "trends", "-o", "trends.csv")
    feed = ready.get(f"projects/{ready.slug}/statistics.csv?part=trends")
    assert (person.home / "trends.csv").read_bytes() == feed.data
    lines = person.says("pull", "--statistic", "peaks", "-m", "Qwen-2.5 7B", "--format", "ndjson").splitlines()
    assert [(json.loads(line)["model"], json.loads(line)["value"]) for line in lines] == [("Qwen-2.5 7B", 99.7)] * 2
    assert "registry peaks GRID" in person.complains("pull", ONE, "--statistic", "peaks", status=2)
    assert "does not cut this table" in person.complains("pull", "--statistic", "peaks", "--at", "Length>=1")


def test_a_slice_is_written_and_drawn_alone(person: Person, ready: Project) -> None:
    grid, query = person.json("show", ONE)["id"], {"at.Length": ">=1", "at.Type": "1"}
    asked = ("--at", "Length>=1", "--at", "Type=1")
    for form in ("csv", "md", "ndjson"):
        path = f"grids/{grid}.{form}" if form == "md" else f"grids/{grid}/cells.{form}"
        assert person.says("pull", ONE, "--format", form, *asked) == ready.get(path, query_string=query).text
    assert len(person.says("pull", "--format", "ndjson", *asked).splitlines()) == 4
    assert "Length at least 1, Type 1" in person.says("pull", ONE, "--format", "svg", *asked)
    assert "there are Type, Length" in person.complains("pull", ONE, "--format", "svg", "--at", "Depth=1")


def test_many_grids_are_no_markdown(person: Person, ready: Project) -> None:
    assert "needs one GRID" in person.complains("pull", "-o", "x.md", status=2)


def test_what_fails_leaves_the_file_as_it_was(person: Person, ready: Project) -> None:
    before = person.home / "x.csv"
    before.write_text("mine")
    assert person.run("pull", "00000000-0000-7000-8000-000000000000", "-o", "x.csv").exit_code == 1
    assert before.read_text() == "mine"
    assert [path.name for path in person.home.iterdir() if path.name.startswith(".x")] == []
    assert "cannot be written" in person.complains("pull", ONE, "-o", "no/such/x.csv")


@pytest.mark.parametrize(("name", "begins"), [("x.svg", b"<svg"), ("x.png", b"\x89PNG\r\n"), ("x.vl.json", b"{")])
def test_a_heatmap_is_drawn_in_the_form_of_its_name(person: Person, ready: Project, name: str, begins: bytes) -> None:
    answer = person.run("pull", ONE, "-o", name)
    assert answer.exit_code == 0, answer.output
    written = (person.home / name).read_bytes()
    assert written.startswith(begins)
    assert answer.stderr == f"{name}: {len(written):,} bytes.\n"


@pytest.mark.parametrize(("shell", "word"), [("bash", "complete -o"), ("zsh", "compdef"), ("fish", "complete -")])
def test_each_shell_gets_its_completion(person: Person, shell: str, word: str) -> None:
    script = person.says("completion", shell)
    assert word in script
    assert "_REGISTRY_COMPLETE" in script


def test_the_openapi_documents_are_printed(person: Person) -> None:
    """Those that are committed are current."""
    for name, options in (("openapi.yaml", ()), ("openapi.client.yaml", ("--client",))):
        assert person.says("openapi", *options) == (Path(__file__).parents[2] / name).read_text(encoding="utf-8")
