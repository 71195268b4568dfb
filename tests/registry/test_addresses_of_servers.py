"""Addresses of PostgreSQL and Redis: several servers, and one sentence for what cannot be read."""

from dataclasses import replace

import psycopg2
import pytest
from psycopg2.extensions import parse_dsn
from sqlalchemy import create_engine, make_url, text

from registry.errors import Misconfigured
from registry.settings import Settings, driver_url
from registry.storage.database import Database
from tests.ports import free_port

TWO = {"user": "u", "password": "p@", "host": "a,b", "port": "5432,5433", "dbname": "d"}
SPELLINGS: list[tuple[str, dict[str, str]]] = [
    ("postgresql://u:p%40@a:5432,b:5433/d", TWO),
    ("postgres://u:p%40@/d?host=a:5432&host=b:5433", TWO),
    ("postgresql+psycopg2://u:p%40@/d?host=a,b&port=5432,5433", TWO),
    (
        "postgresql://u:p%40@a:5432,b:5433/d?target_session_attrs=read-write",
        TWO | {"target_session_attrs": "read-write"},
    ),
    ("postgresql://u@[::1]:5432,[::2]:5433/d", {"user": "u", "host": "::1,::2", "port": "5432,5433", "dbname": "d"}),
    ("postgresql://u@a,b/d", {"user": "u", "host": "a,b", "port": "5432,5432", "dbname": "d"}),
    ("postgresql://u@/d?host=/run/x&port=6000", {"user": "u", "host": "/run/x", "port": "6000", "dbname": "d"}),
]


def test_every_spelling_of_servers_is_one_to_sqlalchemy_and_to_libpq(subtests: pytest.Subtests) -> None:
    for url, meant in SPELLINGS:
        with subtests.test(url):
            read = make_url(driver_url(url))
            given = create_engine(read).dialect.create_connect_args(read)[1]
            assert {name: str(value) for name, value in given.items()} == meant
            assert parse_dsn(read.set(drivername="postgresql").render_as_string(hide_password=False)) == meant


REFUSED = [
    *(
        ("REGISTRY_DATABASE_URL", url, "REGISTRY_DATABASE_URL")
        for url in (
            "mysql://h/d", "h/d", "postgresql://u:sec/ret@h/d", "postgresql://u:sec[ret@h/d", "postgresql://h:many/d",
        )
    ),
    ("REGISTRY_REDIS_URL", "sentinel://h:26379/0", "one name that follows it"),
    ("REGISTRY_SYNCHRONOUS_COMMIT", "off", "on or remote_apply"),
    ("REGISTRY_SYNCHRONOUS_COMMIT", "local", "on or remote_apply"),
    ("REGISTRY_REPLICA_URL", "http://h", "postgresql://"),
]  # fmt: skip


def test_what_cannot_work_stops_the_process_with_a_sentence_without_the_password(subtests: pytest.Subtests) -> None:
    for name, value, told in REFUSED:
        with subtests.test(name, value=value):
            with pytest.raises(Misconfigured) as refused:
                Settings.from_environment({name: value})
            assert told in refused.value.detail
            assert "sec" not in refused.value.detail


def both(database_url: str, first: int) -> str:
    """Address of a server that is not there, and of the one that is."""
    url = make_url(driver_url(database_url))
    host, port = url.query.get("host", url.host), url.query.get("port", url.port or 5432)
    user = url.username or "postgres"
    options = f"host=127.0.0.1,{host}&port={first},{port}&target_session_attrs=read-write"
    return f"postgresql://{user}@/{url.database}?{options}"


def test_the_server_that_is_there_and_takes_writes_is_found(settings: Settings, own_database_url: str) -> None:
    url = both(own_database_url, free_port())
    database = Database(replace(settings, database_url=url), name="tests")
    with database.transaction() as connection:
        assert connection.scalar(text("SHOW transaction_read_only")) == "off"
    database.close()
    address = make_url(driver_url(url)).set(drivername="postgresql")
    psycopg2.connect(address.render_as_string(hide_password=False)).close()


def test_commits_are_answered_when_the_setting_says(settings: Settings) -> None:
    for wanted in ("on", "remote_apply"):
        database = Database(replace(settings, synchronous_commit=wanted), name="tests")
        with database.reading() as connection:
            assert connection.scalar(text("SHOW synchronous_commit")) == wanted
        database.close()
