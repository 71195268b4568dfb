"""Both servers, from nothing to nothing."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import redis
from sqlalchemy import create_engine, text

from registry.local.embedded import embedded_servers


def ask(database_url: str, *statements: str) -> list[tuple[object, ...]]:
    """The rows of the last statement, over the very URL that the registry uses."""
    engine = create_engine(database_url)
    with engine.begin() as connection:
        results = [connection.execute(text(statement)) for statement in statements]
        rows = [tuple(row) for row in results[-1]] if results[-1].returns_rows else []
    engine.dispose()
    return rows


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    with embedded_servers(tmp_path_factory.mktemp("servers")) as urls:
        yield urls


def client(redis_url: str) -> closing[redis.Redis]:
    return closing(redis.Redis.from_url(redis_url.replace("redis+socket", "unix")))


def test_an_empty_directory_becomes_two_servers(servers: tuple[str, str]) -> None:
    assert ask(servers[0], "SELECT current_user, current_database()") == [("registry", "registry")]
    with client(servers[1]) as valkey:
        assert valkey.ping()


def test_the_servers_listen_on_nothing_but_their_sockets(servers: tuple[str, str]) -> None:
    assert ask(servers[0], "SHOW listen_addresses") == [("",)]
    with client(servers[1]) as valkey:
        assert valkey.config_get("port") == {"port": "0"}


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes", "synchronous_commit"])
def test_commits_are_durable(servers: tuple[str, str], setting: str) -> None:
    assert ask(servers[0], f"SHOW {setting}") == [("on",)]


def test_nothing_in_the_broker_is_evicted(servers: tuple[str, str]) -> None:
    with client(servers[1]) as valkey:
        assert valkey.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}


def test_a_restart_on_the_same_home_keeps_the_data_of_the_database_alone(tmp_path: Path) -> None:
    with embedded_servers(tmp_path) as (database_url, redis_url):
        ask(database_url, "CREATE TABLE t AS SELECT 42 AS answer")
        with client(redis_url) as valkey:
            valkey.set("a", "b")
    with embedded_servers(tmp_path) as (database_url, redis_url):
        assert ask(database_url, "SELECT answer FROM t") == [(42,)]
        with client(redis_url) as valkey:
            assert valkey.get("a") is None, "wake-ups are not kept"
