"""Questions about an instant: the grids as they were then, whatever was done to them since."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import select, text, update

from registry.query import RankingQuery
from registry.storage.tables import cached_results
from tests.house import House, Project
from tests.workers.asking import computed, faults_of, join, now
from workers.jobs.invalidation import apply_invalidations
from workers.queries import about, compute, document_of

SCOPE = {"experiment": "E", "metric": "accuracy"}
MODELS = {"A": 50.0, "B": 60.0, "C": 70.0}
VIEWS: dict[str, dict[str, str]] = {
    "rankings": {},
    "aggregates": {"group_by": "model,benchmark"},
    "lines": {"along": "Length"},
    "trade-offs": {"x": "metric:accuracy", "y": "metric:accuracy", "x.at.Length": "0"},
    "comparisons": {"baseline_model": "A", "contender_model": "B"},
    "noise": {},
}


def score(project: Project, model: str, value: float, benchmark: str = "X", **more: Any) -> dict[str, Any]:
    values = [[value + place for place in range(6)][:3], [value + place for place in range(6)][3:]]
    return project.published(experiment="E", model=model, benchmark=benchmark, values=values, **more)


def asked(project: Project, view: str, as_of: str = "", **more: str) -> dict[str, Any]:
    scope = {} if "/" in view else SCOPE if view != "trade-offs" else {"experiment": "E"}
    query = scope | VIEWS[view] | more | ({"as_of": as_of} if as_of else {})
    found: dict[str, Any] = computed(project, f"projects/{project.slug}/{view}?{urlencode(query)}")
    return {name: value for name, value in found.items() if name not in ("selection", "computed_at")}


def every(project: Project, as_of: str = "") -> dict[str, Any]:
    return {view: asked(project, view, as_of) for view in VIEWS}


def recomputed(project: Project, as_of: str) -> dict[str, Any]:
    """The same when nothing is stored."""
    with project.house.database.transaction() as connection:
        connection.execute(text("DELETE FROM cached_results WHERE project_id = :project"), {"project": project.id})
    return every(project, as_of)


@pytest.fixture
def measured(project: Project) -> Project:
    for model, value in MODELS.items():
        for benchmark in ("X", "Y"):
            score(project, model, value, benchmark)
    return project


def grids_of(project: Project, model: str) -> list[str]:
    found = project.get(f"projects/{project.slug}/grids?model={model}").get_json()["items"]
    return [one["id"] for one in found]


def changes(project: Project) -> Iterator[str]:
    """What happens to grids later, one after another."""
    score(project, "A", 90.0)
    yield "a revision"
    score(project, "D", 95.0)
    yield "a new model"
    grid = grids_of(project, "B")[0]
    cells = [{"at": {"Type": "1", "Length": 0}, "value": 1.0}]
    amended = project.call("PATCH", f"grids/{grid}/cells", json={"cells": cells})
    assert amended.status_code == 200, amended.text
    yield "an amendment"
    for one in grids_of(project, "C"):
        assert project.call("DELETE", f"grids/{one}", "admin").status_code == 204
    yield "deletions"
    score(project, "C", 20.0)
    yield "a publication over a tombstone"


def test_as_of_now_is_the_same_as_without(measured: Project) -> None:
    assert every(measured, now(measured)) == every(measured)


def test_what_is_done_later_changes_no_answer_about_an_instant(measured: Project, subtests: pytest.Subtests) -> None:
    then, before = now(measured), every(measured)
    for what in changes(measured):
        with subtests.test(msg=what):
            assert every(measured, then) == before
            assert recomputed(measured, then) == before
    assert [row["name"] for row in asked(measured, "rankings")["ranking"]] != list("CBA")
    assert [row["name"] for row in asked(measured, "rankings", then)["ranking"]] == list("CBA")


def test_a_grid_is_there_between_its_deletions(measured: Project) -> None:
    [*grids] = grids_of(measured, "C")
    instants = [now(measured)]
    for method, path in (("DELETE", "grids/{}"), ("POST", "grids/{}/restore"), ("DELETE", "grids/{}")):
        for grid in grids:
            assert measured.call(method, path.format(grid), "admin").status_code < 300
        instants.append(now(measured))
    ranked = [[row["name"] for row in asked(measured, "rankings", one)["ranking"]] for one in instants]
    assert ranked == [list("CBA"), list("BA"), list("CBA"), list("BA")]


def test_aliases_are_those_of_today(measured: Project) -> None:
    then = now(measured)
    join(measured, "model", "A", "Z")
    assert [row["name"] for row in asked(measured, "rankings", then)["ranking"]] == list("CBZ")


def test_a_board_is_read_as_it_was(measured: Project) -> None:
    small = replace(measured.house.settings, ranking_work=0)
    measured.house.compute()
    then, question = now(measured), RankingQuery("E", "accuracy")

    def board(query: RankingQuery) -> dict[str, Any]:
        apply_invalidations(measured.house.database, small)
        found = compute(measured.house.database, small, measured.id, query)
        assert found is not None
        return {name: value for name, value in (document_of(found) | about(query)).items() if name != "selection"}

    before = board(question)
    assert before["inputs_left_out"]["count"] == 6
    for _ in changes(measured):
        assert board(replace(question, as_of=then)) == before
    assert board(question) != before


def test_an_old_answer_about_an_instant_stays_as_new_grids_come(measured: Project, house: House) -> None:
    then = now(measured)
    asked(measured, "rankings", then)
    mine = (cached_results.c.project_id == measured.id, cached_results.c.query["as_of"].astext == then)

    def generation() -> Any:
        apply_invalidations(house.database, house.settings)
        with house.database.reading() as connection:
            return connection.scalar(select(cached_results.c.generation).where(*mine))

    first = generation()
    score(measured, "D", 1.0)
    assert generation() == first + 1  # what was begun before the instant may have ended after the answer
    with house.database.transaction() as connection:
        later = cached_results.c.computed_at + timedelta(hours=2)
        connection.execute(update(cached_results).where(*mine).values(computed_at=later))
    score(measured, "D", 2.0)
    assert generation() == first + 1
    join(measured, "model", "A", "Z")
    assert generation() == first + 2


def test_an_instant_is_said_as_it_is_in_utc_and_a_day_is_its_beginning(measured: Project) -> None:
    with measured.house.database.transaction() as connection:
        for table in ("grids", "stored_revisions"):
            connection.execute(text("SET LOCAL session_replication_role = replica"))
            shifted = f"UPDATE {table} SET created_at = '2026-01-01' WHERE project_id = :project"
            connection.execute(text(shifted), {"project": measured.id})
    for given in ("2026-10-23", "2026-10-23T02:00:00+02:00", "2026-10-23T00:00:00Z"):
        query = urlencode(SCOPE | {"as_of": given})
        found = computed(measured, f"projects/{measured.slug}/rankings?{query}")["selection"]
        assert found["as_of"] == "2026-10-23T00:00:00Z"
        assert found["sentence"] == "accuracy in E, as of 2026-10-23T00:00:00Z"


def test_an_instant_that_is_to_come_is_refused(measured: Project) -> None:
    for view, own in VIEWS.items():
        query = urlencode(SCOPE | own | {"as_of": "2999-01-01"})
        told = faults_of(measured.get(f"projects/{measured.slug}/{view}?{query}"))
        assert told["/as_of"].startswith("is in the future; it is 20"), view
    two = {"baseline": "0193a1b2-0000-7000-8000-000000000001", "contender": "0193a1b2-0000-7000-8000-000000000002"}
    told = faults_of(measured.get(f"projects/{measured.slug}/comparisons?{urlencode(two | {'as_of': '2026-01-01'})}"))
    assert told["/as_of"].startswith("cannot be given with ids")


def test_names_are_looked_for_among_the_grids_of_then(measured: Project) -> None:
    then, path = now(measured), f"projects/{measured.slug}/rankings"
    score(measured, "D", 1.0)
    told = faults_of(measured.get(f"{path}?{urlencode(SCOPE | {'as_of': then, 'model': 'D'})}"))
    assert told["/model"] == f'as of {then}, no grid of this experiment has the model "D"; there are A, B, C'
    before = measured.get(f"{path}?{urlencode(SCOPE | {'as_of': '2020-01-01'})}")
    assert before.status_code == 404
    assert before.get_json()["detail"] == (
        'As of 2020-01-01T00:00:00Z, no grid of experiment "E" has the metric "accuracy".'
    )
    for model in MODELS:
        for grid in grids_of(measured, model):
            measured.call("DELETE", f"grids/{grid}", "admin")
    for grid in grids_of(measured, "D"):
        measured.call("DELETE", f"grids/{grid}", "admin")
    names = [row["name"] for row in asked(measured, "rankings", then, model="A")["ranking"]]
    assert names == ["A"]


def test_a_page_about_an_instant_shows_what_was_there_and_asks_on_about_it(measured: Project) -> None:
    then = now(measured)
    for grid in grids_of(measured, "A"):
        measured.call("DELETE", f"grids/{grid}", "admin")
    measured.call("PATCH", f"projects/{measured.slug}", "admin", json={"visibility": "public"})
    for view in ("rankings", "aggregates", "lines"):
        asked(measured, view, then)
        query = urlencode(SCOPE | VIEWS[view] | {"as_of": then, "model": "A"})
        asked(measured, view, then, model="A")
        shown = measured.house.call("GET", f"/projects/{measured.slug}/{view}?{query}")
        assert shown.status_code == 200, (view, shown.text)
        assert f'name="as_of" value="{then}"' in shown.text, view
