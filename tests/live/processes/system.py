"""The registry as it runs: web, worker and dispatcher as processes on servers of their own, and how to break them."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from migrations.apply import migrate
from registry.local.embedded import Home, Postgres, Supervisor, Valkey
from registry.operations.auth import issue_token
from registry.operations.projects import make_project
from registry.settings import Settings
from registry.storage.database import Database
from tests.house import publication
from tests.ports import free_port

T = TypeVar("T")
COMMANDS = {"web": "serve", "worker": "worker", "dispatcher": "dispatch"}
PROJECT = "live"


def awaited(what: Callable[[], T | None], within: float = 60.0, why: str = "it") -> T:
    """What `what` returns once that is not None or False; asked again and again until the deadline."""
    deadline = time.monotonic() + within
    while not (found := what()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{why} did not happen within {within:.0f} s")
        time.sleep(0.02)
    return found


def bare_environment() -> dict[str, str]:
    """This environment without the registry's variables."""
    return {name: text for name, text in os.environ.items() if not name.startswith("REGISTRY_")}


def processes(*, holding: str) -> list[int]:
    """The processes that have a text in their command line or environment, other than this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if holding.encode() in (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes():
                    found.append(int(entry.name))
    return found


def children(pid: int) -> list[int]:
    """The living processes that a process started, oldest first."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            state, parent = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[:2]
            found += [int(entry)] if int(parent) == pid and state != "Z" else []
    return sorted(found)


def descendants(pid: int) -> list[int]:
    """What a process started, what that started, and so on."""
    return [one for child in children(pid) for one in (child, *descendants(child))]


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    headers: http.client.HTTPMessage

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """A connection to the web process; not shared by threads."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        self._token = token

    def call(self, method: str, path: str, sent: Any = None) -> Answer:
        """Send a request under /api/v1/; OSError or HTTPException when there is no answer."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        body = None if sent is None else json.dumps(sent)
        try:
            self._connection.request(method, f"/api/v1/{path}", body, headers)
            response = self._connection.getresponse()
            return Answer(response.status, response.read(), response.headers)
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise

    def publish(self, **changes: Any) -> dict[str, Any]:
        answer = self.call("POST", f"projects/{PROJECT}/grids", publication(**changes))
        assert answer.status in (200, 201), answer.body
        return dict(answer.json)

    def publish_until_acknowledged(self, **changes: Any) -> dict[str, Any]:
        """What a job does: an answer that did not come means 'unknown', so the same is sent again."""

        def once() -> dict[str, Any] | None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                answer = self.call("POST", f"projects/{PROJECT}/grids", publication(**changes))
                assert answer.status in (200, 201, 503), answer.body
                return dict(answer.json) if answer.status != 503 else None
            return None

        return awaited(once)

    def statistics(self, grid: dict[str, Any]) -> dict[str, Any] | None:
        """The statistics of a grid, None while they are pending or nobody answers."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            answer = self.call("GET", f"grids/{grid['id']}/statistics")
            assert answer.status in (200, 202, 503), answer.body
            return dict(answer.json) if answer.status == 200 else None
        return None

    def close(self) -> None:
        self._connection.close()


@dataclass
class System:
    """Processes on a pair of servers. Each runs in a session of its own, so that its whole tree can be killed."""

    settings: Settings
    logs: Path
    directory: Path | None = None
    """Where the processes are started; None: where the tests are."""
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    clients: list[Client] = field(default_factory=list)
    token: str = ""

    def prepare(self) -> None:
        migrate(self.settings.database_url)
        database = Database(self.settings, name="tests")
        with database.transaction() as connection:
            make_project(connection, slug=PROJECT, name="Live", visibility="private")
            _, self.token = issue_token(connection, project_id=None, role="admin", name="live", days=1)
        database.close()

    def start(self, *names: str) -> None:
        """Start processes; those that serve HTTP are waited for."""
        for name in names:
            log = (self.logs / f"{name}.log").open("ab")
            command = [sys.executable, "-P", "-m", "registry", COMMANDS[name]]
            environment = bare_environment() | self.settings.environment()
            self.running[name] = subprocess.Popen(
                command,
                env=environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                cwd=self.directory,
            )
            log.close()
        if "web" in names:
            client = self.client()

            def answers() -> bool:
                with contextlib.suppress(OSError):
                    return client.call("GET", f"projects/{PROJECT}").status == 200
                return False

            awaited(answers)

    def log(self, name: str) -> str:
        return (self.logs / f"{name}.log").read_text(errors="replace")

    def kill(self, name: str) -> None:
        """kill -9 of a process and all that it started."""
        process = self.running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def terminate(self, *names: str) -> dict[str, float]:
        """SIGTERM to all of these at once; how many seconds each took to end."""
        begun = time.monotonic()
        ending = {name: self.running.pop(name) for name in names}
        for process in ending.values():
            process.terminate()
        took: dict[str, float] = {}

        def ended() -> bool:
            for name, process in ending.items():
                if name not in took and process.poll() is not None:
                    took[name] = time.monotonic() - begun
            return len(took) == len(ending)

        awaited(ended, within=30)
        return took

    def client(self) -> Client:
        """A client that is closed with the system."""
        client = Client(self.settings.port, self.token)
        self.clients.append(client)
        return client

    def stop(self) -> None:
        for client in self.clients:
            client.close()
        for name in list(self.running):
            self.kill(name)


@dataclass
class Servers:
    """PostgreSQL and Valkey as children of the test; the broker can be stopped and started again."""

    supervisor: Supervisor
    postgres: Postgres
    valkey: Valkey

    def start_broker(self) -> None:
        self.supervisor.posts[:] = [post for post in self.supervisor.posts if post.child.name != "valkey"]
        self.supervisor.start(replace(self.valkey.child(), restart=False))

    @contextlib.contextmanager
    def frozen_database(self) -> Iterator[None]:
        """PostgreSQL and all its processes stand still while the block lasts: no answer, no refusal."""
        main = self.supervisor.pids["postgres"]
        family = [main, *children(main)]
        for pid in family:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in family:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def kill_broker(self) -> None:
        [post] = [post for post in self.supervisor.posts if post.child.name == "valkey"]
        os.kill(self.supervisor.pids["valkey"], signal.SIGKILL)
        assert post.process is not None
        post.process.wait(10)
        self.supervisor.posts.remove(post)


@contextlib.contextmanager
def own_servers(directory: Path) -> Iterator[Servers]:
    with Home(directory) as home, Supervisor(home, signals=()) as supervisor:
        servers = Servers(supervisor, Postgres(home), Valkey(home))
        servers.start_broker()
        supervisor.start(servers.postgres.child())
        yield servers


@contextlib.contextmanager
def own_system(servers: Servers, logs: Path, **settings: Any) -> Iterator[System]:
    """A migrated system on these servers, nothing started yet."""
    logs.mkdir()
    urls = {"database_url": servers.postgres.url, "redis_url": servers.valkey.url}
    system = System(replace(Settings(), port=free_port(), **(urls | settings)), logs)
    system.prepare()
    try:
        yield system
    finally:
        system.stop()
