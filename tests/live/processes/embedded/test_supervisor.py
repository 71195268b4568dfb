"""The supervisor as a process: what it starts, restarts and stops, and what is left when it is killed."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg2
import pytest
import redis

from registry.errors import Misconfigured
from registry.local.embedded import Child, Home, Supervisor, embedded_servers
from tests.live.processes.system import descendants

Start = Callable[..., Any]  # the fixture `up`
PATIENCE = 15.0
GRACE = Child("any", []).grace
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

PATIENT = "import signal; print('there'); signal.pause()"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {PATIENT}"
# A child whose grandchildren are in sessions of their own and deaf to everything but SIGKILL.
FAMILY = (
    "import os, signal\n"
    "for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)\n"
    "if os.fork() == 0: os.setsid(); os.fork()\n"
    "print('there', os.getpid())\n"
    "while True: signal.pause()"
)


def wait_for_log(running: Any, home: Path, name: str, text: str, times: int = 1) -> None:
    running.eventually(lambda: (home / "logs" / f"{name}.log").read_text().count(text) >= times)


def connect(home: Path) -> psycopg2.extensions.connection:
    return psycopg2.connect(host=str(home / "sockets"), user="registry", dbname="registry")


@linux
def test_a_killed_supervisor_leaves_no_process_and_no_lock(tmp_path: Path, up: Start) -> None:
    home = tmp_path / "h"
    first = up(home, "--servers", "--child", f"family={FAMILY}")
    pids = first.pids()
    wait_for_log(first, home, "family", "there", times=3)
    with closing(connect(home)) as idle, closing(connect(home)) as busy, idle.cursor() as cursor:
        cursor.execute("CREATE TABLE t AS SELECT 42 AS answer")
        idle.commit()
        idle.autocommit = True  # within a transaction the activity would stay what it first was
        endless = threading.Thread(target=run_for_ever, args=(busy,), daemon=True)
        endless.start()
        first.eventually(
            lambda: cursor.execute("SELECT 1 FROM pg_stat_activity WHERE query ~ '^DO'") or cursor.rowcount
        )
        assert set(pids) == {"postgres", "valkey", "family"}
        assert len(descendants(first.pid)) > 3 * 2 + 3 + 5
        first.kill()
        endless.join(PATIENCE)
    second = up(home, "--servers")
    second.pids()
    with closing(connect(home)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT answer FROM t")
        assert cursor.fetchall() == [(42,)]


def run_for_ever(connection: psycopg2.extensions.connection) -> None:
    with pytest.raises(psycopg2.OperationalError), connection.cursor() as cursor:
        cursor.execute("DO $$ BEGIN LOOP END LOOP; END $$")


def test_a_start_right_after_a_kill_waits_for_what_is_left(tmp_path: Path, up: Start) -> None:
    running = up(tmp_path / "h", "--child", f"deaf={STUBBORN}")
    old = running.pids()
    wait_for_log(running, tmp_path / "h", "deaf", "there")
    os.kill(running.pid, signal.SIGKILL)
    up(tmp_path / "h", "--child", f"app={PATIENT}").pids()
    with pytest.raises(ProcessLookupError):
        os.kill(old["deaf"], 0)


def test_a_killed_postgres_comes_back_with_every_committed_row(tmp_path: Path, up: Start) -> None:
    home = tmp_path / "h"
    running = up(home, "--servers")
    pids = running.pids()
    with closing(connect(home)) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t AS SELECT 42 AS answer")
        connection.commit()
        os.kill(pids["postgres"], signal.SIGKILL)
        running.line("postgres ended with signal 9")
    with closing(running.eventually(lambda: connect(home))) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT answer FROM t")
        assert cursor.fetchall() == [(42,)]


def test_a_killed_valkey_comes_back(tmp_path: Path, up: Start) -> None:
    running = up(tmp_path / "h", "--servers")
    url = running.line("url unix://").removeprefix("url ")
    pids = running.pids()
    with closing(redis.Redis.from_url(url)) as client:
        assert client.ping()
        os.kill(pids["valkey"], signal.SIGKILL)
        running.line("valkey started again")
        assert running.eventually(client.ping)


@linux
def test_a_killed_launcher_takes_its_program_along_and_both_come_back(tmp_path: Path, up: Start) -> None:
    running = up(tmp_path / "h", "--child", f"app={PATIENT}")
    pid = running.pids()["app"]
    program = os.pidfd_open(pid)
    os.kill(int(Path(f"/proc/{pid}/stat").read_text().split()[3]), signal.SIGKILL)
    assert select.select([program], [], [], PATIENCE)[0]
    os.close(program)
    running.line("app started again")


@linux
def test_what_a_dead_child_left_is_gone_before_it_starts_again(tmp_path: Path, up: Start) -> None:
    running = up(tmp_path / "h", "--child", f"family={FAMILY}")
    pid = running.pids()["family"]
    wait_for_log(running, tmp_path / "h", "family", "there", times=3)
    left = [os.pidfd_open(child) for child in descendants(pid)]
    assert len(left) == 2
    os.kill(pid, signal.SIGKILL)
    running.line("family ended with signal 9")
    assert len(select.select(left, [], [], 0)[0]) == 2
    for pidfd in left:
        os.close(pidfd)


def test_a_child_that_keeps_dying_is_restarted_ever_more_slowly(tmp_path: Path, up: Start) -> None:
    running = up(tmp_path / "h", "--child", "short=raise SystemExit(3)")
    delays = [running.line("short ended with status 3").rpartition(" in ")[2] for _ in range(4)]
    assert delays == ["0.2 s", "0.4 s", "0.8 s", "1.6 s"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_everything_in_reverse_order(tmp_path: Path, up: Start, number: signal.Signals) -> None:
    running = up(tmp_path / "h", "--servers", "--child", f"app={PATIENT}")
    running.pids()
    begun = time.monotonic()
    running.process.send_signal(number)
    assert running.end() == 0
    assert time.monotonic() - begun < GRACE, "something was killed"
    stopped = [line.split()[1] for line in running.said if line.endswith("has stopped")]
    assert stopped == ["app", "postgres", "valkey"]
    assert "database system is shut down" in (tmp_path / "h" / "logs" / "postgres.log").read_text()
    with Home(tmp_path / "h"):
        pass


@linux
def test_deaf_children_are_killed_within_ten_seconds(tmp_path: Path, up: Start) -> None:
    deaf = {"one": STUBBORN, "two": STUBBORN, "family": FAMILY}
    running = up(tmp_path / "h", "--servers", *(f"--child={name}={program}" for name, program in deaf.items()))
    running.pids()
    for name in deaf:
        wait_for_log(running, tmp_path / "h", name, "there", times=3 if name == "family" else 1)
    everything = [os.pidfd_open(pid) for pid in descendants(running.pid)]
    begun = time.monotonic()
    running.process.send_signal(signal.SIGINT)
    assert running.end() == 0
    assert time.monotonic() - begun < 10
    assert len(select.select(everything, [], [], 0)[0]) == len(everything)
    for pidfd in everything:
        os.close(pidfd)
    assert "database system is shut down" in (tmp_path / "h" / "logs" / "postgres.log").read_text()


def test_a_second_signal_kills_at_once(tmp_path: Path, up: Start) -> None:
    running = up(tmp_path / "h", "--child", f"one={STUBBORN}", "--child", f"two={STUBBORN}")
    running.pids()
    for name in ("one", "two"):
        wait_for_log(running, tmp_path / "h", name, "there")
    begun = time.monotonic()
    running.process.send_signal(signal.SIGINT)
    running.line("stopping")
    running.process.send_signal(signal.SIGINT)
    assert running.end() == 0
    assert time.monotonic() - begun < GRACE, "it waited for deaf children"


def test_a_signal_during_the_start_stops_what_was_started(tmp_path: Path, up: Start) -> None:
    running = up(tmp_path / "h", "--child", f"app={PATIENT}", "--never-ready")
    running.line("waiting")
    running.process.send_signal(signal.SIGTERM)
    assert running.end() == 0
    assert running.said[-1].endswith("app has stopped")


@pytest.mark.parametrize(
    ("program", "within", "told"),
    [
        ([sys.executable, "-c", "raise SystemExit('no setting')"], PATIENCE, r"app stopped .*no setting .*app\.log"),
        (["/no/such/program"], PATIENCE, "cannot run /no/such/program"),
        ([sys.executable, "-c", PATIENT], 0.1, "is not ready after"),
    ],
)
def test_a_child_that_does_not_start_is_reported_with_its_last_words(
    tmp_path: Path, program: list[str], within: float, told: str
) -> None:
    child = Child("app", program, ready=lambda: False)
    with (
        Home(tmp_path) as home,
        Supervisor(home, signals=()) as supervisor,
        pytest.raises(Misconfigured, match=told),
    ):
        supervisor.start(child, within=within)


@linux
def test_the_environment_reaches_the_child_and_no_list_of_processes(tmp_path: Path, up: Start) -> None:
    running = up(tmp_path / "h", "--child", f"app=import os; print(os.environ['GREETING']); {PATIENT}")
    running.pids()
    wait_for_log(running, tmp_path / "h", "app", "hello")
    for pid in descendants(running.pid):
        assert b"hello" not in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_servers_outlive_the_thread_that_started_them(tmp_path: Path) -> None:
    opened = embedded_servers(tmp_path / "h")
    starter = threading.Thread(target=opened.__enter__)
    starter.start()
    starter.join(PATIENCE)
    with closing(connect(tmp_path / "h")) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    opened.__exit__(None, None, None)


def test_the_terminal_s_interrupt_does_not_reach_the_children(tmp_path: Path, up: Start) -> None:
    running = up(tmp_path / "h", "--child", f"app={PATIENT}", start_new_session=True)
    running.pids()
    os.killpg(running.pid, signal.SIGINT)
    assert running.end() == 0
    assert not [line for line in running.said if "ended with" in line]


def test_starting_takes_nothing_but_the_standard_library(tmp_path: Path) -> None:
    launch = Path(sys.modules["registry.local.embedded"].__file__ or "").with_name("launch.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(launch)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert "Socket operation on non-socket" in done.stderr
