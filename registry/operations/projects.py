"""Projects: make, find, list, change, delete."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, exists, func, insert, or_, select, true, update
from sqlalchemy.exc import IntegrityError

from registry.errors import Conflict, NotFound
from registry.operations.auth import Caller, Role
from registry.storage.statements import Prepared
from registry.storage.tables import grids, new_id, projects

_COLUMNS = (*projects.c, projects.c.id.label("project_id"))
_BY_SLUG = Prepared(
    "project",
    select(*_COLUMNS).where(projects.c.slug == bindparam("slug"), projects.c.deleted_at.is_(None)),
    {"slug": "text"},
)


def make_project(connection: Connection, *, slug: str, name: str, visibility: str) -> Any:
    """Make a project; `Conflict` when the slug is taken, also by a deleted project that could be restored."""
    values = {"id": new_id(), "slug": slug, "name": name, "visibility": visibility}
    try:
        row = connection.execute(insert(projects).values(values).returning(*_COLUMNS)).one()
    except IntegrityError:
        raise Conflict(f'There is already a project "{slug}".') from None
    # Afterwards: the insertion has waited for whoever was deleting a project of this name.
    if connection.scalar(select(exists().where(projects.c.slug == slug, projects.c.deleted_at.is_not(None)))):
        raise Conflict(f'A deleted project is called "{slug}", until it is purged; it can be restored.')
    return row


def find_project(connection: Connection, slug: str) -> Any:
    """Row of a project, None if there is none. Authorizing the caller is the next step."""
    if "\0" in slug:
        return None  # PostgreSQL has no such text
    return _BY_SLUG.one_or_none(connection, {"slug": slug})


def find_restorable(connection: Connection, slug: str) -> Any:
    """Row of the project of this name, or else of the one that was deleted last; None if there is none."""
    if "\0" in slug:
        return None
    query = select(*_COLUMNS).where(projects.c.slug == slug).order_by(projects.c.deleted_at.desc().nulls_first())
    return connection.execute(query.limit(1)).one_or_none()


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


def list_administered(
    connection: Connection, caller: Caller, after: str | None, limit: int, *, deleted: bool = False
) -> Sequence[Any]:
    """Projects that the caller administers, by slug; `deleted`: those with a tombstone in their place."""
    mine = [project_id for project_id, role in caller.roles.items() if role == "admin" and project_id is not None]
    here = projects.c.deleted_at.is_not(None) if deleted else projects.c.deleted_at.is_(None)
    query = select(*_COLUMNS).where(here, true() if caller.operates else projects.c.id.in_(mine))
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


def delete_project(connection: Connection, project_id: uuid.UUID, *, cascade: bool) -> None:
    """Put a tombstone on a project: it and its contents answer 404, and its slug stays taken until it is purged.

    `Conflict` where it holds grids, unless they are to go with it (`cascade`).
    """
    held = select(func.count()).where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
    if not cascade and (count := connection.scalar(held)):
        raise Conflict(f"The project holds {count:,} {'grid' if count == 1 else 'grids'}; `cascade=true` deletes both.")
    connection.execute(update(projects).where(projects.c.id == project_id).values(deleted_at=func.now()))


def restore_project(connection: Connection, project_id: uuid.UUID) -> Any:
    """Take the tombstone off a project and return its row; `Conflict` when another has its slug by now."""
    here = (projects.c.id == project_id, projects.c.deleted_at.is_not(None))
    values = {"deleted_at": None, "updated_at": func.now()}
    try:
        return connection.execute(update(projects).where(*here).values(values).returning(*_COLUMNS)).one_or_none()
    except IntegrityError:
        raise Conflict("Another project has its name by now.") from None
