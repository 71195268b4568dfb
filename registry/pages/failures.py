"""Errors as pages: what went wrong in a sentence, and what to do next."""

from __future__ import annotations

from typing import Any

from flask import Flask, Response, render_template, request
from werkzeug.exceptions import HTTPException, NotFound

from registry import errors
from registry.api import problems
from registry.api.platform import API_PREFIX
from registry.pages.answer import furniture
from registry.pages.front import describe, pages


def register(app: Flask) -> None:
    """Answer browsers with a page where no path matches; everyone else with the API's problem."""
    app.register_error_handler(NotFound, _no_such_path)


@pages.errorhandler(errors.RegistryError)
def registry_error(error: errors.RegistryError) -> Response:
    problem = problems.registry_error(error)
    return failure(problems.problem_of(error), dict(problem.headers))


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


def failure(problem: dict[str, Any], headers: dict[str, str]) -> Response:
    """The page of a problem; who is not signed in gets the form to sign in with a 401."""
    body = render_template("problem.html", **furniture() | {"every": 0}, problem=problem, back=request.full_path)
    response = Response(body, problem["status"], content_type="text/html; charset=utf-8")
    for name in ("WWW-Authenticate", "Retry-After", "Allow"):
        if name in headers:
            response.headers[name] = headers[name]
    response.headers["Cache-Control"] = "no-store"
    return response
