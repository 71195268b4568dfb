"""Why the database or the broker cannot be used stands in the log, once, and `registry doctor` says what to do."""

import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from threading import Event
from typing import Any

import pytest
import redis
import structlog
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool
from structlog.testing import capture_logs

from migrations.grants import grant_web_role
from registry import outages
from registry.broker import redis_client
from registry.errors import Unavailable
from registry.operations.doctor import run_checks
from registry.operations.doctor_checks import Check, check_broker
from registry.operations.doctor_database import check_unreachable, connections_needed
from registry.outages import OutageLog
from registry.settings import Settings, driver_url
from registry.storage import database as database_module
from registry.storage.circuit_breaker import CircuitBreaker
from registry.storage.database import Database
from tests.house import House

PASSWORD = "hush+hush/hush"


@pytest.fixture(autouse=True)
def _a_logger_that_nobody_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "log", structlog.get_logger())


def test_a_reason_is_logged_once_and_so_is_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "SETTLED_SECONDS", 0.0)
    outage = OutageLog("database", f"postgresql://u:{PASSWORD}@h/d")
    with capture_logs() as lines:
        outage.answered()
        for port in range(3):
            outage.failed(f"connection from port {port} refused")
        outage.failed("too many clients")
        outage.answered()
        outage.answered()
        outage.failed("connection from port 9 refused")
    assert [(line["event"], line.get("reason")) for line in lines] == [
        ("database away", "connection from port 0 refused"),
        ("database away", "too many clients"),
        ("database back", None),
        ("database away", "connection from port 9 refused"),
    ]


@pytest.mark.parametrize(
    "told",
    ["SSL SYSCALL error: EOF detected", "could not commit transaction for shard 102018 on at least one active node"],
)
def test_a_node_that_a_cluster_lost_in_the_middle_of_a_transaction_is_away(house: House, told: str) -> None:
    """Citus passes on what libpq tells it, and says of a commit, as an internal error."""
    told = f"RAISE EXCEPTION USING ERRCODE = 'XX000', MESSAGE = '{told}'"
    with pytest.raises(Unavailable) as found, house.database.reading() as connection:
        connection.execute(text(f"DO $$BEGIN {told}; END$$"))
    assert found.value.reason == "node_away"


def test_a_server_that_refuses_and_accepts_by_turns_is_one_outage() -> None:
    outage = OutageLog("database", f"postgresql://u:{PASSWORD}@h/d")
    with capture_logs() as lines:
        for _ in range(50):
            outage.failed("too many clients")
            outage.answered()
    assert [line["event"] for line in lines] == ["database away"]


def test_no_reason_tells_the_password() -> None:
    for spelled in ("hush+hush/hush", "hush%2Bhush%2Fhush"):
        outage = OutageLog("database", f"postgresql://u:hush%2Bhush%2Fhush@h/d?sslpassword={spelled}")
        assert outage.reason_of(f'invalid dsn\nnear "{spelled}"') == 'invalid dsn near "…"'


