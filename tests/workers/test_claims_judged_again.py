"""A claim that is kept is judged again when something that it depends on changed, and only then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select, update

from registry.storage.tables import cached_results
from tests.house import Project
from tests.workers.test_stored_claims import ABOUT, add, at, history, judged, measure, read
from workers.claims import keys, stored
from workers.jobs.cpu_limit import TookTooLong
from workers.jobs.old_methods import requeue_old_methods
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


Mine = dict[str, Any]


def _cell(project: Project, mine: Mine, _patch: Any) -> None:
    measure(project, mine, 12.0)


def _amendment(project: Project, mine: Mine, _patch: Any) -> None:
    cells = {"cells": [{"at": {"Type": "2", "Length": 0}, "value": 50.0}]}
    assert project.call("PATCH", f"grids/{mine['id']}/cells", json=cells).status_code == 200


def _publication(project: Project, _mine: Mine, _patch: Any) -> None:
    project.published(model="mine", trials=3000)


def _new_grid(project: Project, _mine: Mine, _patch: Any) -> None:
    project.published(model="mine", benchmark="Another")


def _joined(project: Project, _mine: Mine, _patch: Any) -> None:
    alias = {"kind": "model", "alias": "third", "name": "mine"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=alias).status_code == 201


def _renamed(project: Project, _mine: Mine, _patch: Any) -> None:
    """The variant of all grids gets another name."""
    alias = {"kind": "variant", "alias": "Baseline", "name": "Base"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=alias).status_code == 201


def _deletion(project: Project, mine: Mine, _patch: Any) -> None:
    assert project.call("DELETE", f"grids/{mine['id']}").status_code == 204


def _rules(project: Project, _mine: Mine, _patch: Any) -> None:
    path = f"projects/{project.slug}/experiments/type-by-length/protocol"
    assert project.call("PUT", path, json={"binding": ["shots"], "required": True}).status_code == 200


def _methods(project: Project, _mine: Mine, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(keys, "METHODS_VERSION", "next")
    with project.house.database.transaction() as connection:
        old = cached_results.c.project_id == project.id
        connection.execute(update(cached_results).where(old).values(methods_version="0"))
        requeue_old_methods(connection, 30)


def _limit(project: Project, mine: Mine, patch: pytest.MonkeyPatch) -> None:
    """The claim becomes too large, which is found without judging it."""
    patch.setattr("workers.queries.MOST_CELLS", 1)
    _cell(project, mine, patch)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_cell, ["mine"]),
        (_amendment, ["mine"]),
        (_publication, ["mine"]),
        (_new_grid, ["mine"]),
        (_joined, ["mine"]),
        (_deletion, ["mine"]),
        (_renamed, ["mine", "other"]),
        (_rules, ["mine", "other"]),
        (_methods, ["mine", "other"]),
        (_limit, []),
    ],
)
def test_a_claim_is_judged_again_when_what_it_depends_on_changed(
    project: Project, watch: Watch, monkeypatch: pytest.MonkeyPatch, change: Callable[..., None], expected: list[str]
) -> None:
    mine = project.published(model="mine")
    for model in ("other", "third"):
        project.published(model=model)
    claim, other = add(project, [about("mine"), about("other")])["items"]
    first = {one["id"]: judged(project, one)["checked_at"] for one in (claim, other)}
    assert sorted(watch.judged) == ["mine", "other"]
    watch.forget()
    change(project, mine, monkeypatch)
    for one in (claim, other):
        assert judged(project, one)["checked_at"] > first[one["id"]]
    assert sorted(watch.judged) == expected
    assert list(check_results(project.house.database, project.house.settings, project.id)) == []


def test_what_is_undone_is_judged_again(project: Project, watch: Watch) -> None:
    grid = project.published(model="mine")
    claim = add(project, about("mine"))
    judged(project, claim)
    for method, path in (("DELETE", ""), ("POST", "/restore")):
        watch.forget()
        assert project.call(method, f"grids/{grid['id']}{path}").status_code in (200, 204)
        judged(project, claim)
        assert watch.judged == ["mine"]
    assert [verdict for _, verdict, _ in history(project, claim)] == ["supported", "not_decidable", "supported"]


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


def test_a_claim_that_is_added_is_judged_alone(project: Project, watch: Watch) -> None:
    project.published(model="mine")
    judged(project, add(project, about("mine")))
    watch.forget()
    judged(project, add(project, at(12.0, about=ABOUT | {"model": "mine"})))
    assert watch.judged == ["mine"]


def test_a_claim_about_a_revision_is_judged_once(project: Project, watch: Watch) -> None:
    grid = project.published()
    claim = add(project, at(99.3, about={"grid": grid["id"], "revision": 1}))
    judged(project, claim)
    watch.forget()
    measure(project, grid, 12.0)
    assert judged(project, claim)["verdict"] == "supported"
    assert watch.judged == []
    assert project.call("DELETE", f"grids/{grid['id']}").status_code == 204
    assert judged(project, claim)["verdict"] == "not_decidable"


def test_looks_are_counted_on(project: Project) -> None:
    grid = project.published()
    claim = add(project, at(99.3, looks="every_revision"))
    judged(project, claim)
    for look, value in ((2, 99.0), (3, 99.3)):
        measure(project, grid, value)
        assert judged(project, claim)["judgement"]["look"] == look


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
    assert tried == [99.3, 12.0, 12.0, 50.0, 99.3], "the first is within the noise: its trials are found last"
    assert history(project, kept[1]) == [(1, "not_decidable", "failed")]
