"""Before the database of a web process: a thread stays free, and what just failed is not asked again at once."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from sqlalchemy import text

from registry.errors import Unavailable
from registry.settings import Settings
from registry.storage import circuit_breaker
from registry.storage.circuit_breaker import BREAK_SECONDS, SLOW_SECONDS, STALLED_SECONDS, CircuitBreaker
from registry.storage.database import Database
from registry.storage.statements import request_deadline


class Clock:
    """In place of the module `time`: time that passes only when a test or a wait says so."""

    now = 1_000.0

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(circuit_breaker, "time", made)
    return made


@contextmanager
def taken(guard: CircuitBreaker, places: int) -> Iterator[None]:
    """Threads that stand in so many places."""
    inside, over = threading.Barrier(places + 1), threading.Event()

    def stand_still() -> None:
        with guard:
            inside.wait(60)
            over.wait(60)

    with ThreadPoolExecutor(places) as pool:
        for _ in range(places):
            pool.submit(stand_still)
        inside.wait(60)
        yield
        over.set()


def test_who_finds_no_place_is_refused_once_nobody_moved_for_a_while(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = CircuitBreaker(places=1)
    monkeypatch.setattr(guard._room, "wait", clock.wait)
    with taken(guard, 1):
        for waited in (STALLED_SECONDS, 0.0):
            begun = clock.now
            with pytest.raises(Unavailable), guard:
                pass
            assert clock.now - begun == waited
    with guard:
        pass


def test_where_places_become_free_slowly_nobody_waits_for_one(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each who waited would keep the last free thread from `/healthz`, one after another."""
    guard = CircuitBreaker(places=2)
    monkeypatch.setattr(guard._room, "wait", clock.wait)
    for seconds, waited in ((SLOW_SECONDS, STALLED_SECONDS), (SLOW_SECONDS + 0.01, 0.0)):
        with guard:
            clock.now += seconds
        with taken(guard, 2):
            begun = clock.now
            with pytest.raises(Unavailable), guard:
                pass
            assert clock.now - begun == waited
            clock.now = begun  # those who stand still have not been slow
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
        assert all(pool.map(use, range(200)))


def test_after_a_timeout_nobody_asks_and_then_one_alone_until_it_is_answered(clock: Clock) -> None:
    guard = CircuitBreaker(places=4)
    guard.trip()
    clock.now += BREAK_SECONDS - 0.01
    with pytest.raises(Unavailable) as refused, guard:
        pass
    assert refused.value.after == 1
    clock.now += 0.01
    with taken(guard, 1), pytest.raises(Unavailable), guard:
        pass
    for _ in range(3):  # a try that found nothing out leaves the next one to another
        with guard:
            pass
    with guard:
        guard.answered()
    with guard, taken(guard, 2):
        assert not guard.is_open


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


def test_only_statements_spend_the_time_of_a_request(settings: Settings) -> None:
    """A body of a million cells takes longer to read than a request may wait for the database."""
    database = Database(settings, name="tests")
    with request_deadline(1.5), database.reading() as connection:
        time.sleep(1.6)
        assert connection.scalar(text("SELECT 1 FROM pg_sleep(0.9)")) == 1  # more than the grace of who is late
    database.close()


def test_what_is_answered_quickly_is_let_through_after_the_time_of_its_request(settings: Settings) -> None:
    database = Database(settings, name="tests")
    with request_deadline(0.0), database.transaction() as connection:
        assert connection.scalar(text("SELECT 1")) == 1
    database.close()
