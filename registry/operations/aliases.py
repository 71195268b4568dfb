"""Aliases: names that stand for another name, so that grids called differently are compared as one."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.exc import IntegrityError

from registry.errors import Conflict, Fault, Invalid, NotFound
from registry.operations.projects import lock_project
from registry.storage.tables import aliases, invalidations, new_id

Joined = Mapping[tuple[str, str], str]
"""The names that aliases stand for, by kind and alias."""


def joined_names(connection: Connection, project_id: uuid.UUID) -> Joined:
    """All aliases of a project."""
    statement = select(aliases.c.kind, aliases.c.alias, aliases.c.name).where(aliases.c.project_id == project_id)
    return {(row.kind, row.alias): row.name for row in connection.execute(statement)}


def make_alias(connection: Connection, project_id: uuid.UUID, *, kind: str, alias: str, name: str) -> Any:
    """Make `alias` stand for `name`; return the row.

    Raises `Invalid` for chains and circles, and `Conflict` for an alias that is taken.
    """
    # One at a time in a project: two requests at once could make a chain that neither of them sees.
    lock_project(connection, project_id)
    if alias == name:
        raise Invalid([Fault("/alias", "a name is not an alias of itself")])
    of_kind = select(aliases.c.alias).where(aliases.c.project_id == project_id, aliases.c.kind == kind)
    if connection.execute(of_kind.where(aliases.c.alias == name)).first() is not None:
        raise Invalid([Fault("/name", f'"{name}" is itself an alias; join to the name that it stands for')])
    if connection.execute(of_kind.where(aliases.c.name == alias)).first() is not None:
        raise Invalid([Fault("/alias", f'other aliases are joined to "{alias}"; remove them first')])
    values = {"id": new_id(), "project_id": project_id, "kind": kind, "alias": alias, "name": name}
    try:
        row = connection.execute(insert(aliases).values(values).returning(*aliases.c)).one()
    except IntegrityError:
        raise Conflict(f'"{alias}" is an alias already.') from None
    _mark(connection, project_id)
    return row


def list_aliases(connection: Connection, project_id: uuid.UUID, after: uuid.UUID | None, limit: int) -> Sequence[Any]:
    """Aliases of a project, oldest first."""
    query = select(aliases).where(aliases.c.project_id == project_id).order_by(aliases.c.id).limit(limit)
    return connection.execute(query if after is None else query.where(aliases.c.id > after)).all()


def remove_alias(connection: Connection, project_id: uuid.UUID, alias_id: uuid.UUID) -> Any:
    """Delete an alias and return its row."""
    here = delete(aliases).where(aliases.c.id == alias_id, aliases.c.project_id == project_id)
    removed = connection.execute(here.returning(*aliases.c)).one_or_none()
    if removed is None:
        raise NotFound("The project has no such alias.")
    _mark(connection, project_id)
    return removed


def _mark(connection: Connection, project_id: uuid.UUID) -> None:
    """Invalidate every ranking of the project."""
    connection.execute(insert(invalidations).values(project_id=project_id))
