"""Metrics for Prometheus: of requests, counted in this process, and what is read when it is asked for.

What the database says is the same from every web process: whoever scrapes several takes its maximum, never the sum."""

import math
from collections.abc import Iterator

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from registry.api.context import Parts
from registry.operations.doctor import free_space
from registry.operations.health import Activity, Health
from registry.storage.replica import ReplicatedDatabase
from results_registry import __version__

REGISTRY = CollectorRegistry()

ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
Info("registry_build", "The version that runs.", registry=REGISTRY).info({"version": __version__})

REQUESTS = Counter(
    "registry_requests_total", "Requests by method, route and status.", ["method", "route", "status"], registry=REGISTRY
)
SECONDS = Histogram(
    "registry_request_seconds",
    "Time to the head of an answer, by method, route and class of status.",
    ["method", "route", "status"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=REGISTRY,
)
STREAMS = Gauge("registry_event_streams", "Streams of events that are open.", registry=REGISTRY)
IN_FLIGHT = Gauge(
    "registry_requests_in_flight",
    "Threads that work on a request until its last byte, this one too.",
    registry=REGISTRY,
)
REFUSALS = Counter(
    "registry_refusals_total",
    "Requests that were answered 409, 429 or 503 with Retry-After, by the reason.",
    ["status", "reason"],
    registry=REGISTRY,
)
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count a request; a method that HTTP does not have is `other`, so that nobody can make labels up."""
    known = method if method in _METHODS else "other"
    REQUESTS.labels(known, route, status).inc()
    SECONDS.labels(known, route, f"{status // 100}xx").observe(seconds)


_SHARED = " The same from every web process: take the maximum."
_BACKLOGS = (
    ("derivations", "derivation", "Promised statistics"),
    ("answers", "answer", "Rankings, comparisons and the like"),
)


class Scrape:
    """Everything that one answer to Prometheus has."""

    def __init__(self, parts: Parts, health: Health | None, activity: Activity | None, clock: float = math.nan) -> None:
        self._clock = clock
        self._parts = parts
        self._health = health
        self._activity = activity

    def collect(self) -> Iterator[Metric]:
        """Families of this process first, then those of all."""
        yield from REGISTRY.collect()
        yield from _of_parts(self._parts)
        yield from _of_servers(self._parts)
        yield _gauge("registry_database_up", "Whether the database answered this scrape.", self._health is not None)
        apart = "Seconds by which the database's clock is ahead of this process's; NaN while it does not answer."
        yield _gauge("registry_clock_difference_seconds", apart, self._clock)
        if self._health is not None:
            yield from _of_health(self._health)
        if self._activity is not None:
            yield from _of_activity(self._activity)

    def text(self) -> bytes:
        """In the text format of Prometheus."""
        return generate_latest(self)


def _gauge(name: str, meaning: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, meaning, value=float(value))


def _of_parts(parts: Parts) -> Iterator[Metric]:
    yield _gauge("registry_threads", "Requests that this process works on at once.", parts.settings.web_threads)
    breaker = parts.database.breaker
    yield _gauge(
        "registry_circuit_breaker_open", "Whether requests are refused until the database answers.", breaker.is_open
    )
    yield _gauge(
        "registry_connections_refused",
        "Whether the database refused the last new connection.",
        parts.database.refuses_connections,
    )
    yield _gauge("registry_database_threads", "Threads that use the database or wait for it.", breaker.inside)
    most, in_use = parts.database.pool()
    yield _gauge("registry_pool_size", "Connections to the database that this process may open.", most)
    yield _gauge("registry_pool_in_use", "Those that are in use.", in_use)
    waits = parts.database.waits
    yield CounterMetricFamily(
        "registry_pool_waits", "Times that a thread waited over 1 ms for a connection.", waits.count
    )
    yield CounterMetricFamily("registry_pool_wait_seconds", "Seconds of these waits, connecting too.", waits.seconds)


def _of_servers(parts: Parts) -> Iterator[Metric]:
    """What an operator's servers lack: room, and a replica that follows."""
    database = parts.database
    full = "Whether the database refused a write of this process within a minute because its disk is full."
    yield _gauge("registry_database_disk_full", full, database.writes == "disk_full")
    free = "Free bytes of the disk of REGISTRY_HOME, as this process sees it."
    yield _gauge("registry_disk_free_bytes", free, free_space(parts.settings.home)[0])
    lag = "Seconds that the replica is behind; infinite where it does not answer, NaN where there is none."
    behind = database.lag() if isinstance(database, ReplicatedDatabase) else math.nan
    yield _gauge("registry_replica_lag_seconds", lag, behind)


def _of_health(health: Health) -> Iterator[Metric]:
    for (many, one, what), backlog in zip(_BACKLOGS, (health.derivations, health.cached_results), strict=True):
        yield _gauge(f"registry_{many}_pending", f"{what} that are not there yet.{_SHARED}", backlog.pending)
        failed = f"{what} that were given up and have a reader.{_SHARED}"
        yield _gauge(f"registry_{many}_failed", failed, backlog.failed)
        oldest = f"How long the oldest of them have been due.{_SHARED}"
        yield _gauge(f"registry_{one}_oldest_seconds", oldest, backlog.oldest_seconds)


def _of_activity(activity: Activity) -> Iterator[Metric]:
    backlog = f"Changes that no dispatcher has applied to rankings yet.{_SHARED}"
    yield _gauge("registry_invalidations_pending", backlog, activity.invalidations)
    lag = f"Seconds since the oldest event that an enabled webhook, whose receiver answers, was never sent.{_SHARED}"
    yield _gauge("registry_webhook_lag_seconds", lag, activity.webhook_lag)
    silent = f"Since the last cycle of a dispatcher that was reported; one reports every 5 s.{_SHARED}"
    yield _gauge("registry_dispatcher_silent_seconds", silent, activity.dispatcher_silent_seconds)
    broker = f"Whether the broker answers the dispatchers; NaN where none says.{_SHARED}"
    yield _gauge("registry_broker_up", broker, math.nan if activity.broker_up is None else activity.broker_up)
    alive = f"Processes that compute and reported within 30 s.{_SHARED}"
    processes = GaugeMetricFamily("registry_processes", alive, labels=["role"])
    for role in ("dispatcher", "worker", "inline-worker"):
        processes.add_metric([role], len(activity.alive(role)))
    yield processes
    counted = CounterMetricFamily("registry_jobs", f"Jobs by kind and outcome.{_SHARED}", labels=["kind", "outcome"])
    seconds = CounterMetricFamily("registry_job_seconds", f"Seconds that they took, by kind.{_SHARED}", labels=["kind"])
    for one in activity.jobs:
        counted.add_metric([one.kind, "computed"], one.computed)
        counted.add_metric([one.kind, "failed"], one.failed)
        seconds.add_metric([one.kind], one.seconds)
    yield from (counted, seconds)
