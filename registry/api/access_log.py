"""Every request is logged as one line and measured; every answer carries its id and safe headers."""

import time
from collections.abc import Iterator
from typing import Any

import structlog
from flask import Flask, Response, g, request
from werkzeug.wsgi import ClosingIterator

from registry.api.context import parts
from registry.api.event_streams import is_stream
from registry.api.metrics import IN_FLIGHT, REFUSALS, count_request
from registry.api.problems import request_id, trace_id
from registry.storage.statements import request_deadline, times_so_far

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
        if is_stream(environ):
            # It has no thread of the requests' (STREAMS counts it), and reads the database long after its answer began.
            with request_deadline(seconds):
                return serve(environ, start_response)
        IN_FLIGHT.inc()
        try:
            with request_deadline(seconds):
                answer = serve(environ, start_response)
        except BaseException:
            IN_FLIGHT.dec()
            raise
        return ClosingIterator(answer, IN_FLIGHT.dec)

    app.wsgi_app = within_deadline  # type: ignore[method-assign]
    app.before_request(_begin)
    app.after_request(_end)


def _begin() -> None:
    g.begun = time.perf_counter()
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=request_id())


def _end(response: Response) -> Response:
    said = {name.lower() for name, _ in response.headers}
    for name, value in _USUAL:
        # Pages say more. Which sites may frame an embedded one its policy says, and this header cannot.
        if name.lower() not in said and not (name == "X-Frame-Options" and "embedded" in g):
            response.headers.add(name, value)
    if response.status_code == 204:
        response.headers.pop("Content-Type", None)  # of nothing
    response.headers["X-Request-Id"] = request_id()
    if "allow" in said and "PATCH" in response.allow:
        response.headers["Accept-Patch"] = "application/json"
    route = request.url_rule.rule if request.url_rule is not None else "none"
    begun = g.get("begun", time.perf_counter())
    count_request(request.method, route, response.status_code, time.perf_counter() - begun)
    if "Retry-After" in response.headers and "reason" in g:
        REFUSALS.labels(response.status_code, g.reason).inc()
    if route not in ("/healthz", "/readyz", "/metrics"):
        _log(response, _fields(response, route), begun)
    return response


def _fields(response: Response, route: str) -> dict[str, Any]:
    """What is known of a request when its answer begins. No headers, no bodies, and nothing that quotes them."""
    caller: Any = g.get("caller")
    found: dict[str, Any] = {
        "request_id": request_id(),
        "trace_id": trace_id(),
        "client": parts().policy.address(),
        "method": request.method,
        "route": route,
        "path": request.path,
        "status": response.status_code,
        "reason": g.get("reason") if response.status_code >= 400 else None,
        "project": (request.view_args or {}).get("project") or getattr(g.get("project"), "slug", None),
        "location": response.headers.get("Location") if response.status_code == 201 else None,
        "bytes_in": request.content_length or None,
        "user_id": None if caller is None or caller.user_id is None else str(caller.user_id),
    }
    told = {name: value for name, value in found.items() if value is not None}
    return told | {"token_id": None if caller is None or caller.token_id is None else str(caller.token_id)}


def _log(response: Response, fields: dict[str, Any], begun: float) -> None:
    """Log a request: at once, or when the last byte was sent of an answer whose length nobody knows before."""
    if "Content-Length" not in response.headers and response.is_streamed and request.method != "HEAD":
        counted = _Counted(response.response)
        response.response = counted
        response.call_on_close(lambda: _write(fields | {"streamed": True}, counted.size, begun))
    else:
        _write(fields, 0 if request.method == "HEAD" else response.calculate_content_length(), begun)


class _Counted:
    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.size = 0

    def __iter__(self) -> Iterator[Any]:
        for part in self._inner:
            self.size += len(part)
            yield part

    def close(self) -> None:
        """Close what makes the parts."""
        if hasattr(self._inner, "close"):
            self._inner.close()


def _write(fields: dict[str, Any], size: int | None, begun: float) -> None:
    times = times_so_far()
    took = {"ms": round(1000 * (time.perf_counter() - begun), 1), "db_ms": round(1000 * times.seconds, 1)}
    log.info("request", **fields, bytes=size, statements=times.count, **took)
