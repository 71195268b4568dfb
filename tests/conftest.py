"""Real servers for every test: embedded ones, or those of REGISTRY_TEST_DATABASE_URL and REGISTRY_TEST_REDIS_URL.

Each test process works in a database of its own, cloned from a migrated template. Tests do not clean up after
themselves: each makes a project of its own, and a project is the boundary of everything.
"""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

from migrations.apply import migrate
from registry import create_app
from registry.local.embedded import embedded_servers
from registry.settings import Settings, driver_url
from registry.storage.database import Database
from tests.house import ENDED, House, Project

ROOT = Path(__file__).parent
UNCOUNTED = {"token_rate": 0.0, "address_rate": 0.0, "failure_rate": 0.0}
"""Tests ask faster than people and share an address; what the limits do is tested with limits."""


FIRST = ("faults", "live", "pages", "commands")
"""The directories whose files take long: begun first, so that no process ends with one of them while others idle."""


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process: they share servers, browsers and what was computed once.

    The tests that break whole registries are one unit: they wait most of the time, and beside each other they would
    break each other's deadlines.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return "tests/faults" if nodeid.startswith("tests/faults/") else str(super()._split_scope(nodeid))

    config.option.loadscopereorder = False
    return Scheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by what it needs, and put the long ones first."""
    for item in items:
        part = item.path.relative_to(ROOT).parts[0]
        if "servers" in getattr(item, "fixturenames", ()):
            item.add_marker("db")
        elif part not in FIRST:
            item.add_marker("unit")
        if part in ("faults", "live"):
            item.add_marker(part)
        if item.path.stem == "test_browser":
            item.add_marker("browser")
    order = {part: place for place, part in enumerate(FIRST)}
    items.sort(key=lambda item: order.get(item.path.relative_to(ROOT).parts[0], len(order)))


@pytest.fixture(scope="session")
def servers() -> Iterator[tuple[str, str]]:
    """The URL of a database to connect to first, and of a broker."""
    given = os.environ.get("REGISTRY_TEST_DATABASE_URL"), os.environ.get("REGISTRY_TEST_REDIS_URL")
    if given[0] and given[1]:
        yield given[0], _own_number(given[1])
        return
    with tempfile.TemporaryDirectory(prefix="registry-tests-") as directory, embedded_servers(directory) as urls:
        yield urls


def _own_number(redis_url: str) -> str:
    """The URL with a database number of this process: others beside it must not hear its tasks."""
    process = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    address, _, number = redis_url.rpartition("/")
    return f"{address}/{int(number) + int(process)}"


def _run(url: str, statement: str) -> None:
    engine = create_engine(driver_url(url), isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text(statement))


def _another(url: str, name: str) -> str:
    return make_url(url).set(database=name).render_as_string(hide_password=False)


@pytest.fixture(scope="session")
def template(servers: tuple[str, str]) -> Iterator[str]:
    """The name of a migrated database that is only ever cloned."""
    name = f"registry_template_{uuid.uuid4().hex[:12]}"
    _run(servers[0], f"CREATE DATABASE {name}")
    migrate(_another(servers[0], name))
    yield name
    _run(servers[0], f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def empty_database_url(servers: tuple[str, str]) -> Iterator[str]:
    """A database without tables."""
    name = f"registry_empty_{uuid.uuid4().hex[:12]}"
    _run(servers[0], f"CREATE DATABASE {name}")
    yield _another(servers[0], name)
    _run(servers[0], f"DROP DATABASE {name} WITH (FORCE)")


def clone(servers: tuple[str, str], template: str) -> Iterator[str]:
    name = f"registry_test_{uuid.uuid4().hex[:12]}"
    _run(servers[0], f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    yield _another(servers[0], name)
    _run(servers[0], f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def database_url(servers: tuple[str, str], template: str) -> Iterator[str]:
    """The migrated database that this process's tests share."""
    yield from clone(servers, template)


@pytest.fixture
def own_database_url(servers: tuple[str, str], template: str) -> Iterator[str]:
    """A migrated database of this test's own, for tests that break things."""
    yield from clone(servers, template)


@pytest.fixture(scope="session")
def redis_url(servers: tuple[str, str]) -> str:
    return servers[1]


@pytest.fixture(scope="session")
def settings(database_url: str, redis_url: str) -> Settings:
    return replace(Settings(), database_url=database_url, redis_url=redis_url, ranking_debounce=0.0, **UNCOUNTED)


@pytest.fixture(scope="session")
def house(settings: Settings) -> Iterator[House]:
    """The application with its database, without any worker: tests compute when they say so."""
    database = Database(settings, name="tests")
    yield House(create_app(settings), database, settings)
    database.close()


@pytest.fixture
def project(house: House) -> Iterator[Project]:
    """A private project with a token of each role."""
    made = house.make_project()
    yield made
    ENDED.append(made)


@pytest.fixture(autouse=True)
def _applications_of_a_test_leave_no_connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An application that a test makes for itself keeps a pool until it is collected, and the server has few places."""
    made: list[Database] = []
    build = Database.__init__

    def remember(self: Database, *given: Any, **named: Any) -> None:
        build(self, *given, **named)
        made.append(self)

    monkeypatch.setattr(Database, "__init__", remember)
    yield
    for database in made:
        database.close()
