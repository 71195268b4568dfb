"""registry plan: of two models, of numbers, of a peak."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.terminal import Person
from tests.house import House, Project


def test_two_models_are_planned(person: Person, project: Project, house: House) -> None:
    for model, value in (("A", 70.0), ("B", 74.0)):
        project.published(model=model, axes=[], values=value, trials=200)
    words = ("plan", "A", "B")
    assert "is not there after 0 s" in person.complains(*words, "--wait", "0", status=1)
    house.compute()
    page = person.page(*words)
    assert "measured: +4, standard error 4.5: not told apart from 0" in page
    assert "with the present trials a difference of 13 would be found" in page
    assert "times the trials of every cell" in page
    [row] = person.rows(*words, "--budget", "1000")
    assert (row["benchmark"], row["share"], row["trials"]) == ("Core Generalization", "1.0", "500")
    assert (row["affordable"], row["impossible"], row["reason"]) == ("false", "", "")
    [row] = person.rows(*words, "--item-limit", "30")
    assert (row["affordable"], row["impossible"]) == ("", "item_limit")
    assert row["reason"].endswith("there are 30 items: more trials are samples of the same items")
    assert person.json(*words, "--effect", "2")["needed"]["effect"] == 2.0


def test_numbers_are_planned(person: Person) -> None:
    [row] = person.rows("plan", "--rates", "0.9", "0.6")
    assert (round(float(row["effect"]), 9), row["factor"], row["trials"], row["exact"]) == (-0.3, "", "32", "36")
    [row] = person.rows("plan", "--items", "1e-9", "0.1", "--budget", "1000")
    assert (row["trials"], row["affordable"], row["impossible"]) == ("", "false", "not_worth")
    assert person.says("plan", "--all-pass", "0.9", "-q") == "29\n"
    assert person.says("plan", "--all-pass", "0.9", "--two-sided", "-q") == "36\n"
    assert "870 trials of each" in person.page("plan", "--discordant", "0.03", "0.1")


@pytest.mark.parametrize(
    "words",
    [
        ("--rates", "nan", "0.5"),
        ("--items", "nan", "0.1"),
        ("--discordant", "0.1", "inf"),
        ("A", "B", "--effect", "-inf"),
        ("--all-pass", "0.9", "--alpha", "nan"),
    ],
)
def test_what_is_no_finite_number_is_refused_in_a_line(person: Person, words: tuple[str, ...]) -> None:
    assert "is no finite number" in person.complains("plan", *words, status=2)


def test_a_peak_is_planned_and_so_is_nothing_else_at_once(person: Person, project: Project) -> None:
    grid = project.published(trials=150)
    rows = person.rows("plan", "--peak", grid["id"], "--budget", "100")
    assert rows[0]["at"].startswith("Type")
    assert sum(float(row["share"]) for row in rows) > 0.99
    for words in ((), ("A",), ("A", "B", "--all-pass", "0.9"), ("--rates", "0.9", "0.6", "--all-pass", "0.9")):
        assert "Name two models or grids" in person.complains("plan", *words, status=2)


def test_a_claim_is_planned_from_json_or_a_file(person: Person, project: Project, house: House, tmp_path: Path) -> None:
    """71 of 100 at 200 trials against 67: 4 above, with the error of a binomial share."""
    about = {"experiment": "e", "metric": "accuracy"}
    project.published(experiment="e", model="A", axes=[], values=71.0, trials=200)
    claim = json.dumps({"kind": "value", "about": about, "is": {"op": ">", "number": 67}})
    assert "is not there after 0 s" in person.complains("plan", "--claim", claim, "--wait", "0", status=1)
    house.compute()
    file = tmp_path / "claim.json"
    file.write_text(claim)
    page = person.page("plan", "--claim", str(file))
    assert "what is stored does not decide the claim beyond noise" in page
    assert "to decide it: " in page
    [row] = person.rows("plan", "--claim", claim, "--budget", "10")
    assert (row["model"], row["share"], row["trials"], row["affordable"]) == ("A", "1.0", "10", "false")
    for wrong in ("{", str(tmp_path / "none.json")):
        assert "neither JSON nor a file" in person.complains("plan", "--claim", wrong, status=2)


def test_cells_that_come_first_are_listed(person: Person, project: Project, house: House) -> None:
    axis = {"name": "L", "kind": "numeric", "levels": [1, 2]}
    project.published(experiment="e", model="A", benchmark="X", axes=[axis], values=[90.0, None], trials=100)
    claim = {"kind": "value", "about": {"experiment": "e", "metric": "accuracy"}, "of": "mean", "over": "declared",
             "is": {"op": ">", "number": 60}}  # fmt: skip
    person.complains("plan", "--claim", json.dumps(claim), "--wait", "0", status=1)
    house.compute()
    assert "to be measured first, as the claim is about them" in person.page("plan", "--claim", json.dumps(claim))
    [row] = person.rows("plan", "--claim", json.dumps(claim))
    assert (row["benchmark"], row["model"], row["at"], row["why"]) == ("X", "A", "L 2", "missing_for_claim")


def test_a_gate_is_planned(person: Person, project: Project, house: House) -> None:
    for model, value in (("A", 60.0), ("B", 59.0)):
        project.published(experiment="e", model=model, axes=[], values=value, trials=100)
    policy = {"kind": "non_inferior", "margin": 3}
    sent = {"experiment": "e", "metric": "accuracy", "subject": {"model": "A"}, "policy": policy}
    assert project.call("PUT", f"projects/{project.slug}/baselines/main", json=sent).status_code == 201
    person.complains("plan", "--gate", "main", "B", "--wait", "0", status=1)
    house.compute()
    page = person.page("plan", "--gate", "main", "B")
    assert "to decide it 2: " in page
    assert "equal scores and trials would exclude a loss of 11, which does not pass" in page
    assert "Name two models or grids" in person.complains("plan", "A", "B", "--gate", "main", "B", status=2)
