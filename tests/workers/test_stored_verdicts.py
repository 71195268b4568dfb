"""Stored verdicts: a baseline judges by itself, once for each change of what is judged, whatever dies."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import DBAPIError

from registry.storage.tables import alerts, cached_results, gate_verdicts
from tests.house import Project
from tests.workers.asking import computed, described
from tests.workers.deaths import let_leases_run_out
from tests.workers.test_gates import baseline, put, refused, unpublished
from workers import queries
from workers.jobs.invalidation import apply_invalidations


def turn(project: Project) -> None:
    """What the dispatcher and a worker do, without the rest that a question has after its last computation."""
    house = project.house
    apply_invalidations(house.database, house.settings)
    with house.database.transaction() as connection:
        mine = (cached_results.c.project_id == project.id, cached_results.c.state == "pending")
        connection.execute(update(cached_results).where(*mine).values(due_at=func.now()))
    house.compute()


def stored(project: Project) -> list[Any]:
    turn(project)
    mine = select(gate_verdicts).where(gate_verdicts.c.project_id == project.id)
    with project.house.database.reading() as connection:
        return list(connection.execute(mine.order_by(gate_verdicts.c.number)))


def told(project: Project) -> list[tuple[int, str, str, bool | None]]:
    return [(one.number, one.contender, one.document["verdict"], one.passes) for one in stored(project)]


def two(project: Project) -> list[dict[str, Any]]:
    return [put(project, "A", 70.0), put(project, "B", 60.0)]


def test_contenders_are_judged_when_the_baseline_is_set_and_when_they_change_and_not_otherwise(
    project: Project,
) -> None:
    two(project)
    baseline(project, margin=3.0)
    assert told(project) == [(1, "B", "regressed", False)]
    put(project, "B", 60.0)
    put(project, "B", 61.0, "another benchmark", experiment="f")
    project.house.call("PUT", f"projects/{project.slug}/suites/s", token=project.tokens["writer"], json={})
    assert len(stored(project)) == 1, "nothing that is judged did change"
    put(project, "C", 80.0)
    assert told(project)[1:] == [(2, "C", "improved", True)]
    put(project, "B", 80.0)
    assert told(project)[2:] == [(3, "B", "improved", True)]
    put(project, "A", 95.0)
    assert told(project)[3:] == [(4, "B", "regressed", False), (5, "C", "regressed", False)]
    baseline(project, margin=30.0)
    rows = stored(project)
    assert [one.policy_version for one in rows] == [1] * 5 + [2] * 2
    mine = gate_verdicts.c.id == rows[0].id
    for statement in (update(gate_verdicts).where(mine).values(passes=True), delete(gate_verdicts).where(mine)):
        with pytest.raises(DBAPIError, match="are never changed"), project.house.database.transaction() as connection:
            connection.execute(statement)
    assert project.call("DELETE", f"projects/{project.slug}/baselines/main").status_code == 204
    put(project, "B", 62.0)
    assert len(stored(project)) == 7


def test_the_list_has_the_last_first_and_those_of_a_contender(project: Project) -> None:
    grids = two(project)
    put(project, "C", 70.0)
    baseline(project, margin=3.0)
    turn(project)
    path = f"projects/{project.slug}/baselines/main/verdicts"
    first = project.get(f"{path}?limit=1").get_json()
    assert [one["contender"] for one in first["items"]] == ["C"]
    [one] = project.get(f"{path}?limit=1&cursor={first['next']}").get_json()["items"]
    described(one, "StoredVerdict")
    assert (one["number"], one["verdict"], one["passes"], one["look"], one["alpha"]) == (1, "regressed", False, 1, 0.05)
    assert [(given["grid"], given["revision"]) for given in one["inputs"]] == [(grid["id"], 1) for grid in grids]
    assert one["failing"] == [{"gap": one["gap"], "low": one["low"], "high": one["high"]}]
    asked = computed(project, f"projects/{project.slug}/baselines/main/gate", query_string={"contender": "B"})
    assert {name: asked[name] for name in ("verdict", "gap", "low", "high", "sentence")} == {
        name: one[name] for name in ("verdict", "gap", "low", "high", "sentence")
    }
    assert [two["contender"] for two in project.get(f"{path}?contender=B").get_json()["items"]] == ["B"]


def test_the_levels_of_all_looks_sum_up_to_alpha(project: Project) -> None:
    """6/pi^2 of .05, a quarter of it, a ninth: .0304, .0076, .0034."""
    put(project, "A", 70.0)
    for model in "BCD":
        put(project, model, 60.0)
    baseline(project, margin=3.0, looks="alpha_spending")
    found = stored(project)
    assert [one.look for one in found] == [1, 2, 3]
    levels = [round(one.document["alpha"], 4) for one in found]
    assert levels == [0.0304, 0.0076, 0.0034]
    put(project, "B", 61.0)
    assert [one.look for one in stored(project)[3:]] == [4]


def test_the_same_inputs_again_are_no_other_look(project: Project) -> None:
    for benchmark in "XY":
        put(project, "A", 70.0, benchmark)
        last = put(project, "B", 60.0, benchmark)
    baseline(project, margin=3.0, looks="alpha_spending")
    assert [one.look for one in stored(project)] == [1]
    assert project.call("DELETE", f"grids/{last['id']}").status_code == 204
    assert [one.look for one in stored(project)] == [1, None]
    assert project.call("POST", f"grids/{last['id']}/restore").status_code == 200
    found = stored(project)
    assert [one.look for one in found] == [1, None, 1]
    assert found[0].document == found[2].document


def test_a_contender_without_common_cells_is_no_look_and_no_pass(project: Project) -> None:
    put(project, "A", 70.0)
    put(project, "B", 70.0, "Y")
    put(project, "C", [None] * 4, trials=None)
    baseline(project, margin=3.0)
    found = [(one.document["verdict"], one.document["reason"], one.passes, one.look) for one in stored(project)]
    assert found == [("not_comparable", "no_common_cells", None, None)] * 2


def rolling(project: Project, along: str | None = None, **policy: Any) -> None:
    subject = {"previous": True} | ({"along": along} if along else {})
    baseline(project, {"subject": subject}, **policy)


def against(project: Project) -> list[tuple[str, str, str]]:
    return [(one.contender, one.document["against"], one.document["verdict"]) for one in stored(project)]


def test_each_contender_is_judged_against_the_one_before(project: Project) -> None:
    for step, value in ((1_000, 70.0), (3_000, 60.0), (2_000, 80.0)):
        put(project, f"step {step}", value, labels={"step": str(step)})
    put(project, "no step", 10.0)
    rolling(project, "step", margin=3.0)
    path = f"projects/{project.slug}/baselines/main"
    [warning] = [one for one in project.get(path).get_json()["warnings"] if one["code"] == "unordered"]
    assert warning["detail"].startswith("1 of 4 models")
    assert against(project) == [
        ("step 2000", "step 1000", "improved"),
        ("step 3000", "step 2000", "regressed"),
    ]
    put(project, "step 2500", 70.0, labels={"step": "2.5k"})
    assert against(project)[2:] == [("step 2500", "step 2000", "regressed"), ("step 3000", "step 2500", "regressed")]
    asked = computed(project, f"{path}/gate", query_string={"contender": "step 2000"})
    assert (asked["verdict"], asked["gap"]) == ("improved", pytest.approx(10.0))
    assert refused(project, "step 1000") == {"/contender": "is the first in the order: nothing is before it"}
    assert refused(project, "no step") == {"/contender": 'has no number under the label "step", or several'}
    assert unpublished(project, values=60.0, labels={"step": "1500"}).get_json()["gap"] == pytest.approx(-10.0)
    assert unpublished(project, labels={"step": "late"}).get_json()["errors"][0]["pointer"] == "/labels"


def test_without_a_label_the_order_is_that_of_publication(project: Project) -> None:
    for model, value in (("B", 70.0), ("A", 60.0), ("C", 61.0)):
        put(project, model, value)
    rolling(project, margin=3.0)
    assert against(project) == [("A", "B", "regressed"), ("C", "A", "non_inferior")]


def test_outcomes_of_items_that_come_later_make_another_verdict(project: Project) -> None:
    items = {"set": {"name": "x", "count": 10, "digest": "ab" * 32}}
    grids = [put(project, model, value, trials=10) for model, value in (("A", 90.0), ("B", 50.0), ("C", 50.0))]
    baseline(project, margin=3.0)
    assert len(stored(project)) == 2
    for grid, right in zip(grids[:2], (9, 5), strict=True):
        cells = [{"at": {}, "outcomes": [1] * right + [0] * (10 - right)}]
        assert project.call("POST", f"grids/{grid['id']}/items", json=items | {"cells": cells}).status_code == 201
    found = [(one.contender, one.document["gap"]) for one in stored(project)]
    assert found[2:] == [("B", pytest.approx(-40.0)), ("C", pytest.approx(-40.0))]


def counted(project: Project) -> tuple[int, int]:
    with project.house.database.reading() as connection:
        counts = [
            select(func.count()).select_from(one).where(one.c.project_id == project.id)
            for one in (gate_verdicts, alerts)
        ]
        found = [connection.scalar(one) or 0 for one in counts]
    return found[0], found[1]


@pytest.fixture
def failing(project: Project) -> Project:
    """One contender that fails, not judged yet."""
    put(project, "A", 70.0)
    turn(project)
    baseline(project, margin=3.0)
    put(project, "B", 60.0)
    return project


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Let something happen between the judging and the settling of the next worker, once."""
    compute, acts = queries.compute, [act]

    def judged(*given: Any) -> Any:
        found = compute(*given)
        if acts and isinstance(given[-1], queries.BaselineQuery):
            acts.pop()()
        return found

    monkeypatch.setattr(queries, "compute", judged)


