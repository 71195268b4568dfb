"""Every request is logged as one line and measured; every answer carries its id and safe headers."""

from __future__ import annotations

import time
from typing import Any

import structlog
from flask import Flask, Response, g, request

from registry.api.metrics import REQUESTS, SECONDS
from registry.api.problems import request_id
from registry.storage.statement_timeout import request_deadline

log = structlog.get_logger()

_USUAL = (
    # What says nothing of caches is an answer of this moment to this caller: who it is, a secret, what is pending.
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"),
    ("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'"),
)
"""Headers of every answer that does not say otherwise itself."""


def watch(app: Flask, seconds: float) -> None:
    """Measure and log the requests of this application, none of which waits for the database beyond these seconds."""
    serve = app.wsgi_app

    def within_deadline(environ: Any, start_response: Any) -> Any:
        with request_deadline(seconds):
            return serve(environ, start_response)

    app.wsgi_app = within_deadline  # type: ignore[method-assign]
    app.before_request(_begin)
    app.after_request(_end)


def _begin() -> None:
    g.begun = time.perf_counter()


def _end(response: Response) -> Response:
    said = {name.lower() for name, _ in response.headers}
    for name, value in _USUAL:
        if name.lower() not in said:  # pages say more
            response.headers.add(name, value)
    response.headers["X-Request-Id"] = request_id()
    if "allow" in said and "PATCH" in response.allow:
        response.headers["Accept-Patch"] = "application/json"
    route = request.url_rule.rule if request.url_rule is not None else "none"
    seconds = time.perf_counter() - g.get("begun", time.perf_counter())
    REQUESTS.labels(route, response.status_code).inc()
    SECONDS.labels(route).observe(seconds)
    if route not in ("/healthz", "/readyz", "/metrics"):
        _log(response, route, seconds)
    return response


def _log(response: Response, route: str, seconds: float) -> None:
    caller: Any = g.get("caller")
    log.info(
        "request",
        request_id=request_id(),
        method=request.method,
        route=route,
        path=request.path,
        status=response.status_code,
        ms=round(1000 * seconds, 1),
        token_id=None if caller is None or caller.token_id is None else str(caller.token_id),
    )
