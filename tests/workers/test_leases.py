"""Promises: claimed by one at a time, settled only under the lease, given up with a reason."""

import threading
import uuid
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from registry.errors import Unavailable
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import cached_results, derivations, statistics
from tests.house import House, Project, publication
from workers import derive
from workers.derive import derive_due
from workers.jobs.leases import Claim, claim, fail_attempt, fail_exhausted, release

pytestmark = pytest.mark.usefixtures("nothing_due")


def claimed(house: House, most: int = 100) -> Claim:
    return claim(house.database, house.settings, derivations, most)


def derived(house: House, held: Claim, rows: Any = None) -> None:
    derive._derive(house.database, house.settings, held, held.rows if rows is None else rows)


def promise_of(house: House, grid: dict[str, Any]) -> Any:
    mine = (derivations.c.grid_id == uuid.UUID(grid["id"]), derivations.c.revision == grid["revision"])
    with house.database.reading() as connection:
        return connection.execute(select(derivations).where(*mine)).one()


def seconds_until(house: House, instant: Any) -> float:
    with house.database.reading() as connection:
        return float((instant - connection.scalar(select(func.now()))).total_seconds())


def revisions_described(house: House, grid: dict[str, Any]) -> list[int]:
    there = select(statistics.c.revision).where(statistics.c.grid_id == uuid.UUID(grid["id"]))
    with house.database.reading() as connection:
        return list(connection.scalars(there))


def let_leases_expire(house: House) -> None:
    with house.database.transaction() as connection:
        expired = {"leased_until": func.now() - text("interval '1 second'"), "due_at": func.now()}
        connection.execute(update(derivations).where(derivations.c.state == "pending").values(expired))


def several(project: Project, count: int) -> list[dict[str, Any]]:
    return [project.published(model=f"model {number}") for number in range(count)]


def test_a_claim_leases_before_any_work_and_only_who_holds_it_settles(project: Project, house: House) -> None:
    grid = project.published()
    path = f"grids/{grid['id']}/statistics"
    late = claimed(house)
    promise = promise_of(house, grid)
    assert [row.grid_id for row in late.rows] == [uuid.UUID(grid["id"])]
    assert (promise.state, promise.attempts, promise.lease) == ("pending", 1, late.lease)
    assert (
        house.settings.lease_seconds - 10 < seconds_until(house, promise.leased_until) <= house.settings.lease_seconds
    )
    assert claimed(house).rows == ()
    let_leases_expire(house)
    second = claimed(house)
    assert [row.attempts for row in second.rows] == [2]
    # Else a grid that takes longer than the first lease is claimed by another for ever.
    assert seconds_until(house, second.rows[0].leased_until) > 25
    derived(house, late)
    assert (promise_of(house, grid).state, promise_of(house, grid).lease) == ("pending", second.lease)
    assert project.get(path).status_code == 202
    derived(house, second)
    settled, before = promise_of(house, grid), project.get(path)
    assert (settled.state, before.status_code) == ("ready", 200)
    for held in (second, late):
        derived(house, held)
        fail_attempt(house.database, house.settings, held, held.rows[0], ValueError("too late"))
        release(house.database, held, held.rows)
    derive_due(house.database, house.settings)
    assert (promise_of(house, grid), project.get(path).data) == (settled, before.data)
    assert revisions_described(house, grid) == [1]


def test_where_grids_wait_the_newest_is_claimed_first(project: Project, house: House) -> None:
    grids = several(project, 6)
    found = [{row.grid_id for row in claimed(house, 2).rows} for _ in range(3)]
    ids = [uuid.UUID(grid["id"]) for grid in grids]
    assert found == [set(ids[4:]), set(ids[2:4]), set(ids[:2])]


def test_claimers_at_the_same_moment_never_hold_the_same_promise(project: Project, house: House) -> None:
    grids = several(project, 30)
    together = threading.Barrier(4)
    held: list[tuple[uuid.UUID, uuid.UUID]] = []

    def take() -> None:
        together.wait()
        while (one := claimed(house, 3)).rows:
            held.extend((row.grid_id, one.lease) for row in one.rows)

    in_threads(*[take] * 4)
    assert sorted(grid for grid, _ in held) == sorted(uuid.UUID(grid["id"]) for grid in grids)
    assert all(promise_of(house, grid).attempts == 1 for grid in grids)


