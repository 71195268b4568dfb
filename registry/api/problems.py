"""Answer every error as a problem (RFC 9457) with its request's id; pages show the same (`pages/failures.py`)."""

import re
import uuid
from typing import Any, NamedTuple

import orjson
import structlog
from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException, NotFound

from registry import errors

_UUID = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)


def sent_id() -> str:
    """The UUID in `X-Request-Id`, with or without dashes; a new one where there is none or something else."""
    sent = request.headers.get("X-Request-Id", "")
    return str(uuid.UUID(sent) if _UUID.fullmatch(sent) else uuid.uuid4())


def trace_id() -> str | None:
    """The trace in `traceparent` (W3C Trace Context); None where there is none."""
    found = _TRACEPARENT.fullmatch(request.headers.get("traceparent", ""))
    return None if found is None else found[1]


log = structlog.get_logger()


class Kind(NamedTuple):
    """A kind of problem: the status of its answer, its title, and what it means."""

    status: int
    title: str
    meaning: str


KINDS: dict[str, Kind] = {
    "malformed": Kind(
        400,
        "Bad request",
        "The body is not what its content type says: no JSON, a key twice, NaN or Infinity, invalid UTF-8.",
    ),
    "unauthenticated": Kind(401, "Unauthorized", "No token, or one that is unknown, expired or revoked."),
    "forbidden": Kind(403, "Forbidden", "The token's role or project does not allow this."),
    "not_found": Kind(404, "Not found", "Nothing here, or nothing that this token may know of."),
    "method_not_allowed": Kind(405, "Method not allowed", "The path has other methods: see Allow."),
    "not_acceptable": Kind(
        406, "Not acceptable", "There is no form that Accept allows; `detail` lists those there are."
    ),
    "request_timeout": Kind(408, "Request timeout", "The request took too long to arrive."),
    "busy": Kind(409, "Busy", "Another writer holds this. Repeat after Retry-After."),
    "conflict": Kind(409, "Conflict", "The name is taken, or the key was used before."),
    "cursor_expired": Kind(
        410,
        "Cursor expired",
        "The feed of events no longer keeps what follows the cursor. `first` is the cursor of all that is kept.",
    ),
    "precondition_failed": Kind(412, "Precondition failed", "If-Match or If-None-Match did not hold."),
    "too_large": Kind(413, "Content too large", "Over a limit; see /api/v1/limits."),
    "unsupported_media_type": Kind(415, "Unsupported media type", "Another Content-Type is needed."),
    "range_not_satisfiable": Kind(416, "Range not satisfiable", "The range lies beyond the end: see Content-Range."),
    "misdirected": Kind(421, "Misdirected request", "The Host header names no name of this service."),
    "invalid": Kind(
        422, "Unprocessable content", "Well-formed, but not allowed. Each of errors has a pointer to the place."
    ),
    "too_many_requests": Kind(429, "Too many requests", "More than the limits allow. Repeat after Retry-After."),
    "header_too_large": Kind(431, "Request header fields too large", "The request line and its headers are too long."),
    "defect": Kind(500, "Internal server error", "The log has it under the request's id."),
    "not_installed": Kind(501, "Not implemented", "This server was installed without what the answer needs."),
    "unavailable": Kind(
        503,
        "Service unavailable",
        "The database does not answer, or too much comes at once. Whether a write took effect is unknown: repeat it"
        " after Retry-After.",
    ),
    "pending": Kind(
        503,
        "Still being computed",
        "In JSON this is a 202; other forms cannot say it: they wait, and then fail. Repeat after Retry-After.",
    ),
    "failed": Kind(500, "Computation failed", "It could not be computed; `detail` says why, and repeating is no help."),
    "error": Kind(400, "HTTP error", "HTTP was used in a way that this server does not know."),
}
"""Every code that a problem's type ends in."""
_BY_STATUS = {kind.status: code for code, kind in reversed(KINDS.items()) if code not in ("error", "not_installed")}
CHALLENGE = 'Bearer realm="results-registry"'
_TOLD = ', error="invalid_token"'
_NAMED = 100
"""Number of faults of a request that are named; the problem's `detail` counts all."""
_LONGEST = 1_000


