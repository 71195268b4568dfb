"""Before the database of a web process: a thread stays free, and what just failed is not asked again at once."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from registry.errors import Unavailable
from registry.settings import Settings
from registry.storage import circuit_breaker
from registry.storage.circuit_breaker import BREAK_SECONDS, SLOW_SECONDS, STALLED_SECONDS, CircuitBreaker
from registry.storage.database import Database
from registry.storage.statement_timeout import request_deadline


def never(_seconds: float) -> None:
    raise AssertionError("it waited for a place")


def test_who_finds_no_place_is_refused_once_nobody_moved_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    guard, taken, over = CircuitBreaker(places=1), threading.Event(), threading.Event()

    def stand_still() -> None:
        with guard:
            taken.set()
            over.wait(60)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(stand_still)
        assert taken.wait(60)
        begun = time.monotonic()
        with pytest.raises(Unavailable), guard:
            pass
        assert time.monotonic() - begun > STALLED_SECONDS * 0.5
        monkeypatch.setattr(guard._room, "wait", never)
        with pytest.raises(Unavailable), guard:
            pass
        over.set()
    with guard:
        pass


def test_where_places_become_free_slowly_nobody_waits_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each who waited would keep the last free thread from `/healthz`, one after another."""
    guard, over = CircuitBreaker(places=2), threading.Event()

    def use(seconds: float) -> None:
        with guard:
            over.wait(seconds)

    with ThreadPoolExecutor(2) as pool:
        pool.submit(use, SLOW_SECONDS * 1.2).result()
        for _ in range(2):
            pool.submit(use, 60)
        while guard._places:
            time.sleep(0.001)
        monkeypatch.setattr(guard._room, "wait", never)
        with pytest.raises(Unavailable), guard:
            pass
        over.set()
    with guard:
        pass


def test_under_load_that_moves_on_nobody_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STALLED_SECONDS", "SLOW_SECONDS", "LONGEST_WAIT"):
        monkeypatch.setattr(circuit_breaker, name, 60.0)  # a busy machine may hold any thread for a second or two
    guard = CircuitBreaker(places=2)

    def use(_number: int) -> bool:
        with guard:
            time.sleep(0.002)
        return True

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(use, range(1_000)))


def test_after_a_timeout_nobody_asks_and_then_one_alone_until_it_is_answered() -> None:
    guard = CircuitBreaker(places=4)
    guard.trip()
    with pytest.raises(Unavailable) as refused, guard:
        pass
    assert refused.value.after == 1
    time.sleep(BREAK_SECONDS)
    tries, over = threading.Event(), threading.Event()

    def ask() -> None:
        with guard:
            tries.set()
            over.wait(60)
            guard.answered()

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask)
        assert tries.wait(60)
        with pytest.raises(Unavailable), guard:
            pass
        over.set()
        asked.result(60)
    with guard:
        pass


def test_a_try_that_found_nothing_out_leaves_the_next_one_to_another() -> None:
    guard = CircuitBreaker(places=4)
    guard.trip()
    time.sleep(BREAK_SECONDS)
    for _ in range(3):
        with guard:
            pass


def test_a_statement_ends_with_the_time_of_its_request(settings: Settings) -> None:
    """The server would let it run for five seconds; the connection that was cut is not used again."""
    database = Database(settings, name="tests")
    begun = time.monotonic()
    with pytest.raises(Unavailable), request_deadline(0.3), database.reading() as connection:
        connection.execute(text("SELECT pg_sleep(4)"))
    assert time.monotonic() - begun < 4
    with database.reading() as connection:
        assert connection.scalar(text("SELECT 1")) == 1
    database.close()


def test_what_is_answered_quickly_is_let_through_after_the_time_of_its_request(settings: Settings) -> None:
    database = Database(settings, name="tests")
    with request_deadline(0.0), database.transaction() as connection:
        assert connection.scalar(text("SELECT 1")) == 1
    database.close()
