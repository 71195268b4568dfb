"""What people say of a grid beside its values: a description and labels."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api import examples
from registry.api.audit_log import actor
from registry.api.context import caller, parts
from registry.api.grids import blp, published_answer
from registry.api.idempotency import idempotent_write
from registry.api.responses import expected_notes
from registry.api.schemas import GridChange
from registry.api.smorest import reply
from registry.operations.amend import describe, told_changes
from registry.operations.audit_log import record

__all__ = ["blp"]


@blp.patch("/grids/<uuid:grid>")
@blp.doc(operationId="updateGrid")
@blp.arguments(GridChange, example=examples.GRID_CHANGE)
@blp.answers(
    reply(200, "The grid", "GridSummary", example=examples.GRID_SUMMARY, headers=["ETag"]),
    errors=[400, 409, 412, 415],
    parameters=["Idempotency-Key", "If-Match"],
)
@idempotent_write()
def change_grid(connection: Connection, row: Any, changes: dict[str, Any], grid: uuid.UUID) -> Response:
    """Change a grid's description or labels

    A description belongs to the grid, and another one makes no revision. Labels are set and taken away by name; they
    are content and part of the digest, so other ones make a revision with the same values. `If-Match` holds for the
    revision and the description.
    """
    changed = describe(
        connection,
        grid,
        changes,
        most_labels=parts().settings.max_labels,
        token_id=caller(connection).token_id,
        expected=expected_notes(),
    )
    if changed.is_new or changed.is_described:
        told = {"names": asdict(changed.stored.names), "revision": changed.stored.revision} | told_changes(changes)
        record(connection, actor(connection), "grid.updated", grid, project_id=row.project_id, **told)
    return published_answer(changed, made=200)
