"""Dispatchers and workers as they report themselves, and the jobs that they did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Double, cast, func, select

from registry.operations.deliveries import webhook_lag
from registry.storage.tables import invalidations, job_counts, processes

ALIVE_SECONDS = 30.0
"""Silence after which a process counts as gone; it reports every five."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process that computes, and the seconds since its last report."""

    role: str
    host: str
    pid: int
    version: str
    methods_version: str
    broker_up: bool | None
    silent_seconds: float

    @property
    def is_alive(self) -> bool:
        return self.silent_seconds <= ALIVE_SECONDS


@dataclass(frozen=True, slots=True)
class JobCount:
    """Jobs of a kind since the registry was made: computed, attempts that failed, seconds of both."""

    kind: str
    computed: int
    failed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Activity:
    """What computes, what it did, the invalidations that no dispatcher has applied yet, and the seconds
    that webhooks are behind."""

    processes: Sequence[Process] = ()
    jobs: Sequence[JobCount] = ()
    invalidations: int = 0
    webhook_lag: float = 0.0

    def alive(self, role: str) -> list[Process]:
        """Processes of this role that reported lately."""
        return [one for one in self.processes if one.role == role and one.is_alive]

    @property
    def dispatcher_silent_seconds(self) -> float:
        """Seconds since the last cycle of any dispatcher; infinite if none ever reported."""
        return min((one.silent_seconds for one in self.processes if one.role == "dispatcher"), default=math.inf)

    @property
    def broker_up(self) -> bool | None:
        """Whether the broker answers the dispatchers; None if no dispatcher is there to say."""
        told = [one.broker_up for one in self.alive("dispatcher")]
        return all(told) if told else None


def activity_of(connection: Connection) -> Activity:
    """Activity at this moment."""
    names = ("role", "host", "pid", "version", "methods_version", "broker_up")
    silent = cast(func.greatest(func.extract("epoch", func.now() - processes.c.seen_at), 0), Double)
    rows = connection.execute(select(*(processes.c[name] for name in names), silent.label("silent_seconds"))).all()
    counts = connection.execute(select(job_counts).order_by(job_counts.c.kind)).all()
    backlog = connection.scalar(select(func.count()).select_from(invalidations))
    found = [Process(**row._mapping) for row in rows]
    return Activity(found, [JobCount(*row) for row in counts], int(backlog or 0), webhook_lag(connection))
