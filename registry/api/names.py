"""Routes of names: those in use, aliases that join them, and suites, lists of benchmarks that are ranked together."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from flask import Response
from marshmallow import ValidationError
from sqlalchemy import Connection

from registry.api import examples, serializers
from registry.api.context import actor, entered
from registry.api.fields import Name
from registry.api.idempotency import idempotent_write
from registry.api.paging import listed, page, read_text, write_text
from registry.api.responses import json_answer
from registry.api.schemas import KINDS, AliasIn, ByIdParameters, NamesInUseParameters, NamesParameters, SuiteIn
from registry.api.selections import of_suite
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.errors import Fault, Invalid
from registry.operations import acts, names, suites
from registry.operations.find_grids import FILTERED, Filters
from registry.operations.names import axes_in_use, names_in_use

blp = Blueprint("names", "What grids are called, and what is the same.")


@blp.post("/projects/<project>/aliases", operation="createAlias")
@blp.arguments(AliasIn, example=examples.ALIAS_IN)
@blp.answers(reply(201, "Created", "Alias", headers=["Location"]))
@idempotent_write()
def make_alias(connection: Connection, row: Any, sent: dict[str, Any], project: str) -> Response:
    """Create an alias

    Grids keep the names that they were published with; filters and rankings take the alias for the name.
    """
    made = acts.create_alias(connection, actor(connection), row.id, **sent)
    place = f"{API_PREFIX}/projects/{project}/aliases/{made.id}"
    return json_answer(serializers.alias(made), status=201, Location=place)


@blp.get("/projects/<project>/aliases", operation="listAliases")
@blp.arguments(ByIdParameters, location="query")
@blp.answers(reply(200, "A page of aliases", "Aliases", headers=["Link"]), public=True)
def list_aliases(query: dict[str, Any], project: str) -> Response:
    """List the aliases

    The oldest first.
    """
    return listed(project, query, names.list_aliases, serializers.alias)


@blp.delete("/projects/<project>/aliases/<uuid:alias_id>", operation="deleteAlias")
@blp.answers(reply(204, "Deleted"))
@idempotent_write()
def remove_alias(connection: Connection, row: Any, project: str, alias_id: uuid.UUID) -> Response:
    """Delete an alias

    Grids that say the alias count by their own name from now on.
    """
    acts.delete_alias(connection, actor(connection), row.id, alias_id)
    return Response(status=204)


@blp.get(
    f"/projects/<project>/names/<any({','.join(f'{kind}s' for kind in (*KINDS, 'metric'))},axes):kind>",
    operation="listNames",
)
@blp.arguments(NamesInUseParameters, location="query")
@blp.answers(reply(200, "A page of names with their counts", "Names", headers=["Link"]), public=True)
def list_names(query: dict[str, Any], project: str, kind: str) -> Response:
    """List the names in use of a kind

    With how many grids carry each, of all grids or of those of other names, and what it is an alias of. `axes` have
    their levels and measured cells in place of aliases, and take no `q`.
    """
    after = read_text(query["cursor"]) if "cursor" in query else None
    with entered(project) as (connection, row):
        given = query | (of_suite(connection, row.id, query) if query["suite"] else {})
        options: dict[str, Any] = {"filters": Filters(**{name: given[name] for name in FILTERED}), "after": after}
        if "q" in query:
            options["words"] = query["q"]
        read: Callable[..., Sequence[Mapping[str, Any]]] = partial(names_in_use, kind=kind.removesuffix("s"))
        if kind == "axes":
            if "q" in query:
                raise Invalid([Fault("/q", "is for names, and not for axes")])
            read = axes_in_use
        found = read(connection, row.id, limit=query["limit"] + 1, **options)
    return page(found, query["limit"], dict, lambda one: write_text(one["name"]))


suites_blp = Blueprint("suites", "Benchmarks that are ranked together.")


@suites_blp.put("/projects/<project>/suites/<path:suite>", operation="setSuite")
@suites_blp.arguments(SuiteIn, example=examples.SUITE_IN)
@suites_blp.answers(reply(200, "Changed", "Suite"), reply(201, "Created", "Suite"))
@idempotent_write()
def set_suite(connection: Connection, row: Any, sent: dict[str, Any], project: str, suite: str) -> Response:
    """Set a suite

    Rankings and tables take it by `suite`; a changed one is another question. A member is a benchmark, or one with its
    own levels: `STS22@subset=en,split=test`, the conditions of `at.<axis>`. What no grid is about an answer says.
    """
    try:
        name = Name().deserialize(suite)
    except ValidationError as error:
        raise Invalid([Fault("", f"the name of a suite {error.messages[0]}")]) from None
    found, is_new = suites.set_suite(connection, actor(connection), row.id, name, sent["benchmarks"])
    return json_answer(serializers.suite(found), status=201 if is_new else 200)


@suites_blp.get("/projects/<project>/suites", operation="listSuites")
@suites_blp.arguments(NamesParameters, location="query")
@suites_blp.answers(reply(200, "A page of suites", "Suites", headers=["Link"]), public=True)
def list_suites(query: dict[str, Any], project: str) -> Response:
    """List the suites

    By name.
    """
    return listed(project, query, suites.list_suites, serializers.suite, by="name")


@suites_blp.get("/projects/<project>/suites/<path:suite>", operation="getSuite")
@suites_blp.answers(reply(200, "The suite", "Suite"), public=True)
def read_suite(project: str, suite: str) -> Response:
    """Read a suite

    With its benchmarks.
    """
    with entered(project) as (connection, row):
        return json_answer(serializers.suite(suites.find_suite(connection, row.id, suite)))


@suites_blp.delete("/projects/<project>/suites/<path:suite>", operation="deleteSuite")
@suites_blp.answers(reply(204, "Deleted"))
@idempotent_write()
def delete_suite(connection: Connection, row: Any, project: str, suite: str) -> Response:
    """Delete a suite

    Grids stay as they are.
    """
    suites.delete_suite(connection, actor(connection), row.id, suite)
    return Response(status=204)
