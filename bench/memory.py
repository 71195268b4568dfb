"""What `registry up` takes of memory: while nothing happens, and its worker after many grids were described.

Memory is the proportional set size: a page that n processes share counts an nth in each of them.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bench.figures import Figure, show
from bench.load import drain, post, publish
from bench.processes import Process, descendants
from bench.system import UNLIMITED, System, free_port
from registry.local.embedded import Home, Postgres
from registry.settings import Settings
from registry.storage.database import Database

PARTS = ("postgres", "valkey", "web", "dispatcher", "worker")
SETTLED = 5.0


def measure(grids: int = 10_000, idle: float = SETTLED) -> Iterator[Figure]:
    """MiB of the whole after so many idle seconds, and of the worker after so many grids."""
    with running() as (found, supervisor):
        post(found.connection(), found, "/api/v1/projects", b'{"slug": "bench"}')
        time.sleep(idle)
        sizes = by_part(supervisor)
        beside = ", ".join(f"{name} {size:.0f}" for name, size in sizes.most_common())
        yield Figure("`registry up`, idle", sum(sizes.values()), "MiB", at_most=300.0, beside=beside)
        publish(found, grids, 1, 0, batch=min(grids, 500))
        drain(found, patience=540.0)
        each = sorted(one.shared_fairly for one in of_part(descendants(supervisor), "worker"))
        sizes = ", ".join(f"{size:.0f}" for size in each)
        name = f"the largest process of its worker after {grids:,} grids"
        yield Figure(name, each[-1], "MiB", at_most=120.0, beside=f"the worker's processes {sizes}")
        peak = sum(by_part(supervisor).values())
        yield Figure(f"`registry up` after {grids:,} grids", peak, "MiB")


@contextmanager
def running() -> Iterator[tuple[System, int]]:
    """A registry as `registry up` starts it, without limits of rate; with the process number of its supervisor."""
    with tempfile.TemporaryDirectory(prefix="registry-memory-") as directory:
        home, port = Path(directory) / "home", free_port()
        settings = replace(Settings(), port=port, **UNLIMITED)
        given = {f"REGISTRY_{name.upper()}": str(value) for name, value in UNLIMITED.items()}
        given["PYTHONPATH"] = os.pathsep.join(
            [str(without_tools(Path(directory) / "path")), os.environ.get("PYTHONPATH", "")]
        )
        kept = {name: text for name, text in os.environ.items() if not name.startswith("REGISTRY_")}
        command = [sys.executable, "-m", "registry", "up", "--home", str(home), "--port", str(port)]
        child = subprocess.Popen(command, env=kept | given, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        try:
            if not any("Ctrl-C" in line for line in child.stdout):
                raise RuntimeError("registry up did not start")
            url = Postgres(Home(home)).url
            database = Database(replace(settings, database_url=url), name="bench")
            yield System(port, (home / "admin-token").read_text().strip(), settings, database, 0), child.pid
            database.close()
        finally:
            child.send_signal(signal.SIGINT)
            child.wait(30)
            child.stdout.close()


def without_tools(path: Path) -> Path:
    """A folder that hides `rich`, which tools of the tests need and structlog loads where it is; the registry does not
    depend on it."""
    (path / "rich").mkdir(parents=True)
    (path / "rich" / "__init__.py").write_text('raise ImportError("hidden")')
    return path


def by_part(supervisor: int) -> Counter[str]:
    """MiB of each part of the service; what belongs to none is the supervisor's."""
    family, sizes = descendants(supervisor), Counter[str]()
    for one in family:
        sizes["supervisor"] += one.shared_fairly
    for part in PARTS:
        size = sum(one.shared_fairly for one in of_part(family, part))
        sizes[part] += size
        sizes["supervisor"] -= size
    return sizes


def of_part(family: list[Process], part: str) -> list[Process]:
    """The processes of a part of the service, without the launcher that waits for them: its last word is the part."""
    launchers = {one.pid for one in family if one.command.endswith(f" {part}") and "launch.py" in one.command}
    found: list[Process] = []
    for one in family:  # parents come before their children
        if one.parent in launchers | {each.pid for each in found}:
            found.append(one)
    return found


if __name__ == "__main__":
    show(measure(*(int(one) for one in sys.argv[1:2])))