def test_a_worker_whose_lease_ran_out_stores_nothing_after_another_has(
    failing: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = failing.house

    def another() -> None:
        let_leases_run_out(house.database)
        assert queries.compute_due(house.database, house.settings) == 1

    meanwhile(monkeypatch, another)
    turn(failing)
    assert counted(failing) == (1, 1)


def test_a_policy_that_is_changed_while_it_is_judged_judges_alone(
    failing: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(monkeypatch, lambda: baseline(failing, margin=50.0))
    assert [(one.number, one.policy_version, one.passes) for one in stored(failing)] == [(1, 2, True)]
    assert counted(failing) == (1, 0)


def test_a_baseline_that_is_deleted_while_it_is_judged_says_nothing(
    failing: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"projects/{failing.slug}/baselines/main"
    meanwhile(monkeypatch, lambda: failing.call("DELETE", path) and None)
    turn(failing)
    assert counted(failing) == (0, 0)


def test_what_is_published_while_it_is_judged_is_judged_instead(
    failing: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def publish() -> None:
        put(failing, "B", 80.0)
        apply_invalidations(failing.house.database, failing.house.settings)

    meanwhile(monkeypatch, publish)
    assert [(one.number, one.passes) for one in stored(failing)] == [(1, True)]
    assert counted(failing) == (1, 0)


def test_workers_and_dispatchers_at_the_same_moment_judge_once(failing: Project) -> None:
    house, together = failing.house, threading.Barrier(4)
    for model in "CDE":
        put(failing, model, 60.0)

    def work(both: Callable[[Any, Any], int]) -> None:
        together.wait()
        both(house.database, house.settings)

    tasks = (apply_invalidations, apply_invalidations, queries.compute_due, queries.compute_due)
    threads = [threading.Thread(target=work, args=(one,)) for one in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = stored(failing)
    assert sorted(one.contender for one in found) == ["B", "C", "D", "E"]
    assert counted(failing) == (4, 4)


def test_contenders_that_are_left_when_the_time_is_over_wait_for_the_next_turn(
    failing: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "SHIFT", -1.0)
    put(failing, "C", 60.0)
    found = stored(failing)
    assert [(one.number, one.contender) for one in found] == [(1, "B"), (2, "C")]
    with failing.house.database.reading() as connection:
        groups = connection.scalars(select(alerts.c.group_id).where(alerts.c.project_id == failing.id)).all()
    assert len(groups) == 2
    assert len(set(groups)) == 1, "one change of the scope is one event"
