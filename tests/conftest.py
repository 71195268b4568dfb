"""Real servers for every test: embedded ones, or those of REGISTRY_TEST_DATABASE_URL and REGISTRY_TEST_REDIS_URL.

Each test process works in a database of its own, cloned from a migrated template. Tests do not clean up after
themselves: each makes a project of its own, and a project is the boundary of everything.
"""

import gc
import logging
import os
import shutil
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck
from hypothesis import settings as examples
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool
from structlog.typing import EventDict
from werkzeug.serving import WSGIRequestHandler, make_server

from migrations.apply import migrate
from migrations.citus import distribute
from migrations.partitions import partition
from registry import create_app
from registry.local.embedded import embedded_servers
from registry.settings import Settings, driver_url
from registry.storage.database import Database
from tests.house import CITUS, ENDED, PARTITIONS, House, Project

LIVE = Path(__file__).parent / "live"
LONG = ("faults", "browser/test_browser.py", "processes/test_bench.py", "processes/test_the_served_document.py")
"""What takes minutes of the live tests."""
UNCOUNTED = {"token_rate": 0.0, "address_rate": 0.0, "failure_rate": 0.0, "question_rate": 0.0}
"""Tests ask faster than people and share an address; what the limits do is tested with limits."""

PATIENT: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
examples.register_profile("core", max_examples=25, derandomize=True, **PATIENT)
examples.register_profile("nightly", max_examples=2_000, **PATIENT)  # pytest --hypothesis-profile nightly
examples.load_profile("core")

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

    structlog.configure(processors=[_no_requests, *structlog.get_config()["processors"]])
    structlog.configure = _configure_logs


def _no_requests(_logger: object, level: str, event: EventDict) -> EventDict:
    """Requests are not written: thousands would bury what failed, and commands share this process's standard error."""
    if level in ("debug", "info"):
        raise structlog.DropEvent
    return event


_configure = structlog.configure


def _configure_logs(**given: Any) -> None:
    _configure(**given | {"cache_logger_on_first_use": False})  # what is cached stays when a test has ended


@pytest.fixture(autouse=True)
def _logs_are_as_before() -> Iterator[None]:
    """A command that a test runs in this process sets up its logs: the next test has those of pytest again."""
    before, handlers = structlog.get_config(), logging.root.handlers[:]
    yield
    structlog.configure(**before)
    logging.root.handlers[:] = handlers


def pytest_xdist_auto_num_workers() -> int | None:
    """One more than cores, unless the environment says how many: whoever breaks a registry waits most of the time."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) + 1


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process: they share what was published and computed once.

    The pages are one unit: they share the demonstration, which takes ten seconds to compute. So are the tests that
    break whole registries: they wait most of the time, and beside each other they would break each other's deadlines.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            whole = next((unit for unit in ("tests/pages/", "tests/live/faults/") if nodeid.startswith(unit)), None)
            return whole or str(super()._split_scope(nodeid))

    # Else the files of many tests would go first.
    config.option.loadscopereorder = not all("tests/live" in one for one in config.args)
    return Scheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by what it needs: `live` by its folder, `db` by the servers that it asks for, else `unit`.

    Live tests keep the order of their files, whatever shuffles the others: what a registry that stands has been through
    is a story. The longest begin first, so that no process works alone at the end.
    """
    if items and all(LIVE in item.path.parents for item in items):
        items.sort(key=lambda item: (*_turn(item.path), item.reportinfo()[1] or 0))
    for item in items:
        if LIVE in item.path.parents:
            item.add_marker("live")
        else:
            item.add_marker("db" if "servers" in getattr(item, "fixturenames", ()) else "unit")


def _turn(path: Path) -> tuple[int, Path]:
    """When a live file has its turn: those that take minutes have theirs first."""
    within = path.relative_to(LIVE).as_posix()
    return next((at for at, long in enumerate(LONG) if within.startswith(long)), len(LONG)), path


def pytest_collection_finish() -> None:
    """What was loaded until here stays: the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


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
    if CITUS:
        yield from _on_citus(servers[0], name)
        return
    _run(servers[0], f"CREATE DATABASE {name} TEMPLATE {template}")
    yield _another(servers[0], name)
    _run(servers[0], f"DROP DATABASE {name} WITH (FORCE)")


def _on_citus(coordinator: str, name: str) -> Iterator[str]:
    """A migrated database in shards: one that knows shards is no template."""
    known = "SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid"
    with create_engine(driver_url(coordinator), poolclass=NullPool).connect() as connection:
        nodes = connection.execute(text(known)).all()
    servers = [
        make_url(coordinator).set(host=host, port=port).render_as_string(hide_password=False) for host, port in nodes
    ]
    for server in servers:
        _run(server, f"CREATE DATABASE {name}")
        _run(_another(server, name), "CREATE EXTENSION citus")
    url = _another(coordinator, name)
    _run(url, "SELECT citus_set_coordinator_host('{}', {})".format(*nodes[0]))
    for host, port in nodes[1:]:
        _run(url, f"SELECT citus_add_node('{host}', {port})")
    migrate(url)
    distribute(url, shards=4)
    yield url
    for server in servers:
        _run(server, f"DROP DATABASE {name} WITH (FORCE)")


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


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"  # clients keep their connections

    def log(self, *_said: object) -> None:
        pass


@pytest.fixture(scope="session")
def address(house: House) -> Iterator[str]:
    """Where the application of `house` listens, in this process. Nobody computes: tests call `house.compute()`."""
    server = make_server("127.0.0.1", 0, house.app, threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


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
