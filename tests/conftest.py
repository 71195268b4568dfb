"""Real servers for every test: embedded ones, or those of REGISTRY_TEST_DATABASE_URL and REGISTRY_TEST_REDIS_URL.

Each test process works in a database of its own, cloned from a migrated template. Tests do not clean up after
themselves: each makes a project of its own, and a project is the boundary of everything.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as examples
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

from migrations.apply import migrate
from migrations.partitions import partition
from registry import create_app
from registry.local.embedded import embedded_servers
from registry.settings import Settings, driver_url
from registry.storage.database import Database
from tests.house import ENDED, PARTITIONS, House, Project

ROOT = Path(__file__).parent
UNCOUNTED = {"token_rate": 0.0, "address_rate": 0.0, "failure_rate": 0.0}
"""Tests ask faster than people and share an address; what the limits do is tested with limits."""

examples.register_profile(
    "the same on every run, however busy the machine",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
examples.load_profile("the same on every run, however busy the machine")

FIRST = ("faults", "live", "pages", "commands")
"""The directories whose files take long: begun first, so that no process ends with one of them while others idle."""


ON_EVERY_VERSION = ("registry", "workers", "test_migrations.py", "test_migrations_of_rows.py")
AND_THESE = {"test_bi", "test_links", "test_search_pages", "test_settings"}
BUT_NOT_THESE = {"test_bad_input", "test_bad_tables", "test_hostile_parameters"}
"""What asks the servers something that another version may answer otherwise: whatever has SQL or messages of its own,
and a walk over all pages. What is refused before anything is asked, or only shows what others ask, is the same."""


MEMORY = Path("/dev/shm")  # noqa: S108 -- directories in it are made with mkdtemp
_ROOM = 8 << 30


def pytest_configure() -> None:
    """Keep what tests write in memory where there is room: on a disk, each commit of the many servers waits for it.

    And keep compiled modules, even where the environment says not to, as containers do: hundreds of processes are
    started, and each would compile the registry anew, and each that tests would rewrite the assertions of all tests.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > _ROOM and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)  # processes that tests start look there, too


def pytest_xdist_auto_num_workers() -> int | None:
    """One more than cores, unless the environment says how many: whoever breaks a registry waits most of the time."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) + 1


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
            of_versions = part in ON_EVERY_VERSION or item.path.stem in AND_THESE
            if of_versions and item.path.stem not in BUT_NOT_THESE:
                item.add_marker("versions")
        elif part not in FIRST:
            item.add_marker("unit")
        if part in ("faults", "live"):
            item.add_marker(part)
        if item.path.stem.startswith("test_browser"):
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
    if PARTITIONS:
        partition(_another(servers[0], name), PARTITIONS)
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
    _run(servers[0], f"CREATE DATABASE {name} TEMPLATE {template}")
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
    # Sixteen writers in one process share its connections: on a slow machine the last waits longer than people would.
    patient = {"pool_timeout": 8.0, "ranking_debounce": 0.0}
    return replace(Settings(), database_url=database_url, redis_url=redis_url, **UNCOUNTED, **patient)


@pytest.fixture(scope="session")
def house(settings: Settings) -> Iterator[House]:
    """The application with its database, without any worker: tests compute when they say so."""
    database = Database(settings, name="tests")
    yield House(create_app(settings), database, settings)
    database.close()


@pytest.fixture
def own(settings: Settings, own_database_url: str) -> Iterator[House]:
    """An application on a database that holds nothing else."""
    mine = replace(settings, database_url=own_database_url)
    database = Database(mine, name="tests")
    yield House(create_app(mine), database, mine)
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
