"""Answers to questions: which are computed again when something changes, which sleep, which are forgotten."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from registry.query import RankingQuery
from registry.storage.tables import cached_results
from tests.house import House, Project
from workers.jobs.invalidation import KEPT_CURRENT, apply_invalidations
from workers.jobs.leases import claim, release
from workers.jobs.retention import delete_unread_results
from workers.queries import compute_due


@pytest.fixture(autouse=True)
def _nothing_due(house: House) -> None:
    """Promises that other tests left are kept first."""
    with house.database.transaction() as connection:
        fresh = {"lease": None, "leased_until": None, "due_at": func.now(), "attempts": 0}
        connection.execute(update(cached_results).where(cached_results.c.state == "pending").values(fresh))
    house.compute()


def ask(project: Project, **more: Any) -> Any:
    question = {"experiment": "e", "metric": "accuracy"} | more
    return project.get(f"projects/{project.slug}/rankings", query_string=question)


def score(project: Project, model: str, value: float) -> dict[str, Any]:
    return project.published(experiment="e", benchmark="b", model=model, variant="", axes=[], values=value, trials=None)


def rows(project: Project) -> dict[str, Any]:
    """The stored answers of a project by `alpha`."""
    with project.house.database.reading() as connection:
        found = connection.execute(select(cached_results).where(cached_results.c.project_id == project.id))
        return {row.query["alpha"]: row for row in found}


def change(project: Project, alpha: float, **values: Any) -> None:
    with project.house.database.transaction() as connection:
        connection.execute(
            update(cached_results).where(cached_results.c.id == rows(project)[alpha].id).values(**values)
        )


def two_models(project: Project) -> None:
    score(project, "one", 60.0)
    score(project, "two", 50.0)
    project.house.compute()


def days_ago(days: int) -> Any:
    return func.now() - timedelta(days=days)


def test_a_ranking_is_claimed_again_although_a_grid_came_while_its_worker_gave_it_back(project: Project) -> None:
    """The fold counts the attempts from 0 while the claim is held; giving back must not make them -1."""
    house = project.house
    two_models(project)
    score(project, "three", 55.0)
    apply_invalidations(house.database, house.settings)
    change(project, 0.05, due_at=func.now())
    held = claim(house.database, house.settings, cached_results, 1)
    score(project, "four", 56.0)
    apply_invalidations(house.database, house.settings)
    release(house.database, held, held.rows)
    assert rows(project)[0.05].attempts == 0
    change(project, 0.05, due_at=func.now())
    assert [row.id for row in claim(house.database, house.settings, cached_results, 1).rows] == [
        row.id for row in held.rows
    ]


def test_a_ranking_that_an_earlier_release_left_with_minus_one_attempt_is_computed(project: Project) -> None:
    two_models(project)
    change(project, 0.05, state="pending", attempts=-1, due_at=func.now())
    assert compute_due(project.house.database, project.house.settings) == 1
    assert (rows(project)[0.05].state, rows(project)[0.05].attempts) == ("ready", 0)


@pytest.mark.parametrize("column", ["due_at", "leased_until"])
def test_an_instant_that_a_clock_two_days_ahead_wrote_keeps_nothing_waiting(project: Project, column: str) -> None:
    two_models(project)
    ahead = {"state": "pending", "due_at": func.now(), "lease": uuid.uuid4()} | {column: days_ago(-2)}
    change(project, 0.05, **ahead)
    assert compute_due(project.house.database, project.house.settings) == 1
    assert rows(project)[0.05].state == "ready"


def test_a_ranking_computed_by_a_clock_two_days_ahead_is_due_minutes_after_the_next_change(project: Project) -> None:
    two_models(project)
    change(project, 0.05, computed_at=days_ago(-2), seconds=1.0)
    score(project, "three", 70.0)
    apply_invalidations(project.house.database, project.house.settings)
    with project.house.database.reading() as connection:
        now = connection.scalar(select(func.now()))
    assert rows(project)[0.05].due_at - now < timedelta(minutes=1)


def test_the_usual_ranking_comes_before_everything_that_strangers_asked(project: Project) -> None:
    two_models(project)
    for number in range(5):
        assert ask(project, alpha=0.01 + number / 1000).status_code == 202
    score(project, "three", 70.0)
    apply_invalidations(project.house.database, project.house.settings)
    change(project, 0.05, due_at=func.now())
    first = claim(project.house.database, project.house.settings, cached_results, 1)
    assert [row.query["alpha"] for row in first.rows] == [0.05]


def test_beyond_fifty_open_questions_a_project_is_asked_to_wait_and_the_usual_one_is_not(project: Project) -> None:
    most = project.house.settings.max_open_questions
    score(project, "one", 60.0)
    given = [ask(project, alpha=0.01 + number / 1000).status_code for number in range(most)]
    assert given == [202] * most
    refused = ask(project, alpha=0.2)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
    assert ask(project).status_code == 202
    project.house.compute()
    assert ask(project, alpha=0.2).status_code == 202


def test_what_nobody_read_for_a_day_sleeps_until_somebody_asks(project: Project) -> None:
    two_models(project)
    for alpha in (0.1, 0.2):
        ask(project, alpha=alpha)
    project.house.compute()
    change(project, 0.1, read_at=days_ago(2))
    score(project, "three", 70.0)
    apply_invalidations(project.house.database, project.house.settings)
    found = rows(project)
    assert {alpha: row.state for alpha, row in found.items()} == {0.05: "pending", 0.1: "ready", 0.2: "pending"}
    assert found[0.1].document_generation < found[0.1].generation
    assert ask(project, alpha=0.1).status_code == 202, "the old numbers are never current"
    assert rows(project)[0.1].state == "pending"
    project.house.compute()
    assert [row["name"] for row in ask(project, alpha=0.1).get_json()["ranking"]] == ["three", "one", "two"]


def test_a_failed_answer_that_sleeps_is_tried_again_by_the_next_reader(project: Project) -> None:
    two_models(project)
    ask(project, alpha=0.1)
    project.house.compute()
    change(project, 0.1, state="failed", reason="not today", read_at=days_ago(2))
    score(project, "three", 70.0)
    apply_invalidations(project.house.database, project.house.settings)
    assert ask(project, alpha=0.1).status_code == 202
    project.house.compute()
    assert ask(project, alpha=0.1).get_json()["state"] == "ready"


def test_a_change_computes_no_more_than_twenty_questions_again(project: Project) -> None:
    two_models(project)
    for number in range(KEPT_CURRENT + 5):
        ask(project, alpha=0.1 + number / 1000)
    project.house.compute()
    score(project, "three", 70.0)
    apply_invalidations(project.house.database, project.house.settings)
    assert sum(row.state == "pending" for row in rows(project).values()) == KEPT_CURRENT + 1


def test_a_reader_is_noted_once_an_hour(project: Project) -> None:
    two_models(project)
    change(project, 0.05, read_at=func.now() - timedelta(minutes=50))
    before = rows(project)[0.05].read_at
    assert ask(project).status_code == 200
    assert rows(project)[0.05].read_at == before
    change(project, 0.05, read_at=func.now() - timedelta(minutes=70))
    assert ask(project).status_code == 200
    assert rows(project)[0.05].read_at > before


def test_what_nobody_asked_for_a_month_is_forgotten_and_the_usual_answer_is_not(project: Project) -> None:
    two_models(project)
    for alpha in (0.1, 0.2):
        ask(project, alpha=alpha)
    project.house.compute()
    change(project, 0.1, read_at=days_ago(31))
    change(project, 0.05, read_at=days_ago(400))
    with project.house.database.transaction() as connection:
        delete_unread_results(connection, days=30, most=1_000)
    assert set(rows(project)) == {0.05, 0.2}


def test_beyond_their_number_the_answers_read_longest_ago_are_forgotten(project: Project) -> None:
    two_models(project)
    for number, alpha in enumerate((0.1, 0.2, 0.3)):
        ask(project, alpha=alpha)
        change(project, alpha, read_at=func.now() - timedelta(hours=number))
    with project.house.database.transaction() as connection:
        delete_unread_results(connection, days=30, most=2)
    assert set(rows(project)) == {0.05, 0.1, 0.2}


def test_a_question_asked_before_the_first_fold_is_usual_after_it(project: Project) -> None:
    score(project, "one", 60.0)
    assert ask(project).status_code == 202
    assert not rows(project)[0.05].is_default
    apply_invalidations(project.house.database, project.house.settings)
    assert rows(project)[0.05].is_default
    assert rows(project)[0.05].query_key == RankingQuery("e", "accuracy").key
