"""A verdict is told before the trials are computed that would decide it, which can take seconds: these come in turns of
their own, and are added to the judgement once."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.exc import IntegrityError
from structlog.testing import capture_logs

from registry.storage.tables import cached_results, judgements
from tests.house import Project
from tests.workers.feed import told
from tests.workers.test_claims import settled
from tests.workers.test_stored_claims import add, at, history, measure, read
from workers.claims import stored, trials
from workers.jobs.cpu_limit import TookTooLong
from workers.jobs.invalidation import apply_invalidations
from workers.queries import compute_due
from workers.verify_checks import check_results

LATER = "not_computed"


def turn(project: Project) -> None:
    """The next turn of the claims."""
    house = project.house
    of_claims = cached_results.c.query["kind"].astext == "stored_claims"
    mine = (cached_results.c.project_id == project.id, of_claims)
    with house.database.transaction() as connection:
        connection.execute(update(cached_results).where(*mine).values(due_at=text("now()")))
        before = connection.scalar(select(cached_results.c.computed_at).where(*mine))
    # What is due in projects of other tests may come before.
    while compute_due(house.database, house.settings):
        with house.database.reading() as connection:
            if connection.scalar(select(cached_results.c.computed_at).where(*mine)) != before:
                return
    raise AssertionError("there was no turn")


def impossible(found: dict[str, Any]) -> str | None:
    said: str | None = found["judgement"]["trials_needed"].get("impossible")
    return said


@pytest.fixture
def computed(project: Project) -> Project:
    """A project with one grid, of which everything is computed."""
    project.published()
    project.house.compute()
    return project


def test_the_verdict_is_told_first_and_the_trials_are_added(computed: Project) -> None:
    claim = add(computed, at(99.3))
    turn(computed)
    first = read(computed, claim)
    assert (first["state"], first["verdict"], impossible(first)) == ("pending", "supported", LATER)
    assert "trials" not in first["judgement"]["sentence"]
    assert [kind for kind, _ in told(computed, "claim.*")] == ["claim.created", "claim.judged"]
    turn(computed)
    second = read(computed, claim)
    assert (second["state"], second["judged_at"]) == ("ready", first["judged_at"])
    assert second["judgement"]["trials_needed"] != first["judgement"]["trials_needed"]
    assert len(history(computed, claim)) == 1
    assert len(told(computed, "claim.*")) == 2
    # Judged whole, at once, it is the same.
    assert list(check_results(computed.house.database, computed.house.settings, computed.id)) == []


def test_trials_are_what_they_are_for_who_asks_once(computed: Project) -> None:
    claim = add(computed, at(99.3))
    turn(computed)
    turn(computed)
    [whole] = settled(computed, [at(99.3)])["items"]
    kept = read(computed, claim)["judgement"]
    assert {kept[name] == whole[name] for name in ("trials_needed", "sentence", "verdict", "parts")} == {True}


def test_a_correction_between_two_turns_is_judged_before_trials_are_added(project: Project) -> None:
    grid = project.published()
    project.house.compute()
    claim = add(project, at(99.3))
    turn(project)
    measure(project, grid, 12.0)
    apply_invalidations(project.house.database, project.house.settings)
    turn(project)
    assert read(project, claim)["verdict"] == "contradicted"
    # Of the first one nobody will ever know: its cells are gone.
    items = project.get(f"claims/{claim['id']}/judgements").get_json()["items"]
    assert [one["judgement"]["verdict"] for one in items] == ["contradicted", "supported"]
    assert items[1]["judgement"]["trials_needed"]["impossible"] == LATER


def test_a_turn_of_trials_ends_soon_and_what_it_leaves_comes_next(
    computed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = add(computed, [at(99.3), at(99.3, alpha=0.01)])
    monkeypatch.setattr(stored, "_SHIFT_OF_TRIALS", -1.0)
    left = []
    for _ in range(3):
        turn(computed)
        left.append(sum(impossible(read(computed, one)) == LATER for one in claims["items"]))
    assert left == [2, 1, 0]


def test_trials_that_take_too_long_leave_the_verdict(computed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = add(computed, at(99.3))

    def slow(*_: Any) -> Any:
        raise TookTooLong

    monkeypatch.setattr(trials.NoisyClaim, "answer", slow)
    monkeypatch.setattr(trials.NoisyClaim, "is_enough", slow)
    turn(computed)
    turn(computed)
    found = read(computed, claim)
    assert (found["state"], found["verdict"], impossible(found)) == ("ready", "supported", "too_large")


def test_trials_whose_planning_fails_leave_the_verdict_and_are_not_tried_for_ever(
    computed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = add(computed, at(99.3))
    asked = list[float]()

    def broken(_claim: Any, factor: float, *_: Any) -> Any:
        asked.append(factor)
        raise ZeroDivisionError

    monkeypatch.setattr(trials.NoisyClaim, "answer", broken)
    turn(computed)
    with capture_logs() as lines:
        turn(computed)
    found = read(computed, claim)
    assert (found["state"], found["verdict"], impossible(found)) == ("ready", "supported", "failed")
    assert found["judgement"]["sentence"].endswith(" is not known: planning for it failed.")
    assert [kind for kind, _ in told(computed, "claim.*")] == ["claim.created", "claim.judged"]
    assert history(computed, claim) == [(1, "supported", "within_noise")]
    [line] = [one for one in lines if one["log_level"] == "error"]
    assert (line["claim"], line["error"]) == (claim["id"], "ZeroDivisionError()")
    computed.house.compute()
    assert len(asked) == 1


def _change(project: Project, **changes: Any) -> None:
    with project.house.database.transaction() as connection:
        mine = select(stored.claims.c.id).where(stored.claims.c.project_id == project.id).scalar_subquery()
        connection.execute(update(judgements).where(judgements.c.claim_id.in_(mine)).values(changes))


def test_only_the_trials_are_added_and_only_once(computed: Project) -> None:
    add(computed, at(99.3))
    turn(computed)
    for changes in (
        {"verdict": "contradicted"},
        {"fingerprint": b"other"},
        {"inputs": []},
        {"is_complete": True, "number": 7},
    ):
        with pytest.raises(IntegrityError, match="never changed"):
            _change(computed, **changes)
    turn(computed)
    for changes in ({"document": b""}, {"is_complete": False}):
        with pytest.raises(IntegrityError, match="never changed"):
            _change(computed, **changes)
