"""Acts on projects, tokens, aliases and members, each with its line in the audit log; other resources have their own.

The API and the pages carry them out by these functions alone. Each works in the caller's transaction, so that there is
no act without its line and no line without its act. Whether the actor may do it is the caller's to check.
"""

import uuid
from typing import Any

from sqlalchemy import Connection

from registry.operations import (
    auth,
    names,
    projects,
    users,
)
from registry.operations.audit_log import Actor, record
from registry.operations.auth import Role
from registry.operations.users import MemberKind


def create_project(connection: Connection, actor: Actor, *, slug: str, name: str | None, visibility: str) -> Any:
    """Create a project, named by its slug unless it has a name; `Conflict` when the slug is taken."""
    row = projects.make_project(connection, slug=slug, name=name or slug, visibility=visibility)
    record(connection, actor, "project.created", row.id, project_id=row.id, slug=row.slug)
    return row


def update_project(
    connection: Connection,
    actor: Actor,
    project_id: uuid.UUID,
    changes: dict[str, Any],
    told: dict[str, Any] | None = None,
) -> Any:
    """Change a project and return its row; the log has the changes, or what is `told` of them."""
    row = projects.change_project(connection, project_id, changes)
    record(connection, actor, "project.updated", row.id, project_id=row.id, **(changes if told is None else told))
    return row


def delete_project(connection: Connection, actor: Actor, row: Any, *, cascade: bool) -> None:
    """Put a tombstone on a project; `Conflict` where it holds grids, unless they are to go with it."""
    projects.delete_project(connection, row.id, cascade=cascade)
    record(connection, actor, "project.deleted", row.id, project_id=row.id, slug=row.slug)


def restore_project(connection: Connection, actor: Actor, row: Any) -> Any:
    """Take the tombstone off a project and return its row; one without a tombstone stays as it is, and the log too."""
    restored = projects.restore_project(connection, row.id)
    if restored is None:
        return row
    record(connection, actor, "project.restored", row.id, project_id=row.id, slug=row.slug)
    return restored


def create_token(
    connection: Connection, actor: Actor, project_id: uuid.UUID | None, *, name: str, role: Role, days: int
) -> tuple[Any, str]:
    """Create a token for a project, or (None) for every project: its row and its secret, which is kept nowhere."""
    row, secret = auth.issue_token(connection, project_id=project_id, role=role, name=name, days=days)
    told = {"name": row.name, "role": row.role, "expires_at": row.expires_at.isoformat()}
    record(connection, actor, "token.created", row.id, project_id=project_id, **told)
    return row, secret


def revoke_token(connection: Connection, actor: Actor, project_id: uuid.UUID | None, token_id: uuid.UUID) -> None:
    """Revoke a token of a project, or (None) of every project; `NotFound` if there is no such token."""
    auth.revoke(connection, project_id, token_id)
    record(connection, actor, "token.revoked", token_id, project_id=project_id)


def create_alias(
    connection: Connection, actor: Actor, project_id: uuid.UUID, *, kind: str, alias: str, name: str
) -> Any:
    """Make one name stand for another and return the row; `Invalid` for chains, `Conflict` for a taken alias."""
    row = names.make_alias(connection, project_id, kind=kind, alias=alias, name=name)
    record(connection, actor, "alias.created", row.id, project_id=project_id, kind=kind, alias=alias, name=name)
    return row


def delete_alias(connection: Connection, actor: Actor, project_id: uuid.UUID, alias_id: uuid.UUID) -> None:
    """Take an alias back; `NotFound` if the project has no such alias."""
    row = names.remove_alias(connection, project_id, alias_id)
    told = {name: getattr(row, name) for name in ("kind", "alias", "name")}
    record(connection, actor, "alias.deleted", alias_id, project_id=project_id, **told)


def create_member(
    connection: Connection, actor: Actor, project_id: uuid.UUID | None, *, kind: MemberKind, name: str, role: Role
) -> Any:
    """Give a user or a group a role in a project, or (None) in every project; `Conflict` when it has one there."""
    row = users.add_member(connection, project_id, kind=kind, name=name, role=role)
    record(connection, actor, "member.created", row.id, project_id=project_id, kind=kind, name=row.name, role=role)
    return row


def delete_member(connection: Connection, actor: Actor, project_id: uuid.UUID | None, member_id: uuid.UUID) -> None:
    """Take a role back at once; `NotFound` if there is no such member."""
    row = users.remove_member(connection, project_id, member_id)
    told = {"kind": row.kind, "name": row.name, "role": row.role}
    record(connection, actor, "member.deleted", member_id, project_id=project_id, **told)
