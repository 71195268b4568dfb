"""In which keys the protocols of two grids differ. A resource of the blueprint of grids."""

from __future__ import annotations

import uuid
from typing import Any

from flask import Response, g
from sqlalchemy import Connection

from registry.api import examples
from registry.api.context import owned, parts
from registry.api.grids import blp
from registry.api.query_schemas import ProtocolDifferenceParameters
from registry.api.request_policy import sent_token
from registry.api.responses import json_answer
from registry.api.smorest import API_PREFIX, reply
from registry.errors import NotFound
from registry.operations.experiments import find_note
from registry.operations.read import find_summary
from registry.operations.shares import authenticate_share
from registry.results.codec import to_document
from registry.results.protocols import protocol_differences


@blp.get("/grids/<uuid:grid>/protocol-difference")
@blp.doc(operationId="diffProtocols")
@blp.arguments(ProtocolDifferenceParameters, location="query")
@blp.answers(
    reply(200, "The keys that differ", "ProtocolsCompared", example=examples.PROTOCOL_DIFFERENCE),
    public=True,
)
def read_difference(query: dict[str, Any], grid: uuid.UUID) -> Response:
    """Read in which keys the protocols of two grids differ

    Of a grid of the same project, the baseline, and this one, the contender: every key that has not the same value in
    both, and whether their values are compared.
    """
    with parts().database.reading() as connection:
        if "share" in g and sent_token() is None:
            authenticate_share(connection, g.share, f"{API_PREFIX}/grids/{query['other']}")
        mine = _side(connection, uuid.UUID(query["other"]), query.get("with_revision"))
        theirs = _side(connection, grid, query.get("revision"))
        if mine.project_id != theirs.project_id:
            raise NotFound(f"The project has no grid {query['other']}.")
        rules = find_note(connection, theirs.project_id, theirs.experiment).rules
    obstacle = rules.obstacle(mine.protocol, theirs.protocol)
    return json_answer(
        {
            "baseline": {"grid": mine.id, "revision": mine.number},
            "contender": {"grid": theirs.id, "revision": theirs.number},
            "comparable": obstacle is None,
            "reason": obstacle,
            "differences": to_document(protocol_differences(rules, mine.protocol, theirs.protocol)),
        }
    )


def _side(connection: Connection, grid: uuid.UUID, revision: int | None) -> Any:
    """The row of a grid without its cells; `NotFound` for a revision that is not there."""
    current = owned(connection, grid, "reader").revision
    row = find_summary(connection, grid, revision or current)
    if row is None:
        raise NotFound(f"The grid {grid} has no revision {revision}.")
    return row
