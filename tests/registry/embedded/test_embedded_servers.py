"""Both servers, from nothing to nothing."""

from contextlib import closing
from pathlib import Path

import redis
from sqlalchemy import create_engine, text

from registry.embedded import embedded_servers


def ask(database_url: str, *statements: str) -> list[tuple[object, ...]]:
    """The rows of the last statement, over the very URL that the registry uses."""
    engine = create_engine(database_url)
    with engine.begin() as connection:
        results = [connection.execute(text(statement)) for statement in statements]
        rows = [tuple(row) for row in results[-1]] if results[-1].returns_rows else []
    engine.dispose()
    return rows


def test_an_empty_directory_becomes_two_servers(tmp_path: Path) -> None:
    with embedded_servers(tmp_path) as (database_url, redis_url):
        assert ask(database_url, "SELECT current_user, current_database()") == [("registry", "registry")]
        with closing(redis.Redis.from_url(redis_url.replace("redis+socket", "unix"))) as client:
            assert client.set("a", "b")


def test_a_restart_on_the_same_home_keeps_the_data(tmp_path: Path) -> None:
    with embedded_servers(tmp_path) as (database_url, redis_url):
        ask(database_url, "CREATE TABLE t AS SELECT 42 AS answer")
        with closing(redis.Redis.from_url(redis_url.replace("redis+socket", "unix"))) as client:
            client.set("a", "b")
    with embedded_servers(tmp_path) as (database_url, redis_url):
        assert ask(database_url, "SELECT answer FROM t") == [(42,)]
        with closing(redis.Redis.from_url(redis_url.replace("redis+socket", "unix"))) as client:
            assert client.get("a") == b"b"


def test_the_servers_listen_on_nothing_but_their_sockets(tmp_path: Path) -> None:
    with embedded_servers(tmp_path) as (database_url, redis_url):
        assert ask(database_url, "SHOW listen_addresses") == [("",)]
        with closing(redis.Redis.from_url(redis_url.replace("redis+socket", "unix"))) as client:
            assert client.config_get("port") == {"port": "0"}


def test_commits_are_durable(tmp_path: Path) -> None:
    with embedded_servers(tmp_path) as (database_url, _):
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            assert ask(database_url, f"SHOW {setting}") == [("on",)]
