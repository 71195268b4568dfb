"""Metrics of requests, counted in this process, for Prometheus. One process serves one scrape target."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, PlatformCollector, ProcessCollector

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
