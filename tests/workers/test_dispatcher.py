"""The dispatcher: rings for what is due and no more, and has it computed when nobody answers."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select, text, update

from registry import create_app
from registry.broker import ANSWER_TASK, DERIVE_TASK, QUEUE, WAKE_LIST, Notifier, redis_client
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import cached_results, derivations
from tests.house import House, Project
from workers.dispatcher import MOST_WAKEUPS, Dispatcher
from workers.jobs.leases import claim


@pytest.fixture
def settings_of_its_own(settings: Settings, own_database_url: str, servers: tuple[str, str]) -> Settings:
    """A database of its own, and a queue that no other test fills."""
    client = redis_client(settings)
    client.delete(QUEUE, WAKE_LIST)
    client.close()
    return replace(settings, database_url=own_database_url, unanswered_seconds=3600.0)


@pytest.fixture
def own_house(settings_of_its_own: Settings) -> Iterator[House]:
    database = Database(settings_of_its_own, name="tests")
    app = create_app(settings_of_its_own)
    yield House(app, database, settings_of_its_own)
    app.extensions["registry"].database.close()
    database.close()


@pytest.fixture
def own_project(own_house: House) -> Project:
    return own_house.make_project()


@pytest.fixture
def dispatcher(own_house: House) -> Iterator[Dispatcher]:
    found = Dispatcher(own_house.settings, own_house.database)
    yield found
    found.inline_worker.stop()
    found.client.delete(QUEUE, WAKE_LIST)
    found.client.close()
    found.celery.close()


def queued_tasks(dispatcher: Dispatcher) -> list[str]:
    """The names of the tasks in the queue, read without the code under test."""
    return sorted(json.loads(message)["headers"]["task"] for message in dispatcher.client.lrange(QUEUE, 0, -1))


def score(project: Project, number: int, **changes: object) -> None:
    project.published(model=f"model {number}", axes=[], values=50.0, **changes)


def all_ready(house: House) -> bool:
    with house.database.reading() as connection:
        left = select(func.count()).where(derivations.c.state != "ready")
        return connection.scalar(left) == 0 and connection.scalar(select(func.count()).select_from(derivations)) > 0


def until(happened: object, seconds: float = 20.0) -> None:
    """Wait for an event, not for a time."""
    deadline = time.monotonic() + seconds
    while not happened():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def test_a_turn_with_nothing_due_rings_nobody(dispatcher: Dispatcher) -> None:
    dispatcher.run_cycle()
    assert queued_tasks(dispatcher) == []


def test_a_turn_rings_once_for_a_batch_and_once_for_a_ranking(dispatcher: Dispatcher, own_project: Project) -> None:
    for number in range(5):
        score(own_project, number)
    dispatcher.run_cycle()
    assert queued_tasks(dispatcher) == sorted([DERIVE_TASK, ANSWER_TASK])


def test_more_turns_send_no_more_while_the_wakeups_wait(dispatcher: Dispatcher, own_project: Project) -> None:
    score(own_project, 1)
    for _ in range(20):
        dispatcher.run_cycle()
    assert queued_tasks(dispatcher) == sorted([DERIVE_TASK, ANSWER_TASK])


def test_a_wakeup_of_one_kind_does_not_pass_for_the_other(dispatcher: Dispatcher, own_project: Project) -> None:
    for _ in range(3):
        dispatcher.celery.send_task(ANSWER_TASK, retry=False)
    score(own_project, 1)
    dispatcher.run_cycle()
    assert queued_tasks(dispatcher) == sorted([DERIVE_TASK, ANSWER_TASK, ANSWER_TASK, ANSWER_TASK])


def test_a_lost_wakeup_is_sent_again(dispatcher: Dispatcher, own_project: Project) -> None:
    score(own_project, 1)
    dispatcher.run_cycle()
    dispatcher.client.delete(QUEUE)
    dispatcher.run_cycle()
    assert queued_tasks(dispatcher) == sorted([DERIVE_TASK, ANSWER_TASK])


def test_what_somebody_works_on_rings_nobody(dispatcher: Dispatcher, own_house: House, own_project: Project) -> None:
    score(own_project, 1)
    claim(own_house.database, own_house.settings, derivations, 100)
    dispatcher.run_cycle()
    assert queued_tasks(dispatcher) == [ANSWER_TASK]


def test_one_wakeup_a_batch_and_never_more_than_sixteen(
    dispatcher: Dispatcher, own_house: House, own_project: Project
) -> None:
    for number in range(5):
        score(own_project, number)
    dispatcher.settings = replace(own_house.settings, batch_promises=2)
    dispatcher.run_cycle()
    assert queued_tasks(dispatcher) == [ANSWER_TASK] + [DERIVE_TASK] * 3
    for number in range(40):
        score(own_project, number, experiment=f"another {number}")
    for _ in range(3):
        dispatcher.run_cycle()
    assert len(queued_tasks(dispatcher)) == MOST_WAKEUPS


def test_exhausted_promises_are_given_up_by_the_dispatcher(
    dispatcher: Dispatcher, own_house: House, own_project: Project
) -> None:
    score(own_project, 1)
    own_house.compute()
    score(own_project, 2)
    with own_house.database.transaction() as connection:
        for table in (cached_results, derivations):
            worn = {"attempts": 5, "leased_until": func.now() - text("interval '1 s'"), "lease": uuid.uuid4()}
            connection.execute(update(table).where(table.c.state == "pending").values(worn))
    dispatcher.run_cycle()
    with own_house.database.reading() as connection:
        states = connection.scalars(select(derivations.c.state).order_by(derivations.c.state)).all()
    assert states == ["failed", "ready"]


def test_a_ring_wakes_the_dispatcher_before_its_interval_is_over(own_house: House, dispatcher: Dispatcher) -> None:
    dispatcher.settings = replace(own_house.settings, dispatch_seconds=3600.0)
    slept = threading.Event()

    def sleep() -> None:
        dispatcher.sleep()
        slept.set()

    sleeper = threading.Thread(target=sleep)
    sleeper.start()
    bell = Notifier(own_house.settings)
    bell.notify()
    assert slept.wait(60)
    sleeper.join()
    until(lambda: dispatcher.client.llen(WAKE_LIST) == 0)


def test_rings_in_quick_succession_are_served_by_a_few_turns(own_house: House, dispatcher: Dispatcher) -> None:
    bell, begun = Notifier(own_house.settings), time.monotonic()
    turns = 0
    while time.monotonic() - begun < 0.5:
        bell.notify()
        dispatcher.cycle_began = time.monotonic()
        dispatcher.sleep()
        turns += 1
    assert turns <= 20


def test_rings_that_nobody_hears_do_not_pile_up(own_house: House, dispatcher: Dispatcher) -> None:
    bell = Notifier(own_house.settings)
    for _ in range(200):
        bell.notify()
    until(lambda: dispatcher.client.llen(WAKE_LIST) > 0)
    assert dispatcher.client.llen(WAKE_LIST) <= 16


def test_a_ring_without_a_broker_costs_nothing_and_raises_nothing(tmp_path: Path) -> None:
    bell = Notifier(replace(Settings(), redis_url=f"redis+socket://{tmp_path}/nobody.sock"))
    begun = time.monotonic()
    for _ in range(1000):
        bell.notify()
    assert time.monotonic() - begun < 10, "somebody waited for the thread, which rests a second after each failure"


def test_a_turn_without_a_broker_is_short_and_has_the_promises_computed(
    own_house: House, own_project: Project, tmp_path: Path
) -> None:
    """The inline worker is a real child process; it computes, and leaves when nothing is due."""
    settings = replace(own_house.settings, redis_url=f"redis+socket://{tmp_path}/nobody.sock", log_level="ERROR")
    dispatcher = Dispatcher(settings, own_house.database)
    for number in range(10):
        score(own_project, number)
    try:
        dispatcher.run_cycle()  # Celery is imported and configured by the first message
        begun = time.monotonic()
        for _ in range(5):
            dispatcher.run_cycle()
        assert (time.monotonic() - begun) / 5 < 0.5
        until(lambda: all_ready(own_house))
        question = f"projects/{own_project.slug}/rankings?experiment=type-by-length&metric=accuracy"
        until(lambda: own_project.get(question).status_code == 200)
        child = dispatcher.inline_worker._child
        assert child is not None
        assert child.poll() is None
        dispatcher.run_cycle()
        assert dispatcher.inline_worker._child is child, "one inline worker at a time"
    finally:
        dispatcher.inline_worker.stop()
        dispatcher.client.close()
        dispatcher.celery.close()
    assert child.returncode is not None


def test_wakeups_that_nobody_answers_have_the_promises_computed(own_house: House, own_project: Project) -> None:
    """The broker is there, but no worker."""
    dispatcher = Dispatcher(
        replace(own_house.settings, unanswered_seconds=600.0, log_level="ERROR"), own_house.database
    )
    score(own_project, 1)
    try:
        dispatcher.run_cycle()
        assert dispatcher.inline_worker._child is None, "the workers have not had their chance yet"
        dispatcher.settings = replace(dispatcher.settings, unanswered_seconds=0.0)

        def turned() -> bool:
            dispatcher.run_cycle()
            return all_ready(own_house)

        until(turned)
    finally:
        dispatcher.inline_worker.stop()
        dispatcher.client.delete(QUEUE)
        dispatcher.client.close()
        dispatcher.celery.close()


def test_two_dispatchers_compute_everything_once(own_house: House, own_project: Project) -> None:
    two = [Dispatcher(own_house.settings, own_house.database) for _ in range(2)]
    for number in range(30):
        score(own_project, number)
    turns = [threading.Thread(target=lambda one=one: [one.run_cycle() for _ in range(5)]) for one in two]
    for turn in turns:
        turn.start()
    for turn in turns:
        turn.join()
    assert len(queued_tasks(two[0])) <= 4
    own_house.compute()
    with own_house.database.reading() as connection:
        rows = connection.execute(select(derivations.c.attempts, derivations.c.state)).all()
    assert set(rows) == {(1, "ready")}
    for one in two:
        one.client.delete(QUEUE)
        one.client.close()
        one.celery.close()


def test_what_a_worker_of_an_older_release_adds_is_found_later(
    dispatcher: Dispatcher, own_house: House, own_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    score(own_project, 1)
    own_house.compute()
    dispatcher.run_cycle()
    with own_house.database.transaction() as connection:
        connection.execute(update(derivations).values(state="failed", methods_version="1"))
    monkeypatch.setattr("workers.dispatcher._HOUSEKEEPING_SECONDS", 0.0)
    dispatcher.run_cycle()
    assert states(own_house) == ["failed"], "every row is looked at now and then, not with every turn"
    monkeypatch.setattr("workers.dispatcher._CLEANUP_SECONDS", 0.0)
    dispatcher.run_cycle()
    assert states(own_house) == ["pending"]


def states(house: House) -> list[str]:
    with house.database.reading() as connection:
        return list(connection.scalars(select(derivations.c.state)))
