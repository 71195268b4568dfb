"""Names in use, and the aliases that join them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
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
from registry.api.selections import of_suite
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.errors import Fault, Invalid
from registry.operations import acts, names
from registry.operations.find import FILTERED, Filters
from registry.operations.names import axes_in_use, names_in_use

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
@blp.answers(reply(200, "A page of aliases", "Aliases", headers=["Link"]), public=True)
def list_aliases(query: dict[str, Any], project: str) -> Response:
    """List the aliases

    The oldest first.
    """
    after = uuid.UUID(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        rows = names.list_aliases(connection, row.id, after, query["limit"] + 1)
    return page(rows, query["limit"], serializers.alias, lambda row: str(row.id))


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


@blp.get(f"/projects/<project>/names/<any({','.join(f'{kind}s' for kind in (*KINDS, 'metric'))},axes):kind>")
@blp.doc(operationId="listNames")
@blp.arguments(NamesInUseParameters, location="query")
@blp.answers(
    reply(200, "A page of names with their counts", "Names", example=examples.NAMES, headers=["Link"]), public=True
)
def list_names(query: dict[str, Any], project: str, kind: str) -> Response:
    """List the names in use of a kind

    With how many grids carry each, of all grids or of those of other names, and what it is an alias of. `axes` have
    their levels and measured cells in place of aliases, and take no `q`.
    """
    after = read_text(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
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
