"""A registry as its users run it, `registry up` on a home of its own, and how to reach into it to break it."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg2
import redis

from tests.house import PARTITIONS
from tests.live.faults.wire import Wire
from tests.live.processes.system import awaited, children, descendants

PROJECT = "faults"
PROCESSES = ("web", "worker", "dispatcher")
MUTANTS = Path(__file__).with_name("mutants")


class Stage:
    """`registry up` as a process; what dies is started again by its supervisor. Leaving the block stops it."""

    def __init__(self, directory: Path, port: int, *, mutant: str = "", **settings: Any) -> None:
        self.home, self.port, self.errors = directory / "home", port, directory / "up.log"
        self.settings = settings
        self.mutant = mutant
        self._wires: list[Wire] = []

    def __enter__(self) -> "Stage":
        command = [sys.executable, "-m", "registry", "up", "--home", str(self.home), "--port", str(self.port)]
        with self.errors.open("a") as errors:
            self.process = subprocess.Popen(
                command,
                env=self.environment(),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "Ctrl-C" in line:
                break
        assert self.process.poll() is None, self.errors.read_text()
        # Whatever it says later is read, or it would wait for ever to say it.
        self._listener = threading.Thread(target=self.process.stdout.read, daemon=True)
        self._listener.start()
        self.token = (self.home / "admin-token").read_text().strip()
        if PARTITIONS:
            self._partition()
        made = self.wire().insist("POST", "projects", {"slug": PROJECT})
        assert made.status in (201, 409), made.body
        return self

    def _partition(self) -> None:
        """Bring the tables into partitions, beside the service, which has nothing to do yet; once in a home."""
        command = [sys.executable, "-m", "registry", "partition", "--home", str(self.home), "--yes"]
        ran = subprocess.run(
            [*command, "--parts", str(PARTITIONS)], env=self.environment(), capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0 or "in partitions already" in ran.stderr, ran.stderr

    def __exit__(self, *_: object) -> None:
        for wire in self._wires:
            wire.close()
        self.thaw("postgres", "valkey", "web", "worker", "dispatcher")
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._listener.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def environment(self) -> dict[str, str]:
        """This environment with the stage's settings instead of any others, and the mutant's patches if any."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith("REGISTRY_")}
        binaries = {name: os.environ[name] for name in ("REGISTRY_PG_BIN",) if name in os.environ}
        given = {f"REGISTRY_{name.upper()}": str(value) for name, value in self.settings.items()}
        mutation = {"FAULTS_MUTANT": self.mutant, "PYTHONPATH": str(MUTANTS)} if self.mutant else {}
        return kept | binaries | given | mutation

    def wire(self, token: str | None = None, *, port: int | None = None) -> Wire:
        """A connection with the administrator's token or another; closed with the stage."""
        wire = Wire(port or self.port, token or self.token)
        self._wires.append(wire)
        return wire

    def log(self, name: str) -> str:
        path = self.home / "logs" / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    # Reaching in: processes

    def pid(self, name: str) -> int | None:
        """The program that runs behind the launcher of this name, None while it is down."""
        for launcher in children(self.process.pid):
            argv = argv_of(launcher)
            if argv[-1:] == [name] and any(part.endswith("launch.py") for part in argv):
                found = [child for child in children(launcher) if argv_of(child)[-1:] != [name]]
                return found[0] if found else None
        return None

    def tree(self, name: str) -> list[int]:
        """The program and all that it started, itself first."""
        first = self.pid(name)
        return [] if first is None else [first, *descendants(first)]

    def signal(self, name: str, number: signal.Signals) -> bool:
        """Signal the program alone; whether there was one."""
        pid = self.pid(name)
        return pid is not None and send(pid, number)

    def freeze(self, name: str) -> None:
        for pid in self.tree(name):
            send(pid, signal.SIGSTOP)
        for pid in self.tree(name):  # and what it started meanwhile
            send(pid, signal.SIGSTOP)

    def freeze_at_rest(self) -> bool:
        """Freeze what is ours while it holds no lock of the database, or nothing at all; whether it was done."""
        for name in PROCESSES:
            self.freeze(name)
        held = (
            "SELECT count(*) FROM pg_stat_activity WHERE starts_with(application_name, 'registry-') AND state <> 'idle'"
        )
        if self.ask(held) == 0:
            return True
        self.thaw(*PROCESSES)
        return False

    def thaw(self, *names: str) -> None:
        for name in names:
            for pid in reversed(self.tree(name)):
                send(pid, signal.SIGCONT)

    def kill_tree(self, name: str) -> None:
        for pid in self.tree(name):
            send(pid, signal.SIGKILL)

    # Reaching in: servers

    @property
    def sockets(self) -> Path:
        from registry.local.embedded import Home

        return Home(self.home).sockets

    def database_url(self, database: str = "registry") -> str:
        return f"postgresql+psycopg2://registry@/{database}?host={self.sockets}&port=5432"

    @contextlib.contextmanager
    def sql(self, database: str = "registry") -> Iterator[Any]:
        """A cursor of the database's owner, each statement its own transaction."""
        connection = psycopg2.connect(
            host=str(self.sockets), port=5432, user="registry", dbname=database, connect_timeout=5
        )
        connection.autocommit = True
        with contextlib.closing(connection), connection.cursor() as cursor:
            yield cursor

    def ask(self, statement: str, *values: Any) -> Any:
        """The first column of the first row."""
        with self.sql() as cursor:
            cursor.execute(statement, values)
            row = cursor.fetchone() if cursor.description else None
            return row and row[0]

    @contextlib.contextmanager
    def row_lock(self, table: str, column: str, value: str) -> Iterator[None]:
        """Within the block, nobody else can lock or change these rows."""
        with self.sql() as cursor:
            cursor.connection.autocommit = False
            cursor.execute(f"SELECT FROM {table} WHERE {column} = %s FOR UPDATE", (value,))
            yield
            cursor.connection.rollback()

    def broker(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.sockets / "valkey.sock"), socket_timeout=3.0)


