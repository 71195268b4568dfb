"""`registry push` against a running registry: everything arrives once, and what is wrong has its place and status."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from sqlalchemy import update

from registry.commands import pushing
from registry.demo import demo_grids
from registry.tables import derivations
from tests.commands.terminal import Person
from tests.house import House, Project

FILES = Path(__file__).parents[1] / "importers" / "files"
SEEDS = [str(FILES / f"seed_{seed}.txt") for seed in range(5)]
CELLS = sum(
    sum(value is not None for row in grid.get("values", []) for value in row) for grid in demo_grids()
)  # of the five documents


def test_all_seeds_are_pushed_as_they_are(person: Person, project: Project) -> None:
    report = person.json("push", *SEEDS)
    assert (report["new"], report["same"], report["faults"]) == (18, 0, [])
    items = project.get(f"projects/{project.slug}/grids?limit=1000").get_json()["items"]
    assert sum(item["cell_count"] for item in items) == CELLS > 200
    for item in items:
        stored = project.get(f"grids/{item['id']}").get_json()
        if stored["cell_count"]:
            assert any(grid.get("values") == stored["values"] for grid in demo_grids())


def test_pushing_again_changes_nothing(person: Person) -> None:
    person.json("push", SEEDS[0])
    again = person.json("push", SEEDS[0])
    assert (again["new"], again["same"]) == (0, 1)


def test_waiting_ends_with_zero_when_the_statistics_are_there(person: Person, house: House) -> None:
    person.json("push", SEEDS[0])
    house.compute()
    assert person.json("push", "--wait", SEEDS[0])["failed"] == []


def test_waiting_ends_with_three_when_statistics_failed(person: Person, project: Project, house: House) -> None:
    person.json("push", SEEDS[0])
    [grid] = project.get(f"projects/{project.slug}/grids").get_json()["items"]
    failed = update(derivations).where(derivations.c.grid_id == grid["id"])
    with house.database.transaction() as connection:
        connection.execute(failed.values(state="failed", reason="not today"))
    assert json.loads(person.says("push", "--wait", "--json", SEEDS[0], status=3))["failed"] == [
        "The statistics of Core Generalization · Qwen-2.5 3B failed."
    ]


def test_a_pipe_gets_a_row_for_each_grid(person: Person) -> None:
    [row] = person.rows("push", SEEDS[0])
    assert (row["model"], row["metric"], row["revision"]) == ("Qwen-2.5 3B", "accuracy", "1")


def test_a_dry_run_shows_axes_cells_and_warnings_and_sends_nothing(person: Person, project: Project) -> None:
    said = person.says("push", "--dry-run", SEEDS[1])
    assert "Type, nominal, 7 levels: 1, 2, 3, 4, 5, 6, 7" in said
    assert "Length, numeric, 15 levels: 5, 6, 7" in said
    assert "35 of 105 cells, from 46.3 to 99" in said
    assert 'nothing names the experiment: it is called "type-by-length"' in said
    assert project.get(f"projects/{project.slug}/grids").get_json()["items"] == []


def test_what_a_file_does_not_say_is_asked_for(person: Person) -> None:
    table = person.home / "t.csv"
    table.write_text("Length,0,1\na,1,2\n")
    said = person.complains("push", str(table), "--columns", "Step")
    assert "--experiment NAME --benchmark NAME --model NAME --metric NAME" in said


def test_a_fault_names_the_file_the_line_and_the_cell(person: Person) -> None:
    table = person.home / "t.csv"
    table.write_text("Length,value\n0,1\n1,many\n")
    said = person.complains("push", "-q", str(table), "--dry-run")
    assert f'{table}:3:2: "many" is not a number' in said


def test_what_the_registry_refuses_is_told_at_its_place(person: Person) -> None:
    table = person.home / "t.csv"
    table.write_text("Length,value\n0,1\n1,2\n")
    names = ["--experiment", "e", "--benchmark", "b", "--model", "m", "--metric", "x", "--upper", "1"]
    said = person.complains("push", "-q", str(table), *names)
    assert f"{table}:3:2: 2.0 is outside" in said


def test_a_folder_is_pushed_and_strangers_in_it_are_named(person: Person) -> None:
    folder = person.home / "results"
    shutil.copytree(FILES / "mteb", folder / "mteb")
    shutil.copytree(FILES / "helm", folder / "helm")
    (folder / "notes.bin").write_bytes(b"\x01\x02")
    report = person.json("push", str(folder))
    assert (report["new"], report["files"], report["faults"]) == (3, 2, [])
    assert any("notes.bin" in one["detail"] for one in report["warnings"])


def test_a_push_that_was_cut_off_sends_only_the_rest(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = {"experiment": "e", "benchmark": "b", "metric": {"name": "x"}, "axes": [], "values": 1.0}
    lines = person.home / "many.ndjson"
    lines.write_text("".join(json.dumps(grid | {"model": f"m{n}"}) + "\n" for n in range(30)))
    monkeypatch.setattr(pushing, "TOGETHER", 10)
    taken = pushing.Push._take
    calls: list[int] = []

    def interrupted(self: pushing.Push, *given: object) -> None:
        taken(self, *given)  # type: ignore[arg-type]
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(pushing.Push, "_take", interrupted)
    assert person.run("push", str(lines)).exit_code == 130
    monkeypatch.setattr(pushing.Push, "_take", taken)
    report = person.json("push", str(lines))
    assert (report["resumed"], report["new"], report["same"]) == (20, 10, 0)
    report = person.json("push", str(lines))
    assert (report["resumed"], report["new"], report["same"]) == (0, 0, 30)


def test_without_an_answer_the_grids_wait_in_the_spool(person: Person, url: str) -> None:
    away = person.having(REGISTRY_URL="http://127.0.0.1:9")
    answer = away.run("push", SEEDS[0])
    assert answer.exit_code == 5
    assert "registry sync" in answer.stderr
    assert person.run("sync", "--any-url", "--url", url).exit_code == 0
    [row] = person.rows("ls")
    assert row["model"] == "Qwen-2.5 3B"


def test_a_wrong_token_is_status_4_and_a_wrong_option_status_2(person: Person) -> None:
    assert person.having(REGISTRY_TOKEN="rgs_wrong").run("push", SEEDS[0]).exit_code == 4
    assert person.run("push", "nothing.csv").exit_code == 2
    assert person.run("push", SEEDS[0], "--label", "x").exit_code == 2
