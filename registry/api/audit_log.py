"""The audit log of a project, and who acts in a request."""

from __future__ import annotations

import uuid
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api import examples, serializers
from registry.api.context import caller, enter, parts
from registry.api.paging import page
from registry.api.problems import request_id
from registry.api.schemas import ByIdParameters
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.operations.audit_log import Actor, list_records

blp = Blueprint("audit", __name__, url_prefix=API_PREFIX, description="Who did what and when.")


def actor(connection: Connection) -> Actor:
    """Author of this request, as the log names them."""
    return Actor(caller(connection).token_id, uuid.UUID(request_id()))


@blp.get("/projects/<project>/audit")
@blp.doc(operationId="listAudit")
@blp.arguments(ByIdParameters, location="query")
@blp.answers(reply(200, "A page of acts, newest first", "Acts", example=examples.AUDIT, headers=["Link"]))
def list_audit(query: dict[str, Any], project: str) -> Response:
    """Read the audit log

    Tokens created and revoked, the project created, updated or deleted, grids deleted or purged, aliases created and
    deleted, shares created and revoked, sessions ended by signing out: each with the token and the request that did it.
    Nothing is changed or removed here. Needs the role admin.
    """
    before = uuid.UUID(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        row = enter(connection, project, "admin")
        rows = list_records(connection, row.id, before, query["limit"] + 1)
    return page(rows, query["limit"], serializers.audit_entry, lambda row: str(row.id))
