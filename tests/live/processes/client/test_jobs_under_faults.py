"""Jobs as processes, and what nights do to them: servers that die, full disks, signals, storms of 429."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.client.conftest import Served
from tests.client.tiny import Reply, Seen, Tiny
from tests.live.processes.system import PROJECT, Servers, System, awaited, own_servers, own_system

JOB = """
import os, sys
from results_registry import log_grid
name, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    log_grid([[number + 0.5, None, 2.0], [1.0, 2.0, 3.0]], experiment="night", benchmark="b",
             model=f"{name}-{number}", metric="loss", axes=["Row", "Column"])
    print(number, flush=True)
print("end", flush=True)
"""


def job(name: str, count: int, environment: dict[str, str], script: str = JOB) -> subprocess.Popen[str]:
    """A job that logs `count` grids and prints the number of each once it is logged."""
    command = [sys.executable, "-W", "error", "-c", script, name, str(count)]
    return subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ended(process: subprocess.Popen[str]) -> tuple[list[str], str]:
    """The lines that a job printed before it ended, and its standard error."""
    out, err = process.communicate(timeout=120)
    return out.split(), err


def sync(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "registry", "sync"]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)


def where(served: Served) -> dict[str, str]:
    return {
        "REGISTRY_URL": served.url,
        "REGISTRY_TOKEN": served.where["token"],
        "REGISTRY_PROJECT": served.project.slug,
    }


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    """A registry of its own, to be killed."""
    servers: Servers
    with own_servers(tmp_path / "home") as servers, own_system(servers, tmp_path / "logs") as running:
        running.start("web")
        yield running


def test_every_grid_of_four_jobs_is_there_once_though_the_server_was_killed(system: System, tmp_path: Path) -> None:
    environment = {
        "REGISTRY_URL": system.settings.url,
        "REGISTRY_TOKEN": system.token,
        "REGISTRY_PROJECT": PROJECT,
        "REGISTRY_EXIT_SECONDS": "60",
    }
    jobs = [job(f"job{number}", 250, environment) for number in range(4)]
    stored = system.client()

    def count() -> list[dict[str, Any]]:
        return list(stored.call("GET", f"projects/{PROJECT}/grids?limit=1000&sort=created_at").json["items"])

    for least in (100, 400):
        awaited(lambda least=least: len(count()) >= least)
        stored.close()
        system.kill("web")
        system.start("web")
    for process in jobs:
        printed, said = ended(process)
        assert (process.returncode, printed[-1]) == (0, "end"), said
        assert "registry sync" not in said
    grids = count()
    wanted = {f"job{number}-{place}" for number in range(4) for place in range(250)}
    assert Counter(grid["model"] for grid in grids) == Counter(wanted)
    assert {grid["revision"] for grid in grids} == {1}
    assert list((tmp_path / "spool").iterdir()) == []


@pytest.mark.parametrize("blow", [signal.SIGTERM, signal.SIGKILL])
def test_what_a_killed_job_had_logged_is_there_once_after_sync(
    served: Served, blow: signal.Signals, tmp_path: Path
) -> None:
    process = job("killed", 100_000, where(served))
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(150)]
    process.send_signal(blow)
    rest = process.stdout.readlines()  # through the same buffer, which may hold lines already
    ended(process)
    assert process.returncode == -blow
    logged = {f"killed-{line.strip()}" for line in [*lines, *rest] if line.strip().isdecimal()}
    done = sync(where(served))
    assert done.returncode == 0, done.stderr
    counted = Counter(grid["model"] for grid in served.grids())
    assert set(counted.values()) == {1}
    assert logged <= set(counted)
    assert len(counted) <= len(logged) + 1  # one may have been logged and not printed
    assert {grid["revision"] for grid in served.grids()} == {1}
    assert list((tmp_path / "spool").iterdir()) == []


def test_two_syncs_and_a_job_at_once_send_each_grid_once(served: Served, tmp_path: Path) -> None:
    killed = job("left", 200, {"REGISTRY_URL": "http://127.0.0.1:9", "REGISTRY_PROJECT": served.project.slug})
    assert killed.stdout is not None
    for line in killed.stdout:
        if line == "end\n":
            break
    killed.kill()
    ended(killed)
    command = [sys.executable, "-m", "registry", "sync", "--any-url"]
    environment = os.environ | where(served)
    syncs = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    other = job("other", 20, where(served) | {"REGISTRY_EXIT_SECONDS": "20"})
    sent = [int(process.communicate(timeout=60)[0].split()[0]) for process in syncs]
    ended(other)
    assert sorted(sent) == [0, 200]
    assert {grid["revision"] for grid in served.grids()} == {1}
    assert len(served.grids()) == 220


def test_a_disk_that_is_full_keeps_nothing_from_being_sent(served: Served, tmp_path: Path) -> None:
    """A real file system of 64 KiB, full to the last byte, mounted for the job alone."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=64k tmpfs {disk} && (cat /dev/zero > {disk}/filler || true) 2>/dev/null"
    inside = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    if shutil.which("unshare") is None or subprocess.run([*inside, mount], check=False).returncode:
        pytest.skip("this machine lets nobody mount a file system of their own")
    environment = os.environ | where(served) | {"REGISTRY_SPOOL": str(disk), "REGISTRY_EXIT_SECONDS": "20"}
    script = f'{mount}; exec "$0" -W error -c "$1" full 20'
    ran = subprocess.run(
        [*inside, script, sys.executable, JOB], env=environment, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout.split()[-1]) == (0, "end"), ran.stderr
    assert "No space left on device" in ran.stderr
    assert len(served.grids()) == 20


def test_a_disk_that_is_full_and_no_server_lose_grids_aloud_and_stop_no_job(tmp_path: Path) -> None:
    def no_file_may_grow() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    environment = {"REGISTRY_URL": "http://127.0.0.1:9", "REGISTRY_PROJECT": "p", "REGISTRY_EXIT_SECONDS": "0.3"}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", JOB, "lost", "5"],
        env=os.environ | environment, preexec_fn=no_file_may_grow, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout.split()[-1]) == (0, "end"), ran.stderr
    assert "cannot be written (File too large)" in ran.stderr
    assert "registry: 5 unsent grids are lost: no disk would take them." in ran.stderr


def test_a_storm_of_429_ends_with_every_grid_there_once_and_is_not_fanned(tiny: Tiny) -> None:
    accepted: Counter[str] = Counter()
    refused = []

    def storm(seen: Seen) -> Reply:
        if len(refused) < 6:
            refused.append(time.monotonic())
            return Reply(429, {"detail": "too many"}, {"Retry-After": "1"})
        accepted[seen.json["model"]] += 1
        return Reply(201, {"id": "1"})

    tiny.script = storm
    environment = {"REGISTRY_URL": tiny.url, "REGISTRY_PROJECT": "p", "REGISTRY_EXIT_SECONDS": "30"}
    jobs = [job(f"job{number}", 25, environment) for number in range(2)]
    for process in jobs:
        printed, said = ended(process)
        assert (process.returncode, printed[-1]) == (0, "end"), said
    assert accepted == Counter(f"job{number}-{place}" for number in range(2) for place in range(25))
    assert len(tiny.seen) == 56
    assert refused[-1] - refused[0] >= 2  # two jobs, three turns each, a second between turns
