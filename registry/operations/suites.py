"""Suites: lists of benchmarks of a project, by name, that are ranked together."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, literal_column, select
from sqlalchemy.dialects.postgresql import insert

from registry.errors import Fault, Invalid, NotFound
from registry.operations.query_names import known_names_text
from registry.storage.tables import new_id, suites

MOST = 1_000
"""Suites of a project."""


def set_suite(connection: Connection, project_id: uuid.UUID, name: str, benchmarks: Sequence[str]) -> tuple[Any, bool]:
    """Create the suite, or give it other benchmarks; its row, and whether it is new.

    Raises `Invalid` when the project has too many suites.
    """
    values = {"id": new_id(), "project_id": project_id, "name": name, "benchmarks": list(dict.fromkeys(benchmarks))}
    statement = insert(suites).values(values)
    changed = {"benchmarks": statement.excluded.benchmarks, "updated_at": func.now()}
    # xmax is 0 in a row that was inserted and not updated.
    is_new: Any = literal_column("(suites.xmax = 0)").label("is_new")
    row = connection.execute(
        statement.on_conflict_do_update(index_elements=["project_id", "name"], set_=changed).returning(
            *suites.c, is_new
        )
    ).one()
    count = connection.scalar(select(func.count()).select_from(suites).where(suites.c.project_id == project_id)) or 0
    if row.is_new and count > MOST:
        raise Invalid([Fault("", f"a project has at most {MOST:,} suites")])
    return row, bool(row.is_new)


def list_suites(connection: Connection, project_id: uuid.UUID, after: str | None, limit: int) -> Sequence[Any]:
    """Suites of a project by name."""
    query = select(suites).where(suites.c.project_id == project_id).order_by(suites.c.name).limit(limit)
    return connection.execute(query if after is None else query.where(suites.c.name > after)).all()


def find_suite(connection: Connection, project_id: uuid.UUID, name: str) -> Any:
    """Suite of this name; `NotFound` if the project has none."""
    here = (suites.c.project_id == project_id, suites.c.name == name)
    row = None if "\0" in name else connection.execute(select(suites).where(*here)).one_or_none()
    if row is None:
        raise NotFound("The project has no such suite.")
    return row


def members_of(connection: Connection, project_id: uuid.UUID, name: str) -> dict[str, Any]:
    """What the suite that a selection names brings to it: its benchmarks; `Invalid` with what there is if the project
    has none of the name."""
    try:
        return {"benchmark": tuple(sorted(find_suite(connection, project_id, name).benchmarks))}
    except NotFound:
        known = connection.scalars(select(suites.c.name).where(suites.c.project_id == project_id)).all()
        detail = f'the project has no suite "{name}"; {known_names_text(known)}'
        raise Invalid([Fault("/suite", detail)]) from None


def delete_suite(connection: Connection, project_id: uuid.UUID, name: str) -> Any:
    """Delete a suite and return its row; `NotFound` if the project has none of the name."""
    row = find_suite(connection, project_id, name)
    connection.execute(delete(suites).where(suites.c.id == row.id))
    return row
