"""Promises: claimed by one at a time, settled only under the lease, given up with a reason."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import cached_results, derivations, revisions, statistics
from tests.house import House, Project, publication
from workers import derive
from workers.derive import derive_due
from workers.jobs.leases import claim, fail_attempt, fail_exhausted, release


@pytest.fixture(autouse=True)
def _nothing_due(house: House) -> None:
    """Promises that other tests left are kept first."""
    with house.database.transaction() as connection:
        fresh = {"lease": None, "leased_until": None, "due_at": func.now(), "attempts": 0}
        connection.execute(update(derivations).where(derivations.c.state == "pending").values(fresh))
    house.compute()


@pytest.fixture
def own_database(own_database_url: str, settings: Settings) -> Iterator[Database]:
    database = Database(replace(settings, database_url=own_database_url), name="own")
    yield database
    database.close()


def promise_of(house: House, grid: dict[str, Any]) -> Any:
    query = select(derivations).where(
        derivations.c.grid_id == uuid.UUID(grid["id"]), derivations.c.revision == grid["revision"]
    )
    with house.database.reading() as connection:
        return connection.execute(query).one()


def let_leases_expire(house: House) -> None:
    with house.database.transaction() as connection:
        expired = {"leased_until": func.now() - text("interval '1 second'"), "due_at": func.now()}
        connection.execute(update(derivations).where(derivations.c.state == "pending").values(expired))


def several(project: Project, count: int) -> list[dict[str, Any]]:
    return [project.published(model=f"model {number}") for number in range(count)]


def test_a_claim_leases_and_counts_the_attempt_before_any_work(project: Project, house: House) -> None:
    grid = project.published()
    claimed = claim(house.database, house.settings, derivations, 100)
    promise = promise_of(house, grid)
    assert [row.grid_id for row in claimed.rows] == [uuid.UUID(grid["id"])]
    assert (promise.state, promise.attempts, promise.lease) == ("pending", 1, claimed.lease)
    with house.database.reading() as connection:
        left = connection.scalar(
            select(func.extract("epoch", derivations.c.leased_until - func.now())).where(
                derivations.c.lease == claimed.lease
            )
        )
    assert house.settings.lease_seconds - 2 < left <= house.settings.lease_seconds
    assert claim(house.database, house.settings, derivations, 100).rows == ()


def test_claimers_at_the_same_moment_never_hold_the_same_promise(project: Project, house: House) -> None:
    grids = several(project, 60)
    together = threading.Barrier(4)
    held: list[tuple[uuid.UUID, uuid.UUID]] = []

    def take() -> None:
        together.wait()
        while (claimed := claim(house.database, house.settings, derivations, 3)).rows:
            held.extend((row.grid_id, claimed.lease) for row in claimed.rows)

    claimers = [threading.Thread(target=take) for _ in range(4)]
    for claimer in claimers:
        claimer.start()
    for claimer in claimers:
        claimer.join()
    assert sorted(grid for grid, _ in held) == sorted(uuid.UUID(grid["id"]) for grid in grids)
    assert all(promise_of(house, grid).attempts == 1 for grid in grids)


def test_a_claim_takes_no_more_than_it_asks_for_whatever_the_planner_believes(own_database: Database) -> None:
    """Statistics of an empty table make PostgreSQL run a limited subquery once for each row."""
    settings = Settings()
    with own_database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
    with own_database.transaction() as connection:
        connection.execute(
            text("""
            WITH p AS (INSERT INTO projects (id, slug, name, visibility)
                       VALUES (gen_random_uuid(), 'p', 'p', 'private') RETURNING id)
            INSERT INTO cached_results (id, project_id, experiment, metric, query, query_key)
            SELECT gen_random_uuid(), id, 'e', 'm', '{}', gen_random_uuid() FROM p, generate_series(1, 20)""")
        )
    assert [len(claim(own_database, settings, cached_results, most).rows) for most in (1, 7, 100, 1)] == [1, 7, 12, 0]


def test_an_expired_lease_is_claimed_again_and_the_late_settler_writes_nothing(project: Project, house: House) -> None:
    grid = project.published()
    late = claim(house.database, house.settings, derivations, 100)
    let_leases_expire(house)
    second = claim(house.database, house.settings, derivations, 100)
    assert [row.attempts for row in second.rows] == [2]
    derive._derive(house.database, house.settings, late, late.rows)
    assert promise_of(house, grid).state == "pending"
    assert promise_of(house, grid).lease == second.lease
    assert project.get(f"grids/{grid['id']}/statistics").status_code == 202
    derive._derive(house.database, house.settings, second, second.rows)
    assert promise_of(house, grid).state == "ready"


def test_what_was_tried_before_is_leased_for_longer_than_a_worker_may_take(project: Project, house: House) -> None:
    """Else a grid that takes longer than the first lease is claimed by another for ever."""
    project.published()
    claim(house.database, house.settings, derivations, 100)
    let_leases_expire(house)
    second = claim(house.database, house.settings, derivations, 100)
    with house.database.reading() as connection:
        now = connection.scalar(select(func.now()))
    assert (second.rows[0].leased_until - now).total_seconds() > 25


def test_a_late_settler_does_not_spoil_what_another_settled(project: Project, house: House) -> None:
    grid = project.published()
    late = claim(house.database, house.settings, derivations, 100)
    let_leases_expire(house)
    derive_due(house.database, house.settings)
    before = project.get(f"grids/{grid['id']}/statistics")
    derive._derive(house.database, house.settings, late, late.rows)
    fail_attempt(house.database, house.settings, late, late.rows[0], ValueError("too late"))
    release(house.database, late, late.rows)
    after = project.get(f"grids/{grid['id']}/statistics")
    assert before.status_code == after.status_code == 200
    assert before.data == after.data
    assert (promise_of(house, grid).state, promise_of(house, grid).reason) == ("ready", None)


def test_a_promise_that_failed_before_is_claimed_alone(project: Project, house: House) -> None:
    grids = several(project, 3)
    claimed = claim(house.database, house.settings, derivations, 100)
    for row in claimed.rows:
        fail_attempt(house.database, house.settings, claimed, row, ValueError("not today"))
    let_leases_expire(house)
    fresh = project.published(model="fresh")
    first = claim(house.database, house.settings, derivations, 100)
    assert [str(row.grid_id) for row in first.rows] == [fresh["id"]]
    alone = [claim(house.database, house.settings, derivations, 100).rows for _ in range(4)]
    assert [len(rows) for rows in alone] == [1, 1, 1, 0]
    assert {str(row.grid_id) for rows in alone for row in rows} == {grid["id"] for grid in grids}


def test_a_failure_is_due_again_after_a_growing_pause(project: Project, house: House) -> None:
    grid = project.published()
    pauses = []
    for _ in range(4):
        claimed = claim(house.database, house.settings, derivations, 100)
        fail_attempt(house.database, house.settings, claimed, claimed.rows[0], ValueError("no\x00t today"))
        with house.database.reading() as connection:
            now = connection.scalar(select(func.now()))
        promise = promise_of(house, grid)
        pauses.append((promise.due_at - now).total_seconds())
        assert (promise.state, promise.lease, promise.reason) == ("pending", None, "ValueError: not today")
        let_leases_expire(house)
    assert pauses == pytest.approx([0.5, 1, 2, 4], abs=0.3)
    claimed = claim(house.database, house.settings, derivations, 100)
    fail_attempt(house.database, house.settings, claimed, claimed.rows[0], ValueError("never"))
    assert (promise_of(house, grid).state, promise_of(house, grid).attempts) == ("failed", 5)


def test_a_promise_whose_process_died_each_time_becomes_failed(project: Project, house: House) -> None:
    grid = project.published()
    for _ in range(house.settings.attempts):
        assert len(claim(house.database, house.settings, derivations, 100).rows) == 1
        with house.database.transaction() as connection:
            assert fail_exhausted(connection, derivations, house.settings.attempts) == 0
        let_leases_expire(house)
    assert claim(house.database, house.settings, derivations, 100).rows == (), "a sixth attempt kills a sixth worker"
    with house.database.transaction() as connection:
        assert fail_exhausted(connection, derivations, house.settings.attempts) == 1
    answer = project.get(f"grids/{grid['id']}/statistics")
    assert answer.status_code == 200
    assert answer.get_json() == {
        "grid": grid["id"],
        "revision": 1,
        "state": "failed",
        "reason": "The worker died each time that it computed this.",
        "attempts": 5,
    }


def test_a_new_revision_of_a_failed_grid_is_computed(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = project.published()
    with monkeypatch.context() as patched:
        patched.setattr(derive, "describe_all", refuse)
        for _ in range(house.settings.attempts):
            derive_due(house.database, house.settings)
            let_leases_expire(house)
    assert project.get(f"grids/{grid['id']}/statistics").get_json()["state"] == "failed"
    project.published(trials=100)
    derive_due(house.database, house.settings)
    assert project.get(f"grids/{grid['id']}/statistics").get_json()["state"] == "ready"


def refuse(_grids: Any) -> list[Any]:
    raise ZeroDivisionError("this grid is poison")


def test_a_grid_that_cannot_be_described_fails_while_its_neighbours_are_ready(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    grids = several(project, 12)
    poisoned = project.published(model="poison", labels={"poison": "yes"})
    right = derive.describe_all

    def describe_all(grids: Any) -> list[Any]:
        return refuse(grids) if any(grid.labels.get("poison") for grid in grids) else right(grids)

    monkeypatch.setattr(derive, "describe_all", describe_all)
    assert derive_due(house.database, house.settings) == 13
    assert [promise_of(house, grid).state for grid in grids] == ["ready"] * 12
    assert promise_of(house, poisoned).state == "pending"
    assert project.get(f"grids/{poisoned['id']}/statistics").status_code == 202
    for _ in range(house.settings.attempts):
        let_leases_expire(house)
        derive_due(house.database, house.settings)
    answer = project.get(f"grids/{poisoned['id']}/statistics").get_json()
    assert (answer["state"], answer["reason"], answer["attempts"]) == (
        "failed",
        "ZeroDivisionError: this grid is poison",
        5,
    )
    assert derive_due(house.database, house.settings) == 0


def test_a_second_delivery_changes_nothing(project: Project, house: House) -> None:
    grid = project.published()
    claimed = claim(house.database, house.settings, derivations, 100)
    derive._derive(house.database, house.settings, claimed, claimed.rows)
    before = project.get(f"grids/{grid['id']}/statistics"), promise_of(house, grid)
    derive._derive(house.database, house.settings, claimed, claimed.rows)
    derive_due(house.database, house.settings)
    after = project.get(f"grids/{grid['id']}/statistics"), promise_of(house, grid)
    assert before[0].data == after[0].data
    assert before[1] == after[1]
    with house.database.reading() as connection:
        rows = select(func.count()).where(statistics.c.grid_id == uuid.UUID(grid["id"]))
        assert connection.scalar(rows) == 1


def test_two_deliveries_at_the_same_moment_settle_once(project: Project, house: House) -> None:
    grids = several(project, 20)
    claimed = claim(house.database, house.settings, derivations, 100)
    deliveries = [
        threading.Thread(target=derive._derive, args=(house.database, house.settings, claimed, rows))
        for rows in (claimed.rows, list(reversed(claimed.rows)))
    ]
    for delivery in deliveries:
        delivery.start()
    for delivery in deliveries:
        delivery.join()
    assert {promise_of(house, grid).state for grid in grids} == {"ready"}


def test_a_revision_made_while_the_old_one_is_derived_is_never_answered_with_the_old_statistics(
    project: Project, house: House
) -> None:
    first = project.published()
    claimed = claim(house.database, house.settings, derivations, 100)
    second = project.published(trials=100)
    derive._derive(house.database, house.settings, claimed, claimed.rows)
    assert (first["revision"], second["revision"]) == (1, 2)
    pending = project.get(f"grids/{first['id']}/statistics")
    assert (pending.status_code, pending.get_json()["revision"]) == (202, 2)
    assert "Retry-After" in pending.headers
    for part in ("trends", "peaks", "coverage"):
        assert project.get(f"grids/{first['id']}/{part}").status_code == 202
    derive_due(house.database, house.settings)
    ready = project.get(f"grids/{first['id']}/statistics")
    assert (ready.status_code, ready.get_json()["revision"], ready.get_json()["digest"]) == (200, 2, second["digest"])
    with house.database.reading() as connection:
        there = select(statistics.c.revision).where(statistics.c.grid_id == uuid.UUID(first["id"]))
        assert connection.scalars(there).all() == [2], "nobody is shown those of a superseded revision"


def test_the_statistics_say_what_they_were_computed_from(project: Project, house: House) -> None:
    grid = project.published()
    derive_due(house.database, house.settings)
    answer = project.get(f"grids/{grid['id']}/statistics")
    document = answer.get_json()
    assert (document["grid"], document["revision"], document["digest"]) == (grid["id"], 1, grid["digest"])
    assert document["state"] == "ready"
    assert document["metric"]["name"] == "accuracy"
    assert [axis["name"] for axis in document["axes"]] == ["Type", "Length"]
    again = project.get(f"grids/{grid['id']}/statistics", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert project.get(f"grids/{grid['id']}").get_json()["derivation"]["state"] == "ready"


def test_a_batch_holds_no_more_cells_than_a_lease_lasts_for(project: Project, house: House) -> None:
    """What does not fit is given back untried, so that others can take it at once."""
    grids = several(project, 5)
    small = replace(house.settings, batch_cells=11)
    assert derive_due(house.database, small) == 2
    promises = [promise_of(house, grid) for grid in grids]
    left = [promise for promise in promises if promise.state == "pending"]
    assert [(promise.attempts, promise.lease) for promise in left] == [(0, None)] * 3
    assert [derive_due(house.database, small) for _ in range(3)] == [2, 1, 0]


def test_a_grid_larger_than_a_batch_is_computed_alone(project: Project, house: House) -> None:
    several(project, 3)
    tiny = replace(house.settings, batch_cells=1)
    assert [derive_due(house.database, tiny) for _ in range(4)] == [1, 1, 1, 0]


def test_what_is_computed_is_written_before_the_batch_is_over(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    several(project, 4)
    right, seen = derive.describe_all, []

    def describe_all(grids: Any) -> list[Any]:
        with house.database.reading() as connection:
            seen.append(
                connection.scalar(
                    select(func.count())
                    .select_from(statistics.join(revisions, statistics.c.grid_id == revisions.c.grid_id))
                    .where(revisions.c.token_id.is_not(None), statistics.c.grid_id.in_(mine))
                )
            )
        return right(grids)

    with house.database.reading() as connection:
        mine = connection.scalars(select(derivations.c.grid_id).where(derivations.c.state == "pending")).all()
    monkeypatch.setattr(derive, "describe_all", describe_all)
    monkeypatch.setattr(derive, "_GRIDS_TOGETHER", 1)
    monkeypatch.setattr(derive, "_WRITTEN_EVERY", 0.0)
    derive_due(house.database, house.settings)
    assert seen == [0, 1, 2, 3]


def test_a_grid_without_axes_and_one_without_cells_are_described_too(project: Project, house: House) -> None:
    score = project.published(axes=[], values=51.5)
    empty = project.published(model="empty", values=[[None] * 3] * 2, trials=None)
    derive_due(house.database, house.settings)
    for grid in (score, empty):
        document = project.get(f"grids/{grid['id']}/statistics").get_json()
        assert (document["state"], document["series"]) == ("ready", [])


def test_a_deleted_grid_is_computed_in_silence(project: Project, house: House) -> None:
    grid = project.published()
    assert project.call("DELETE", f"grids/{grid['id']}").status_code == 204
    assert derive_due(house.database, house.settings) == 1
    assert project.get(f"grids/{grid['id']}/statistics").status_code == 404
    again = project.publish(publication())
    assert (again.status_code, again.get_json()["revision"]) == (201, 2)
    derive_due(house.database, house.settings)
    assert project.get(f"grids/{grid['id']}/statistics").get_json()["revision"] == 2


def test_a_shift_ends_when_nothing_is_due_or_its_time_is_over(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that never stops while grids arrive would be killed by its time limit in the middle of a batch."""
    several(project, 7)
    two = replace(house.settings, batch_promises=2)
    with monkeypatch.context() as patched:
        patched.setattr(derive, "_SHIFT_SECONDS", 0.0)
        assert derive.derive_shift(house.database, two) == 0
    assert derive.derive_shift(house.database, two) == 7
    assert derive.derive_shift(house.database, two) == 0
    assert derive._SHIFT_SECONDS < 8, "the supervisor kills a worker that takes longer to stop"


def test_levels_and_bounds_beyond_64_bits_have_statistics(house: House, project: Project) -> None:
    """PostgreSQL writes 1e22 as a whole number, which no encoder of JSON takes back as one."""
    metric = {"name": "tokens", "unit": None, "direction": "higher", "lower": 0, "upper": 1e23}
    axes = [{"name": "Length", "kind": "numeric", "levels": [1, 1e15, 1e22]}]
    grid = project.published(metric=metric, axes=axes, values=[1.0, 2.0, 3e22], trials=None)
    house.compute()
    answer = project.get(f"grids/{grid['id']}/statistics")
    assert (answer.status_code, answer.get_json()["state"]) == (200, "ready")
    assert answer.get_json()["axes"][0]["levels"][2] == 1e22
