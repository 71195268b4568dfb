"""What the processes write in their production shape is JSON, line by line, from the start to the stop."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from sqlalchemy import select

from registry.storage.tables import processes
from tests import ROOT
from tests.house import House
from tests.live.processes.system import awaited, bare_environment
from tests.ports import free_port

WEB = [sys.executable, "-m", "registry", "serve"]
WORKER = [sys.executable, "-m", "registry", "worker"]


def start(command: list[str], house: House, output: Path, **settings: str) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(ROOT), str(ROOT / "client")])
    environment = bare_environment() | house.settings.environment() | settings | {"PYTHONPATH": path}
    with output.open("wb") as lines:
        return subprocess.Popen(command, env=environment, cwd=ROOT, stdout=lines, stderr=lines)


def test_a_web_process_writes_json(house: House, tmp_path: Path) -> None:
    port, output = free_port(), tmp_path / "lines"

    def answers() -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{port}/api/v1", timeout=30) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    running = start(WEB, house, output, REGISTRY_PORT=str(port))
    try:
        awaited(answers)
    finally:
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert {"gunicorn.error", None} == {line.get("logger") for line in lines}
    assert [line["route"] for line in lines if line["event"] == "request"] == ["/api/v1"]


def test_a_worker_writes_json_and_takes_its_row_away(house: House, tmp_path: Path) -> None:
    output = tmp_path / "lines"

    def pids() -> set[int]:
        with house.database.reading() as connection:
            return set(connection.execute(select(processes.c.pid).where(processes.c.role == "worker")).scalars())

    before = pids()
    running = start(WORKER, house, output, REGISTRY_WORKER_PROCESSES="1")
    try:
        awaited(lambda: pids() - before)
    finally:
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0
    assert "worker: Warm shutdown (MainProcess)" in {
        json.loads(line)["event"] for line in output.read_text().splitlines()
    }
    assert pids() - before == set()
