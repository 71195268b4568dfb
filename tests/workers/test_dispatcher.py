"""The dispatcher: rings for what is due and no more, and has it computed when nobody answers."""

import json
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from registry.broker import ANSWER_TASK, DERIVE_TASK, QUEUE, WAKE_LIST, Notifier
from registry.storage.tables import arrivals, cached_results, derivations, grids, invalidations
from tests.house import House, Project
from workers import dispatcher as module
from workers.dispatcher import MOST_WAKEUPS, Dispatcher
from workers.inline_worker import InlineWorker
from workers.jobs.leases import claim

HOUR = 3600.0
"""Seconds that no test waits for."""


def made(house: House, **changes: Any) -> Dispatcher:
    return Dispatcher(replace(house.settings, **{"unanswered_seconds": HOUR} | changes), house.database)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[InlineWorker]:
    """Those that a dispatcher started, which is all that happens."""
    found: list[InlineWorker] = []

    def start(worker: InlineWorker) -> None:
        found.append(worker)

    monkeypatch.setattr(InlineWorker, "start", start)
    return found


@pytest.fixture
def dispatcher(house: House, started: list[InlineWorker]) -> Iterator[Dispatcher]:
    """Nothing is due for it, and nothing waits in the queue."""
    with house.database.transaction() as connection:
        for table in (arrivals, invalidations):
            connection.execute(table.delete())
        for table in (cached_results, derivations):
            connection.execute(table.delete().where(table.c.state == "pending"))
    found = made(house)
    found.client.delete(QUEUE, WAKE_LIST)
    yield found
    found.client.delete(QUEUE, WAKE_LIST)
    found.client.close()
    found.celery.close()


def queued_tasks(dispatcher: Dispatcher) -> list[str]:
    """The names of the tasks in the queue, read without the code under test."""
    return sorted(json.loads(message)["headers"]["task"] for message in dispatcher.client.lrange(QUEUE, 0, -1))


def score(project: Project, *numbers: int, **changes: object) -> None:
    for number in numbers:
        project.published(model=f"model {number}", axes=[], values=50.0, **changes)


def states(project: Project) -> list[tuple[str, int]]:
    """State and attempts of the statistics of each grid."""
    mine = select(derivations.c.state, derivations.c.attempts).join_from(
        derivations, grids, grids.c.id == derivations.c.grid_id
    )
    with project.house.database.reading() as connection:
        return sorted(tuple(row) for row in connection.execute(mine.where(grids.c.project_id == project.id)))


