"""Reads from a streaming replica: never older than what their client has written, and never said to be current."""

import contextlib
import subprocess
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
from registry.storage.replica import position_of
from tests.conftest import UNCOUNTED
from tests.house import House, Project, publication
from tests.live.processes.system import awaited
from tests.registry.test_replica import lagging


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
            awaited(lambda: self.on(self.replica, "SELECT pg_get_wal_replay_pause_state()") == "paused")
            yield
        finally:
            self.on(self.replica, "SELECT pg_wal_replay_resume()")


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
    awaited(lambda: pair.on(pair.replica, f"SELECT pg_last_wal_replay_lsn() >= '{now}'"))


def test_a_client_reads_what_it_wrote_and_others_are_told_how_old_theirs_is(pair: Pair, caught_up: Project) -> None:
    assert lagging(caught_up.get(f"projects/{caught_up.slug}")) == (200, True)
    with pair.paused():
        made = caught_up.publish(publication())
        position = {"Registry-Position": made.headers["Registry-Position"]}
        path = f"grids/{made.get_json()['id']}"
        own, other = caught_up.get(path, headers=position), caught_up.get(path)
        assert lagging(own) == (200, False), "from the primary"
        assert (lagging(other), float(other.headers["Registry-Lag"]) > 0) == ((404, True), True), "from the replica"
    reached(pair)
    again = caught_up.get(path, headers=position)
    assert lagging(again) == (200, True)
    for answer in (own, again):
        assert position_of(answer.headers["Registry-Position"]) >= position_of(position["Registry-Position"])


def test_nothing_is_not_modified_by_what_the_replica_has_not_seen(pair: Pair, caught_up: Project) -> None:
    """A client without a position that asks whether its copy is current is answered by the primary."""
    grid = caught_up.published()
    reached(pair)
    first = caught_up.get(f"grids/{grid['id']}")
    assert lagging(first) == (200, True)
    with pair.paused():
        changed = caught_up.call("PATCH", f"grids/{grid['id']}", json={"description": "new"})
        assert changed.status_code == 200, changed.text
        asked = caught_up.get(f"grids/{grid['id']}", headers={"If-None-Match": first.headers["ETag"]})
        assert (lagging(asked), asked.get_json()["description"]) == ((200, False), "new")


def test_the_doctor_finds_the_replica_good(pair: Pair, redis_url: str) -> None:
    settings = settings_of(pair, redis_url)
    with contextlib.closing(Database(settings, name="tests")) as database:
        [sign] = [one for one in run_checks(settings, database) if one.name == "replica"]
    assert sign.state == "good", sign


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
