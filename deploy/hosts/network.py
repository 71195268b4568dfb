"""Hosts as network namespaces on one switch, whose links can be cut and mended. Nothing leaves the namespaces."""

import contextlib
import os
import pwd
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ADDRESSES = {
    "db1": "10.77.0.10",
    "db2": "10.77.0.11",
    "db3": "10.77.0.12",
    "db4": "10.77.0.13",
    "redis": "10.77.0.20",
    "web1": "10.77.0.31",
    "web2": "10.77.0.32",
    "web3": "10.77.0.33",
    "worker1": "10.77.0.41",
    "worker2": "10.77.0.42",
    "dispatcher": "10.77.0.51",
    "balancer": "10.77.0.60",
    "pooler": "10.77.0.70",
    "admin": "10.77.0.90",
    "clients": "10.77.0.100",
}
_NOBODYS_LINK = "02:00:00:00:00:01"


def _group_of(user: str) -> int:
    return pwd.getpwnam(user).pw_gid


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, stdout=subprocess.DEVNULL)


class Network:
    """The switch, the hosts and the processes on them."""

    def __init__(self, logs: Path) -> None:
        self._name = f"rg{os.getpid() % 100_000}"
        self._logs = logs
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Network":
        try:
            ip("netns", "add", self._switch)
            ip("-n", self._switch, "link", "add", "switch", "type", "bridge")
            ip("-n", self._switch, "link", "set", "switch", "up")
            for number, (host, address) in enumerate(ADDRESSES.items()):
                self._add(host, address, f"port{number}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_raised: object) -> None:
        # Nothing interrupts this: what stayed would be in the way of the next run.
        for number in (signal.SIGALRM, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        spaces = [*map(self.space, ADDRESSES), self._switch]
        for host in ADDRESSES:
            self.kill(host)
        for name in reversed(list(self.processes)):
            self.stop(name, signal.SIGKILL)
        for name in spaces:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)

    def kill(self, host: str) -> None:
        """End everything on a host with -9."""
        there = subprocess.run(["ip", "netns", "pids", self.space(host)], capture_output=True, text=True, check=False)
        for process in there.stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)

    @property
    def _switch(self) -> str:
        return f"{self._name}-switch"

    def space(self, host: str) -> str:
        """Name of the host's namespace."""
        return f"{self._name}-{host}"

    def _add(self, host: str, address: str, port: str) -> None:
        space = self.space(host)
        ip("netns", "add", space)
        ip("-n", space, "link", "set", "lo", "up")
        ip("-n", self._switch, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space)
        ip("-n", self._switch, "link", "set", port, "master", "switch", "up")
        ip("-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
        ip("-n", space, "link", "set", "eth0", "up")

    def on(self, host: str, command: list[str], user: str = "") -> list[str]:
        """Command line that runs a command on a host."""
        become = (
            ["setpriv", f"--reuid={user}", f"--regid={_group_of(user)}", "--clear-groups", "env", "HOME=/nonexistent"]
            if user
            else []
        )
        return ["ip", "netns", "exec", self.space(host), *become, *command]

    def run(self, host: str, command: list[str], environment: Mapping[str, str] | None = None, user: str = "") -> str:
        """Output of a command on a host; raises when it fails or takes longer than two minutes."""
        env = {**os.environ, **(environment or {})}
        ran = subprocess.run(
            self.on(host, command, user), env=env, capture_output=True, text=True, check=False, timeout=120
        )
        if ran.returncode:
            raise RuntimeError(f"{host}: {shown(command)[:120]}: {ran.stderr.strip()[-800:] or ran.stdout[-800:]}")
        return ran.stdout

    def start(
        self, name: str, host: str, command: list[str], environment: Mapping[str, str] | None = None, user: str = ""
    ) -> None:
        """Start a process on a host; its output goes to a file of the logs."""
        env = {**os.environ, **(environment or {})}
        with (self._logs / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                self.on(host, command, user), env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip

    def stop(self, name: str, number: signal.Signals = signal.SIGTERM) -> None:
        """End a process with all that it started."""
        process = self.processes.pop(name)
        for attempt in (number, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, attempt)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
                break
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    @contextlib.contextmanager
    def cut(self, host: str, others: list[str]) -> Iterator[None]:
        """Lose every packet between a host and others, silently, as a broken switch does."""
        for one, another in [(host, other) for other in others] + [(other, host) for other in others]:
            way = ["neigh", "replace", ADDRESSES[another], "lladdr", _NOBODYS_LINK, "nud", "permanent", "dev", "eth0"]
            ip("-n", self.space(one), *way)
        try:
            yield
        finally:
            for one, another in [(host, other) for other in others] + [(other, host) for other in others]:
                ip("-n", self.space(one), "neigh", "del", ADDRESSES[another], "dev", "eth0")

    @contextlib.contextmanager
    def gone(self, *hosts: str) -> Iterator[None]:
        """Take hosts off the network, as when their power fails."""
        for host in hosts:
            ip("-n", self.space(host), "link", "set", "eth0", "down")
        try:
            yield
        finally:
            for host in hosts:
                back = ["ip", "-n", self.space(host), "link", "set", "eth0", "up"]
                subprocess.run(back, check=False, stderr=subprocess.DEVNULL)  # the trial may be over, and the host away


def shown(command: list[str]) -> str:
    """A command line without the token in it."""
    return re.sub(r"Bearer \S+", "Bearer …", " ".join(command))


def awaited_none(count: Callable[[], int], what: str, patience: float = 120.0, every: float = 0.5) -> None:
    """Wait until nothing is left, as long as it becomes less; TimeoutError after so many seconds without progress."""
    least, deadline = count(), time.monotonic() + patience
    while left := count():
        if left < least:
            least, deadline = left, time.monotonic() + patience
        if time.monotonic() > deadline:
            raise TimeoutError(f"{left} {what} were left, and not fewer within {patience:.0f} s")
        time.sleep(every)


def awaited(what: object, within: float = 60.0, every: float = 0.1) -> None:
    """Wait until `what()` is true; TimeoutError when that takes too long."""
    deadline = time.monotonic() + within
    while not what():  # type: ignore[operator]
        if time.monotonic() > deadline:
            raise TimeoutError(f"{getattr(what, '__doc__', None) or what} did not happen within {within:.0f} s")
        time.sleep(every)
