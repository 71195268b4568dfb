"""Audit log: who did what and when, written in the transaction of the action itself."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, insert, select

from registry.storage.tables import audit_log, new_id

Action = Literal[
    "project.created",
    "project.updated",
    "project.deleted",
    "project.purged",
    "token.created",
    "token.revoked",
    "grid.deleted",
    "grid.restored",
    "grid.purged",
    "alias.created",
    "alias.deleted",
    "suite.set",
    "suite.deleted",
    "share.created",
    "share.revoked",
    "visit.ended",
]

RENAMED = {
    "project.made": "project.created",
    "project.changed": "project.updated",
    "token.made": "token.created",
    "alias.made": "alias.created",
    "alias.removed": "alias.deleted",
    "share.made": "share.created",
    "share.taken_back": "share.revoked",
    "visit.ended": "session.ended",
}
"""Actions as older releases wrote them, by what they are called now. Sessions are still ended under the older name:
processes of the release before look for it."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Author of an action: a token in a request or, without both, a command with access to the database."""

    token_id: uuid.UUID | None = None
    request_id: uuid.UUID | None = None


COMMAND = Actor()


def record(
    connection: Connection,
    actor: Actor,
    action: Action,
    subject: object,
    *,
    project_id: uuid.UUID | None,
    **detail: Any,
) -> None:
    """Add an entry to the log. Write details for readers a year later: no secrets, and names rather than only ids."""
    connection.execute(
        insert(audit_log).values(
            id=new_id(),
            project_id=project_id,
            action=action,
            subject=str(subject),
            detail=detail,
            token_id=actor.token_id,
            request_id=actor.request_id,
        )
    )


def list_records(connection: Connection, project_id: uuid.UUID, before: uuid.UUID | None, limit: int) -> Sequence[Any]:
    """Entries about a project, newest first, older than the entry `before`."""
    query = select(audit_log).where(audit_log.c.project_id == project_id)
    if before is not None:
        query = query.where(audit_log.c.id < before)
    return connection.execute(query.order_by(audit_log.c.id.desc()).limit(limit)).all()
