"""Projects: make, find, list, change, delete."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, insert, or_, select, true, update
from sqlalchemy.exc import IntegrityError

from registry.errors import Conflict, NotFound
from registry.operations.auth import Caller, Role
from registry.storage.prepared_statements import Prepared
from registry.storage.tables import grids, new_id, projects

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


def projects_by_use(
    connection: Connection, caller: Caller, after: tuple[datetime, str] | None, limit: int
) -> Sequence[Any]:
    """Projects that the caller may see with their number of `grids` and when one was last published or deleted, or
    else the project made (`used_at`); the latest first, `after` an instant and a slug."""
    latest = select(grids.c.updated_at).where(grids.c.project_id == projects.c.id)
    used = func.coalesce(latest.order_by(grids.c.updated_at.desc()).limit(1).scalar_subquery(), projects.c.created_at)
    seen = select(*_COLUMNS, used.label("used_at")).where(projects.c.deleted_at.is_(None), visible(caller)).subquery()
    query = select(seen).order_by(seen.c.used_at.desc(), seen.c.slug).limit(limit)
    if after is not None:
        instant, slug = after
        later = and_(seen.c.used_at == instant, seen.c.slug > slug)
        query = query.where(or_(seen.c.used_at < instant, later))
    page = query.subquery()
    here = (grids.c.project_id == page.c.id, grids.c.deleted_at.is_(None))
    count = select(func.count()).select_from(grids).where(*here).scalar_subquery()
    counted = select(page, count.label("grids")).order_by(page.c.used_at.desc(), page.c.slug)
    return connection.execute(counted).all()


def count_projects(connection: Connection, caller: Caller) -> int:
    """Number of the projects that the caller may see."""
    query = select(func.count()).select_from(projects).where(projects.c.deleted_at.is_(None), visible(caller))
    return int(connection.scalar(query) or 0)


def list_administered(connection: Connection, caller: Caller, after: str | None, limit: int) -> Sequence[Any]:
    """Projects that the caller administers, by slug."""
    mine = [project_id for project_id, role in caller.roles.items() if role == "admin" and project_id is not None]
    query = select(*_COLUMNS).where(
        projects.c.deleted_at.is_(None), true() if caller.operates else projects.c.id.in_(mine)
    )
    if after is not None:
        query = query.where(projects.c.slug > after)
    return connection.execute(query.order_by(projects.c.slug).limit(limit)).all()


def list_roles(connection: Connection, caller: Caller) -> list[tuple[str | None, Role]]:
    """What the caller may do: slugs of projects with its role in each, by slug; None stands for every project."""
    query = select(projects.c.id, projects.c.slug).where(
        projects.c.deleted_at.is_(None), projects.c.id.in_(caller.roles)
    )
    found = [(row.slug, caller.roles[row.id]) for row in connection.execute(query.order_by(projects.c.slug))]
    return [*([(None, caller.roles[None])] if None in caller.roles else []), *found]


def visible(caller: Caller) -> ColumnElement[bool]:
    """Condition that the caller may see a project."""
    if None in caller.roles:
        return true()
    return or_(projects.c.visibility == "public", projects.c.id.in_(caller.roles))


def lock_project(connection: Connection, project_id: uuid.UUID) -> Any:
    """Current row of the project, locked until the end of the transaction."""
    query = select(*_COLUMNS).where(projects.c.id == project_id, projects.c.deleted_at.is_(None))
    row = connection.execute(query.with_for_update(key_share=True)).one_or_none()
    if row is None:
        raise NotFound("There is no such project.")
    return row


def change_project(connection: Connection, project_id: uuid.UUID, changes: dict[str, Any]) -> Any:
    """Change columns of a project, such as its name or visibility; return the changed row."""
    statement = update(projects).where(projects.c.id == project_id).values(**changes, updated_at=func.now())
    return connection.execute(statement.returning(*_COLUMNS)).one()


def delete_project(connection: Connection, project_id: uuid.UUID) -> None:
    """Put a tombstone on a project: it and its contents answer 404, and its slug is free again."""
    connection.execute(update(projects).where(projects.c.id == project_id).values(deleted_at=func.now()))
