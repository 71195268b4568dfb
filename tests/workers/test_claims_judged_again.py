"""A claim that is kept is judged again when something that it depends on changed, and only then."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select, update

from registry.query import StoredClaimsQuery
from registry.storage.tables import cached_results, claims, judgements
from tests.house import Project
from tests.workers.asking import answer_due, join
from tests.workers.test_stored_claims import ABOUT, add, at, history, judged, measure, read
from workers import queries
from workers.claims import stored
from workers.jobs.invalidation import requeue_old_methods
from workers.jobs.worker_process import TookTooLong
from workers.queries import compute_due
from workers.verify_checks import check_results


class Watch:
    """Counts how often the claims of each model are judged, and how often cells are read for them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.judged: list[str] = []
        self.read: list[int] = []
        judge, rows = stored.judge_claim, stored.current_rows

        def judging(claim: Any, facts: Any) -> Any:
            self.judged.append(claim.says.about.model)
            return judge(claim, facts)

        def reading(connection: Any, ids: Any) -> Any:
            self.read.append(len(ids))
            return rows(connection, ids)

        monkeypatch.setattr(stored, "judge_claim", judging)
        monkeypatch.setattr(stored, "current_rows", reading)

    def forget(self) -> None:
        self.judged.clear()
        self.read.clear()


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    return Watch(monkeypatch)


def about(model: str, **more: Any) -> dict[str, Any]:
    """What 99.3 is, beyond noise: nothing is added to its judgement later."""
    return at(99.3, about=ABOUT | {"model": model}, **{"is": {"op": ">=", "number": 50.0}, **more})


