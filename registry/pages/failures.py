"""Errors as pages: what went wrong in a sentence, and what to do next."""

import re
from contextlib import suppress
from typing import Any

from flask import Flask, Response, g, render_template, request
from werkzeug.exceptions import HTTPException, NotFound

from registry import errors
from registry.api import problems
from registry.api.context import enter, parts
from registry.api.smorest import API_PREFIX
from registry.pages.front import describe, pages
from registry.pages.links import here
from registry.pages.responses import furniture
from registry.pages.status import outage
from registry.storage.circuit_breaker import AWAY

_SECTION = re.compile(r"(?:/projects/[^/]+)?/settings(?:/[a-z]+)?|/account")


def register(app: Flask) -> None:
    """Answer browsers with a page where no path matches; everyone else with the API's problem."""
    app.register_error_handler(NotFound, _no_such_path)


@pages.errorhandler(errors.RegistryError)
def registry_error(error: errors.RegistryError) -> Response:
    problem = problems.problem_of(error)
    if request.endpoint == "pages.status" and isinstance(error, errors.Unavailable):
        return outage(error)
    if isinstance(error, errors.Unauthenticated):
        problem |= {"title": "Sign in", "detail": _who()}
    if problem["detail"] == AWAY and request.method in ("GET", "HEAD"):
        problem |= {"detail": "The database does not answer. Load this page again in a moment."}
    return failure(problem, dict(problems.registry_error(error).headers))


def _who() -> str:
    """Why a person must sign in; the API's own words are about headers."""
    if g.get("session_is_over"):
        return "Your session is over: its token has expired, was revoked, or you signed out. Sign in again."
    if "share" in g:
        return "This link does not open this page, has expired, or was taken back. Ask for a new one, or sign in."
    return "Nothing public is here under this name. Sign in with a token that may read it."


@pages.errorhandler(HTTPException)
def http_error(error: HTTPException) -> Response:
    if (error.code or 500) < 400:
        return error.get_response()  # type: ignore[return-value]
    return failure(problems.http_problem(error), {})


@pages.errorhandler(Exception)
def defect(error: Exception) -> Response:
    return failure(problems.defect_problem(error), {})


def _no_such_path(error: NotFound) -> Response:
    best = request.accept_mimetypes.best_match(["application/json", "text/html"])
    if request.path.startswith(f"{API_PREFIX}/") or best != "text/html":
        return problems.http_error(error)
    return describe(failure(problems.http_problem(error), {}))


def _project() -> Any:
    """The project whose page was not found, where the caller may read it: the page keeps its head and tabs."""
    slug = (request.view_args or {}).get("project")
    with suppress(errors.RegistryError):
        if slug and "share" not in g:
            with parts().database.reading() as connection:
                return enter(connection, slug, "reader")
    return None


def section_of_form() -> str:
    """The page of the settings on which the form of this request stands."""
    found = _SECTION.match(request.path)
    return found[0] if found else "/"


def failure(problem: dict[str, Any], headers: dict[str, str], back: str | None = None) -> Response:
    """The page of a problem; who is not signed in gets the form to sign in with a 401, and is then led `back`."""
    # A form of the settings that is too long cannot be read a second time: it is only shown again.
    back = back or (here() if request.method == "GET" else section_of_form())
    led = back if request.method != "GET" else ""
    within = _project() if problem["status"] == 404 else None
    body = render_template(
        "problem.html", **furniture() | {"every": 0}, problem=problem, back=back, led=led, project=within
    )
    response = Response(body, problem["status"], content_type="text/html; charset=utf-8")
    for name in ("WWW-Authenticate", "Retry-After", "Allow"):
        if name in headers:
            response.headers[name] = headers[name]
    response.headers["Cache-Control"] = "no-store"
    return response
