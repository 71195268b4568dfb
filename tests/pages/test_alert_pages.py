"""The pages of alerts and baselines, and the form that answers an alert."""

from __future__ import annotations

from tests.house import Project
from tests.pages.settings import administrator
from tests.workers.test_gates import baseline, put


def failing(project: Project) -> None:
    put(project, "A", 70.0)
    for model, value in (("B", 60.0), ("C", 50.0), ("D", 80.0)):
        put(project, model, value)
    baseline(project, margin=3.0)
    project.house.compute()


def test_the_alerts_of_a_project_are_listed_and_lead_to_their_baseline(project: Project) -> None:
    home = f"/projects/{project.slug}"
    browser = administrator(project.house, project.tokens["reader"]).browser
    empty = browser.read(f"{home}/alerts")
    assert "There is no baseline yet" in browser.get(f"{home}/alerts").text
    assert empty is not None
    failing(project)
    page = browser.get(f"{home}/alerts").text
    assert "B is worse than the baseline main by more than 3 points" in page
    assert f'href="{home}/baselines/main"' in page
    assert "/settings/alerts" not in page, "readers answer nothing"
    assert f'href="{home}/alerts"' in browser.get(home).text


def test_a_baseline_says_its_policy_and_how_its_contenders_stand(project: Project) -> None:
    failing(project)
    path = f"/projects/{project.slug}/baselines/main"
    browser = administrator(project.house, project.tokens["reader"]).browser
    browser.read(path)
    page = browser.get(path).text
    for told in (
        "A contender passes when it is shown not to be worse by more than 3 points, over all benchmarks.",
        "A contender with the same scores and trials cannot be shown to pass. At equal scores",
        "Nobody has answered an alert of this baseline yet",
        "D is better than the baseline main",
    ):
        assert told in page, told
    browser.read(f"/projects/{project.slug}/baselines/other", 404)


def test_an_alert_is_answered_once_and_not_over_another_answer(project: Project) -> None:
    failing(project)
    settings = f"/projects/{project.slug}/settings/alerts"
    alerts = {one["model"]: one for one in project.get(f"projects/{project.slug}/alerts").get_json()["items"]}
    admin = administrator(project.house, project.tokens["admin"])
    assert f"{settings}?alert={alerts['B']['id']}" in admin.browser.get(f"/projects/{project.slug}/alerts").text
    page = f"{settings}?alert={alerts['B']['id']}"
    assert admin.send(page, f"{settings}/{alerts['B']['id']}", answer="noise", note="one bad node").status_code == 303
    found = project.get(f"projects/{project.slug}/alerts/{alerts['B']['id']}").get_json()
    assert (found["state"], found["reason"], found["note"]) == ("dismissed", "noise", "one bad node")
    assert "one bad node" in admin.browser.get(settings).text
    for page_ in ("alerts", "baselines/main"):
        assert "1 dismissed alert still fails." in admin.browser.get(f"/projects/{project.slug}/{page_}").text
    answer = admin.send(
        f"{settings}?alert={alerts['C']['id']}", f"{settings}/{alerts['C']['id']}", answer="acknowledged", version="7"
    )
    assert answer.status_code == 412
    told = admin.browser.get(f"/projects/{project.slug}/baselines/main").text
    assert "Of 1 answered alerts, 0 were right: 0 %" in told
