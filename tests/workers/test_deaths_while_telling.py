"""Whatever ends a process between any two statements, each act that is there is told once, and no other."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import select

from registry.grids.intake import Limits, Submission, read_submission
from registry.operations.amend import delete_grid
from registry.operations.audit_log import COMMAND
from registry.operations.publish import publish
from registry.storage.database import Database
from registry.storage.tables import audit_log, grids, projects
from tests.house import House, Project, publication
from tests.workers.deaths import dies_at, let_leases_run_out
from tests.workers.feed import feed
from tests.workers.test_gates import baseline, put
from tests.workers.test_stored_claims import add, at, measure
from workers.derive import derive_due
from workers.jobs import upkeep
from workers.jobs.invalidation import apply_invalidations
from workers.jobs.upkeep import sequence_arrivals
from workers.queries import compute_due
from workers.verify_checks import check_events

_MOST = 80


def _whole(project: Project) -> list[Any]:
    """The feed, which has every place."""
    found = feed(project)
    assert [one.position for one in found] == list(range(1, len(found) + 1))
    with project.house.database.reading() as connection:
        assert list(check_events(connection, project.id)) == []
    return found


def _grids(found: list[Any], kind: str) -> list[str]:
    return [one.data["grid"] for one in found if one.type == kind]


def _sent(**changes: Any) -> Submission:
    return read_submission(publication(**changes), Limits())


def test_an_act_that_died_is_told_if_it_is_there_and_else_not(project: Project) -> None:
    house, died = project.house, 0
    with house.database.reading() as connection:
        row = connection.execute(select(projects).where(projects.c.id == project.id)).one()
    for step in range(1, _MOST):

        def act(database: Database, step: int = step) -> None:
            with database.transaction() as connection:
                publish(connection, row, [_sent(model=f"one {step}")])
            with database.transaction() as connection:
                sent = [_sent(model=f"{kind} {step}") for kind in ("two", "three")]
                found = publish(connection, row, sent)
                delete_grid(connection, COMMAND, found[0].stored.id)

        if not dies_at(house.database, step, act):
            break
        died += 1
    assert died > 10
    with house.database.reading() as connection:
        there = connection.scalars(select(grids.c.id).where(grids.c.project_id == project.id)).all()
        mine = (audit_log.c.project_id == project.id, audit_log.c.action == "grid.deleted")
        deleted = connection.scalars(select(audit_log.c.subject).where(*mine)).all()
    assert 0 < len(there) < 3 * (died + 1)
    found = _whole(project)
    assert Counter(_grids(found, "grid.published")) == Counter(map(str, there))
    assert Counter(_grids(found, "grid.deleted")) == Counter(deleted)


def test_a_sequencer_that_died_gave_each_place_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "SEQUENCED_AT_ONCE", 2)
    expected = []
    for step in range(1, _MOST):
        expected += [project.published(model=f"{step} {n}")["id"] for n in range(3)]
        if not dies_at(project.house.database, step, sequence_arrivals):
            break
    assert step > 8
    assert _grids(_whole(project), "grid.published") == expected


def test_statistics_whose_worker_died_are_told_once(project: Project) -> None:
    house = project.house
    house.compute()
    made = []
    for step in range(1, _MOST):
        made += [project.published(model=f"{step} {n}")["id"] for n in range(2)]
        died = dies_at(house.database, step, lambda database: derive_due(database, house.settings))
        let_leases_run_out(house.database)
        while derive_due(house.database, house.settings):
            pass
        if not died:
            break
    assert step > 5
    assert Counter(_grids(_whole(project), "statistics.ready")) == Counter(made)


def test_conclusions_whose_worker_died_are_told_once(project: Project) -> None:
    told_once_at_every(6, project)


def told_once_at_every(stride: int, project: Project) -> None:
    """Rankings that change, claims that flip, verdicts and alerts: one of each for each change of the grids, whose
    worker dies at one of every so many steps."""
    house = project.house
    put(project, "A", 70.0)
    grid = project.published()
    baseline(project, margin=3.0)
    claim = add(project, at(99.3))
    house.compute()
    for change in range(1, _MOST):
        # By turns B fails and passes, before or behind A, and the claim is true or not.
        put(project, "B", 60.0 if change % 2 else 80.0, trials=100_000)
        measure(project, grid, 12.0 if change % 2 else 99.3)
        apply_invalidations(house.database, house.settings)
        let_leases_run_out(house.database)
        died = dies_at(house.database, 1 + (change - 1) * stride, lambda database: _answer(database, house))
        let_leases_run_out(house.database)
        _answer(house.database, house)
        if not died:
            break
    assert change > 30 / stride
    found = _whole(project)
    kinds = Counter(one.type for one in found)
    assert (kinds["claim.judged"], kinds["claim.flipped"], kinds["gate.verdict"]) == (1, change, change)
    assert (kinds["alert.opened"], kinds["alert.resolved"]) == ((change + 1) // 2, change // 2)
    judged = [one.data["judgement"] for one in found if one.type in ("claim.judged", "claim.flipped")]
    assert judged == list(range(1, change + 2))
    assert {one.subject for one in found if one.type == "claim.flipped"} == {f"claims/{claim['id']}"}
    led = [tuple(one.data["leaders"]) for one in found if one.type == "ranking.changed" and one.data["models"] == 2]
    assert all(before != after for before, after in pairwise(led))


def _answer(database: Database, house: House) -> None:
    while compute_due(database, house.settings):
        pass
