"""Audit log: who did what and when, written in the transaction of the action itself."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import Connection, func, insert, select

from registry.operations.told_acts import tell_act
from registry.storage.tables import audit_log, new_id, projects, tokens, users

Action = Literal[
    "project.created",
    "project.updated",
    "project.deleted",
    "project.restored",
    "project.purged",
    "token.created",
    "token.revoked",
    "experiment.updated",
    "experiment.protocol_set",
    "grid.updated",
    "grid.deleted",
    "grid.restored",
    "grid.purged",
    "items.added",
    "alias.created",
    "alias.deleted",
    "suite.set",
    "suite.deleted",
    "baseline.set",
    "baseline.deleted",
    "claim.created",
    "claim.updated",
    "claim.deleted",
    "claim.restored",
    "alert.answered",
    "webhook.created",
    "webhook.updated",
    "webhook.rotated",
    "webhook.tested",
    "webhook.redelivered",
    "webhook.recovered",
    "webhook.disabled",
    "webhook.deleted",
    "share.created",
    "share.revoked",
    "jobs.retried",
    "session.created",
    "session.ended",
    "member.created",
    "member.deleted",
]
ACTIONS: tuple[Action, ...] = get_args(Action)


@dataclass(frozen=True, slots=True)
class Actor:
    """Author of an action: a token or a user in a request or, without both, a command with access to the database."""

    token_id: uuid.UUID | None = None
    request_id: uuid.UUID | None = None
    user_id: uuid.UUID | None = None


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
    """Add an entry to the log, and to the project's feed if that tells of such acts. Write details for readers a year
    later: no secrets, and names rather than only ids."""
    connection.execute(
        insert(audit_log).values(
            id=new_id(),
            project_id=project_id,
            action=action,
            subject=str(subject),
            detail=detail,
            token_id=actor.token_id,
            request_id=actor.request_id,
            user_id=actor.user_id,
        )
    )
    if project_id is not None:
        tell_act(connection, project_id, action, str(subject), detail)


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Filter of entries; what is empty filters nothing."""

    act: str = ""
    """What was done."""
    actor: str = ""
    """Part of the name of the token or the user."""
    day: date | None = None
    """Day in UTC."""


def find_records(
    connection: Connection, project_id: uuid.UUID | None, wanted: RecordFilter, before: uuid.UUID | None, limit: int
) -> Sequence[Any]:
    """Entries about a project, or (None) about anything, newest first, with the names of the actor and the project."""
    query = (
        select(
            *audit_log.c,
            tokens.c.name.label("token_name"),
            users.c.name.label("user_name"),
            projects.c.slug.label("project"),
        )
        .outerjoin(tokens, tokens.c.id == audit_log.c.token_id)
        .outerjoin(users, users.c.id == audit_log.c.user_id)
        .outerjoin(projects, projects.c.id == audit_log.c.project_id)
    )
    if project_id is not None:
        query = query.where(audit_log.c.project_id == project_id)
    if before is not None:
        query = query.where(audit_log.c.id < before)
    if wanted.act:
        query = query.where(audit_log.c.action == wanted.act)
    if wanted.actor:
        name = func.coalesce(users.c.name, tokens.c.name, "command line")
        query = query.where(func.strpos(func.lower(name), func.lower(wanted.actor)) > 0)
    if wanted.day is not None:
        midnight = datetime.combine(wanted.day, time(), UTC)
        query = query.where(audit_log.c.at >= midnight, audit_log.c.at < midnight + timedelta(days=1))
    return connection.execute(query.order_by(audit_log.c.id.desc()).limit(limit)).all()


def deletions_of(connection: Connection, project_id: uuid.UUID, grid_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, str]:
    """Name of who deleted each of these grids last, by grid."""
    query = (
        select(audit_log.c.subject, func.coalesce(users.c.name, tokens.c.name, "command line").label("name"))
        .outerjoin(tokens, tokens.c.id == audit_log.c.token_id)
        .outerjoin(users, users.c.id == audit_log.c.user_id)
        .where(audit_log.c.project_id == project_id, audit_log.c.action == "grid.deleted")
        .where(audit_log.c.subject.in_([str(one) for one in grid_ids]))
        .order_by(audit_log.c.id)
    )
    return {uuid.UUID(row.subject): row.name for row in connection.execute(query)}


def list_records(connection: Connection, project_id: uuid.UUID, before: uuid.UUID | None, limit: int) -> Sequence[Any]:
    """Entries about a project, newest first, older than the entry `before`."""
    query = select(audit_log).where(audit_log.c.project_id == project_id)
    if before is not None:
        query = query.where(audit_log.c.id < before)
    return connection.execute(query.order_by(audit_log.c.id.desc()).limit(limit)).all()
