"""Projects: make, find, list, change, delete."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, or_, select, true, update
from sqlalchemy.exc import IntegrityError

from registry.errors import Conflict, NotFound
from registry.operations.auth import Caller
from registry.storage.prepared_statements import Prepared
from registry.storage.tables import new_id, projects

_COLUMNS = (*projects.c, projects.c.id.label("project_id"))
_BY_SLUG = Prepared(
    "project",
    select(*_COLUMNS).where(projects.c.slug == bindparam("slug"), projects.c.deleted_at.is_(None)),
    {"slug": "text"},
)


def make_project(connection: Connection, *, slug: str, name: str, visibility: str) -> Any:
    """Make a project; `Conflict` when the slug is taken."""
    values = {"id": new_id(), "slug": slug, "name": name, "visibility": visibility}
    try:
        return connection.execute(insert(projects).values(values).returning(*_COLUMNS)).one()
    except IntegrityError:
        raise Conflict(f'There is already a project "{slug}".') from None


def find_project(connection: Connection, slug: str) -> Any:
    """Row of a project, None if there is none. Authorizing the caller is the next step."""
    if "\0" in slug:
        return None  # PostgreSQL has no such text
    return _BY_SLUG.one_or_none(connection, {"slug": slug})


def list_projects(connection: Connection, caller: Caller, after: str | None, limit: int) -> Sequence[Any]:
    """Projects that the caller may see, by slug."""
    query = select(*_COLUMNS).where(projects.c.deleted_at.is_(None), visible(caller))
    if after is not None:
        query = query.where(projects.c.slug > after)
    return connection.execute(query.order_by(projects.c.slug).limit(limit)).all()


def visible(caller: Caller) -> ColumnElement[bool]:
    """Condition that the caller may see a project."""
    if caller.role is not None and caller.project_id is None:
        return true()
    return or_(projects.c.visibility == "public", projects.c.id == caller.project_id)


def lock_project(connection: Connection, project_id: uuid.UUID) -> Any:
    """Current row of the project, locked until the end of the transaction."""
    query = select(*_COLUMNS).where(projects.c.id == project_id, projects.c.deleted_at.is_(None))
    row = connection.execute(query.with_for_update(key_share=True)).one_or_none()
    if row is None:
        raise NotFound("There is no such project.")
    return row


def change_project(connection: Connection, project_id: uuid.UUID, changes: dict[str, Any]) -> Any:
    """Change the name or the visibility; return the changed row."""
    statement = update(projects).where(projects.c.id == project_id).values(**changes, updated_at=func.now())
    return connection.execute(statement.returning(*_COLUMNS)).one()


def delete_project(connection: Connection, project_id: uuid.UUID) -> None:
    """Put a tombstone on a project: it and its contents answer 404, and its slug is free again."""
    connection.execute(update(projects).where(projects.c.id == project_id).values(deleted_at=func.now()))
