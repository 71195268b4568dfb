"""The pages of alerts and baselines, and the form that answers an alert."""

from __future__ import annotations

from tests.house import Project
from tests.pages.conftest import browser
from tests.pages.settings import administrator
from tests.workers.test_gates import baseline, put


def test_alerts_are_listed_told_by_their_baseline_and_answered_once(project: Project) -> None:
    home = f"/projects/{project.slug}"
    reader, admin = (browser(project.house, project.tokens[role]) for role in ("reader", "admin"))
    assert "There is no baseline yet" in reader.read(f"{home}/alerts").text
    for model, value in (("A", 70.0), ("B", 60.0), ("C", 50.0), ("D", 80.0)):
        put(project, model, value)
    baseline(project, margin=3.0)
    project.house.compute()
    listed = reader.read(f"{home}/alerts")
    assert "B is worse than the baseline main by more than 3 points" in listed.text
    assert f"{home}/baselines/main" in listed.links()
    assert not listed.links("/settings/alerts"), "readers answer nothing"
    assert f"{home}/alerts" in reader.read(home).links()
    policy = reader.read(f"{home}/baselines/main").text
    for told in (
        "A contender passes when it is shown not to be worse by more than 3 points, over all benchmarks.",
        "A contender with the same scores and trials cannot be shown to pass. At equal scores",
        "Nobody has answered an alert of this baseline yet",
        "D is better than the baseline main",
    ):
        assert told in policy, told
    reader.read(f"{home}/baselines/other", 404)

    settings = f"{home}/settings/alerts"
    ids = {one["model"]: one["id"] for one in project.get(f"projects/{project.slug}/alerts").get_json()["items"]}
    asked = {model: f"{settings}?alert={one}" for model, one in ids.items()}
    assert asked["B"] in admin.read(f"{home}/alerts").links()
    person = administrator(project.house, project.tokens["admin"])
    answered = person.send(asked["B"], f"{settings}/{ids['B']}", answer="noise", note="one bad node")
    assert answered.status_code == 303
    found = project.get(f"projects/{project.slug}/alerts/{ids['B']}").get_json()
    assert (found["state"], found["reason"], found["note"]) == ("dismissed", "noise", "one bad node")
    assert "one bad node" in admin.get(settings).text
    for page in ("alerts", "baselines/main"):
        assert "1 dismissed alert still fails." in admin.get(f"{home}/{page}").text
    late = person.send(asked["C"], f"{settings}/{ids['C']}", answer="acknowledged", version="7")
    assert late.status_code == 412
    assert "Of 1 answered alerts, 0 were right: 0 %" in admin.get(f"{home}/baselines/main").text
