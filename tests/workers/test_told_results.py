"""The feed tells what workers settle: statistics, rankings, judgements, verdicts and alerts, each once."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import select, update

from registry.grids.intake import Limits, Submission, read_submission
from registry.operations.amend import delete_grid
from registry.operations.audit_log import COMMAND
from registry.operations.publish import publish
from registry.query import RankingQuery
from registry.storage.database import Database
from registry.storage.tables import audit_log, cached_results, derivations, grids, projects
from tests.house import House, Project, publication
from tests.workers.deaths import dies_at, let_leases_run_out
from tests.workers.feed import feed, told
from tests.workers.test_alerts import alerts, answer, failing  # noqa: F401 (a fixture)
from tests.workers.test_gates import baseline, put
from tests.workers.test_leases import let_leases_expire
from tests.workers.test_rankings import score
from tests.workers.test_stored_claims import add, at, measure
from tests.workers.test_stored_verdicts import turn
from workers import queries
from workers.derive import derive_due
from workers.jobs import upkeep
from workers.jobs.invalidation import apply_invalidations
from workers.jobs.leases import claim, fail_attempt, fail_exhausted
from workers.jobs.upkeep import sequence_arrivals
from workers.queries import compute_due
from workers.rankings.change import change_of
from workers.statistics import METHODS_VERSION
from workers.verify_checks import check_events

OTHER = [[1.0, 2.0, 3.0], [None, 20.0, 9.7]]


def test_statistics_of_the_current_revision_are_told_and_of_no_other(project: Project) -> None:
    grid = project.published()
    project.published(values=OTHER)
    project.house.compute()
    [event] = feed(project, "statistics.ready")
    assert event.subject == f"grids/{grid['id']}"
    assert (event.data["revision"], event.data["methods_version"]) == (2, METHODS_VERSION)
    assert event.data["model"] == "Qwen-2.5 3B"


def test_statistics_that_fail_are_told_once_with_the_reason(project: Project, house: House) -> None:
    house.compute()
    project.published()
    for number in range(house.settings.attempts):
        claimed = claim(house.database, house.settings, derivations, 100)
        fail_attempt(house.database, house.settings, claimed, claimed.rows[0], ValueError(f"no {number}" + "!" * 999))
        assert len(feed(project, "statistics.*")) == (number == house.settings.attempts - 1)
        let_leases_expire(house)
    [(kind, data)] = told(project, "statistics.*")
    assert (kind, data["reason"][:17], len(data["reason"])) == ("statistics.failed", "ValueError: no 4!", 300)


def test_statistics_whose_workers_died_are_told_and_what_is_not_settled_is_not(project: Project, house: House) -> None:
    house.compute()
    project.published()
    late = claim(house.database, house.settings, derivations, 100)
    with house.database.transaction() as connection:
        mine = derivations.c.lease == late.lease
        connection.execute(update(derivations).where(mine).values(lease=None, leased_until=None, attempts=0))
    fail_attempt(house.database, house.settings, late, late.rows[0], ValueError("too late"))
    assert told(project, "statistics.*") == []
    while derive_due(house.database, house.settings):
        pass
    assert [kind for kind, _ in told(project, "statistics.*")] == ["statistics.ready"]
    project.published(values=OTHER)
    for _ in range(house.settings.attempts):
        claim(house.database, house.settings, derivations, 100)
        let_leases_expire(house)
    with house.database.transaction() as connection:
        assert fail_exhausted(connection, derivations, house.settings.attempts) == 1
    assert [kind for kind, _ in told(project, "statistics.*")] == ["statistics.ready", "statistics.failed"]


def rank(project: Project) -> list[dict[str, Any]]:
    """What was told of rankings after everything that is due was computed."""
    turn(project)
    return [data for _, data in told(project, "ranking.changed")]


@pytest.fixture
def two(project: Project) -> Project:
    """Two models, of which one is ahead."""
    score(project, "low", 10.0)
    score(project, "high", 90.0)
    return project


def test_the_default_ranking_is_told_first_and_when_its_order_changes(two: Project) -> None:
    asked = {"experiment": "leaderboard", "metric": "accuracy", "method": "borda"}
    assert two.get(f"projects/{two.slug}/rankings", query_string=asked).status_code == 202
    [first] = rank(two)
    assert (first["experiment"], first["metric"], first["models"]) == ("leaderboard", "accuracy", 2)
    assert (first["leaders"], first["leader_count"], first["first"], first["moved"]) == (["high"], 1, True, [])
    score(two, "low", 20.0)
    assert len(rank(two)) == 1, "other numbers, the same order"
    low = score(two, "low", 99.0)
    _, second = rank(two)
    assert (second["leaders"], second["first"]) == (["low"], False)
    moved = sorted((one["name"], one["before"], one["now"]) for one in second["moved"])
    assert moved == [("high", 1, 2), ("low", 2, 1)]
    assert two.call("DELETE", f"grids/{low['id']}").status_code == 204
    *_, third = rank(two)
    assert third["leaders"] == [], "compared with nobody"
    assert {"name": "low", "before": 1, "now": None} in third["moved"]


def test_a_ranking_that_was_never_served_is_not_taken_for_one_that_was_told(
    two: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(rank(two)) == 1
    score(two, "low", 99.0)
    apply_invalidations(house.database, house.settings)
    compute, met = queries.compute, list[int]()

    def overtaken(database: Any, settings: Any, project_id: Any, query: Any) -> Any:
        found = compute(database, settings, project_id, query)
        if isinstance(query, RankingQuery) and not met:
            met.append(1)
            # The same order again: what follows differs from what was told, not from what is computed here.
            score(two, "low", 99.5)
            apply_invalidations(house.database, house.settings)
        return found

    monkeypatch.setattr(queries, "compute", overtaken)
    turn(two)
    assert met
    # A question that took long rests before its next turn: `rank` does not wait for that.
    assert [one["leaders"] for one in rank(two)] == [["high"], ["low"]]
    assert len(rank(two)) == 2


def test_a_ranking_that_somebody_asked_for_before_it_was_a_default_one_is_told(two: Project, house: House) -> None:
    asked = {"experiment": "leaderboard", "metric": "accuracy"}
    assert two.get(f"projects/{two.slug}/rankings", query_string=asked).status_code == 202
    while compute_due(house.database, house.settings):
        pass
    with house.database.reading() as connection:
        columns = select(cached_results.c.is_default, cached_results.c.facts)
        [row] = connection.execute(columns.where(cached_results.c.project_id == two.id)).all()
    assert (row.is_default, len(row.facts["ranking"])) == (False, 2)
    assert [one["first"] for one in rank(two)] == [True]


def test_other_ties_are_a_change_and_of_many_moves_those_of_the_new_and_the_furthest_are_listed() -> None:
    rows = [[1, "a", *[0] * 7, ["x"]], [2, "b", *[0] * 7, ["x"]], [3, "c", *[0] * 7, []]]
    assert change_of("e", "m", [], rows)["tied_with_leader"] == 1
    many = [[number, f"m{number}", *[0] * 7, []] for number in range(1, 8)]
    turned = [[8 - number, f"m{number}", *[0] * 7, []] for number in range(1, 8)]
    told = change_of("e", "m", many, [*turned, [8, "new", *[0] * 7, []]])
    assert [one["name"] for one in told["moved"]] == ["new", "m1", "m7", "m2", "m6"]
    assert told["moved_count"] == 7, "m4 stays"
    long = [[number, "é" * 200 + str(number), *[0] * 7, []] for number in range(1, 4)]
    assert change_of("e", "m", [], long)["moved"] == []


def test_verdicts_and_alerts_of_a_baseline_are_told(failing: Project) -> None:  # noqa: F811
    [alert] = alerts(failing)
    put(failing, "B", 70.0, trials=100_000)
    turn(failing)
    put(failing, "B", 60.0)
    [alert] = alerts(failing)
    assert answer(failing, alert, state="acknowledged").status_code == 200
    assert answer(failing, alert, state="acknowledged").status_code == 200
    assert answer(failing, alert, state="dismissed", reason="noise").status_code == 200
    assert failing.call("DELETE", f"projects/{failing.slug}/baselines/main", "admin").status_code == 204
    found = feed(failing, "gate.verdict", "alert.*")
    shown = ("verdict", "state", "reopened", "resolution", "reason")
    assert [(one.type, *(one.data.get(name) for name in shown)) for one in found] == [
        ("gate.verdict", "regressed", None, None, None, None),
        ("alert.opened", None, "open", 0, None, None),
        ("gate.verdict", "equivalent", None, None, None, None),
        ("alert.resolved", None, "resolved", 0, "passed", None),
        ("gate.verdict", "regressed", None, None, None, None),
        ("alert.opened", None, "open", 1, None, None),
        ("alert.acknowledged", None, "acknowledged", 1, None, None),
        ("alert.dismissed", None, "dismissed", 1, None, "noise"),
        ("alert.resolved", None, "resolved", 1, "policy_deleted", "noise"),
    ]
    assert [one.data["number"] for one in found if one.type == "gate.verdict"] == [1, 2, 3]
    assert found[0].data["sentence"].startswith("B is worse than the baseline main")
    below = f"projects/{failing.slug}"
    assert {one.subject for one in found[:2]} == {
        f"{below}/baselines/main/verdicts?contender=B", f"{below}/alerts/{alert['id']}"
    }  # fmt: skip


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
