"""Outcomes of items of a grid: what came out of each question behind its cells."""

from __future__ import annotations

import base64
import uuid
from collections import Counter
from functools import partial
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api import examples
from registry.api.audit_log import actor
from registry.api.context import grid_row, parts
from registry.api.idempotency import idempotent_write
from registry.api.item_schemas import ItemsIn, ItemsParameters
from registry.api.responses import json_answer
from registry.api.schemas import RevisionParameters
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.grids.intake.sent_items import read_items
from registry.grids.outcomes import Outcomes
from registry.operations.items import GridItems, add_items, find_items, ids_of_sets
from registry.operations.read import placed
from registry.operations.stored_grids import stored_grid

blp = Blueprint("items", __name__, url_prefix=API_PREFIX, description="What came out of each item behind a cell.")


@blp.post("/grids/<uuid:grid>/items")
@blp.doc(operationId="addItems")
@blp.arguments(ItemsIn, example=examples.ITEMS_IN)
@blp.arguments(RevisionParameters, location="query")
@blp.answers(
    reply(201, "Added", "Items", example=examples.ITEMS),
    reply(200, "The revision has these outcomes already", "Items", example=examples.ITEMS),
    errors=[400, 409, 413, 415],
    parameters=["Idempotency-Key"],
)
@idempotent_write()
def post_items(
    connection: Connection, row: Any, sent: dict[str, Any], query: dict[str, Any], grid: uuid.UUID
) -> Response:
    """Add outcomes of items

    One bit or one score for each item, in cells of a revision, by default the current one. Comparisons of grids with
    outcomes of the same set are paired. Each cell must be the mean of its outcomes, exactly where it has trials,
    within half a unit of its last decimal else. Outcomes never change: others for the same cell are a conflict. An
    amendment keeps those of the cells that it leaves as they are, another publication begins without any. Several sets
    are posted one by one.
    """
    read = partial(read_items, sent, limits=parts().limits, most=parts().settings.max_outcomes)
    found = add_items(connection, actor(connection), row, grid, query.get("revision"), read)
    return json_answer(_document(found), status=201 if found.is_new else 200)


@blp.get("/grids/<uuid:grid>/items")
@blp.doc(operationId="getItems")
@blp.arguments(ItemsParameters, location="query")
@blp.answers(reply(200, "The outcomes", "Items", example=examples.ITEMS), public=True)
def get_items(query: dict[str, Any], grid: uuid.UUID) -> Response:
    """Read outcomes of items

    The item sets, and the cells that have outcomes; `outcomes=true` adds the outcomes themselves as they are posted.
    """
    with parts().database.reading() as connection:
        row = grid_row(connection, grid, "reader", query.get("revision"))
        found = find_items(connection, grid, stored_grid(row))
        digests = {one.digest for one in found.held.values()} if query["outcomes"] else set()
        ids = ids_of_sets(connection, row.project_id, digests) if digests else {}
    return json_answer(_document(found, ids, whole=query["outcomes"]))


def _document(found: GridItems, ids: dict[str, list[str]] | None = None, *, whole: bool = False) -> dict[str, Any]:
    held = [found.held[index] for index in sorted(found.held)]
    cells = Counter(one.digest for one in held)
    sets = {one.digest: {"name": one.set_name, "digest": one.digest, "count": one.outcomes.count} for one in held}
    return {
        "grid": found.stored.id,
        "revision": found.stored.revision,
        "sets": [
            one | {"cells": cells[digest]} | ({"ids": ids[digest]} if ids and digest in ids else {})
            for digest, one in sorted(sets.items())
        ],
        "cells": [
            {
                "at": placed(found.stored.grid, index)[0],
                "set": found.held[index].digest,
                "mean": found.held[index].outcomes.mean,
                "repeats": found.held[index].outcomes.repeats,
                **({"outcomes": _sent(found.held[index].outcomes)} if whole else {}),
            }
            for index in sorted(found.held)
        ],
    }


def _sent(outcomes: Outcomes) -> str | list[float]:
    return list(outcomes.scores or ()) if outcomes.bits is None else base64.b64encode(outcomes.bits).decode()
