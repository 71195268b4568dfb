"""Errors as RFC 9457 problems: the one page that translates the registry's words to HTTP."""

from __future__ import annotations

import uuid
from typing import Any

import orjson
import structlog
from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException

from registry import errors

log = structlog.get_logger()

STATUS: dict[type[errors.RegistryError], tuple[int, str]] = {
    errors.Malformed: (400, "The body cannot be read"),
    errors.Unauthenticated: (401, "Who are you?"),
    errors.Forbidden: (403, "Not allowed"),
    errors.NotFound: (404, "Not found"),
    errors.Busy: (409, "Someone else is writing"),
    errors.Conflict: (409, "In the way"),
    errors.PreconditionFailed: (412, "The precondition does not hold"),
    errors.TooLarge: (413, "Too large"),
    errors.Misdirected: (421, "Another service is meant"),
    errors.Invalid: (422, "Not valid"),
    errors.TooManyRequests: (429, "Too many requests"),
    errors.NotInstalled: (501, "Not installed"),
    errors.Unavailable: (503, "Try again soon"),
}
_HTTP_CODES = {
    400: "malformed",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
}


_NAMED = 100
"""Of the faults of a request so many are named; the problem's `detail` counts all."""


def request_id() -> str:
    """The id of this request: in every answer's `X-Request-Id`, in problems and in the log."""
    if "request_id" not in g:
        g.request_id = str(uuid.uuid4())
    return str(g.request_id)


def document(
    status: int, code: str, title: str, detail: str, faults: list[dict[str, str]] | None = None
) -> dict[str, Any]:
    """The body of a problem."""
    body: dict[str, Any] = {
        "type": f"/docs#problem-{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": f"urn:uuid:{request_id()}",
    }
    return body if faults is None else body | {"errors": faults}


def problem_of(error: errors.RegistryError) -> dict[str, Any]:
    """The problem that describes an error of the registry."""
    status, title = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    faults = None
    if isinstance(error, errors.Invalid):
        faults = [{"pointer": fault.pointer, "detail": fault.detail} for fault in error.faults[:_NAMED]]
    return document(status, error.code, title, error.detail, faults)


def answer(problem: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    response = Response(orjson.dumps(problem), problem["status"], headers, content_type="application/problem+json")
    response.headers["Cache-Control"] = "no-store"
    return response


def register(app: Flask) -> None:
    """Answer every error of this application with a problem."""
    app.register_error_handler(errors.RegistryError, registry_error)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(Exception, defect)


def registry_error(error: errors.RegistryError) -> Response:
    """What the registry raises, with the headers that belong to it."""
    headers = {}
    if isinstance(error, errors.Unauthenticated):
        headers["WWW-Authenticate"] = 'Bearer realm="results-registry"'
    if isinstance(error, errors.TryLater):
        headers["Retry-After"] = str(error.after)
    return answer(problem_of(error), headers)


def http_error(error: HTTPException) -> Response:
    """What Flask and Werkzeug raise, with the headers that they give (`Allow`)."""
    status = error.code or 500
    if status < 400:
        return error.get_response()  # type: ignore[return-value]
    given = {name: value for name, value in error.get_headers() if name not in ("Content-Type", "Content-Length")}
    return answer(http_problem(error), given)


def http_problem(error: HTTPException) -> dict[str, Any]:
    """The problem that describes an error of Flask or Werkzeug."""
    status = error.code or 500
    return document(status, _HTTP_CODES.get(status, "error"), error.name, error.description or error.name)


def defect(error: Exception) -> Response:
    """What nobody expected."""
    return answer(defect_problem(error))


def defect_problem(error: Exception) -> dict[str, Any]:
    """The problem for a defect, which is logged under the request's id."""
    log.error("defect", request_id=request_id(), method=request.method, path=request.path, exc_info=error)
    detail = "This is a defect of the server. Whether a write took effect is unknown: repeat it."
    return document(500, "defect", "A defect of the server", detail)
