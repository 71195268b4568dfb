"""Judging under faults: whatever is late, twice or at the same time, one verdict and one alert for each change."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select

from registry.storage.tables import alerts, gate_verdicts
from tests.house import Project
from tests.workers.deaths import let_leases_run_out
from tests.workers.test_gates import baseline, put
from tests.workers.test_stored_verdicts import stored, turn
from workers import queries
from workers.jobs.invalidation import apply_invalidations


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
