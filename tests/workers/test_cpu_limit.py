"""One computation has its own time, in processor time: a busy machine and a slow neighbour take nothing of it."""

import signal
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import select

from registry.storage.tables import derivations
from tests.house import House, Project
from workers import derive
from workers.jobs.worker_process import TookTooLong, cpu_limit


def burn(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_what_never_ends_is_ended_with_a_reason() -> None:
    with pytest.raises(TookTooLong, match=r"more than 0\.1 s of processor time"), cpu_limit(0.1):
        burn(600.0)


def test_waiting_takes_nothing_of_the_time_and_each_computation_has_all_of_it() -> None:
    for _ in range(3):
        with cpu_limit(0.2):
            threading.Event().wait(0.25)
            burn(0.1)
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_outside_of_the_main_thread_there_is_no_limit() -> None:
    ended = threading.Event()

    def run() -> None:
        with cpu_limit(0.01):
            burn(0.05)
            ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert ended.is_set()


def test_a_grid_that_takes_too_long_fails_alone(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.published(model="first")  # what is only done once is done before the time counts
    house.compute()
    slow, quick = (project.published(model=model)["id"] for model in ("slow", "quick"))
    known = derive.statistics_rows

    def statistics_rows(revisions: Sequence[Any]) -> list[dict[str, Any]]:
        if any(str(revision.grid_id) == slow for revision in revisions):
            burn(600.0)
        return known(revisions)

    monkeypatch.setattr(derive, "statistics_rows", statistics_rows)
    monkeypatch.setattr(derive, "cpu_limit", lambda: cpu_limit(0.2))
    derive.derive_due(house.database, house.settings)
    with house.database.reading() as connection:
        found = {str(row.grid_id): row for row in connection.execute(select(derivations))}
    assert found[quick].state == "ready"
    assert found[slow].reason.startswith("TookTooLong: more than 0.2 s")
