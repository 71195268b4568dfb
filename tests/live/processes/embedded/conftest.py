"""A `registry up` in miniature as a process of its own, and ways to look at all that it started."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.live.processes.system import descendants

UP = Path(__file__).with_name("up.py")
PATIENCE = 15.0


class Up:
    """The running script `up.py`; `line` waits for what it reports."""

    def __init__(self, home: Path, *options: str, **popen: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(UP), str(home), *options],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            **popen,
        )
        self.pid = self.process.pid
        self.said: list[str] = []

    def line(self, wanted: str) -> str:
        """The next reported line that contains `wanted`."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.strip())
            if wanted in line:
                return line.strip()
        raise AssertionError(f"never said {wanted!r}, only {self.said}")

    def pids(self) -> dict[str, int]:
        found: dict[str, int] = json.loads(self.line("pids ").removeprefix("pids "))
        return found

    def end(self) -> int:
        """The exit status; what was still to be said is read."""
        assert self.process.stdout is not None
        self.said += self.process.stdout.read().splitlines()
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """kill −9 of the supervisor; returns when it and all its descendants are gone."""
        family = []
        for pid in [self.pid, *descendants(self.pid)]:
            with contextlib.suppress(ProcessLookupError):  # a backend may end by itself meanwhile
                family.append(os.pidfd_open(pid))
        os.kill(self.pid, signal.SIGKILL)
        for pidfd in family:
            assert select.select([pidfd], [], [], PATIENCE)[0], "a process outlived its supervisor"
            os.close(pidfd)
        self.end()

    def eventually(self, ask: Callable[[], Any]) -> Any:
        """The first answer that is neither false nor an exception; for servers that announce nothing."""
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                if answer := ask():
                    return answer
            except Exception:
                if time.monotonic() > give_up:
                    raise
            assert time.monotonic() < give_up
            time.sleep(0.02)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A directory whose name is short enough for sockets, however many processes the tests run in."""
    with tempfile.TemporaryDirectory(prefix="registry-", ignore_cleanup_errors=True) as directory:
        yield Path(directory).resolve()


@pytest.fixture
def up() -> Iterator[Callable[..., Up]]:
    started: list[Up] = []

    def start(*args: Any, **options: Any) -> Up:
        started.append(Up(*args, **options))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.terminate()
        one.process.wait(PATIENCE)
        assert one.process.stdout is not None
        one.process.stdout.close()
