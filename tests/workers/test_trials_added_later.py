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
from workers.jobs.invalidation import apply_invalidations
from workers.jobs.worker_process import TookTooLong
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


def test_the_verdict_is_told_first_and_the_trials_are_added_once(computed: Project) -> None:
    claim = add(computed, at(99.3))
    turn(computed)
    first = read(computed, claim)
    assert (first["state"], first["verdict"], impossible(first)) == ("pending", "supported", LATER)
    assert "trials" not in first["judgement"]["sentence"]
    assert [kind for kind, _ in told(computed, "claim.*")] == ["claim.created", "claim.judged"]
    _refuses(computed, {"verdict": "contradicted"}, {"fingerprint": b"other"}, {"inputs": []})
    _refuses(computed, {"is_complete": True, "number": 7})
    turn(computed)
    second = read(computed, claim)
    assert (second["state"], second["judged_at"]) == ("ready", first["judged_at"])
    assert second["judgement"]["trials_needed"] != first["judgement"]["trials_needed"]
    assert (len(history(computed, claim)), len(told(computed, "claim.*"))) == (1, 2)
    _refuses(computed, {"document": b""}, {"is_complete": False})
    # Judged whole, at once, it is the same.
    assert list(check_results(computed.house.database, computed.house.settings, computed.id)) == []
    [whole] = settled(computed, [at(99.3)])["items"]
    kept = second["judgement"]
    assert {kept[name] == whole[name] for name in ("trials_needed", "sentence", "verdict", "parts")} == {True}


def _refuses(project: Project, *changes: dict[str, Any]) -> None:
    mine = select(stored.claims.c.id).where(stored.claims.c.project_id == project.id).scalar_subquery()
    for values in changes:
        change = update(judgements).where(judgements.c.claim_id.in_(mine)).values(values)
        with pytest.raises(IntegrityError, match="never changed"), project.house.database.transaction() as connection:
            connection.execute(change)


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


@pytest.mark.parametrize(("error", "word"), [(TookTooLong(), "too_large"), (ZeroDivisionError(), "failed")])
def test_trials_that_cannot_be_planned_leave_the_verdict_and_are_not_tried_for_ever(
    computed: Project, monkeypatch: pytest.MonkeyPatch, error: Exception, word: str
) -> None:
    claim = add(computed, at(99.3))
    asked = list[Any]()

    def broken(*given: Any) -> Any:
        asked.append(given)
        raise error

    monkeypatch.setattr(trials.NoisyClaim, "answer", broken)
    monkeypatch.setattr(trials.NoisyClaim, "is_enough", broken)
    turn(computed)
    with capture_logs() as lines:
        turn(computed)
    found = read(computed, claim)
    assert (found["state"], found["verdict"], impossible(found)) == ("ready", "supported", word)
    assert [kind for kind, _ in told(computed, "claim.*")] == ["claim.created", "claim.judged"]
    assert history(computed, claim) == [(1, "supported", "within_noise")]
    errors = [(one["claim"], one["error"]) for one in lines if one["log_level"] == "error"]
    assert errors == ([] if word == "too_large" else [(claim["id"], "ZeroDivisionError()")])
    said = " is not known: planning for it failed."
    assert found["judgement"]["sentence"].endswith(said) == (word == "failed")
    computed.house.compute()
    assert len(asked) == 1
