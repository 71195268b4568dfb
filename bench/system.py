"""A whole system for a measurement: embedded servers, web, worker, dispatcher, on a fresh home."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from socket import socket
from typing import Any

from migrations.apply import migrate
from registry.local.embedded import embedded_servers
from registry.local.processes import DISPATCHER, SERVE, WORKER
from registry.operations.auth import issue_token
from registry.operations.projects import make_project
from registry.settings import Settings
from registry.storage.database import Database

GUNICORN = [
    sys.executable, "-m", "gunicorn", "--worker-class", "gthread", "--threads", "8", "--no-control-socket",
    "--log-level", "warning", "bench.web:application",
]  # fmt: skip

UNLIMITED = {"token_rate": 0.0, "address_rate": 0.0, "failure_rate": 0.0, "question_rate": 0.0}
"""A benchmark asks faster than the limits of rate let one caller ask."""


@dataclass(frozen=True)
class System:
    """Where it listens, and a token that may write to the public project `bench`."""

    port: int
    token: str
    settings: Settings
    database: Database
    web: int
    """The number of the web process, of gunicorn's parent."""

    @property
    def serving(self) -> int:
        """The number of the process that answers."""
        return int(Path(f"/proc/{self.web}/task/{self.web}/children").read_text().split()[0])

    project: str = "bench"

    def connection(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=60)


def free_port() -> int:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def system(
    server: str = "gunicorn",
    *,
    workers: bool = True,
    processes: int = 2,
    servers: tuple[str, str] | None = None,
    **more: Any,
) -> Iterator[System]:
    """Run a system while the block lasts; `server` is gunicorn with so many `processes`, or `serve`, as it is run.
    `servers` are an empty database and a broker, by default embedded ones. What is named otherwise are settings."""
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="registry-bench-"))
        urls = servers or stack.enter_context(embedded_servers(home))
        settings = replace(
            Settings(), database_url=urls[0], redis_url=urls[1], port=free_port(), log_level="WARNING",
            **UNLIMITED, **more,
        )  # fmt: skip
        migrate(settings.database_url)
        database = Database(settings, name="bench")
        with database.transaction() as connection:
            make_project(connection, slug="bench", name="bench", visibility="public")
            _, token = issue_token(connection, project_id=None, role="admin", name="bench", days=1)
        bind = ["--workers", str(processes), "--bind", f"127.0.0.1:{settings.port}"]
        web = {"gunicorn": GUNICORN + bind, "serve": SERVE}[server]
        environment = os.environ | settings.environment()
        stack.callback(database.close)
        children = stack.enter_context(running([web, DISPATCHER, WORKER] if workers else [web], environment))
        found = System(settings.port, token, settings, database, children[0].pid)
        await_ready(found)
        yield found


@contextmanager
def running(commands: Sequence[Sequence[str]], environment: Mapping[str, str]) -> Iterator[list[Any]]:
    """Run processes while the block lasts."""
    children = [
        subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    try:
        yield children
    finally:
        for child in children:
            child.terminate()
        for child in children:
            child.wait(60)


def await_ready(found: System) -> None:
    """Until requests are answered."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            connection = found.connection()
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("the system did not start")
