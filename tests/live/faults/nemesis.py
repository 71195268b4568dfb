"""The nemesis: every few seconds one fault, in an order that its seed decides; each kind once before any twice."""

import contextlib
import random
import signal
import threading
import time
from collections.abc import Callable

import redis

from tests.live.faults.history import History
from tests.live.faults.stage import Stage, descendants, send

EVERY = 3.0
DOWN, FROZEN = 5.0, 4.0


class Nemesis:
    """Breaks a stage from a thread of its own while the block lasts. Leaving it waits until nothing is held down."""

    def __init__(self, stage: Stage, history: History, seed: int) -> None:
        self.stage, self.history = stage, history
        self.chance = random.Random(f"nemesis {seed}")
        self._over = threading.Event()
        self._holding: dict[str, threading.Thread] = {}
        self._failures: list[BaseException] = []
        self.kinds: dict[str, tuple[str, Callable[[], None]]] = {
            "kill -9 of a worker's child": ("worker", self.kill_child),
            "kill -9 of the worker and its children": ("worker", lambda: self.kill("worker")),
            "kill -9 of the web process": ("web", lambda: self.kill("web")),
            "kill -9 of the dispatcher": ("dispatcher", lambda: self.kill("dispatcher")),
            "FLUSHALL": ("valkey", self.flush),
            "kill -9 of Redis": ("valkey", lambda: self.kill("valkey")),
            "Redis down for 5 s": ("valkey", self.keep_down),
            "Redis frozen for 4 s": ("valkey", lambda: self.hold("valkey")),
            "immediate stop of Postgres": ("postgres", lambda: self.stop(signal.SIGQUIT)),
            "fast stop of Postgres": ("postgres", lambda: self.stop(signal.SIGINT)),
            "kill -9 of a Postgres backend": ("postgres", self.kill_backend),
            "Postgres frozen for 4 s": ("postgres", lambda: self.hold("postgres")),
        }

    def __enter__(self) -> "Nemesis":
        self._thread = threading.Thread(target=self._run, name="nemesis")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for holder in self._holding.values():
            holder.join()
        if self._failures:
            raise self._failures[0]

    def _run(self) -> None:
        try:
            deck: list[str] = []
            while not self._over.wait(EVERY):
                deck = deck or self.chance.sample(sorted(self.kinds), len(self.kinds))
                free = [kind for kind in deck if not self._held(self.kinds[kind][0])]
                if free:
                    deck.remove(free[0])
                    self.history.broke(free[0])
                    self.kinds[free[0]][1]()
        except BaseException as error:
            self._failures.append(error)

    def _held(self, name: str) -> bool:
        holder = self._holding.get(name)
        return holder is not None and holder.is_alive()

    def _meanwhile(self, name: str, act: Callable[[], None]) -> None:
        self._holding[name] = threading.Thread(target=act, name=f"holds {name}")
        self._holding[name].start()

    def kill(self, name: str) -> None:
        self.stage.kill_tree(name)

    def kill_child(self) -> None:
        pid = self.stage.pid("worker")
        children = descendants(pid) if pid else []
        if children:
            send(self.chance.choice(children), signal.SIGKILL)

    def flush(self) -> None:
        with contextlib.suppress(redis.RedisError), contextlib.closing(self.stage.broker()) as client:
            client.flushall()

    def stop(self, how: signal.Signals) -> None:
        self.stage.signal("postgres", how)

    def kill_backend(self) -> None:
        """A server process that works for a client: after its death PostgreSQL starts all of them anew."""
        pid = self.stage.pid("postgres")
        backends = [child for child in (descendants(pid) if pid else []) if _is_backend(child)]
        if backends:
            send(self.chance.choice(backends), signal.SIGKILL)

    def hold(self, name: str) -> None:
        """Freeze a server and thaw it later; connections stay open and nothing answers."""

        def act() -> None:
            time.sleep(FROZEN)
            self.stage.thaw(name)

        self.stage.freeze(name)
        self._meanwhile(name, act)

    def keep_down(self) -> None:
        """Kill a server as often as the supervisor starts it again."""

        def act() -> None:
            until = time.monotonic() + DOWN
            while time.monotonic() < until:
                self.stage.kill_tree("valkey")
                time.sleep(0.05)

        self._meanwhile("valkey", act)


def _is_backend(pid: int) -> bool:
    """Whether a process of PostgreSQL serves a client: its title names the user and the database."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().startswith(b"postgres: registry registry")
    except OSError:
        return False
