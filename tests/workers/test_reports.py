"""Dispatchers and workers say that they live, and what they did, so that every web process can tell it."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import delete, func, select, text, update

from registry.errors import Unavailable
from registry.operations.health import Activity, activity_of
from registry.storage.database import Database
from registry.storage.tables import job_counts, processes
from tests.house import House
from workers.dispatcher import Dispatcher
from workers.jobs import worker_process
from workers.jobs.worker_process import Done, JobCounts, Reporter, forget_silent


def activity(house: House) -> Activity:
    with house.database.reading() as connection:
        return activity_of(connection)


@pytest.fixture(autouse=True)
def _nobody(house: House) -> None:
    with house.database.transaction() as connection:
        connection.execute(delete(processes))


def counted(house: House, kind: str) -> Done:
    with house.database.reading() as connection:
        row = connection.execute(select(job_counts).where(job_counts.c.kind == kind)).one()
    return Done(row.computed, row.failed, row.seconds)


def test_counts_of_many_processes_add_up_and_what_the_database_did_not_take_is_told_later(house: House) -> None:
    reporters = []
    away = Database(replace(house.settings, database_url="postgresql://nobody@127.0.0.1:1/registry"), name="tests")
    for number in range(8):
        counts = JobCounts()
        counts.add("one-of-tests", 10, failed=1, seconds=0.5)
        counts.add(f"another-of-tests-{number % 2}", 1)
        reporters.append(Reporter(house.database, "worker", counts))
    with pytest.raises(Unavailable):
        Reporter(away, "worker", counts).report()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(Reporter.report, reporters))
    assert counted(house, "one-of-tests") == Done(80, 8, 4.0)
    assert counted(house, "another-of-tests-1") == Done(4, 0, 0.0)
    assert len(activity(house).alive("worker")) == 8
    for one in reporters:
        one.end()
    assert activity(house).alive("worker") == []
    assert counted(house, "one-of-tests") == Done(80, 8, 4.0)


def test_a_process_that_began_before_the_migration_reports_once_that_is_done(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_process, "REPORT_SECONDS", 0.05)
    rename = "ALTER TABLE {} RENAME TO {}"
    reporter = Reporter(house.database, "worker", JobCounts())
    with house.database.transaction() as connection:
        connection.execute(text(rename.format("processes", "not_yet")))
    reporter.start()
    time.sleep(0.3)
    with house.database.transaction() as connection:
        connection.execute(text(rename.format("not_yet", "processes")))
    until = time.monotonic() + 10
    while not activity(house).alive("worker") and time.monotonic() < until:
        time.sleep(0.05)
    assert len(activity(house).alive("worker")) == 1
    reporter.end()


def test_a_process_that_falls_silent_is_gone_and_forgotten(house: House) -> None:
    Reporter(house.database, "worker", JobCounts()).report()
    with house.database.transaction() as connection:
        connection.execute(update(processes).values(seen_at=func.now() - timedelta(minutes=2)))
    found = activity(house)
    assert found.alive("worker") == []
    assert 120 <= found.processes[0].silent_seconds < 180
    with house.database.transaction() as connection:
        forget_silent(connection)
    assert len(activity(house).processes) == 1
    with house.database.transaction() as connection:
        connection.execute(update(processes).values(seen_at=func.now() - timedelta(minutes=11)))
        forget_silent(connection)
    assert activity(house).processes == []


def test_a_dispatcher_tells_its_cycles_and_how_the_broker_is(house: House) -> None:
    assert activity(house).dispatcher_silent_seconds == float("inf")
    assert activity(house).broker_up is None
    dispatcher = Dispatcher(house.settings, house.database)
    dispatcher.run_cycle()
    dispatcher.sleep()
    found = activity(house)
    assert found.broker_up is True
    assert found.dispatcher_silent_seconds < 30
    deaf = Dispatcher(replace(house.settings, redis_url="redis://127.0.0.1:1/0"), house.database)
    deaf.sleep()
    deaf.run_cycle()
    assert activity(house).broker_up is False
    for one in (dispatcher, deaf):
        one.inline_worker.stop()
        one.reporter.end()
    assert activity(house).broker_up is None
