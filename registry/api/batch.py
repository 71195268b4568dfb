"""Many grids in one request, each atomic by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Response, request
from sqlalchemy import Connection
from werkzeug.exceptions import UnsupportedMediaType

from registry.api import examples, serializers
from registry.api.audit_log import record_description
from registry.api.context import authorize_body, caller, enter, parts
from registry.api.idempotency import written
from registry.api.problems import problem_of
from registry.api.publication import read_grid
from registry.api.request_body import read_lines, sent_bytes, sent_json
from registry.api.responses import json_answer
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.errors import Fault, Invalid, Malformed, RegistryError
from registry.grids.intake import Submission
from registry.operations.publish import Published, announce_import, publish

blp = Blueprint("batch", __name__, url_prefix=API_PREFIX, description="Many grids in one request.")

_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {"$ref": "#/components/schemas/BatchIn"},
            "example": [examples.GRID_IN],
        },
    },
}


@blp.post("/projects/<project>/grids/batch")
@blp.doc(operationId="publishGrids")
@blp.answers(
    reply(200, "An answer for each grid, in order", "BatchAnswer", example=examples.BATCH_ANSWER),
    errors=[400, 409, 413, 415],
    parameters=["Idempotency-Key"],
    requestBody=_BODY,
)
def publish_batch(project: str) -> Response:
    """Publish many grids

    A JSON array, or NDJSON with `Content-Type: application/x-ndjson`. A grid that is at fault gets a problem and
    hinders no other; all that are answered 200 or 201 are stored when the answer comes.
    """

    def write(connection: Connection, row: Any) -> Response:
        items: list[dict[str, Any]] = [{} for _ in sent]
        submissions: dict[int, Submission] = {}
        for place, one in enumerate(sent):
            try:
                submissions[place] = read_one(one)
            except RegistryError as error:
                problem = problem_of(error)
                items[place] = {"index": place, "status": problem["status"], "problem": problem}
        published = publish(connection, row, list(submissions.values()), token_id=caller(connection).token_id)
        for place, outcome in zip(submissions, published, strict=True):
            record_description(connection, row.id, outcome)
            items[place] = {"index": place, "status": 201 if outcome.is_new else 200, "grid": item(outcome)}
        announce_import(connection, row, submissions.values(), published, len(sent) - len(published))
        return json_answer({"items": items, "failed": len(sent) - len(published)})

    sent = read_batch()
    return written(lambda connection: enter(connection, project, "writer"), write)


def read_batch() -> Sequence[Any]:
    """The grids as they were sent; `Invalid` when there are none or too many."""
    authorize_body()
    if request.mimetype in ("application/x-ndjson", "application/ndjson", "application/jsonl"):
        sent: Any = read_lines(sent_bytes(), parts().settings.max_batch)
    elif request.is_json:
        sent = sent_json()
    else:
        raise UnsupportedMediaType("Send application/json (an array) or application/x-ndjson.")
    if not isinstance(sent, list):
        raise Invalid([Fault("", "a batch is a JSON array of grids, or NDJSON")])
    if not 1 <= len(sent) <= parts().settings.max_batch:
        raise Invalid([Fault("", f"a batch has 1 to {parts().settings.max_batch} grids")])
    return sent


def read_one(sent: Any) -> Submission:
    """One grid of a batch; a line that could not be read raises what was wrong with it."""
    if isinstance(sent, Malformed):
        raise sent
    return read_grid(sent, parts().limits)


def item(outcome: Published) -> dict[str, Any]:
    return serializers.summary(outcome.stored)
