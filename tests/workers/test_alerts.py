"""Alerts: opened once, seen again, resolved by themselves, and answered by people."""

from typing import Any

import pytest

from tests.house import ACCURACY, Project
from tests.workers.test_gates import baseline, put
from tests.workers.test_stored_verdicts import rolling, turn


def alerts(project: Project, **query: Any) -> list[dict[str, Any]]:
    turn(project)
    found = project.get(f"projects/{project.slug}/alerts", query_string=query)
    assert found.status_code == 200, found.text
    items: list[dict[str, Any]] = found.get_json()["items"]
    return items


def states(project: Project, **query: Any) -> list[tuple[Any, ...]]:
    shown = ("model", "state", "resolution", "seen", "reopened")
    return sorted(tuple(one[name] for name in shown) for one in alerts(project, **query))


def answer(project: Project, alert: dict[str, Any], **sent: Any) -> Any:
    headers = sent.pop("headers", {})
    return project.call("PATCH", f"projects/{project.slug}/alerts/{alert['id']}", json=sent, headers=headers)


@pytest.fixture
def failing(project: Project) -> Project:
    put(project, "A", 70.0)
    baseline(project, margin=3.0)
    put(project, "B", 60.0)
    return project


def test_a_failure_opens_one_alert_until_a_pass_or_a_deletion_resolves_it(failing: Project) -> None:
    [alert] = alerts(failing)
    assert (alert["baseline"], alert["model"], alert["state"], alert["verdict"]) == ("main", "B", "open", 1)
    assert alert["sentence"].startswith("B is worse than the baseline main")
    assert "benchmark" not in alert
    put(failing, "B", 61.0)
    assert states(failing) == [("B", "open", None, 2, 0)]
    put(failing, "B", 67.0)  # shows neither
    assert states(failing) == [("B", "open", None, 2, 0)]
    put(failing, "B", 70.0, trials=100_000)
    assert states(failing) == [("B", "resolved", "passed", 2, 0)]
    grid = put(failing, "B", 60.0)
    assert states(failing) == [("B", "open", None, 3, 1)]
    assert failing.call("DELETE", f"grids/{grid['id']}").status_code == 204
    assert states(failing) == [("B", "resolved", "deleted", 3, 1)]
    assert failing.call("POST", f"grids/{grid['id']}/restore").status_code == 200
    assert states(failing) == [("B", "open", None, 4, 2)]
    assert [one["id"] for one in alerts(failing)] == [alert["id"]]


def test_what_was_published_before_the_baseline_is_judged_and_alerts_nobody(project: Project) -> None:
    put(project, "A", 70.0)
    put(project, "B", 60.0)
    baseline(project, margin=3.0)
    assert alerts(project) == []
    verdicts = project.get(f"projects/{project.slug}/baselines/main/verdicts").get_json()["items"]
    assert [(one["contender"], one["passes"]) for one in verdicts] == [("B", False)]
    put(project, "B", 61.0)
    assert [one["model"] for one in alerts(project)] == ["B"]


def test_a_revision_that_changes_no_cell_is_no_newer_result(project: Project) -> None:
    a, b = put(project, "A", 70.0), put(project, "B", 60.0)
    baseline(project, margin=3.0)
    label = {"labels": {"git_sha": "4f2"}}
    for grid in (a, b):
        assert project.call("PATCH", f"grids/{grid['id']}", json=label).status_code == 200
    put(project, "B", 60.0, labels={"git_sha": "9c1"}, protocol={"shots": 5})
    assert alerts(project) == []
    put(project, "A", 71.0)
    assert alerts(project) == [], "only the baseline was measured again"
    put(project, "B", 60.0, trials=400)
    assert [one["model"] for one in alerts(project)] == ["B"]


def test_other_labels_confirm_no_failure_and_are_no_other_look(project: Project) -> None:
    put(project, "A", 70.0)
    baseline(project, margin=3.0, confirm=2, looks="alpha_spending")
    for sha in ("a", "b", "c"):
        put(project, "B", 60.0, labels={"git_sha": sha})
        put(project, "A", 70.0, labels={"git_sha": sha})
        assert alerts(project) == []
    verdicts = project.get(f"projects/{project.slug}/baselines/main/verdicts").get_json()["items"]
    assert [(one["contender"], one["look"]) for one in verdicts] == [("B", 1)]
    put(project, "B", 60.0, protocol={"shots": 5})
    assert [one["model"] for one in alerts(project)] == ["B"], "it is another verdict"


def test_no_alert_outlives_its_policy(failing: Project) -> None:
    put(failing, "C", 50.0)
    put(failing, "D", 67.0)
    baseline(failing, margin=0.0)
    assert [one[:3] for one in states(failing)] == [("B", "open", None), ("C", "open", None)]
    baseline(failing, margin=11.0)
    assert [one[:3] for one in states(failing)] == [("B", "resolved", "policy_changed"), ("C", "open", None)]
    baseline(failing, margin=40.0)
    # C passes another policy, not the one that it failed.
    assert [one[2] for one in states(failing)] == ["policy_changed"] * 2
    baseline(failing, margin=1.0)
    assert [one[1] for one in states(failing)] == ["open", "open"]
    assert failing.call("DELETE", f"projects/{failing.slug}/baselines/main").status_code == 204
    found = failing.get(f"projects/{failing.slug}/alerts").get_json()["items"]
    assert [one["resolution"] for one in found] == ["policy_deleted"] * 2


