"""Suites: lists of benchmarks that are ranked together, by name."""

from __future__ import annotations

from typing import Any

from flask import Response
from marshmallow import ValidationError
from sqlalchemy import Connection

from registry.api import examples, serializers
from registry.api.audit_log import actor
from registry.api.context import enter, parts
from registry.api.fields import Name
from registry.api.idempotency import idempotent_write
from registry.api.paging import page, read_text, write_text
from registry.api.responses import json_answer
from registry.api.schemas import Empty, NamesParameters, SuiteIn
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.errors import Fault, Invalid
from registry.operations import acts, suites
from registry.results.codec import to_document

blp = Blueprint("suites", __name__, url_prefix=API_PREFIX, description="Benchmarks that are ranked together.")


@blp.put("/projects/<project>/suites/<path:suite>")
@blp.doc(operationId="setSuite")
@blp.arguments(SuiteIn, example=examples.SUITE_IN)
@blp.answers(
    reply(200, "Changed", "Suite", example=examples.SUITE),
    reply(201, "Created", "Suite", example=examples.SUITE),
    errors=[400, 409, 415],
    parameters=["Idempotency-Key"],
)
@idempotent_write()
def set_suite(connection: Connection, row: Any, sent: dict[str, Any], project: str, suite: str) -> Response:
    """Set a suite

    Rankings and tables take it by `suite`; a changed one is another question. A member is a benchmark, or one with its
    own levels: `STS22@subset=en,split=test`, the conditions of `at.<axis>`. `warnings` names what no grid has.
    """
    try:
        name = Name().deserialize(suite)
    except ValidationError as error:
        raise Invalid([Fault("", f"the name of a suite {error.messages[0]}")]) from None
    found, is_new = acts.set_suite(connection, actor(connection), row.id, name, sent["benchmarks"])
    doubts = to_document(tuple(suites.suite_doubts(connection, row.id, found)))
    return json_answer(serializers.suite(found) | {"warnings": doubts}, status=201 if is_new else 200)


@blp.get("/projects/<project>/suites")
@blp.doc(operationId="listSuites")
@blp.arguments(NamesParameters, location="query")
@blp.answers(reply(200, "A page of suites", "Suites", headers=["Link"]), public=True)
def list_suites(query: dict[str, Any], project: str) -> Response:
    """List the suites

    By name.
    """
    after = read_text(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        found = suites.list_suites(connection, row.id, after, query["limit"] + 1)
    return page(found, query["limit"], serializers.suite, lambda one: write_text(one.name))


@blp.get("/projects/<project>/suites/<path:suite>")
@blp.doc(operationId="getSuite")
@blp.arguments(Empty, location="query")
@blp.answers(reply(200, "The suite", "Suite", example=examples.SUITE), public=True)
def read_suite(_query: dict[str, Any], project: str, suite: str) -> Response:
    """Read a suite

    With its benchmarks.
    """
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        return json_answer(serializers.suite(suites.find_suite(connection, row.id, suite)))


@blp.delete("/projects/<project>/suites/<path:suite>")
@blp.doc(operationId="deleteSuite")
@blp.arguments(Empty, location="query")
@blp.answers(reply(204, "Deleted"), errors=[409], parameters=["Idempotency-Key"])
@idempotent_write()
def delete_suite(connection: Connection, row: Any, _query: dict[str, Any], project: str, suite: str) -> Response:
    """Delete a suite

    Grids stay as they are.
    """
    acts.delete_suite(connection, actor(connection), row.id, suite)
    return Response(status=204)
