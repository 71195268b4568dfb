"""registry ls and events: projects, grids and names, and what was done."""

import json

import pytest

from registry.commands.finding import short_ids
from tests.commands.terminal import Person
from tests.house import Project
from tests.told import tell


@pytest.fixture
def shelf(project: Project) -> Project:
    for model in ("Qwen-2.5 3B", "Qwen-2.5 7B"):
        for variant in ("Baseline", ""):
            project.published(model=model, variant=variant, labels={"git_sha": model[-2:]})
    return project


def test_grids_are_listed_as_tsv_in_a_pipe(person: Person, shelf: Project) -> None:
    rows = person.rows("ls")
    assert len(rows) == 4
    assert list(rows[0]) == [
        "id", "experiment", "benchmark", "model", "variant", "metric", "shape", "cells", "revision", "state",
        "updated_at",
    ]  # fmt: skip
    assert (rows[0]["shape"], rows[0]["cells"], rows[0]["state"]) == ("2x3", "5", "pending")
    assert {row["model"] for row in rows} == {"Qwen-2.5 3B", "Qwen-2.5 7B"}


def test_filters_narrow_the_list(person: Person, shelf: Project) -> None:
    assert len(person.rows("ls", "-m", "Qwen-2.5 3B")) == 2
    assert len(person.rows("ls", "-m", "Qwen-2.5 3B", "-m", "Qwen-2.5 7B", "--variant", "Baseline")) == 2
    assert len(person.rows("ls", "--label", "git_sha=3B")) == 2
    assert len(person.rows("ls", "--since", "2020-01-01")) == 4
    assert person.rows("ls", "-b", "nothing") == []


def test_grids_are_listed_by_the_levels_that_they_have(person: Person, project: Project) -> None:
    for model, last in (("short", 2), ("long", 64)):
        axes = [{"name": "Length", "kind": "numeric", "levels": [1, last]}]
        project.published(model=model, axes=axes, values=[1.0, 2.0])
    assert [row["model"] for row in person.rows("ls", "--at", "Length>=60")] == ["long"]
    assert "there are 1, 64, 2" in person.complains("ls", "--at", "Length=5").replace("1, 2, 64", "1, 64, 2")


def test_a_wrong_filter_names_its_place(person: Person, shelf: Project) -> None:
    assert "updated_since" in person.complains("ls", "--since", "yesterday")
    assert "--label" in person.complains("ls", "--label", "nonsense", status=2)


def test_json_is_the_items_of_the_api(person: Person, shelf: Project) -> None:
    items = person.json("ls")
    assert items == shelf.get(f"projects/{shelf.slug}/grids").get_json()["items"]


def test_all_of_many_are_listed_in_a_pipe_and_a_limit_holds(person: Person, project: Project) -> None:
    sent = [
        {"experiment": "e", "benchmark": "b", "model": f"m{i}", "metric": {"name": "x"}, "axes": [], "values": i}
        for i in range(250)
    ]
    assert project.call("POST", f"projects/{project.slug}/grids/batch", json=sent).status_code == 200
    assert len({row["model"] for row in person.rows("ls")}) == 250
    assert len(person.rows("ls", "--limit", "7")) == 7
    assert "the first 100; --limit shows more" in person.page("ls")


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("models", ["Qwen-2.5 3B", "Qwen-2.5 7B"]),
        ("benchmarks", ["Core Generalization"]),
        ("experiments", ["type-by-length"]),
        ("variants", ["", "Baseline"]),
        ("metrics", ["accuracy"]),
    ],
)
def test_names_in_use_are_listed_with_their_counts(person: Person, shelf: Project, what: str, names: list[str]) -> None:
    rows = person.rows("ls", what)
    assert [row["name"] for row in rows] == names
    assert sum(int(row["grids"]) for row in rows) == 4


def test_grids_and_names_are_found_by_words(person: Person, shelf: Project) -> None:
    assert {row["model"] for row in person.rows("ls", "--find", "7b QWEN")} == {"Qwen-2.5 7B"}
    assert [row["name"] for row in person.rows("ls", "models", "--find", "3b")] == ["Qwen-2.5 3B"]
    assert "--find is for grids" in person.complains("ls", "projects", "--find", "a", status=2)


def test_a_narrow_terminal_does_without_what_matters_least(person: Person, shelf: Project) -> None:
    page = person.page("ls", columns=70)
    assert all(len(line) <= 70 for line in page.splitlines())
    assert "Qwen-2.5 3B" in page
    assert "left out for want of room: revision" in page


def test_an_empty_project_says_so(person: Person, project: Project) -> None:
    assert f"shows no grids in {project.slug}" in person.page("ls")
    assert person.says("ls", "-q") == ""


def test_an_unknown_kind_is_a_usage_error(person: Person) -> None:
    assert "projects" in person.complains("ls", "nonsense", status=2)


def test_ids_are_cut_where_they_all_differ() -> None:
    first, second = "01a1fe08-bdcb-7fa2-b5f8-cdf439d7b7ba", "01a1fe08-bdcb-7ec8-8572-3fa21543dbb5"
    assert short_ids([first, second]) == ["01a1fe08-bdcb-7f", "01a1fe08-bdcb-7e"]
    assert short_ids([first]) == ["01a1fe08"]
    assert short_ids([first, first]) == ["01a1fe08", "01a1fe08"]
    assert short_ids([]) == []


def test_events_are_lines_for_people_and_for_programs(person: Person, project: Project) -> None:
    tell(project, 1, model="A", metric="accuracy", experiment="E", grid="8c7c2f0e-4f5d-4c39-9d57-0a4f6b8f0e11")
    tell(project, 2, kind="claim.flipped", text="It is\nbetter.\x1b[2J", verdict="contradicted", before="supported")
    first, second = person.says("events").splitlines()
    assert first.endswith("grid.published        The grid A was published (E, accuracy)")
    assert second.endswith(
        "claim.flipped         The claim “It is better.\ufffd[2J” is now contradicted (it was supported before)"
    )
    told = [json.loads(line) for line in person.says("events", "--since", "2h", "--json").splitlines()]
    assert [one["position"] for one in told] == [1, 2]
    assert person.says("events", "--since", told[0]["cursor"]).splitlines() == [second]
    assert person.says("events", "--type", "claim.*", "--since", "2001-01-01").splitlines() == [second]
    assert person.says("events", "--model", "B") == ""


@pytest.mark.parametrize("since", ["yesterday", "2 h", "2026-13-01", "aaaaaaaaaaaaaaaa", "17"])
def test_a_since_that_is_nothing_of_the_kind_is_said(person: Person, project: Project, since: str) -> None:
    said = " ".join(person.complains("events", "--since", since, status=2).split())
    allowed = "now, how long ago such as 2h, an instant such as 2026-11-21T08:00:00Z, or a cursor of the feed"
    assert f"--since takes {allowed}; '{since}' is none of these." in said