@pytest.fixture
def narrow(settings: Settings, own_database_url: str) -> Iterator[tuple[Settings, str]]:
    """Settings of a role that may have as many connections as a test says, and the role's name."""
    role = f"registry_web_{uuid.uuid4().hex[:8]}"
    grant_web_role(own_database_url, role, PASSWORD)
    url = make_url(driver_url(own_database_url)).set(username=role, password=PASSWORD)
    yield replace(settings, database_url=url.render_as_string(hide_password=False)), role
    as_owner(own_database_url, f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def as_owner(url: str, *statements: str) -> None:
    with create_engine(driver_url(url), isolation_level="AUTOCOMMIT", poolclass=NullPool).connect() as connection:
        for statement in statements:
            connection.execute(text(statement))


def test_a_full_server_is_named_in_the_log_and_by_the_doctor(
    narrow: tuple[Settings, str], own_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, role = narrow
    monkeypatch.setattr(database_module, "CLOSED_SECONDS", 0.0)
    as_owner(own_database_url, f"ALTER ROLE {role} CONNECTION LIMIT 0")
    database = Database(settings, name="tests", breaker=CircuitBreaker(2))
    with capture_logs() as lines:
        for _ in range(3):
            with pytest.raises(Unavailable) as refused, database.reading():
                pass
            assert "too many connections" in refused.value.cause
            assert "too many connections" not in refused.value.detail, "a client learns nothing of it"
    [line] = lines
    assert (line["event"], "too many connections" in line["reason"]) == ("database away", True)
    [sign] = [one for one in checks(settings) if one.name == "database"]
    assert (sign.state, "too many connections" in sign.found) == ("bad", True)
    assert "max_connections" in sign.advice
    database.close()


def checks(settings: Settings, **wanted: int) -> list[Check]:
    with closing(Database(settings, name="tests")) as database:
        return list(run_checks(settings, database, **wanted))


ADVICE = {
    'FATAL:  password authentication failed for user "registry_web"': "REGISTRY_WEB_PASSWORD",
    "FATAL:  sorry, too many clients already": "max_connections",
    "FATAL:  unsupported startup parameter: options": "REGISTRY_POOLER",
    "FATAL:  no more connections allowed (max_client_conn)": "max_client_conn",
    "SSL error: certificate verify failed": "sslrootcert",
    'root certificate file "/x/root.crt" does not exist': "sslrootcert",
    'FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "u", database "d", no encryption': "pg_hba.conf",
    'FATAL:  database "x" does not exist': "a database that this server does not have",
    "session is read-only": "promote",
    "permission denied for table projects": "--grant-web-role",
    "Connection refused": "Is PostgreSQL running?",
}


def test_every_refusal_has_its_advice() -> None:
    for reason, advice in ADVICE.items():
        sign = check_unreachable(Unavailable("The database does not answer.", cause=reason))
        assert (sign.found, advice in sign.advice) == (reason, True), sign.advice


def test_who_has_a_connection_is_served_while_others_are_refused(
    narrow: tuple[Settings, str], own_database_url: str
) -> None:
    """The server gives this process one connection; everybody shares it in turn, and nobody is refused."""
    settings, role = narrow
    as_owner(own_database_url, f"ALTER ROLE {role} CONNECTION LIMIT 1")
    database = Database(replace(settings, pool_timeout=60.0), name="tests", breaker=CircuitBreaker(8))
    taken, over = Event(), Event()

    def hold() -> Any:
        with database.reading() as connection:
            taken.set()
            over.wait(60)
            return connection.scalar(text("SELECT 1"))

    def ask() -> Any:
        with database.reading() as connection:
            return connection.scalar(text("SELECT 2"))

    with ThreadPoolExecutor(6) as pool:
        first = pool.submit(hold)
        assert taken.wait(60)
        others = [pool.submit(ask) for _ in range(5)]
        until = time.monotonic() + 60
        while database._gate._closed_until is None and time.monotonic() < until:
            time.sleep(0.01)
        over.set()
        assert [one.result(60) for one in (first, *others)] == [1, 2, 2, 2, 2, 2]
    database.close()


def test_a_pool_is_as_large_as_it_says_and_its_connections_go_from_snapshots_to_statements_and_back(
    settings: Settings, own_database_url: str
) -> None:
    own = replace(settings, database_url=own_database_url)
    database = Database(replace(own, pool_size=3), name="counted")
    mine = "datname = current_database() AND application_name = 'registry-counted'"
    for _ in range(2):
        with database.reading() as one, database.transaction() as two, database.snapshot() as three:
            for connection in (one, two, three):
                connection.execute(text("SELECT 1"))
            assert one.scalar(text(f"SELECT count(*) FROM pg_stat_activity WHERE {mine}")) == 3
    database.close()
    database = Database(replace(own, pool_size=1), name="tests")
    for _ in range(2):
        with database.snapshot() as connection:
            assert connection.scalar(text("SHOW transaction_isolation")) == "repeatable read"
            assert connection.scalar(text("SHOW transaction_read_only")) == "on"
        with database.reading() as connection:
            assert len({connection.scalar(text("SELECT now()")) for _ in range(3)}) == 3, "one transaction each"
            assert connection.scalar(text("SHOW transaction_isolation")) == "read committed"
        with database.transaction() as connection:
            assert len({connection.scalar(text("SELECT now()")) for _ in range(3)}) == 1
            assert connection.scalar(text("SHOW transaction_read_only")) == "off"
    database.close()


def test_the_doctor_counts_what_the_processes_may_take(settings: Settings) -> None:
    assert connections_needed(settings, web=8, workers=4) == 8 * 6 + 4 * 2 * 2 + 3 + 4
    [few] = [one for one in checks(settings) if one.name == "connections"]
    [many] = [one for one in checks(settings, web=10_000) if one.name == "connections"]
    assert (few.state, many.state, "max_connections" in many.advice) == ("good", "bad", True)


def test_the_doctor_finds_a_user_of_redis_that_may_not_do_what_workers_do(settings: Settings) -> None:
    """Which answers a PING, and tells its memory."""
    user = f"t{uuid.uuid4().hex[:8]}"
    client = redis_client(settings)
    client.acl_setuser(user, enabled=True, passwords=[f"+{PASSWORD}"], keys=["registry:*"], commands=["+@all"])
    scheme, _, place = settings.redis_url.partition("://")
    url = f"{scheme}://{user}:hush%2Bhush%2Fhush@{place}"
    try:
        [sign] = check_broker(replace(settings, redis_url=url))
        assert (sign.name, sign.state) == ("redis", "bad")
        assert "ACL" in sign.advice
        [sign] = check_broker(replace(settings, redis_url=url.replace("hush@", "wrong@")))
        assert (sign.name, sign.state) == ("redis", "bad")
        assert "invalid username-password pair" in sign.found
    finally:
        client.acl_deluser(user)
        client.close()


def test_a_broker_that_is_away_is_doubtful_and_says_why(settings: Settings) -> None:
    [sign] = check_broker(replace(settings, redis_url="redis://127.0.0.1:1/0"))
    assert (sign.state, "refused" in sign.found) == ("doubtful", True)
    with pytest.raises(redis.ConnectionError):
        redis_client(replace(settings, redis_url="redis://127.0.0.1:1/0")).ping()
