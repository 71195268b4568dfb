"""Answers to questions: which are computed again when something changes, which sleep, which are forgotten."""

import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from registry import create_app
from registry.errors import Unavailable
from registry.query import RankingQuery
from registry.storage.tables import cached_results
from tests.house import House, Project
from tests.workers.asking import answer_due
from workers import queries
from workers.jobs.invalidation import KEPT_CURRENT, apply_invalidations
from workers.jobs.leases import claim, release
from workers.jobs.upkeep import delete_unread_results
from workers.queries import compute_due

pytestmark = pytest.mark.usefixtures("nothing_due")


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
        mine = cached_results.c.id == rows(project)[alpha].id
        connection.execute(update(cached_results).where(mine).values(**values))


def two_models(project: Project) -> None:
    score(project, "one", 60.0)
    score(project, "two", 50.0)
    answer_due(project.house)


def third(project: Project) -> House:
    """Another model comes, and what it changes is marked."""
    score(project, "three", 70.0)
    apply_invalidations(project.house.database, project.house.settings)
    return project.house


def answered(project: Project, *alphas: float) -> None:
    for alpha in alphas:
        ask(project, alpha=alpha)
    answer_due(project.house)


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
    again = claim(house.database, house.settings, cached_results, 1)
    assert [row.id for row in again.rows] == [row.id for row in held.rows]


@pytest.mark.parametrize("reason", ["disk_full", "no_rights", "lock_timeout"])
def test_an_answer_that_the_database_did_not_take_is_tried_until_it_does(
    project: Project, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    two_models(project)
    house, right = third(project), queries.etag_of

    def refuse(*_: Any) -> str:
        raise Unavailable("The database takes nothing.", 10, reason)

    monkeypatch.setattr(queries, "etag_of", refuse)
    for _ in range(house.settings.attempts + 2):
        change(project, 0.05, due_at=func.now())
        assert compute_due(house.database, house.settings) == 1
        assert compute_due(house.database, house.settings) == 0, "not again at once"
        left = rows(project)[0.05]
        assert (left.state, left.attempts, left.lease) == ("pending", 0, None)
    monkeypatch.setattr(queries, "etag_of", right)
    change(project, 0.05, due_at=func.now())
    compute_due(house.database, house.settings)
    assert rows(project)[0.05].state == "ready"


def test_what_a_clock_two_days_ahead_or_an_earlier_release_wrote_keeps_nothing_waiting(project: Project) -> None:
    two_models(project)
    house, ahead = project.house, {"state": "pending", "due_at": func.now(), "lease": uuid.uuid4()}
    worn = {"state": "pending", "attempts": -1, "due_at": func.now()}
    for wrong in (ahead | {"due_at": days_ago(-2)}, ahead | {"leased_until": days_ago(-2)}, worn):
        change(project, 0.05, **wrong)
        assert compute_due(house.database, house.settings) == 1
        assert (rows(project)[0.05].state, rows(project)[0.05].attempts) == ("ready", 0)
    change(project, 0.05, computed_at=days_ago(-2), seconds=1.0)
    third(project)
    with house.database.reading() as connection:
        now = connection.scalar(select(func.now()))
    assert rows(project)[0.05].due_at - now < timedelta(minutes=1)


def test_the_usual_ranking_comes_before_everything_that_strangers_asked(project: Project) -> None:
    two_models(project)
    for number in range(5):
        assert ask(project, alpha=0.01 + number / 1000).status_code == 202
    third(project)
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
    answer_due(project.house)
    assert ask(project, alpha=0.2).status_code == 202


def test_who_has_no_token_gets_a_fifth_of_the_open_questions_and_new_ones_at_a_rate(house: House) -> None:
    few = replace(house.settings, max_open_questions=10, question_rate=0.001, question_burst=3.0)
    project = House(create_app(few), house.database, few).make_project(visibility="public")
    score(project, "one", 60.0)
    path = f"projects/{project.slug}/rankings"
    asked = {"experiment": "e", "metric": "accuracy"}

    def anyone(**more: Any) -> int | str:
        answer = project.house.call("GET", path, query_string=asked | more)
        return answer.get_json()["detail"] if answer.status_code == 429 else answer.status_code

    assert [anyone(alpha=0.1), anyone(alpha=0.11)] == [202, 202]
    assert anyone(alpha=0.12) == "2 questions of this project wait for their answers already."
    assert ask(project, alpha=0.13).status_code == 202
    answer_due(project.house)
    assert [anyone(alpha=0.1), anyone(alpha=0.14)] == [200, 202]
    assert "too many new questions" in str(anyone(alpha=0.15))
    assert [anyone(), ask(project, alpha=0.15).status_code] == [200, 202]


def test_what_nobody_read_for_a_day_sleeps_until_somebody_asks_also_if_it_failed(project: Project) -> None:
    two_models(project)
    answered(project, 0.1, 0.2, 0.3)
    change(project, 0.1, read_at=days_ago(2))
    change(project, 0.3, state="failed", reason="not today", read_at=days_ago(2))
    third(project)
    found = rows(project)
    states = {alpha: row.state for alpha, row in found.items() if alpha < 0.3}
    assert states == {0.05: "pending", 0.1: "ready", 0.2: "pending"}
    assert found[0.1].document_generation < found[0.1].generation
    for alpha in (0.1, 0.3):
        assert ask(project, alpha=alpha).status_code == 202, "the old numbers are never current"
        assert rows(project)[alpha].state == "pending"
    answer_due(project.house)
    for alpha in (0.1, 0.3):
        assert [row["name"] for row in ask(project, alpha=alpha).get_json()["ranking"]] == ["three", "one", "two"]


def test_a_change_computes_no_more_than_twenty_questions_again(project: Project) -> None:
    two_models(project)
    answered(project, *(0.1 + number / 1000 for number in range(KEPT_CURRENT + 5)))
    third(project)
    assert sum(row.state == "pending" for row in rows(project).values()) == KEPT_CURRENT + 1


def test_a_reader_is_noted_once_an_hour(project: Project) -> None:
    two_models(project)
    for minutes, is_noted in ((50, False), (70, True)):
        change(project, 0.05, read_at=func.now() - timedelta(minutes=minutes))
        before = rows(project)[0.05].read_at
        assert ask(project).status_code == 200
        assert (rows(project)[0.05].read_at > before) == is_noted


def test_what_nobody_asked_for_a_month_or_beyond_their_number_is_forgotten_and_the_usual_answer_is_not(
    project: Project,
) -> None:
    two_models(project)
    answered(project, 0.1, 0.2, 0.3, 0.4)
    for alpha, days in {0.05: 400, 0.1: 31, 0.2: 1, 0.3: 2, 0.4: 3}.items():
        change(project, alpha, read_at=days_ago(days))
    for most, left in ((1_000, {0.05, 0.2, 0.3, 0.4}), (2, {0.05, 0.2, 0.3})):
        with project.house.database.transaction() as connection:
            delete_unread_results(connection, days=30, most=most)
        assert set(rows(project)) == left


def test_a_question_asked_before_the_first_fold_is_usual_after_it(project: Project) -> None:
    score(project, "one", 60.0)
    assert ask(project).status_code == 202
    assert not rows(project)[0.05].is_default
    apply_invalidations(project.house.database, project.house.settings)
    assert rows(project)[0.05].is_default
    assert rows(project)[0.05].query_key == RankingQuery("e", "accuracy").key
