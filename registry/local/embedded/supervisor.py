"""Supervisor of `registry up`: starts programs in order, restarts those that die, stops all of them."""

from __future__ import annotations

import logging
import os
import selectors
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from registry.errors import Misconfigured
from registry.local.embedded.children import Child, Process
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

    child: Child
    process: Process | None
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

    def start(self, child: Child, within: float = START_WITHIN) -> None:
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

    def _running(self) -> Iterator[tuple[Post, Process]]:
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

    def _wait(self, longest: float | None) -> list[tuple[Post, Process]]:
        with selectors.DefaultSelector() as selector:
            selector.register(self._hears, selectors.EVENT_READ)
            for post, process in self._running():
                selector.register(process, selectors.EVENT_READ, (post, process))
            return [key.data for key, _ in selector.select(longest) if key.data is not None]

    def _bury(self, post: Post, process: Process) -> None:
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