@contextlib.contextmanager
def beside(stage: Stage, directory: Path, port: int, *, database: str = "registry") -> Iterator[None]:
    """Another web process, worker and dispatcher on a database of the stage's servers.

    They take the place of the stage's own, which stand still meanwhile: the broker carries the doorbells of one.
    """
    environment = stage.environment() | {
        "REGISTRY_DATABASE_URL": stage.database_url(database),
        "REGISTRY_REDIS_URL": f"redis+socket://{stage.sockets}/valkey.sock",
        "REGISTRY_PORT": str(port),
    }
    awaited(stage.freeze_at_rest, 60, "a moment without a transaction")
    # What an earlier test has thrown into it may end a worker, and here nobody starts one again.
    with contextlib.closing(stage.broker()) as broker:
        broker.flushall()
    running = []
    with (directory / "beside.log").open("ab") as log:
        for command in ("serve", "worker", "dispatch"):
            argv = [sys.executable, "-m", "registry", command]
            where = {"env": environment, "cwd": directory, "start_new_session": True}
            running.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **where))
    try:
        yield
    except Exception as error:
        for process in running:
            if process.poll() is not None:
                error.add_note(f"{process.args} had ended with {process.returncode}")
        said = (directory / "beside.log").read_text()
        error.add_note(f"{said[:3000]}\n…\n{said[-3000:]}")
        raise
    finally:
        for process in running:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        stage.thaw(*PROCESSES)


def send(pid: int, number: signal.Signals) -> bool:
    with contextlib.suppress(OSError):
        os.kill(pid, number)
        return True
    return False


def argv_of(pid: int) -> list[str]:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().decode(errors="replace").split("\0")[:-1]
    return []
