"""Child processes that cannot outlive their parent: descriptions of programs, and handles on running ones."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from registry.errors import Misconfigured
from registry.local.embedded.home import Home

LAUNCH = Path(__file__).with_name("launch.py")


@dataclass(frozen=True, slots=True)
class User:
    """User that a child becomes; with `namespace` only inside a user namespace, so that its files stay ours."""

    uid: int
    gid: int
    namespace: bool


@dataclass(frozen=True, slots=True)
class Child:
    """A program to run. `env` is added to the environment; `ready` is polled until it returns True."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    ready: Callable[[], bool] = lambda: True
    cwd: Path | None = None
    user: User | None = None
    stop_signal: int = signal.SIGTERM
    orphan_signal: int = signal.SIGKILL
    grace: float = 8.0
    restart: bool = True


class Process:
    """A running child behind its launcher (see `launch.py`). It ends together with all of its descendants."""

    def __init__(self, child: Child, home: Home) -> None:
        """Start the child; its output goes to a file in the home's logs.

        Raises `Misconfigured` when the launcher cannot run; a missing program ends with status 127.
        """
        self.child = child
        self._log = home.log(child.name)
        self._line, theirs = socket.socketpair()
        with theirs, self._log.open("ab") as output:
            self._said_before = output.tell()
            self._launcher = subprocess.Popen(
                [sys.executable, "-I", "-S", str(LAUNCH), child.name],
                stdin=theirs.fileno(),
                stdout=output,
                stderr=output,
                pass_fds=[] if home.lock is None else [home.lock],
                start_new_session=True,
            )
        self.pid = self._handshake(home.lock)

    def _handshake(self, lock: int | None) -> int:
        self._line.settimeout(30.0)
        with contextlib.suppress(OSError, ValueError):
            self._line.sendall(json.dumps(order(self.child, lock)).encode() + b"\n")
            return int(self._line.recv(32))
        self._launcher.kill()
        self._launcher.wait()
        self._line.close()
        raise Misconfigured(f"{self.child.name} cannot be started: {self.last_words()}")

    def fileno(self) -> int:
        """Descriptor that is readable once the child and all of its descendants are gone."""
        return self._line.fileno()

    def ask_to_stop(self, grace: float) -> None:
        """Send the stop signal at once and SIGKILL after `grace` seconds; do not wait."""
        with contextlib.suppress(OSError):
            self._line.sendall(f"stop {grace:.3f}\n".encode())

    def wait(self, timeout: float | None = None) -> int | None:
        """Exit status (128 + n after signal n), or None when the child still runs after `timeout` seconds."""
        if self._line.fileno() >= 0:
            with selectors.DefaultSelector() as selector:
                selector.register(self._line, selectors.EVENT_READ)
                if not selector.select(timeout):
                    return None
            self._line.close()
        return self._status()

    def kill(self) -> int:
        """Kill the launcher as a last resort; the kernel then kills the child."""
        self._launcher.kill()
        self._line.close()
        return self._status()

    def last_words(self) -> str:
        """Line of the log that says best why the child ended, with the path of the log."""
        with self._log.open("rb") as file:
            size = self._log.stat().st_size
            file.seek(max(self._said_before if self._said_before <= size else 0, size - 65536))
            lines = [line.strip() for line in file.read().decode(errors="replace").split("\n") if line.strip()]
        fatal = [line for line in lines if "FATAL" in line]  # PostgreSQL says more after it
        return f"{(fatal or lines or ['it said nothing'])[-1]} (see {self._log})"

    def _status(self) -> int:
        status = self._launcher.wait()
        if status >= 0:
            return status
        with contextlib.suppress(OSError):
            # The launcher was killed, and not every system tells the child.
            os.killpg(self.pid, self.child.orphan_signal)
        return 128 - status


def order(child: Child, lock: int | None) -> dict[str, object]:
    """Order for the launcher."""
    user = child.user
    return {
        "argv": [shutil.which(child.argv[0]) or child.argv[0], *child.argv[1:]],
        "env": dict(child.env),
        "cwd": None if child.cwd is None else str(child.cwd),
        "parent": os.getpid(),
        "lock": lock,
        "user": None if user is None else [user.uid, user.gid],
        "namespace": user is not None and user.namespace,
        "stop_signal": int(child.stop_signal),
        "orphan_signal": int(child.orphan_signal),
    }


def run_to_end(child: Child, home: Home) -> None:
    """Run a program that ends by itself; `Misconfigured` with its last words when it fails."""
    process = Process(child, home)
    if process.wait() != 0:
        raise Misconfigured(f"{child.name} failed: {process.last_words()}")