def test_each_benchmark_and_each_cell_has_its_own(project: Project) -> None:
    for benchmark, value in (("X", 60.0), ("Y", 60.0), ("Z", 70.0)):
        put(project, "A", 70.0, benchmark, trials=10_000)
        if benchmark == "X":
            baseline(project, margin=3.0, per="benchmark")
        put(project, "B", value, benchmark, trials=10_000)
    found = {one["benchmark"]: one["sentence"] for one in alerts(project)}
    assert sorted(found) == ["X", "Y"]
    assert found["X"].startswith("B is worse than the baseline main by more than 3 points on X: -10.00 (90 % interval ")
    verdict = project.get(f"projects/{project.slug}/baselines/main/verdicts").get_json()["items"][0]
    [own] = [one for one in verdict["failing"] if one["benchmark"] == "X"]
    assert f"(90 % interval {own['low']:.2f} to {own['high']:.2f}); the policy is not kept." in found["X"]
    assert len({one["group"] for one in alerts(project)}) == 1, "one change of the scope is one event"
    put(project, "B", 70.0, "X", trials=10_000)
    assert {one["benchmark"]: one["state"] for one in alerts(project)} == {"X": "resolved", "Y": "open"}
    points = ACCURACY | {"lower": None, "upper": None}
    exact = {"trials": None, "stderr": 0.0, "experiment": "e2", "metric": points}
    put(project, "A", [70.0, 70.0, 70.0, 70.0], **exact)
    cells = {"experiment": "e2", "metric": "accuracy", "subject": {"model": "A"}, "policy": {"kind": "no_cell_worse"}}
    assert project.call("PUT", f"projects/{project.slug}/baselines/cells", json=cells).status_code == 201
    put(project, "B", [70.0, 70.0, 69.9, 70.0], **exact)
    [cell] = alerts(project, baseline="cells")
    assert cell["at"] == {"Length": 3.0}
    assert ", Length 3: -0.100, with" in cell["sentence"]


def test_nothing_to_compare_is_neither_an_alert_nor_a_pass(project: Project) -> None:
    put(project, "A", 70.0)
    put(project, "B", 60.0, "Y")
    baseline(project, margin=3.0)
    assert alerts(project) == []


def test_a_failure_is_confirmed_by_the_next(project: Project) -> None:
    put(project, "A", 70.0)
    baseline(project, margin=3.0, confirm=2)
    put(project, "B", 60.0)
    assert alerts(project) == []
    put(project, "B", 75.0)
    assert alerts(project) == []
    put(project, "B", 61.0)
    assert alerts(project) == []
    put(project, "B", 60.0)
    assert states(project) == [("B", "open", None, 1, 0)]


def test_older_checkpoints_that_come_later_page_nobody(project: Project) -> None:
    for step, value in ((1_000, 70.0), (3_000, 60.0)):
        put(project, f"step {step}", value, labels={"step": str(step)})
        if step == 1_000:
            rolling(project, "step", margin=3.0)
    assert [one["model"] for one in alerts(project)] == ["step 3000"]
    put(project, "step 2000", 60.0, labels={"step": "2000"}, trials=100_000)
    assert [one["model"] for one in alerts(project)] == ["step 3000"]
    verdicts = project.get(f"projects/{project.slug}/baselines/main/verdicts?contender=step%202000").get_json()["items"]
    assert [(one["against"], one["passes"]) for one in verdicts] == [("step 1000", False)]


def test_people_acknowledge_and_dismiss_and_precision_counts_what_they_say(failing: Project) -> None:
    put(failing, "C", 50.0)
    first, second = sorted(alerts(failing), key=lambda one: one["model"])
    path = f"projects/{failing.slug}/alerts/{first['id']}"
    tag = failing.get(path).headers["ETag"]
    assert answer(failing, first, state="acknowledged", headers={"If-Match": tag}).get_json()["state"] == "acknowledged"
    assert answer(failing, first, state="dismissed", reason="noise", headers={"If-Match": tag}).status_code == 412
    assert [one["model"] for one in alerts(failing, state="acknowledged")] == ["B"]
    for wrong in ({"state": "open"}, {"state": "dismissed"}, {"state": "acknowledged", "reason": "noise"}):
        assert answer(failing, first, **wrong).status_code == 422
    dismissed = answer(failing, second, state="dismissed", reason="noise", note="one bad node").get_json()
    assert (dismissed["reason"], dismissed["note"]) == ("noise", "one bad node")
    home = f"projects/{failing.slug}/baselines/main"
    found = failing.get(home).get_json()
    assert found["alerts_open"] == 0
    precision = found["alert_precision"]
    assert (precision["right"], precision["wrong"], precision["share"]) == (1, 1, 0.5)
    assert (precision["low"], precision["high"]) == (pytest.approx(0.0945, abs=1e-4), pytest.approx(0.9055, abs=1e-4))
    put(failing, "C", 51.0)
    assert {one["model"]: one["state"] for one in alerts(failing)} == {"B": "acknowledged", "C": "dismissed"}
    put(failing, "C", 70.0, trials=100_000)
    turn(failing)
    assert answer(failing, second, state="acknowledged").status_code == 409
    put(failing, "C", 50.0)
    assert {one["model"]: (one["state"], one["reason"]) for one in alerts(failing)}["C"] == ("open", None)
    assert failing.call("PATCH", path, "reader", json={"state": "acknowledged"}).status_code == 403
