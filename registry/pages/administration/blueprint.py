"""The blueprint of administration: its pages, and no other, act with all that the visitor may do.

A form is carried out when it comes from a page of this registry (`same_origin`) and carries the key of the visitor's
session. The roles are looked up with each request.
"""

import hmac
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, g, render_template, request
from werkzeug.exceptions import HTTPException

from registry import errors
from registry.api import problems
from registry.api.context import parts
from registry.errors import Forbidden, Unauthenticated
from registry.operations.sessions import form_key
from registry.pages.choices import same_origin
from registry.pages.failures import defect, failure, http_error, section_of_form
from registry.pages.front import describe
from registry.pages.responses import furniture
from registry.pages.visitors import visitor_of
from registry.settings import MEBIBYTE

administration = Blueprint("administration", __name__)
administration.after_request(describe)
administration.register_error_handler(HTTPException, http_error)
administration.register_error_handler(Exception, defect)

KEY, FORM = "_key", "_form"
"""Hidden fields of every form: the key of the session, and the number of this showing of the form."""
_NOT_KEPT = (KEY, FORM, "confirm")


@administration.before_request
def let_in() -> None:
    """Take the visitor for who they are, with every right; strangers sign in first."""
    request.max_content_length = _LONGEST_FORM
    with parts().database.reading() as connection:
        found = visitor_of(connection)
        if found is None:
            raise Unauthenticated("Sign in to see this page.")
        g.visitor, g.caller, g.form_key = found, found.caller, form_key(connection, found)
    if request.method == "POST":
        same_origin()
        if not hmac.compare_digest(request.form.get(KEY, "").encode(), g.form_key.encode()):
            raise Forbidden("This form is of an earlier session: nothing was done. Open the page again and repeat it.")


@administration.errorhandler(errors.RegistryError)
def registry_error(error: errors.RegistryError) -> Response:
    problem = problems.problem_of(error)
    if isinstance(error, Unauthenticated):
        problem |= {"title": "Sign in", "detail": _why()}
    return failure(problem, dict(problems.registry_error(error).headers), page_of_form())


def _why() -> str:
    over = "Your session is over. " if g.get("session_is_over") else ""
    if request.method == "POST":
        return f"{over}Nothing was done. Sign in again: what you typed is in the form then."
    return f"{over}Sign in to see this page."


def page_of_form() -> str:
    """The same page with what was typed into it."""
    path = section_of_form()
    typed = [(name, text) for name, text in request.form.items(multi=True) if name not in _NOT_KEPT and text]
    asked = [(name, text) for name, text in request.args.items(multi=True)] if request.method == "GET" else []
    written = urlencode(typed or asked)
    return f"{path}?{written}" if written and len(written) < LONGEST_QUERY else path


_LONGEST_FORM = 2 * MEBIBYTE
LONGEST_QUERY = 6_000
"""Characters of a query that proxies let through."""


def settings_page(template: str, context: dict[str, Any], status: int = 200) -> Response:
    """A page of the settings. No browser and no proxy keeps it: its forms are for one showing."""
    made = render_template(template, **furniture() | {"every": 0, "form_key": g.form_key} | context)
    response = Response(made, status, content_type="text/html; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    return response
