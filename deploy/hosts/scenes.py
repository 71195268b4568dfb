"""What happens to the hosts under load, and what is counted of it."""

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from deploy.hosts.network import Network
from deploy.hosts.servers import WEBS, WORKERS, Servers


@dataclass(frozen=True, slots=True)
class Scene:
    """A name, and what is broken while it lasts."""

    name: str
    broken: Callable[[], AbstractContextManager[Any]]


def scenes(network: Network, servers: Servers) -> list[Scene]:
    """Links cut and mended one by one, and hosts that vanish; the databases last."""
    data = ["pooler"] if servers.pooler else ["db1", "db2"]
    everybody = [*WEBS, *WORKERS, "dispatcher", "pooler"]
    return [
        Scene("nothing", nullcontext),
        Scene("web1 - database", lambda: network.cut("web1", data)),
        Scene("worker1 - database", lambda: network.cut("worker1", ["db1", "db2"])),
        Scene("web1 - redis", lambda: network.cut("web1", ["redis"])),
        Scene("redis - all", lambda: network.gone("redis")),
        Scene("host web2 vanishes", lambda: network.gone("web2")),
        Scene("host worker2 vanishes", lambda: network.gone("worker2")),
        Scene("standby vanishes and is let go", lambda: WithoutStandby(network, servers)),
        Scene("database - all", lambda: network.cut("db1", everybody)),
    ]


class WithoutStandby:
    """The standby is away; an administrator has the primary wait for none, and takes it back afterwards."""

    def __init__(self, network: Network, servers: Servers) -> None:
        self._gone, self._servers = network.gone("db2"), servers

    def __enter__(self) -> None:
        self._gone.__enter__()
        self._servers.sql("ALTER SYSTEM SET synchronous_standby_names = ''")
        self._servers.sql("SELECT pg_reload_conf()")

    def __exit__(self, *raised: Any) -> None:
        self._gone.__exit__(*raised)
        self._servers.sql("ALTER SYSTEM RESET synchronous_standby_names")
        self._servers.sql("SELECT pg_reload_conf()")


@dataclass(frozen=True, slots=True)
class Counted:
    """Figures of one scene."""

    name: str
    acknowledged: int
    refused: int
    answers: int
    longest: float
    """Seconds of the longest time without an acknowledged publication."""
    back: float
    """Seconds from the end of the fault to the last answer that was an error; 0 without one."""


def counted(name: str, events: list[dict[str, Any]], began: float, mended: float, ended: float) -> Counted:
    """Figures of the time between `began` and `ended`, of a fault that lasted until `mended`."""
    inside = [event for event in events if began <= event["at"] < ended]
    acknowledged = [event["at"] for event in inside if event["act"] == "acknowledged"]
    answers = [event for event in inside if event["act"] in ("write", "read")]
    errors = [event for event in answers if event["status"] not in (200, 201, 202, 404)]
    marks = [began, *acknowledged, ended]
    longest = max(later - sooner for sooner, later in pairwise(marks))
    back = max((event["at"] - mended for event in errors if event["at"] > mended), default=0.0)
    return Counted(name, len(acknowledged), len(errors), len(answers), longest, back)


def play(scene: Scene, seconds: float, recovery: float) -> tuple[float, float, float]:
    """Break what the scene breaks for so long; return when that began, when it was mended, and when the scene ended."""
    began = time.time()
    with scene.broken():
        time.sleep(seconds)
    mended = time.time()
    time.sleep(recovery)
    return began, mended, time.time()


def read_events(file: Path) -> list[dict[str, Any]]:
    """Lines that the clients wrote; the last may be half a line."""
    lines = file.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines[:-1]]
