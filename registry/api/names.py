"""Names in use, and the aliases that join them."""

from __future__ import annotations

import uuid
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api import examples, serializers
from registry.api.audit_log import actor
from registry.api.context import enter, parts
from registry.api.idempotency import idempotent_write
from registry.api.paging import page, read_text, write_text
from registry.api.responses import json_answer
from registry.api.schemas import KINDS, AliasIn, ByIdParameters, Empty, NamesInUseParameters
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.operations import acts, aliases
from registry.operations.find import FILTERED, Filters
from registry.operations.names import names_in_use

blp = Blueprint("names", __name__, url_prefix=API_PREFIX, description="What grids are called, and what is the same.")


@blp.post("/projects/<project>/aliases")
@blp.doc(operationId="createAlias")
@blp.arguments(AliasIn, example=examples.ALIAS_IN)
@blp.answers(
    reply(201, "Created", "Alias", example=examples.ALIAS, headers=["Location"]),
    errors=[400, 409, 415],
    parameters=["Idempotency-Key"],
)
@idempotent_write()
def make_alias(connection: Connection, row: Any, sent: dict[str, Any], project: str) -> Response:
    """Create an alias

    Grids keep the names that they were published with; filters and rankings take the alias for the name.
    """
    made = acts.create_alias(connection, actor(connection), row.id, **sent)
    place = f"{API_PREFIX}/projects/{project}/aliases/{made.id}"
    return json_answer(serializers.alias(made), status=201, Location=place)


@blp.get("/projects/<project>/aliases")
@blp.doc(operationId="listAliases")
@blp.arguments(ByIdParameters, location="query")
@blp.answers(reply(200, "A page of aliases", "Aliases", example=examples.ALIASES, headers=["Link"]), public=True)
def list_aliases(query: dict[str, Any], project: str) -> Response:
    """List the aliases

    The oldest first.
    """
    after = uuid.UUID(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        rows = aliases.list_aliases(connection, row.id, after, query["limit"] + 1)
    return page(rows, query["limit"], serializers.alias, lambda row: str(row.id))


@blp.get("/projects/<project>/aliases/<uuid:alias_id>")
@blp.doc(operationId="getAlias")
@blp.arguments(Empty, location="query")
@blp.answers(
    reply(200, "The alias", "Alias", example=examples.ALIAS, headers=["ETag"]),
    reply(304, "Not modified"),
    public=True,
    parameters=["If-None-Match"],
)
def read_alias(_query: dict[str, Any], project: str, alias_id: uuid.UUID) -> Response:
    """Read an alias

    One pair of names that count as one.
    """
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        return json_answer(serializers.alias(aliases.find_alias(connection, row.id, alias_id)), tag=alias_id.hex)


@blp.delete("/projects/<project>/aliases/<uuid:alias_id>")
@blp.doc(operationId="deleteAlias")
@blp.arguments(Empty, location="query")
@blp.answers(reply(204, "Deleted"), errors=[409], parameters=["Idempotency-Key"])
@idempotent_write()
def remove_alias(
    connection: Connection, row: Any, _query: dict[str, Any], project: str, alias_id: uuid.UUID
) -> Response:
    """Delete an alias

    Grids that say the alias count by their own name from now on.
    """
    acts.delete_alias(connection, actor(connection), row.id, alias_id)
    return Response(status=204)


def _serve(kind: str) -> None:
    """Add the list of the names of a kind that are in use."""

    def list_names(query: dict[str, Any], project: str) -> Response:
        after = read_text(query["cursor"]) if "cursor" in query else None
        narrowed = Filters(**{name: query[name] for name in FILTERED})
        with parts().database.reading() as connection:
            row = enter(connection, project, "reader")
            found = names_in_use(connection, row.id, kind, after, query["limit"] + 1, query.get("q", ()), narrowed)
        return page(found, query["limit"], dict, lambda name: write_text(name["name"]))

    told = "With how many grids carry each, and what it is an alias of: of all grids, or those of other names."
    list_names.__doc__ = f"List the {kind}s in use\n\n{told}"
    described = blp.answers(
        reply(200, "A page of names with their counts", "Names", example=examples.NAMES, headers=["Link"]), public=True
    )
    taken = blp.arguments(NamesInUseParameters, location="query")(described(list_names))
    named = blp.doc(operationId=f"list{kind.capitalize()}s")(taken)
    blp.get(f"/projects/<project>/{kind}s", endpoint=f"list_{kind}s")(named)


for named in (*KINDS, "metric"):
    _serve(named)
