"""Revisions of a grid: a list of them, what changed from one to another, and what cells were at each.

Resources of the blueprint of grids.
"""

from __future__ import annotations

import uuid
from typing import Any

from flask import Response
from marshmallow import INCLUDE

from registry.api import serializers
from registry.api.context import owned, parts
from registry.api.grids import blp
from registry.api.paging import page
from registry.api.responses import json_answer
from registry.api.schemas import DifferenceParameters, HistoryParameters, RevisionsParameters
from registry.api.selections import slice_of_request
from registry.api.smorest import reply
from registry.operations.read import compare_revisions, list_revisions, read_history


@blp.get("/grids/<uuid:grid>/revisions", operation="listRevisions")
@blp.arguments(RevisionsParameters, location="query")
@blp.answers(reply(200, "A page of revisions", "Revisions", headers=["Link"]), public=True)
def revisions(query: dict[str, Any], grid: uuid.UUID) -> Response:
    """List a grid's revisions

    The oldest first, each with its digest and how its statistics stand.
    """
    with parts().database.reading() as connection:
        owned(connection, grid, "reader")
        rows = list_revisions(connection, grid, int(query.get("cursor", 0)), query["limit"] + 1)
    return page(rows, query["limit"], serializers.revision, lambda row: str(row.number))


@blp.get("/grids/<uuid:grid>/history", operation="getHistory")
@blp.arguments(HistoryParameters, location="query", unknown=INCLUDE)
@blp.answers(
    reply(200, "A page of revisions with these cells", "History", headers=["Link"]), public=True, parameters=["slice"]
)
def history(query: dict[str, Any], grid: uuid.UUID) -> Response:
    """Read what cells were at each revision

    The newest revision first, each with the measured cells of the slice and their 95 % intervals. `at.<axis>=` is
    needed for a grid of more than 1,000 cells.
    """
    wanted = slice_of_request(query, HistoryParameters)
    before = int(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        row = owned(connection, grid, "reader")
        found, more = read_history(connection, grid, row.revision, wanted, before, query["limit"])
    shown = [*found, *found[-1:]] if more else found  # `page` wants one beyond the last
    return page(shown, len(found), serializers.recorded, lambda one: str(one.stored.revision))


@blp.get("/grids/<uuid:grid>/difference", operation="diffRevisions")
@blp.arguments(DifferenceParameters, location="query")
@blp.answers(reply(200, "What changed", "Difference", headers=["ETag"]), public=True, parameters=["If-None-Match"])
def difference(query: dict[str, Any], grid: uuid.UUID) -> Response:
    """Compare two revisions of a grid

    Which cells were added, removed and changed from one to the other, and what else is not the same.
    """
    a, b = query["a"], query["b"]
    with parts().database.reading() as connection:
        owned(connection, grid, "reader")
        found = compare_revisions(connection, grid, a, b)
    return json_answer(serializers.difference(found), tag=f"{grid}-{a}-{b}")
