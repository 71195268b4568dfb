"""registry plan: of two models, of a claim, of a gate."""

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
    assert int(person.says(*words, "--effect", "13", "-q")) == pytest.approx(186.9, abs=1.5)  # 200 (2.8 x 4.48 / 13)^2


def test_one_thing_is_planned_at_once(person: Person) -> None:
    for words in ((), ("A",), ("A", "B", "--claim", "{}"), ("--claim", "{}", "--gate", "main", "A")):
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
    assert (row["affordable"], float(row["factor"]) > 1) == ("false", True)
    for wrong in ("{", str(tmp_path / "none.json")):
        assert "neither JSON nor a file" in person.complains("plan", "--claim", wrong, status=2)


def test_cells_that_come_first_are_listed(person: Person, project: Project, house: House) -> None:
    axis = {"name": "L", "kind": "numeric", "levels": [1, 2]}
    project.published(experiment="e", model="A", benchmark="X", axes=[axis], values=[90.0, None], trials=100)
    claim = {"kind": "value", "about": {"experiment": "e", "metric": "accuracy"}, "where": {"L": [2]},
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