def request_id() -> str:
    """The id of this request: in every answer's `X-Request-Id`, in problems and in the log."""
    if "request_id" not in g:
        g.request_id = sent_id()
    return str(g.request_id)


def document(
    code: str, detail: str, faults: list[dict[str, str]] | None = None, *, status: int | None = None, request: str
) -> dict[str, Any]:
    """The body of a problem of this kind, in the request with this id."""
    kind = KINDS[code]
    body: dict[str, Any] = {
        "type": f"/docs#problem-{code}",
        "title": kind.title,
        "status": status or kind.status,
        "detail": detail,
        "instance": f"urn:uuid:{request}",
    }
    return body if faults is None else body | {"errors": faults}


def problem_of(error: errors.RegistryError) -> dict[str, Any]:
    """The problem that describes an error of the registry."""
    g.reason = error.reason
    faults = None
    if isinstance(error, errors.Invalid):
        faults = [{"pointer": _short(one.pointer), "detail": _short(one.detail)} for one in error.faults[:_NAMED]]
    body = document(error.code, _short(error.detail), faults, request=request_id())
    return body | ({"first": error.first} if isinstance(error, errors.CursorExpired) else {})


def plain_problem(status: int, detail: str, *, request: str) -> dict[str, Any]:
    """The problem that describes an error of HTTP itself."""
    return document(_BY_STATUS.get(status, "error"), detail, status=status, request=request)


def _short(text: str) -> str:
    """Beginning of a text, as much as a problem repeats: a name that was sent may have megabytes."""
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def answer(problem: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    """The problem as a response that no cache keeps."""
    response = Response(orjson.dumps(problem), problem["status"], headers, content_type="application/problem+json")
    response.headers["Cache-Control"] = "no-store"
    return response


def register(app: Flask) -> None:
    """Answer every error of this application with a problem."""
    app.register_error_handler(errors.RegistryError, registry_error)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(Exception, defect)


def registry_error(error: errors.RegistryError, **headers: str) -> Response:
    """Problem for an error of the registry, with the headers that belong to it."""
    if isinstance(error, errors.Unauthenticated):
        headers["WWW-Authenticate"] = CHALLENGE + (_TOLD if "Authorization" in request.headers else "")
    if isinstance(error, errors.TryLater):
        headers["Retry-After"] = str(error.after)
    return answer(problem_of(error), headers)


def http_error(error: HTTPException) -> Response:
    """Problem for an error of Flask or Werkzeug, with the headers that they give (`Allow`)."""
    if (error.code or 500) < 400:
        return error.get_response()  # type: ignore[return-value]
    given = {name: value for name, value in error.get_headers() if name not in ("Content-Type", "Content-Length")}
    return answer(http_problem(error), given)


def http_problem(error: HTTPException) -> dict[str, Any]:
    """The problem that describes an error of Flask or Werkzeug."""
    g.reason = _BY_STATUS.get(error.code or 500, "error")
    detail = error.description or error.name
    if type(error) is NotFound and detail == NotFound.description:
        detail = f"There is no resource at {request.path}; /docs lists those there are. An id is written in full."
    return plain_problem(error.code or 500, detail, request=request_id())


def defect(error: Exception) -> Response:
    """Problem for an unexpected error."""
    return answer(defect_problem(error))


def defect_problem(error: Exception) -> dict[str, Any]:
    """The problem for a defect, which is logged under the request's id."""
    g.reason = "defect"
    log.error("defect", request_id=request_id(), method=request.method, path=request.path, exc_info=error)
    detail = "This is a defect of the server. Whether a write took effect is unknown: repeat it."
    return document("defect", detail, request=request_id())
