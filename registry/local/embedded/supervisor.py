"""Supervisor of `registry up`: starts programs in order, restarts those that die, stops all of them.

Child processes that cannot outlive their parent: descriptions of programs, and handles on running ones.
"""

import contextlib
import json
import logging
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from registry.errors import Misconfigured
from registry.local.embedded.home import Home

log = logging.getLogger(__name__)

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STOP_WITHIN = 10.0
KEPT_FOR_EACH = 1.0  # of those seconds, for each child that is still to be stopped
KEPT_FOR_KILLING = 0.5  # of a child's time, for its launcher to kill the deaf and what they started
SHORTEST_DELAY, LONGEST_DELAY = 0.2, 5.0
ROTATE_EVERY = 30.0
STEADY = 10.0  # after so many seconds of life a death is a new one, not the last one again
ASK_EVERY = 0.02
START_WITHIN = 120.0  # a large database may have to recover first


class StopRequested(BaseException):
    """A signal arrived during the start; raised inside the supervisor's block, swallowed at its end."""


@dataclass(slots=True)
class Post:
    """Place of a child among the others: its running process, or the time of its restart."""

    child: "Child"
    process: "Process | None"
    started: float
    delay: float = SHORTEST_DELAY
    due: float = 0.0


class Supervisor:
    """Holds the processes of a home. Leaving the block stops them in reverse order within 10 seconds.

    While the block lasts, the first of `signals` ends `run` (or the start in progress) and the second kills all
    processes at once; `signals=()` leaves the process's own handlers alone.
    """

    def __init__(self, home: Home, signals: Iterable[signal.Signals] = STOP_SIGNALS) -> None:
        self.home = home
        self.posts: list[Post] = []
        self.requests = 0
        self._signals = tuple(signals)
        self._handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self._hears, self._tells = os.pipe()
        for number in self._signals:
            if number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue  # nohup
            self._handlers[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.stop()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        os.close(self._hears)
        os.close(self._tells)
        # After the second signal the servers were killed under whatever was going on.
        return isinstance(error, StopRequested) or (self.requests > 1 and isinstance(error, Exception))

    @property
    def pids(self) -> dict[str, int]:
        """Process id of every running child, by name (of the program, not of its launcher)."""
        return {post.child.name: process.pid for post, process in self._running()}

    def start(self, child: "Child", within: float = START_WITHIN) -> None:
        """Start a child and return when it is ready.

        Raises `Misconfigured` with the child's last words when it ends before that or takes too long.
        """
        self._leave_if_asked()
        begun = time.monotonic()
        process = Process(child, self.home)
        post = Post(child, process, begun)
        self.posts.append(post)
        while not child.ready():
            self._wait_and_revive(ASK_EVERY)
            self._leave_if_asked()
            took = time.monotonic() - begun
            if post.process is not process or took > within:
                why = "is not ready" if post.process is process else "stopped"
                raise Misconfigured(f"{child.name} {why} after {took:.1f} s: {process.last_words()}")
        log.info("%s is ready after %.2f s", child.name, time.monotonic() - begun)

    def run(self) -> None:
        """Restart children that die, until a signal requests the end."""
        while not self.requests:
            dues = [post.due for post in self.posts if post.process is None and post.child.restart]
            self._wait_and_revive(max(0.0, min([*dues, time.monotonic() + ROTATE_EVERY]) - time.monotonic()))
            self.home.rotate_logs()

    def stop(self) -> None:
        """Stop all children, the last started first: by the stop signal, and by SIGKILL after their grace."""
        deadline = time.monotonic() + STOP_WITHIN
        running = [process for _, process in self._running()]
        log.info("stopping")
        while running:
            process = running.pop()
            left = max(KEPT_FOR_EACH, deadline - time.monotonic() - KEPT_FOR_EACH * len(running))
            grace = min(process.child.grace, left - KEPT_FOR_KILLING)
            process.ask_to_stop(0.0 if self.requests > 1 else grace)
            if process.wait(left) is None:
                process.kill()
            log.info("%s has stopped", process.child.name)
        self.posts.clear()

    def _running(self) -> "Iterator[tuple[Post, Process]]":
        return ((post, post.process) for post in self.posts if post.process is not None)

    def _on_signal(self, number: int, frame: object) -> None:
        self.requests += 1
        os.write(self._tells, b"!")
        if self.requests > 1:
            for _, process in self._running():
                process.ask_to_stop(0.0)

    def _leave_if_asked(self) -> None:
        if self.requests:
            raise StopRequested

    def _wait_and_revive(self, longest: float | None) -> None:
        """Wait for a death, a signal or the timeout; then restart the children that are due."""
        for post, process in self._wait(longest):
            self._bury(post, process)
        for post in self.posts:
            if post.process is None and post.child.restart and not self.requests:
                self._revive(post)

    def _wait(self, longest: float | None) -> "list[tuple[Post, Process]]":
        with selectors.DefaultSelector() as selector:
            selector.register(self._hears, selectors.EVENT_READ)
            for post, process in self._running():
                selector.register(process, selectors.EVENT_READ, (post, process))
            return [key.data for key, _ in selector.select(longest) if key.data is not None]

    def _bury(self, post: Post, process: "Process") -> None:
        status = process.wait()
        now = time.monotonic()
        if now - post.started > STEADY:
            post.delay = SHORTEST_DELAY
        post.process, post.due = None, now + post.delay
        how = f"signal {status - 128}" if status and status > 128 else f"status {status}"
        what = f"it starts again in {post.delay:.1f} s" if post.child.restart else "it stays so"
        log.warning("%s ended with %s; %s", post.child.name, how, what)
        post.delay = min(2 * post.delay, LONGEST_DELAY)

    def _revive(self, post: Post) -> None:
        now = time.monotonic()
        if now < post.due:
            return
        try:
            post.process, post.started = Process(post.child, self.home), now
            log.info("%s started again as process %d", post.child.name, post.process.pid)
        except (Misconfigured, OSError) as error:
            log.error("%s; the next attempt follows in %.1f s", error, post.delay)
            post.due, post.delay = now + post.delay, min(2 * post.delay, LONGEST_DELAY)


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
