"""Suites: benchmarks that are ranked together, made, changed and deleted."""

from __future__ import annotations

from functools import partial
from typing import Any

from flask import Response, request
from marshmallow import Schema
from sqlalchemy import Connection

from registry.api.audit_log import actor
from registry.api.context import parts
from registry.api.fields import Name
from registry.api.paging import read_text, write_text
from registry.api.schemas import SuiteIn
from registry.errors import NotFound
from registry.operations import suites as stored
from registry.operations.names import names_in_use
from registry.operations.suites import find_suite, list_suites
from registry.pages.administration.blueprint import administration
from registry.pages.administration.layout import ROWS, path_of, show_section
from registry.pages.administration.submitting import Typed, asked, home, read_form, submitted

_LISTED = 200


class _SuiteForm(SuiteIn):
    name = Name(required=True)


class _SuiteName(Schema):
    name = Name(required=True)


@administration.get("/projects/<project>/settings/suites")
def suites(project: str) -> Response:
    """The suites, and a form that makes or changes one."""
    return _suites(project, asked(), 200)


def _suites(project: str, typed: Typed, status: int) -> Response:
    after = request.args.get("after", "")
    with parts().database.reading() as connection:
        row = home(connection, project)
        rows = list_suites(connection, row.id, read_text(after) if _is_cursor(after) else None, ROWS + 1)
        benchmarks = [one["name"] for one in names_in_use(connection, row.id, "benchmark", limit=_LISTED + 1)]
        chosen = request.args.get("suite", "")
        if chosen and not typed.faults:
            typed = _filled(connection, row.id, chosen)
    more = write_text(rows[ROWS - 1].name) if len(rows) > ROWS else None
    context: dict[str, Any] = {
        "rows": rows[:ROWS],
        "more": more,
        "known": benchmarks[:_LISTED],
        "cut": len(benchmarks) > _LISTED,
    }
    return show_section(row, "suites", typed, status, **context)


def _is_cursor(text: str) -> bool:
    return bool(text) and all(one in "0123456789abcdef" for one in text)


def _filled(connection: Connection, project_id: Any, name: str) -> Typed:
    """The form with the suite of this name, to be changed; empty if there is none."""
    try:
        found = find_suite(connection, project_id, name)
    except NotFound:
        return Typed({"name": name}, {"name": "there is no such suite yet: this form makes it"})
    return Typed({"name": found.name, "benchmarks": "\n".join(found.benchmarks)})


@administration.post("/projects/<project>/settings/suites")
def set_suite(project: str) -> Response:
    """Make a suite, or give it other benchmarks."""

    def act(connection: Connection, row: Any) -> str:
        sent = read_form(_SuiteForm(), lists=("benchmarks",))
        stored.set_suite(connection, actor(connection), row.id, sent["name"], sent["benchmarks"])
        return path_of(project, "suites")

    return submitted(project, partial(_suites, project), act)


@administration.post("/projects/<project>/settings/suites/delete")
def delete_suite(project: str) -> Response:
    """Delete the suite of this name."""

    def act(connection: Connection, row: Any) -> str:
        stored.delete_suite(connection, actor(connection), row.id, read_form(_SuiteName())["name"])
        return path_of(project, "suites")

    return submitted(project, partial(_suites, project), act)
