"""Metrics of the web process, for Prometheus. One process serves one scrape target."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info

from registry.operations.health import Health
from results_registry import __version__

REGISTRY = CollectorRegistry()

Info("registry_build", "The version that runs.", registry=REGISTRY).info({"version": __version__})

REQUESTS = Counter("registry_requests_total", "Requests by route and status.", ["route", "status"], registry=REGISTRY)
SECONDS = Histogram(
    "registry_request_seconds",
    "Time to an answer, by route.",
    ["route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=REGISTRY,
)
_DATABASE = Gauge("registry_database_up", "Whether the database answered when this was scraped.", registry=REGISTRY)
_DERIVATIONS = (
    Gauge("registry_derivations_pending", "Promised statistics that are not there yet.", registry=REGISTRY),
    Gauge("registry_derivations_failed", "Promised statistics that were given up.", registry=REGISTRY),
    Gauge("registry_derivation_oldest_seconds", "How long the oldest of them have been due.", registry=REGISTRY),
)
_ANSWERS = (
    Gauge("registry_answers_pending", "Rankings, comparisons and the like that are not there yet.", registry=REGISTRY),
    Gauge("registry_answers_failed", "Rankings, comparisons and the like that were given up.", registry=REGISTRY),
    Gauge("registry_answer_oldest_seconds", "How long the oldest of them has been due.", registry=REGISTRY),
)


def note_jobs(health: Health | None) -> None:
    """Set the gauges from what the database says; None when it does not answer."""
    _DATABASE.set(0 if health is None else 1)
    if health is not None:
        for gauges, backlog in ((_DERIVATIONS, health.derivations), (_ANSWERS, health.cached_results)):
            for gauge, value in zip(gauges, (backlog.pending, backlog.failed, backlog.oldest_seconds), strict=True):
                gauge.set(value)