def in_threads(*acts: Any) -> None:
    threads = [threading.Thread(target=act) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_two_deliveries_at_the_same_moment_settle_once(project: Project, house: House) -> None:
    grids = several(project, 20)
    held = claimed(house)
    in_threads(*(lambda rows=rows: derived(house, held, rows) for rows in (held.rows, list(reversed(held.rows)))))
    assert {promise_of(house, grid).state for grid in grids} == {"ready"}


def test_a_claim_takes_no_more_than_it_asks_for_whatever_the_planner_believes(
    own_database_url: str, settings: Settings
) -> None:
    """Statistics of an empty table make PostgreSQL run a limited subquery once for each row."""
    database = Database(replace(settings, database_url=own_database_url), name="own")
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
    with database.transaction() as connection:
        connection.execute(
            text("""
            WITH p AS (INSERT INTO projects (id, slug, name, visibility)
                       VALUES (gen_random_uuid(), 'p', 'p', 'private') RETURNING id)
            INSERT INTO cached_results (id, project_id, experiment, metric, query, query_key)
            SELECT gen_random_uuid(), id, 'e', 'm', '{}', gen_random_uuid() FROM p, generate_series(1, 20)""")
        )
    taken = [claim(database, settings, cached_results, most).rows for most in (1, 7, 100, 1)]
    assert [len(rows) for rows in taken] == [1, 7, 12, 0]


def test_a_promise_that_failed_before_is_claimed_alone(project: Project, house: House) -> None:
    grids = several(project, 3)
    held = claimed(house)
    for row in held.rows:
        fail_attempt(house.database, house.settings, held, row, ValueError("not today"))
    let_leases_expire(house)
    fresh = project.published(model="fresh")
    assert [str(row.grid_id) for row in claimed(house).rows] == [fresh["id"]]
    alone = [claimed(house).rows for _ in range(4)]
    assert [len(rows) for rows in alone] == [1, 1, 1, 0]
    assert {str(row.grid_id) for rows in alone for row in rows} == {grid["id"] for grid in grids}


def test_a_failure_is_due_again_after_a_growing_pause(project: Project, house: House) -> None:
    grid = project.published()
    for pause in (0.5, 1, 2, 4):
        held = claimed(house)
        began = seconds_until(house, held.rows[0].leased_until)
        fail_attempt(house.database, house.settings, held, held.rows[0], ValueError("no\x00t today"))
        promise = promise_of(house, grid)
        left = seconds_until(house, promise.due_at)
        passed = began - seconds_until(house, held.rows[0].leased_until)
        assert pause - passed - 0.1 < left <= pause, "what passed since then on a busy machine is gone"
        assert (promise.state, promise.lease, promise.reason) == ("pending", None, "ValueError: not today")
        let_leases_expire(house)
    held = claimed(house)
    fail_attempt(house.database, house.settings, held, held.rows[0], ValueError("never"))
    assert (promise_of(house, grid).state, promise_of(house, grid).attempts) == ("failed", 5)


def test_statistics_for_which_the_disk_has_no_room_wait_until_it_has(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    grids, right = several(project, 3), derive._write

    def refuse(*_: Any) -> None:
        raise Unavailable("The disk of the database is full.", 10, "disk_full")

    monkeypatch.setattr(derive, "_write", refuse)
    for _ in range(house.settings.attempts + 2):
        with pytest.raises(Unavailable):
            derive_due(house.database, house.settings)
        promises = [promise_of(house, grid) for grid in grids]
        assert {(one.state, one.attempts, one.lease) for one in promises} == {("pending", 0, None)}
        assert all(8 < seconds_until(house, one.due_at) <= 10 for one in promises)
        let_leases_expire(house)
    monkeypatch.setattr(derive, "_write", right)
    derive_due(house.database, house.settings)
    assert [promise_of(house, grid).state for grid in grids] == ["ready"] * 3


def test_a_promise_whose_process_died_each_time_becomes_failed(project: Project, house: House) -> None:
    grid = project.published()
    for _ in range(house.settings.attempts):
        assert len(claimed(house).rows) == 1
        with house.database.transaction() as connection:
            assert fail_exhausted(connection, derivations, house.settings.attempts) == 0
        let_leases_expire(house)
    assert claimed(house).rows == (), "a sixth attempt kills a sixth worker"
    with house.database.transaction() as connection:
        assert fail_exhausted(connection, derivations, house.settings.attempts) == 1
    answer = project.get(f"grids/{grid['id']}/statistics")
    reason = "The worker died each time that it computed this."
    told = {"grid": grid["id"], "revision": 1, "state": "failed", "reason": reason, "attempts": 5}
    assert (answer.status_code, answer.get_json()) == (200, told)


def test_a_grid_that_cannot_be_described_fails_alone_and_its_next_revision_is_computed(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    grids = several(project, 12)
    poisoned = project.published(model="poison", labels={"poison": "yes"})
    path, right = f"grids/{poisoned['id']}/statistics", derive.describe_all

    def describe_all(grids: Any) -> list[Any]:
        if any(grid.labels.get("poison") for grid in grids):
            raise ZeroDivisionError("this grid is poison")
        return right(grids)

    monkeypatch.setattr(derive, "describe_all", describe_all)
    assert derive_due(house.database, house.settings) == 13
    assert [promise_of(house, grid).state for grid in grids] == ["ready"] * 12
    assert (promise_of(house, poisoned).state, project.get(path).status_code) == ("pending", 202)
    for _ in range(house.settings.attempts):
        let_leases_expire(house)
        derive_due(house.database, house.settings)
    answer = project.get(path).get_json()
    told = ("failed", "ZeroDivisionError: this grid is poison", 5)
    assert (answer["state"], answer["reason"], answer["attempts"]) == told
    assert derive_due(house.database, house.settings) == 0
    project.published(model="poison", trials=100)
    derive_due(house.database, house.settings)
    assert project.get(path).get_json()["state"] == "ready"


def test_a_revision_made_while_the_old_one_is_derived_is_never_answered_with_the_old_statistics(
    project: Project, house: House
) -> None:
    first = project.published()
    held = claimed(house)
    second = project.published(trials=100)
    derived(house, held)
    pending = project.get(f"grids/{first['id']}/statistics")
    assert (pending.status_code, pending.get_json()["revision"]) == (202, 2)
    assert "Retry-After" in pending.headers
    for part in ("trends", "peaks", "coverage"):
        assert project.get(f"grids/{first['id']}/statistics?part={part}").status_code == 202
    derive_due(house.database, house.settings)
    ready = project.get(f"grids/{first['id']}/statistics")
    document = ready.get_json()
    assert (document["grid"], document["revision"], document["digest"]) == (first["id"], 2, second["digest"])
    assert (document["state"], document["metric"]["name"]) == ("ready", "accuracy")
    assert [axis["name"] for axis in document["axes"]] == ["Type", "Length"]
    again = project.get(f"grids/{first['id']}/statistics", headers={"If-None-Match": ready.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert project.get(f"grids/{first['id']}").get_json()["derivation"]["state"] == "ready"
    assert revisions_described(house, first) == [2], "nobody is shown those of a superseded revision"


def test_a_batch_holds_no_more_cells_than_a_lease_lasts_for(project: Project, house: House) -> None:
    """What does not fit is given back untried, so that others can take it at once."""
    grids = several(project, 8)
    small, tiny = replace(house.settings, batch_cells=11), replace(house.settings, batch_cells=1)
    assert derive_due(house.database, small) == 2
    left = [promise for promise in (promise_of(house, grid) for grid in grids) if promise.state == "pending"]
    assert [(promise.attempts, promise.lease) for promise in left] == [(0, None)] * 6
    assert [derive_due(house.database, small) for _ in range(2)] == [2, 2]
    assert [derive_due(house.database, tiny) for _ in range(3)] == [1, 1, 0], "one grid may be larger than a batch"


def test_what_is_computed_is_written_before_the_batch_is_over(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    grids = several(project, 4)
    right, seen = derive.describe_all, []

    def describe_all(rows: Any) -> list[Any]:
        seen.append(sum(len(revisions_described(house, grid)) for grid in grids))
        return right(rows)

    monkeypatch.setattr(derive, "describe_all", describe_all)
    monkeypatch.setattr(derive, "_GRIDS_TOGETHER", 1)
    monkeypatch.setattr(derive, "_WRITTEN_EVERY", 0.0)
    derive_due(house.database, house.settings)
    assert seen == [0, 1, 2, 3]


def test_whatever_a_grid_holds_it_is_described(project: Project, house: House) -> None:
    """PostgreSQL writes 1e22 as a whole number, which no encoder of JSON takes back as one."""
    score = project.published(axes=[], values=51.5)
    empty = project.published(model="empty", values=[[None] * 3] * 2, trials=None)
    axes = [{"name": "Length", "kind": "numeric", "levels": [1, 1e15, 1e22]}]
    metric = {"name": "tokens", "unit": None, "direction": "higher", "lower": 0, "upper": 1e23}
    large = project.published(metric=metric, axes=axes, values=[1.0, 2.0, 3e22], trials=None)
    derive_due(house.database, house.settings)
    documents = [project.get(f"grids/{grid['id']}/statistics").get_json() for grid in (score, empty, large)]
    assert [document["state"] for document in documents] == ["ready"] * 3
    assert documents[0]["series"] == documents[1]["series"] == []
    assert documents[2]["axes"][0]["levels"][2] == 1e22


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
        patched.setattr(derive, "SHIFT_SECONDS", 0.0)
        assert derive.derive_shift(house.database, two) == 0
    assert [derive.derive_shift(house.database, two) for _ in range(2)] == [7, 0]
    assert derive.SHIFT_SECONDS < 8, "the supervisor kills a worker that takes longer to stop"
