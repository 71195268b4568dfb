"""Failed jobs of a project, tried again."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api.audit_log import actor
from registry.api.idempotency import idempotent_write
from registry.api.responses import json_answer
from registry.api.schemas import Empty
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.operations import acts

blp = Blueprint("retry", __name__, url_prefix=API_PREFIX, description="Failed jobs, tried again.")


@blp.post("/projects/<project>/retry")
@blp.doc(operationId="retryFailed")
@blp.arguments(Empty, location="query")
@blp.answers(
    reply(200, "How many are due again", "Retried", example={"derivations": 2, "answers": 1}),
    errors=[409],
    parameters=["Idempotency-Key"],
)
@idempotent_write()
def retry_failed(connection: Connection, row: Any, _query: dict[str, Any], project: str) -> Response:
    """Try failed jobs again

    Statistics of the project's grids, and its rankings and other answers, that were given up are due at once, with
    all their attempts; up to 5,000 of each, so send it again until both are 0. `/status` says why they failed.
    """
    return json_answer(asdict(acts.retry_failed(connection, actor(connection), row.id)))
