"""Which reads go to a replica: here the database itself, which has replayed what a test says."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from registry import create_app
from registry.operations import doctor_database
from registry.operations.doctor import run_checks
from registry.operations.doctor_checks import Check
from registry.settings import Settings
from registry.storage import replica
from registry.storage.circuit_breaker import CircuitBreaker
from registry.storage.database import Database
from registry.storage.replica import ReplicatedDatabase, header_of, position_of
from tests.house import House, Project, publication


@pytest.fixture(scope="module")
def served(settings: Settings) -> Iterator[House]:
    own = replace(settings, replica_url=settings.database_url, replica_lag=3600.0)
    database = Database(own, name="tests")
    yield House(create_app(own), database, own)
    database.close()


@pytest.fixture
def project(served: House, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(replica, "NOTE_EVERY", 0.0)
    # Ahead, since what another process writes between two questions is not behind.
    monkeypatch.setattr(replica, "_REPLAYED", text("SELECT pg_current_wal_flush_lsn() - '0/0' + 1000000000"))
    return served.make_project()


def lagging(answer: TestResponse) -> tuple[int, bool]:
    """The status of an answer, and whether it says that it is from the replica."""
    return answer.status_code, "Registry-Lag" in answer.headers


def test_a_read_is_from_the_replica_unless_it_must_be_newer(project: Project) -> None:
    made = project.publish(publication())
    assert lagging(made) == (201, False)
    position, path = {"Registry-Position": made.headers["Registry-Position"]}, f"grids/{made.get_json()['id']}"
    plain, own = project.get(path), project.get(path, headers=position)
    assert (lagging(plain), lagging(own)) == ((200, True), (200, True))
    assert re.fullmatch(r"\d+\.\d", plain.headers["Registry-Lag"])
    assert "Registry-Position" not in plain.headers
    assert position_of(own.headers["Registry-Position"]) >= position_of(position["Registry-Position"])
    asked = {"If-None-Match": plain.headers["ETag"]}
    assert lagging(project.get(path, headers=asked)) == (304, False), "what is not modified there may be here"
    assert lagging(project.get(path, headers={"If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"})) == (200, False)
    assert lagging(project.get(path, headers=asked | position)) == (304, True)
    with_a_cookie = {"Authorization": f"Bearer {project.tokens['reader']}", "Cookie": "session=x"}
    client = project.house.app.test_client(use_cookies=False)
    assert lagging(client.get(f"/api/v1/{path}", headers=with_a_cookie)) == (200, False)
    assert lagging(project.house.call("GET", "/readyz")) == (200, False)
    assert lagging(project.get(path, headers={"Registry-Position": "FFFFFFFF/FFFFFFFF"})) == (200, False)
    for wrong in ("", "x", "1/2/3", "123456789/0", "-1/0", "0/G"):
        answer = project.get(path, headers={"Registry-Position": wrong})
        assert (answer.status_code, answer.get_json()["type"]) == (422, "/docs#problem-invalid"), wrong


def test_the_use_of_a_token_is_noted_though_it_was_read_on_the_replica(project: Project) -> None:
    here = f"project_id = '{project.id}' AND role = 'reader'"
    with project.house.database.transaction() as connection:
        connection.execute(text(f"UPDATE tokens SET last_used_at = now() - interval '1 day' WHERE {here}"))
    assert lagging(project.get(f"projects/{project.slug}")) == (200, True)
    with project.house.database.reading() as connection:
        noted = text(f"SELECT last_used_at > now() - interval '10 minutes' FROM tokens WHERE {here}")
        assert connection.scalar(noted)


def test_positions_are_what_postgresql_writes(house: House) -> None:
    for written in ("0/0", "16/B374D848", "FFFFFFFF/FFFFFFFF"):
        with house.database.reading() as connection:
            assert connection.scalar(text(f"SELECT '{written}'::pg_lsn - '0/0'")) == position_of(written)
        assert header_of(position_of(written)) == written


def test_a_replica_that_is_too_old_or_away_is_not_read(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]

    def pass_(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(replica, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=pass_))
    own = replace(settings, replica_url=settings.database_url, replica_lag=2.0)
    database = ReplicatedDatabase(own, name="tests", breaker=CircuitBreaker(4), threads=4)

    def behind(flushed: int, replayed: int | None, least: int | None = None) -> float | None:
        monkeypatch.setattr(replica, "_FLUSHED", text(f"SELECT {flushed}"))
        monkeypatch.setattr(replica, "_REPLAYED", text(f"SELECT {'NULL' if replayed is None else replayed}"))
        database.choose(least)
        return database.behind

    assert behind(flushed=10, replayed=9) is None, "it has reached nothing that is known"
    assert behind(flushed=10, replayed=10) == 0.0
    pass_(0.4)
    assert behind(flushed=20, replayed=10) == pytest.approx(0.4), "the primary is not asked again so soon"
    pass_(1.6)
    assert behind(flushed=20, replayed=10) == 2.0
    pass_(0.1)
    assert behind(flushed=30, replayed=10) is None, "older than the bound"
    assert behind(flushed=30, replayed=20) == pytest.approx(0.1)
    assert behind(flushed=30, replayed=None) is None, "no standby"
    begun = now[0]
    assert behind(flushed=30, replayed=20, least=21) is None
    assert now[0] - begun == pytest.approx(0.2, abs=0.011), "it waits so long and no longer"
    assert behind(flushed=30, replayed=20, least=20) is not None
    with database.transaction():
        assert database.behind is None, "what follows a write is read where it was written"
    database.leave()
    database.close()
    gone = replace(own, replica_url="postgresql://127.0.0.1:1/nowhere")
    database = ReplicatedDatabase(gone, name="tests", breaker=CircuitBreaker(4), threads=4)
    database.choose(None)
    assert database.behind is None
    with database.reading() as connection:
        assert connection.scalar(text("SELECT pg_is_in_recovery()")) is False
    database.close()


def test_the_doctor_looks_at_the_replica(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def seen(url: str) -> Check:
        own = replace(settings, replica_url=url)
        with closing(Database(own, name="tests")) as database:
            [sign] = [one for one in run_checks(own, database) if one.name == "replica"]
        return sign

    assert (seen(settings.database_url).state, seen(settings.database_url).found) == ("bad", "is no standby")
    away = seen("postgresql://127.0.0.1:1/nowhere")
    assert (away.state, "everything is read from the primary" in away.advice) == ("bad", True)
    behind = "SELECT pg_current_wal_flush_lsn() - 20, {}::float8"
    monkeypatch.setattr(doctor_database, "_PLACE", text(behind.format(settings.replica_lag + 60)))
    late = seen(settings.database_url)
    assert (late.state, "bytes and 65 s behind" in late.found, "REPLICA_LAG" in late.advice) == ("doubtful", True, True)
    monkeypatch.setattr(doctor_database, "_PLACE", text(behind.format(0)))
    good = seen(settings.database_url)
    assert (good.state, int(good.found.removesuffix(" bytes behind")) >= 20) == ("good", True)
