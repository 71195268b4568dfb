"""Routes about the service itself, not about results: health, metrics, limits, another try of failed jobs."""

import math
from dataclasses import asdict
from typing import Any

from flask import Response
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from sqlalchemy import Connection

from registry.api import examples
from registry.api.context import actor, parts
from registry.api.idempotency import idempotent_write
from registry.api.metrics import Scrape
from registry.api.request_policy import address_rate, failure_rate, token_rate
from registry.api.responses import json_answer
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.errors import RegistryError
from registry.operations import health as jobs
from registry.operations.doctor_database import clock_difference
from registry.operations.health import activity_of, health_of
from results_registry import __version__

_ROOT = {
    "version": __version__,
    "links": {
        "projects": {"href": f"{API_PREFIX}/projects"},
        "limits": {"href": f"{API_PREFIX}/limits"},
        "service-desc": {"href": "/openapi.json"},
        "service-doc": {"href": "/docs"},
        "status": {"href": "/readyz"},
    },
}

blp = Blueprint("service", "The service itself.", prefix="")


@blp.get("/healthz", operation="healthz")
@blp.answers(reply(200, "The process answers", "Health", example={"status": "ok", "version": __version__}), public=True)
def healthz() -> Response:
    """Is the process alive?

    Touches no database: it stays up while Postgres is away.
    """
    return json_answer({"status": "ok", "version": __version__})


@blp.get(API_PREFIX, operation="getRoot")
@blp.answers(reply(200, "Where to go from here", "Root", example=_ROOT), public=True)
def root() -> Response:
    """Find the resources

    Links to what the caller can begin with, and the version of the service.
    """
    return json_answer(_ROOT)


@blp.get("/readyz", operation="readyz")
@blp.answers(reply(200, "Requests can be served", "Readiness", example=examples.READY), public=True)
def readyz() -> Response:
    """Can requests be served?

    503 while the database is away or not migrated, and once this process is told to end.
    """
    if parts().stopping.is_set():
        return json_answer({"status": "stopping"}, status=503, Retry_After="1")
    with parts().database.reading() as connection:
        health = health_of(connection)
    if not health.migrated:
        return json_answer({"status": "not migrated"}, status=503, Retry_After="5")
    backlogs = {"derivations": asdict(health.derivations), "answers": asdict(health.cached_results)}
    return json_answer({"status": "ready", "writes": parts().database.writes, **backlogs})


@blp.get("/metrics", operation="getMetrics")
@blp.answers(reply(200, "Prometheus text", forms=["txt"]), public=True)
def metrics() -> Response:
    """Metrics for Prometheus

    Counts and times of requests, jobs and queries, in the text format of Prometheus.
    """
    health, activity, clock = None, None, math.nan
    try:
        with parts().database.reading() as connection:
            health = health_of(connection)
            activity = activity_of(connection) if health.migrated else None
            clock = clock_difference(connection)
    except RegistryError:
        pass
    return Response(Scrape(parts(), health, activity, clock).text(), content_type=CONTENT_TYPE_LATEST)


@blp.get(f"{API_PREFIX}/limits", operation="getLimits")
@blp.answers(reply(200, "The limits", "Limits"), public=True)
def limits() -> Response:
    """What one request may hold, how long it takes at most, and how often one may ask

    A rate is so many requests `per_second` in the long run and a `burst` at once; null is no limit. Beyond it the
    answer is 429 with `Retry-After`. Each web process counts by itself.
    """
    settings = parts().settings
    names = (
        *("cells", "levels", "body", "inflated", "batch", "labels", "label_length", "name", "description", "outcomes"),
        *("wait", "page"),
    )
    held: dict[str, Any] = {f"max_{name}": getattr(settings, f"max_{name}") for name in names}
    return json_answer(
        held
        | {
            "request_seconds": settings.request_timeout,
            "statement_seconds": settings.statement_timeout,
            "lock_seconds": settings.lock_timeout,
            "idempotency_days": settings.idempotency_days,
            "token_days": settings.token_days,
            "rates": {
                "token": token_rate(settings).document(),
                "address": address_rate(settings).document(),
                "bad_tokens": failure_rate(settings).document(),
            },
        }
    )


retry_blp = Blueprint("retry", "Failed jobs, tried again.")


@retry_blp.post("/projects/<project>/retry", operation="retryFailed")
@retry_blp.answers(reply(200, "How many are due again", "Retried", example={"derivations": 2, "answers": 1}))
@idempotent_write()
def retry_failed(connection: Connection, row: Any, project: str) -> Response:
    """Try failed jobs again

    Statistics of the project's grids, and its rankings and other answers, that were given up are due at once, with
    all their attempts; up to 5,000 of each, so send it again until both are 0. `/status` says why they failed.
    """
    return json_answer(asdict(jobs.retry_failed(connection, actor(connection), row.id)))
