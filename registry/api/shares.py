"""Routes of share links, for clients that cannot send a header and people without a token, and of the audit log."""

import uuid
from collections.abc import Sequence
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api import examples, serializers
from registry.api.context import actor, parts
from registry.api.idempotency import idempotent_write
from registry.api.paging import listed
from registry.api.responses import json_answer
from registry.api.schemas import ByIdParameters, ShareIn
from registry.api.smorest import Blueprint, reply
from registry.operations import shares
from registry.operations.audit_log import RecordFilter, find_records

blp = Blueprint("shares", "Links that open one path without a token.")


@blp.post("/projects/<project>/shares", operation="createShare")
@blp.arguments(ShareIn, example=examples.SHARE_IN)
@blp.answers(reply(201, "Created; the link is shown this once", "ShareLink"))
@idempotent_write("admin")
def make_share(connection: Connection, home: Any, sent: dict[str, Any], project: str) -> Response:
    """Create a share link

    Whoever has it reads that path, its forms (`.csv`, `.svg`) and what is below it, with any query, and nothing else,
    until it expires or is revoked. A link to a whole project opens its grids and claims too. A link to a page (a path
    without `/api/v1`) also opens the data of that page, at `/api/v1` too, and the page's own links carry it on.
    """
    row = shares.make_share(connection, actor(connection), home, sent["path"], sent["expires_in"])
    address = shares.share_address(connection, row)
    return json_answer(serializers.share(row) | {"url": parts().settings.url + address}, status=201)


@blp.get("/projects/<project>/shares", operation="listShares")
@blp.arguments(ByIdParameters, location="query")
@blp.answers(reply(200, "A page of shares, without links", "Shares", headers=["Link"]))
def list_shares(query: dict[str, Any], project: str) -> Response:
    """List the share links that have not expired

    The oldest first, without the links themselves. Needs the role admin.
    """
    return listed(project, query, shares.list_shares, serializers.share, role="admin")


@blp.delete("/projects/<project>/shares/<uuid:share_id>", operation="deleteShare")
@blp.answers(reply(204, "Revoked"))
@idempotent_write("admin")
def take_back(connection: Connection, row: Any, project: str, share_id: uuid.UUID) -> Response:
    """Revoke a share link

    It is worthless at once.
    """
    shares.revoke_share(connection, actor(connection), row.id, share_id)
    return Response(status=204)


audit_blp = Blueprint("audit", "Who did what and when.")


@audit_blp.get("/projects/<project>/audit", operation="listAudit")
@audit_blp.arguments(ByIdParameters, location="query")
@audit_blp.answers(reply(200, "A page of acts, newest first", "Acts", example="audit", headers=["Link"]))
def list_audit(query: dict[str, Any], project: str) -> Response:
    """Read the audit log

    Tokens created and revoked, the project created, updated or deleted, experiments and grids described, keys of
    protocols declared binding, grids deleted or purged, outcomes of items added, aliases created and deleted, shares
    created and revoked, members added and removed, sessions begun and ended: each with the token or the user and the
    request that did it.
    Nothing is changed or removed here. Needs the role admin.
    """

    def read(connection: Connection, project_id: uuid.UUID, before: uuid.UUID | None, limit: int) -> Sequence[Any]:
        return find_records(connection, project_id, RecordFilter(), before, limit)

    return listed(project, query, read, serializers.audit_entry, role="admin")
