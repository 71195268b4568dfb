"""Route of a project's audit log."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api import serializers
from registry.api.paging import listed
from registry.api.schemas import ByIdParameters
from registry.api.smorest import Blueprint, reply
from registry.operations.audit_log import RecordFilter, find_records

blp = Blueprint("audit", "Who did what and when.")


@blp.get("/projects/<project>/audit", operation="listAudit")
@blp.arguments(ByIdParameters, location="query")
@blp.answers(reply(200, "A page of acts, newest first", "Acts", example="audit", headers=["Link"]))
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
