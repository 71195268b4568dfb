"""registry alerts: listed, acknowledged, dismissed."""

from __future__ import annotations

from tests.commands.terminal import Person
from tests.house import Project


def test_alerts_are_listed_acknowledged_and_dismissed(person: Person, project: Project) -> None:
    alert = project.alerted()
    [found] = person.rows("alerts", "ls")
    assert (found["id"], found["state"], found["baseline"], found["model"]) == (alert, "open", "main", "B")
    assert alert in person.page("alerts", "ls")
    assert person.json("alerts", "acknowledge", alert)["state"] == "acknowledged"
    found = person.json("alerts", "dismiss", alert, "--reason", "noise", "--note", "one bad node")
    assert (found["state"], found["reason"], found["note"]) == ("dismissed", "noise", "one bad node")
    assert "No such alert." in person.page("alerts", "ls")
    assert person.says("alerts", "ls", "--state", "dismissed", "-q").split() == [alert]
    assert "is not the id of an alert" in person.complains("alerts", "acknowledge", "B", status=2)
    assert "Missing option '--reason'" in person.complains("alerts", "dismiss", alert, status=2)


def test_a_baseline_may_be_the_model_before(person: Person, project: Project) -> None:
    for step in (1, 2):
        project.published(model=f"step {step}", labels={"step": str(step)})
    names = ("-e", "type-by-length", "--metric", "accuracy")
    made = person.json("baseline", "set", "run", "--along", "step", *names, "--looks", "alpha_spending")
    assert (made["subject"], made["policy"]["looks"]) == ({"previous": True, "along": "step"}, "alpha_spending")
    assert "the model before, by step" in person.page("baseline", "ls")
    assert "Give either a MODEL or --along." in person.complains("baseline", "set", "run", *names, status=2)
