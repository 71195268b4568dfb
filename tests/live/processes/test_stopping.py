"""A process that is told to end: what it has begun is finished, what is new is refused, nobody waits for long."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from registry.storage.database import Database
from tests import ROOT
from tests.house import publication
from tests.live.processes.system import PROJECT, Answer, Client, System, awaited, bare_environment, children
from tests.ports import free_port

SERVE = ["-m", "registry", "serve"]
BEGUN = "SELECT count(*) FROM pg_stat_activity WHERE query_start > :before AND pid <> pg_backend_pid()"
"""How many other connections have asked the database something since."""


@contextlib.contextmanager
def another_web(system: System, command: list[str], log: Path) -> Iterator[tuple[subprocess.Popen[bytes], Client]]:
    """One more web process on the system's servers, with a port of its own."""
    settings = replace(system.settings, port=free_port())
    with log.open("wb") as said:
        environment = bare_environment() | settings.environment()
        process = subprocess.Popen([sys.executable, *command], env=environment, stdout=said, stderr=said, cwd=ROOT)
    client = Client(settings.port, system.token)

    def answers() -> bool:
        with contextlib.suppress(OSError):
            return client.call("GET", f"projects/{PROJECT}").status == 200
        return False

    try:
        awaited(answers)
        yield process, client
    finally:
        client.close()
        process.kill()
        process.wait()


def in_background(client: Client, method: str, path: str, sent: object, into: list[Answer]) -> threading.Thread:
    thread = threading.Thread(target=lambda: into.append(client.call(method, path, sent)))
    thread.start()
    return thread


def refuses(port: int) -> bool:
    """Whether nobody listens any more."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_a_request_in_flight_is_answered_after_a_signal_and_new_ones_are_refused(
    system: System, told: signal.Signals, tmp_path: Path
) -> None:
    """The request waits for a row that the test holds. A terminal sends Ctrl-C to all processes."""
    held = system.client().publish(experiment="stopping", model=told.name, axes=[], values=1.0, trials=None)
    database = Database(system.settings, name="tests")
    with another_web(system, SERVE, tmp_path / "log") as (process, client):
        port = client._connection.port
        answered: list[Answer] = []
        with database.transaction() as connection:
            connection.execute(text("SELECT 1 FROM grids WHERE id = :id FOR UPDATE"), {"id": held["id"]})
            sent = publication(experiment="stopping", model=told.name, axes=[], values=2.0, trials=None)
            thread = in_background(client, "POST", f"projects/{PROJECT}/grids", sent, answered)
            awaited(lambda: connection.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")))
            for pid in [process.pid, *(children(process.pid) if told == signal.SIGINT else [])]:
                os.kill(pid, told)
            awaited(lambda: refuses(port))
            assert process.poll() is None, "it ended before the request that it had begun"
        thread.join(60)
        assert [answer.status for answer in answered] == [201], answered
        assert answered[0].json["revision"] == 2
        begun = time.monotonic()
        assert process.wait(10) == 0
        assert time.monotonic() - begun < 10
        assert refuses(port)
    database.close()


def test_who_waits_for_statistics_is_answered_at_once_when_the_process_ends(fragile: System, tmp_path: Path) -> None:
    """Nobody computes here, so that the wait would last its twenty seconds."""
    for name in ("worker", "dispatcher"):
        fragile.kill(name)
    grid = fragile.client().publish()
    looking = Database(fragile.settings, name="tests")
    with another_web(fragile, SERVE, tmp_path / "log") as (process, client):
        connection = http.client.HTTPConnection("127.0.0.1", client._connection.port, timeout=15)
        headers = {"Authorization": f"Bearer {fragile.token}", "Prefer": "wait=20"}
        with looking.reading() as asked:
            before = asked.scalar(text("SELECT clock_timestamp()"))
            connection.request("GET", f"/api/v1/grids/{grid['id']}/statistics", headers=headers)
            awaited(lambda: asked.scalar(text(BEGUN), {"before": before}))
        begun = time.monotonic()
        process.terminate()
        response = connection.getresponse()
        assert response.status == 202
        response.read()
        connection.close()
        assert process.wait(10) == 0
        assert time.monotonic() - begun < 10
    looking.close()
