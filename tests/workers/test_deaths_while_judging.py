"""Whatever ends a worker while it judges claims that are kept, each finding is in the history once."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from registry.query import StoredClaimsQuery
from registry.storage.database import Database
from registry.storage.tables import cached_results, claims, judgements
from tests.house import House, Project
from tests.workers.test_stored_claims import add, at, history, judged, measure
from workers import queries
from workers.claims import recording, stored
from workers.jobs.invalidation import apply_invalidations

_DEAD = 9


def _die(*_sent: Any, **_named: Any) -> Any:
    os._exit(_DEAD)


def _record_and_die(*sent: Any) -> None:
    recording.record_judgements(*sent)
    _die()


def _settle_and_die(*sent: Any, settle: Any = queries._compute_and_settle) -> None:
    settle(*sent)
    _die()


def _recorder(function: Callable[..., Any]) -> tuple[Any, str, Any]:
    return queries, "_RECORDERS", {StoredClaimsQuery: function}


STEPS: dict[str, tuple[Any, str, Any]] = {
    "claimed": (queries, "compute", _die),
    "judging": (stored, "judge_claim", _die),
    "judged": (queries, "to_bytes", _die),
    "settled": _recorder(_die),
    "added": (recording, "update", _die),
    "recorded": _recorder(_record_and_die),
    "adding trials": (recording, "_with_trials", _die),
    "committed": (queries, "_compute_and_settle", _settle_and_die),
}


def _dies_at(house: House, step: str) -> None:
    """A worker of its own process that ends without a word at this step."""
    child = os.fork()
    if child == 0:
        try:
            database = Database(house.settings, name="killed")
            where, name, function = STEPS[step]
            setattr(where, name, function)
            while queries.compute_due(database, house.settings):
                pass
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == _DEAD


def _let_leases_run_out(house: House) -> None:
    with house.database.transaction() as connection:
        connection.execute(update(cached_results).values(leased_until=func.now() - text("interval '1 second'")))


@pytest.mark.parametrize("step", STEPS)
def test_a_worker_that_dies_at_any_step_leaves_one_judgement(project: Project, step: str) -> None:
    house = project.house
    project.published()
    house.compute()
    kept = add(project, [at(99.3), at(12.0)])["items"]
    _dies_at(house, step)
    _let_leases_run_out(house)
    assert [judged(project, one)["verdict"] for one in kept] == ["supported", "contradicted"]
    with house.database.reading() as connection:
        mine = select(claims.c.judgement, func.count(judgements.c.number)).join(judgements)
        counted = connection.execute(mine.where(claims.c.project_id == project.id).group_by(claims.c.id)).all()
    assert [tuple(one) for one in counted] == [(1, 1), (1, 1)]


def _meanwhile(monkeypatch: pytest.MonkeyPatch, project: Project, happens: Callable[[], Any]) -> None:
    """Let something happen between the first judging of the project's claims and its settling."""
    compute, met = queries.compute, list[int]()

    def slow(database: Any, settings: Any, project_id: Any, query: Any) -> Any:
        found = compute(database, settings, project_id, query)
        if isinstance(query, StoredClaimsQuery) and project_id == project.id and not met:
            met.append(1)
            happens()
        return found

    monkeypatch.setattr(queries, "compute", slow)


def test_a_worker_whose_lease_ran_out_adds_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    house = project.house
    project.published()
    house.compute()
    claim = add(project, at(99.3))

    def another_worker() -> None:
        _let_leases_run_out(house)
        while queries.compute_due(house.database, house.settings):
            pass

    _meanwhile(monkeypatch, project, another_worker)
    judged(project, claim)
    assert history(project, claim) == [(1, "supported", "within_noise")]


def test_what_was_judged_before_a_grid_changed_is_no_judgement(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = project.house
    grid = project.published()
    house.compute()
    claim = add(project, at(99.3))

    def change() -> None:
        measure(project, grid, 12.0)
        apply_invalidations(house.database, house.settings)

    _meanwhile(monkeypatch, project, change)
    assert judged(project, claim)["verdict"] == "contradicted"
    assert len(history(project, claim)) == 1


def test_a_claim_that_is_removed_while_it_is_judged_gets_no_judgement(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.published()
    project.house.compute()
    removed, kept = add(project, [at(99.3), at(12.0)])["items"]
    _meanwhile(monkeypatch, project, lambda: project.call("DELETE", f"claims/{removed['id']}"))
    assert judged(project, kept)["verdict"] == "contradicted"
    with project.house.database.reading() as connection:
        found = connection.scalars(select(judgements.c.claim_id).join(claims).where(claims.c.project_id == project.id))
        assert [str(one) for one in found] == [kept["id"]]
