"""Reads from a streaming replica: never older than what their client has written, and never said to be current."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import psycopg2
import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

from migrations.apply import migrate
from registry import create_app
from registry.local.embedded import Home, Postgres, Supervisor
from registry.local.embedded.copying import find_program
from registry.operations.doctor import run_checks
from registry.settings import Settings, driver_url
from registry.storage import replica as replica_module
from registry.storage.database import Database
from registry.storage.replica import ReplicatedDatabase, header_of, position_of
from tests.conftest import UNCOUNTED
from tests.house import House, Project, publication


@dataclass
class Pair:
    """A primary and its replica."""

    primary: str
    replica: str
    replicating: Supervisor

    def on(self, url: str, statement: str) -> object:
        with create_engine(driver_url(url), isolation_level="AUTOCOMMIT", poolclass=NullPool).connect() as connection:
            found = connection.execute(text(statement))
            return found.scalar() if found.returns_rows else None

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """The replica applies nothing."""
        self.on(self.replica, "SELECT pg_wal_replay_pause()")
        try:
            until(lambda: self.on(self.replica, "SELECT pg_get_wal_replay_pause_state()") == "paused")
            yield
        finally:
            self.on(self.replica, "SELECT pg_wal_replay_resume()")


def until(happened: object, within: float = 60.0) -> None:
    deadline = time.monotonic() + within
    while not happened():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    place = tmp_path_factory.mktemp("pair")
    with Home(place / "a") as first, Home(place / "b") as second, contextlib.ExitStack() as running:
        one = running.enter_context(Supervisor(first, signals=()))
        two = running.enter_context(Supervisor(second, signals=()))
        primary, standby = Postgres(first), Postgres(second)
        one.start(primary.child())
        migrate(primary.url)
        where = make_url(driver_url(primary.url))
        login = ["-h", str(first.sockets), "-p", str(where.query.get("port", 5432)), "-U", str(where.username)]
        unfinished = place / "copy"
        copy = [find_program("pg_basebackup"), *login, "-D", str(unfinished), "-c", "fast", "-R"]
        subprocess.run(copy, check=True, capture_output=True)
        unfinished.rename(second.postgres_data)
        two.start(replace(standby.child(), ready=lambda: answers(standby.url)))
        yield Pair(primary.url, standby.url, two)


def answers(url: str) -> bool:
    address = make_url(driver_url(url)).set(drivername="postgresql").render_as_string(hide_password=False)
    with contextlib.suppress(psycopg2.OperationalError):
        psycopg2.connect(address).close()
        return True
    return False


def settings_of(pair: Pair, redis_url: str, **changes: float) -> Settings:
    own = {"database_url": pair.primary, "replica_url": pair.replica, "redis_url": redis_url, "replica_lag": 3600.0}
    return replace(Settings(), **{**own, **UNCOUNTED, **changes})


@pytest.fixture(scope="module")
def served(pair: Pair, redis_url: str) -> Iterator[House]:
    """An application that takes a replica of any age up to an hour, unless a client says what it has seen."""
    settings = settings_of(pair, redis_url)
    database = Database(settings, name="tests")
    yield House(create_app(settings), database, settings)
    database.close()


@pytest.fixture(autouse=True)
def _notes_at_every_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica_module, "NOTE_EVERY", 0.0)


@pytest.fixture
def caught_up(pair: Pair, served: House) -> Project:
    """A project that the replica has."""
    project = served.make_project()
    reached(pair)
    return project


def reached(pair: Pair) -> None:
    """Wait until the replica has all that the primary has."""
    now = pair.on(pair.primary, "SELECT pg_current_wal_flush_lsn()::text")
    until(lambda: pair.on(pair.replica, f"SELECT pg_last_wal_replay_lsn() >= '{now}'"))


def test_a_client_reads_what_it_wrote_and_others_are_told_how_old_theirs_is(pair: Pair, caught_up: Project) -> None:
    assert "Registry-Lag" in caught_up.get(f"projects/{caught_up.slug}").headers
    with pair.paused():
        made = caught_up.publish(publication())
        position = {"Registry-Position": made.headers["Registry-Position"]}
        path = f"grids/{made.get_json()['id']}"
        own = caught_up.get(path, headers=position)
        assert (own.status_code, "Registry-Lag" in own.headers) == (200, False), "from the primary"
        assert position_of(own.headers["Registry-Position"]) >= position_of(position["Registry-Position"])
        other = caught_up.get(path)
        assert (other.status_code, float(other.headers["Registry-Lag"]) > 0) == (404, True), "from the replica"
    reached(pair)
    again = caught_up.get(path, headers=position)
    assert (again.status_code, "Registry-Lag" in again.headers) == (200, True)
    assert position_of(again.headers["Registry-Position"]) >= position_of(position["Registry-Position"])


def test_nothing_is_not_modified_by_what_the_replica_has_not_seen(pair: Pair, caught_up: Project) -> None:
    """A client without a position that asks whether its copy is current is answered by the primary."""
    grid = caught_up.published()
    reached(pair)
    first = caught_up.get(f"grids/{grid['id']}")
    assert "Registry-Lag" in first.headers
    with pair.paused():
        changed = caught_up.call("PATCH", f"grids/{grid['id']}", json={"description": "new"})
        assert changed.status_code == 200, changed.text
        asked = caught_up.get(f"grids/{grid['id']}", headers={"If-None-Match": first.headers["ETag"]})
        assert (asked.status_code, "Registry-Lag" in asked.headers) == (200, False)
        assert asked.get_json()["description"] == "new"


def test_who_has_a_cookie_reads_from_the_primary(caught_up: Project) -> None:
    client = caught_up.house.app.test_client(use_cookies=False)
    headers = {"Authorization": f"Bearer {caught_up.tokens['reader']}"}
    path = f"/api/v1/projects/{caught_up.slug}"
    for cookie, told in (({}, True), ({"Cookie": "session=x"}, False)):
        answer = client.get(path, headers=headers | cookie)
        assert (answer.status_code, "Registry-Lag" in answer.headers) == (200, told)


def test_the_use_of_a_token_is_noted_though_it_was_read_on_the_replica(pair: Pair, caught_up: Project) -> None:
    pair.on(pair.primary, "UPDATE tokens SET last_used_at = now() - interval '1 day'")
    reached(pair)
    answer = caught_up.get(f"projects/{caught_up.slug}")
    assert (answer.status_code, "Registry-Lag" in answer.headers) == (200, True)
    noted = "SELECT count(*) FROM tokens WHERE last_used_at > now() - interval '1 minute'"
    assert pair.on(pair.primary, noted) == 1


@pytest.mark.parametrize("sent", ["", "x", "1/2/3", "123456789/0", "-1/0", "0/G"])
def test_a_position_that_is_none_is_refused(caught_up: Project, sent: str) -> None:
    answer = caught_up.get(f"projects/{caught_up.slug}", headers={"Registry-Position": sent})
    assert (answer.status_code, answer.get_json()["type"]) == (422, "/docs#problem-invalid")


def test_a_position_that_never_comes_is_read_from_the_primary(caught_up: Project) -> None:
    answer = caught_up.get(f"projects/{caught_up.slug}", headers={"Registry-Position": "FFFFFFFF/FFFFFFFF"})
    assert (answer.status_code, "Registry-Lag" in answer.headers) == (200, False)


def test_positions_are_what_postgresql_writes(pair: Pair) -> None:
    for written in ("0/0", "16/B374D848", "FFFFFFFF/FFFFFFFF"):
        assert pair.on(pair.primary, f"SELECT '{written}'::pg_lsn - '0/0'") == position_of(written)
        assert header_of(position_of(written)) == written


def test_a_replica_that_is_too_old_or_away_is_not_read(pair: Pair, redis_url: str) -> None:
    settings = settings_of(pair, redis_url, replica_lag=0.2)
    database = ReplicatedDatabase(settings, name="tests", breaker=replica_module.CircuitBreaker(4), threads=4)

    def from_replica() -> bool:
        database.choose(None)
        return database.behind is not None

    until(from_replica)
    with pair.paused():
        pair.on(pair.primary, "UPDATE tokens SET last_used_at = now()")
        until(lambda: not from_replica())
        pair.on(pair.primary, "UPDATE tokens SET last_used_at = now()")
        assert not from_replica()
    until(from_replica)
    with database.transaction():
        assert database.behind is None, "what follows a write is read where it was written"
    database.leave()
    database.close()
    gone = replace(settings, replica_url="postgresql://127.0.0.1:1/nowhere")
    database = ReplicatedDatabase(gone, name="tests", breaker=replica_module.CircuitBreaker(4), threads=4)
    database.choose(None)
    assert database.behind is None
    with database.reading() as connection:
        assert connection.scalar(text("SELECT pg_is_in_recovery()")) is False
    database.close()


def test_the_doctor_looks_at_the_replica(pair: Pair, redis_url: str) -> None:
    settings = settings_of(pair, redis_url)
    for url, state in ((pair.replica, "good"), (pair.primary, "bad"), ("postgresql://127.0.0.1:1/nowhere", "bad")):
        own = replace(settings, replica_url=url)
        with contextlib.closing(Database(own, name="tests")) as database:
            [sign] = [one for one in run_checks(own, database) if one.name == "replica"]
        assert sign.state == state, sign


def test_a_standby_alone_serves_readers_and_refuses_writers_cleanly(
    pair: Pair, caught_up: Project, redis_url: str
) -> None:
    """As after a careless failover: a token that was not used for a while reads all the same."""
    pair.on(pair.primary, "UPDATE tokens SET last_used_at = now() - interval '1 day'")
    reached(pair)
    settings = replace(settings_of(pair, redis_url), database_url=pair.replica, replica_url="")
    alone = replace(caught_up, house=House(create_app(settings), caught_up.house.database, settings))
    assert alone.get(f"projects/{alone.slug}").status_code == 200
    refused = alone.publish(publication())
    assert (refused.status_code, "takes no writes" in refused.get_json()["detail"]) == (503, True)
