"""The commands of the compose file, started as they stand there: only their environment is the test's."""

import contextlib
import errno
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.house import publication
from tests.live.deploy.compose_file import services
from tests.live.processes.system import awaited
from tests.ports import free_port

SERVING = ("web", "worker", "dispatcher")
LONGEST_START = 60
LONGEST_STOP = 10
GRID = publication()

AS_SYSTEMD = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
os.execvp(sys.argv[2], sys.argv[2:])
"""


class Composition:
    """The processes of the compose file on this machine, their logs in one directory."""

    def __init__(self, directory: Path, database_url: str, redis_url: str) -> None:
        self.directory = directory
        self.port = free_port()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        programs = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
        here = {name: value for name, value in os.environ.items() if not name.startswith("REGISTRY_")}
        self.environment = here | {
            "PATH": programs,
            "REGISTRY_DATABASE_URL": database_url,
            "REGISTRY_REDIS_URL": redis_url,
            "REGISTRY_HOST": "0.0.0.0",  # noqa: S104 -- as in the image
            "REGISTRY_PROXIES": "1",
            "REGISTRY_PORT": str(self.port),
        }

    def run(self, command: list[str], seconds: float) -> str:
        """What a command prints that ends by itself, and well."""
        ran = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=seconds, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def start(self, name: str, listening: socket.socket | None = None) -> None:
        """Start a service; with a socket, as systemd hands it on."""
        command = services()[name]["command"]
        handed: tuple[int, ...] = ()
        if listening is not None:
            handed = (listening.fileno(),)
            command = [sys.executable, "-c", AS_SYSTEMD, str(handed[0]), *command]
        with (self.directory / name).open("wb") as log:
            self.processes[name] = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=log, pass_fds=handed
            )

    def stop(self, name: str) -> tuple[float, int | None]:
        """How long a process took to end after SIGTERM, and its status; None when it did not end in time."""
        process, began = self.processes.pop(name), time.monotonic()
        process.send_signal(signal.SIGTERM)
        try:
            return time.monotonic() - began, process.wait(LONGEST_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return time.monotonic() - began, None

    def log(self, name: str) -> str:
        return (self.directory / name).read_text(errors="replace")

    def await_answer(self, path: str = "/healthz") -> None:
        awaited(lambda: self.answer(path) == 200, within=LONGEST_START, why=f"200 of {path}")

    def answer(self, path: str) -> int | None:
        """The status of a page; None while nobody answers."""
        for name, process in self.processes.items():
            assert process.poll() is None, f"{name} ended with {process.poll()}: {self.log(name)}"
        with contextlib.suppress(OSError):
            return self.ask("GET", path)[0]
        return None

    def ask(
        self, method: str, path: str, sent: object = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        body = None if sent is None else json.dumps(sent)
        content = {} if sent is None else {"Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=40)
        try:
            connection.request(method, path, body, content | (headers or {}))
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()


@pytest.fixture
def composition(tmp_path: Path, empty_database_url: str, redis_url: str) -> Iterator[Composition]:
    composition = Composition(tmp_path, empty_database_url, redis_url)
    yield composition
    for process in composition.processes.values():
        process.kill()
        process.wait()


def test_the_commands_of_the_compose_file_are_a_registry(composition: Composition, tmp_path: Path) -> None:
    composition.run(services()["migrate"]["command"], LONGEST_START)
    for name in SERVING:
        composition.start(name)
    composition.await_answer("/readyz")

    secret = tmp_path / "token"
    composition.run(["registry", "token", "--role", "admin", "--name", "compose", "--file", str(secret)], 30)
    bearer = {"Authorization": f"Bearer {secret.read_text().strip()}"}
    status, project = composition.ask("POST", "/api/v1/projects", {"slug": "demo"}, bearer)
    assert status == 201, project
    status, grid = composition.ask("POST", "/api/v1/projects/demo/grids", GRID, bearer)
    assert status == 201, grid
    assert grid["cell_count"] == 5

    path = f"/api/v1/grids/{grid['id']}/statistics"
    status, statistics = composition.ask("GET", path, headers=bearer | {"Prefer": "wait=20"})
    assert (status, statistics.get("state")) == (200, "ready"), composition.log("worker")
    assert (statistics["revision"], statistics["digest"]) == (1, grid["digest"])

    for name in SERVING:
        program, *arguments = services()[name]["healthcheck"]["test"][1:]
        assert program == "python"
        composition.run([sys.executable, *arguments], 30)

    for name in SERVING:
        seconds, status_at_end = composition.stop(name)
        assert status_at_end == 0, f"{name}, {seconds:.1f} s: {composition.log(name)}"


def test_a_web_process_ends_while_connections_come_in_without_a_pause(composition: Composition) -> None:
    composition.start("web")
    composition.await_answer()
    answered: list[int] = []

    def connect() -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):  # refused at last, or cut while it was accepted
            while True:
                answered.append(composition.ask("GET", "/healthz")[0])

    clients = [threading.Thread(target=connect) for _ in range(8)]
    for client in clients:
        client.start()
    awaited(lambda: len(answered) > 100)
    assert composition.stop("web")[1] == 0, composition.log("web")
    for client in clients:
        client.join(LONGEST_STOP)
    assert set(answered) <= {200, 503}


def refused(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == errno.ECONNREFUSED


def test_requests_to_a_socket_of_systemd_wait_for_the_next_process(composition: Composition) -> None:
    with socket.create_server(("127.0.0.1", composition.port)) as listening:
        composition.start("web", listening)
        composition.await_answer()
        assert composition.stop("web")[1] == 0
        with socket.create_connection(("127.0.0.1", composition.port), timeout=LONGEST_START) as client:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            composition.start("web", listening)
            assert client.recv(4096).startswith(b"HTTP/1.1 200 "), composition.log("web")


def test_what_gunicorn_imports_before_it_forks_starts_nothing() -> None:
    """No thread would live on in the child, and a connection would be shared with it."""
    script = (
        "import os, threading; from registry.settings import Settings; from registry.web_server import Server;"
        "Server(Settings()).wsgi();"
        "print(threading.active_count(), [at for at in os.listdir('/proc/self/fd') if 'socket' in link(at)])"
    )
    link = "link = lambda at: os.path.exists(f'/proc/self/fd/{at}') and os.readlink(f'/proc/self/fd/{at}') or '';"
    script = script.replace("print", f"{link}print")
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout == "1 []\n"


def test_nothing_is_ready_before_the_tables_are_there(composition: Composition) -> None:
    composition.start("web")
    awaited(lambda: composition.answer("/readyz"))
    assert composition.ask("GET", "/readyz") == (503, {"status": "not migrated"})
    assert composition.ask("GET", "/healthz")[0] == 200