def test_a_claim_is_judged_again_when_what_it_depends_on_changed(
    project: Project, watch: Watch, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    mine = project.published(model="mine")
    for model in ("other", "third"):
        project.published(model=model)
    claim, other = add(project, [about("mine"), about("other")])["items"]
    house, both = project.house, ["mine", "other"]
    answer_due(house)
    assert sorted(watch.judged) == both
    grid, rules = f"grids/{mine['id']}", f"projects/{project.slug}/experiments/type-by-length"
    declared = {"protocol": {"binding": ["shots"], "required": True}}
    cells = {"cells": [{"at": {"Type": "2", "Length": 0}, "value": 50.0}]}

    def new_methods() -> None:
        monkeypatch.setattr(stored, "METHODS_VERSION", "next")
        with house.database.transaction() as connection:
            old = cached_results.c.project_id == project.id
            connection.execute(update(cached_results).where(old).values(methods_version="0"))
            requeue_old_methods(connection, 30)

    def too_large() -> None:
        """Which is found without judging it."""
        monkeypatch.setattr(queries, "MOST_CELLS", 1)
        measure(project, mine, 13.0)

    for name, change, expected in (
        ("the cell", lambda: measure(project, mine, 12.0), ["mine"]),
        ("another cell", lambda: project.call("PATCH", f"{grid}/cells", json=cells), ["mine"]),
        ("a revision", lambda: project.published(model="mine", trials=3000), ["mine"]),
        ("another grid", lambda: project.published(model="mine", benchmark="Another"), ["mine"]),
        ("a name that stands for it", lambda: join(project, "model", "third", "mine"), ["mine"]),
        ("another name of the variant of all", lambda: join(project, "variant", "Baseline", "Base"), both),
        ("the methods", new_methods, both),
        ("the rules", lambda: project.call("PATCH", rules, json=declared), both),
        ("its deletion", lambda: project.call("DELETE", grid), ["mine"]),
        ("its return", lambda: project.call("POST", f"{grid}/restore"), ["mine"]),
        ("too many cells", too_large, []),
    ):
        with subtests.test(msg=name):
            before = [read(project, one)["checked_at"] for one in (claim, other)]
            watch.forget()
            change()
            answer_due(house)
            after = [read(project, one)["checked_at"] for one in (claim, other)]
            assert all(now > then for then, now in zip(before, after, strict=True))
            assert sorted(watch.judged) == expected
            assert list(check_results(house.database, house.settings, project.id)) == []


def test_a_change_of_another_grid_judges_nothing_and_reads_no_cells(project: Project, watch: Watch) -> None:
    project.published(model="mine")
    other = project.published(model="other")
    claim = add(project, about("mine"))
    first = judged(project, claim)
    watch.forget()
    measure(project, other, 12.0)
    project.published(model="third")
    assert read(project, claim)["state"] == "pending"
    second = judged(project, claim)
    assert (watch.judged, watch.read) == ([], [])
    assert second["checked_at"] > first["checked_at"]
    assert second["judgement"] == first["judgement"]
    judged(project, add(project, at(12.0, about=ABOUT | {"model": "third"})))
    assert watch.judged == ["third"], "what is added is judged alone"


def test_looks_at_the_current_revision_are_counted_on(project: Project, watch: Watch) -> None:
    grid = project.published()
    looked = add(project, at(99.3, looks="every_revision", **{"is": {"op": ">=", "number": 50.0}}))
    judged(project, looked)
    for look, value in ((2, 99.0), (3, 99.3)):
        watch.forget()
        measure(project, grid, value)
        assert judged(project, looked)["judgement"]["look"] == look
        assert len(watch.judged) == 1


def test_a_warning_about_a_name_follows_the_names_that_there_are(project: Project, watch: Watch) -> None:
    project.published(model="first")
    claim = add(project, about("Qwem"))
    judged(project, claim)
    watch.forget()
    project.published(model="nothing like it")
    judged(project, claim)
    assert watch.judged == []
    project.published(model="Qwen")
    judged(project, claim)
    assert watch.judged == ["Qwem"]
    assert list(check_results(project.house.database, project.house.settings, project.id)) == []


def test_a_grid_that_is_deleted_while_claims_are_judged_and_then_restored(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was judged without it is not kept as if it had been there."""
    grid = project.published()
    project.house.compute()
    claim = add(project, at(99.3))
    rows = stored.current_rows

    def after_deletion(connection: Any, ids: Any) -> Any:
        if ids:
            monkeypatch.setattr(stored, "current_rows", rows)
            assert project.call("DELETE", f"grids/{grid['id']}").status_code == 204
        return rows(connection, ids)

    monkeypatch.setattr(stored, "current_rows", after_deletion)
    assert compute_due(project.house.database, project.house.settings) == 1
    assert project.call("POST", f"grids/{grid['id']}/restore").status_code == 200
    assert judged(project, claim)["verdict"] == "supported"


def _turn(project: Project) -> list[str]:
    """The states of two claims and of the part that judges them, after one turn."""
    house = project.house
    assert compute_due(house.database, house.settings) == 1
    with house.database.reading() as connection:
        part = (cached_results.c.project_id == project.id, cached_results.c.query["kind"].astext == "stored_claims")
        state = connection.scalar(select(cached_results.c.state).where(*part))
    items = project.get(f"projects/{project.slug}/claims").get_json()["items"]
    return [str(state), *(one["state"] for one in items), *(str(one["verdict"]) for one in items)]


def test_what_one_turn_leaves_the_next_one_judges(
    project: Project, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.published(model="mine")
    project.house.compute()
    add(project, [about("mine"), at(12.0, about=ABOUT | {"model": "mine"})])
    monkeypatch.setattr(stored, "_SHIFT", -1.0)
    assert _turn(project) == ["pending", "pending", "pending", "supported", "None"]
    assert _turn(project) == ["ready", "ready", "ready", "supported", "contradicted"]
    assert len(watch.judged) == 2


def test_a_claim_that_takes_too_long_fails_alone(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.published()
    project.house.compute()
    kept = add(project, [at(99.3), at(12.0), at(50.0)])["items"]
    judge, tried = stored.judge_claim, list[float]()

    def slow(claim: Any, facts: Any) -> Any:
        tried.append(claim.says.says.is_.number)
        if tried[-1] == 12.0:
            raise TookTooLong
        return judge(claim, facts)

    monkeypatch.setattr(stored, "judge_claim", slow)
    verdicts = [judged(project, one)["verdict"] for one in kept]
    assert verdicts == ["supported", "not_decidable", "contradicted"]
    assert tried == [99.3, 12.0, 12.0, 50.0]
    assert history(project, kept[1]) == [(1, "not_decidable", "failed")]


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
