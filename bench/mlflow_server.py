"""An MLflow tracking server beside the registry, on the same PostgreSQL, in an environment of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

from bench.system import free_port
from registry.settings import driver_url

PACKAGES = ("mlflow==3.17.2", "psycopg2-binary")
_PATIENCE = 180.0


class Unreachable(Exception):
    """MLflow cannot be installed here."""


@dataclass(frozen=True)
class Tracking:
    """Where it listens; a call is one request on a connection that the caller keeps."""

    port: int

    def connection(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=300)

    def call(self, connection: HTTPConnection, verb: str, body: dict[str, Any]) -> dict[str, Any]:
        path = f"/api/2.0/mlflow/{verb}"
        connection.request("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} for {verb}: {data[:300]!r}")
        found: dict[str, Any] = json.loads(data)
        return found


def environment(directory: Path) -> Path:
    """The `mlflow` program of a virtual environment in the directory, installed there if it is not yet.

    `Unreachable` where the package registry does not give it.
    """
    program = directory / "bin" / "mlflow"
    if not program.exists():
        print(f"installing {' and '.join(PACKAGES)} into {directory}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
        python = str(directory / "bin" / "python")
        install = [python, "-m", "pip", "install", "--quiet", *PACKAGES]
        ran = subprocess.run(install, capture_output=True, text=True, check=False)
        if ran.returncode:
            faults = [line for line in ran.stderr.splitlines() if line.startswith("ERROR")]
            raise Unreachable(f"the package registry gives no MLflow: {faults[-1] if faults else ran.stderr[-300:]}")
    return program


@contextmanager
def tracking_server(program: Path, database_url: str, home: Path, processes: int = 2) -> Iterator[Tracking]:
    """Run a tracking server on a database `mlflow` of this PostgreSQL while the block lasts.

    Under gunicorn with eight threads a process, like the registry: its default server kills workers that a busy
    machine keeps from answering for five seconds.
    """
    url = make_url(driver_url(database_url)).set(database="mlflow")
    engine = create_engine(driver_url(database_url), isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text("CREATE DATABASE mlflow"))
    found = Tracking(free_port())
    command = [
        str(program), "server", "--host", "127.0.0.1", "--port", str(found.port), "--workers", str(processes),
        "--backend-store-uri", url.render_as_string(hide_password=False),
        "--gunicorn-opts", "--worker-class gthread --threads 8 --timeout 300",
        "--no-serve-artifacts", "--default-artifact-root", str(home / "artifacts"),
    ]  # fmt: skip
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
    with (home / "mlflow.log").open("wb") as log:
        child = subprocess.Popen(
            command, env=os.environ | quiet, cwd=home, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _await(found, child, home / "mlflow.log")
        yield found
    finally:
        os.killpg(child.pid, signal.SIGTERM)
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def _await(found: Tracking, child: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and child.poll() is None:
        try:
            connection = found.connection()
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"MLflow did not start:\n{log.read_text(errors='replace')[-2000:]}")