def until(happened: Any, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


BOTH = sorted([DERIVE_TASK, ANSWER_TASK])


def test_a_turn_rings_once_for_a_batch_and_once_for_a_ranking_until_the_wakeups_are_lost(
    dispatcher: Dispatcher, started: list[InlineWorker], project: Project
) -> None:
    dispatcher.run_cycle()
    assert queued_tasks(dispatcher) == []
    score(project, *range(5))
    for _ in range(6):
        dispatcher.run_cycle()
        assert queued_tasks(dispatcher) == BOTH
    dispatcher.client.delete(QUEUE)
    dispatcher.run_cycle()
    assert queued_tasks(dispatcher) == BOTH
    assert started == []


def test_a_wakeup_of_one_kind_does_not_pass_for_the_other_and_what_somebody_works_on_rings_nobody(
    dispatcher: Dispatcher, house: House, project: Project
) -> None:
    for _ in range(3):
        dispatcher.celery.send_task(ANSWER_TASK, retry=False)
    score(project, 1)
    dispatcher.run_cycle()
    assert queued_tasks(dispatcher) == sorted([DERIVE_TASK, ANSWER_TASK, ANSWER_TASK, ANSWER_TASK])
    dispatcher.client.delete(QUEUE)
    claim(house.database, house.settings, derivations, 100)
    dispatcher.run_cycle()
    assert queued_tasks(dispatcher) == [ANSWER_TASK]


def test_one_wakeup_a_batch_and_never_more_than_sixteen(dispatcher: Dispatcher, project: Project) -> None:
    score(project, *range(5))
    dispatcher.settings = replace(dispatcher.settings, batch_promises=2)
    dispatcher.run_cycle()
    assert queued_tasks(dispatcher) == [ANSWER_TASK] + [DERIVE_TASK] * 3
    score(project, *range(28), benchmark="another")
    for _ in range(3):
        dispatcher.run_cycle()
    assert len(queued_tasks(dispatcher)) == MOST_WAKEUPS


def test_exhausted_promises_are_given_up_by_the_dispatcher(
    dispatcher: Dispatcher, house: House, project: Project
) -> None:
    score(project, 1)
    house.compute()
    score(project, 2)
    with house.database.transaction() as connection:
        for table in (cached_results, derivations):
            worn = {"attempts": 5, "leased_until": func.now() - text("interval '1 s'"), "lease": uuid.uuid4()}
            connection.execute(update(table).where(table.c.state == "pending").values(worn))
    dispatcher.run_cycle()
    assert [state for state, _ in states(project)] == ["failed", "ready"]


def test_a_ring_wakes_the_dispatcher_before_its_interval_is_over(house: House, dispatcher: Dispatcher) -> None:
    dispatcher.settings = replace(house.settings, dispatch_seconds=HOUR)
    slept = threading.Event()
    sleeper = threading.Thread(target=lambda: (dispatcher.sleep(), slept.set()))
    sleeper.start()
    Notifier(house.settings).notify()
    assert slept.wait(60)
    sleeper.join()
    until(lambda: dispatcher.client.llen(WAKE_LIST) == 0)


def test_rings_in_quick_succession_are_served_by_one_turn(
    dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It rests until the shortest time of a turn is over, and takes whatever rang meanwhile."""
    rests: list[float] = []

    def rest(seconds: float) -> None:
        rests.append(seconds)
        dispatcher.client.rpush(WAKE_LIST, *["{}"] * 5)

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=time.monotonic, sleep=rest))
    dispatcher.client.rpush(WAKE_LIST, "{}")
    dispatcher.cycle_began = time.monotonic()
    dispatcher.sleep()
    assert 0 <= rests[0] <= 0.03
    assert dispatcher.client.llen(WAKE_LIST) == 0
    assert dispatcher.was_woken
    dispatcher.settings = replace(dispatcher.settings, dispatch_seconds=0.01)
    dispatcher.sleep()
    assert not dispatcher.was_woken


def test_rings_that_nobody_hears_do_not_pile_up(house: House, dispatcher: Dispatcher) -> None:
    bell = Notifier(house.settings)
    for _ in range(200):
        bell.notify()
    until(lambda: dispatcher.client.llen(WAKE_LIST) > 0)
    assert dispatcher.client.llen(WAKE_LIST) <= 16


def test_without_a_broker_a_ring_raises_nothing_and_what_nobody_answers_is_computed_by_an_inline_worker(
    dispatcher: Dispatcher, started: list[InlineWorker], house: House, project: Project, tmp_path: Path
) -> None:
    away = replace(house.settings, redis_url=f"redis+socket://{tmp_path}/nobody.sock", log_level="ERROR")
    bell = Notifier(away)
    for _ in range(1000):
        bell.notify()
    score(project, *range(3))
    dispatcher.run_cycle()
    assert started == [], "the broker is there, and the workers have not had their chance yet"
    dispatcher.settings = replace(dispatcher.settings, unanswered_seconds=0.0)
    dispatcher.run_cycle()
    assert started == [dispatcher.inline_worker]
    started.clear()
    alone = made(house, redis_url=away.redis_url, log_level="ERROR")
    alone.run_cycle()
    assert len(started) == 1
    house.compute()
    alone.run_cycle()
    assert len(started) == 1, "nothing is due"
    alone.client.close()
    alone.celery.close()


def test_two_dispatchers_compute_everything_once(dispatcher: Dispatcher, house: House, project: Project) -> None:
    two = [dispatcher, made(house)]
    score(project, *range(10))
    turns = [threading.Thread(target=lambda one=one: [one.run_cycle() for _ in range(5)]) for one in two]
    for turn in turns:
        turn.start()
    for turn in turns:
        turn.join()
    assert len(queued_tasks(dispatcher)) <= 4
    house.compute()
    assert states(project) == [("ready", 1)] * 10
    two[1].client.close()
    two[1].celery.close()


def test_what_a_worker_of_an_older_release_adds_is_found_later(
    dispatcher: Dispatcher, house: House, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    score(project, 1)
    house.compute()
    while dispatcher.old_methods_left:
        dispatcher.last_housekeeping = float("-inf")
        dispatcher.run_cycle()
    with house.database.transaction() as connection:
        mine = derivations.c.grid_id.in_(select(grids.c.id).where(grids.c.project_id == project.id))
        connection.execute(update(derivations).where(mine).values(state="failed", methods_version="1"))
    monkeypatch.setattr(module, "_HOUSEKEEPING_SECONDS", 0.0)
    dispatcher.run_cycle()
    assert states(project)[0][0] == "failed", "every row is looked at now and then, not with every turn"
    monkeypatch.setattr(module, "_CLEANUP_SECONDS", 0.0)
    dispatcher.run_cycle()
    assert states(project)[0][0] == "pending"
