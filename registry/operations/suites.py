"""Suites: lists of benchmarks of a project, each whole or at its own levels, by name, that are ranked together."""

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, literal_column, select
from sqlalchemy.dialects.postgresql import insert

from registry.errors import Fault, Invalid, NotFound
from registry.grids.slices import Member, read_members
from registry.operations.audit_log import Actor, record
from registry.operations.names import joined_names
from registry.operations.query_names import known_names_text
from registry.storage.tables import new_id, suites

MOST_SUITES = 300
"""How many of the suites of a project a page looks through."""


def set_suite(
    connection: Connection, actor: Actor, project_id: uuid.UUID, name: str, benchmarks: Sequence[str]
) -> tuple[Any, bool]:
    """Create the suite, or give it other benchmarks; its row, and whether it is new. The audit log has it.

    Raises `Invalid` for a text that is no member. What no grid is about is told where the suite is asked for.
    """
    texts = [one.text for one in read_members(benchmarks)]
    values = {"id": new_id(), "project_id": project_id, "name": name, "benchmarks": texts}
    statement = insert(suites).values(values)
    changed = {"benchmarks": statement.excluded.benchmarks, "updated_at": func.now()}
    # xmax is 0 in a row that was inserted and not updated.
    is_new: Any = literal_column("(suites.xmax = 0)").label("is_new")
    either = statement.on_conflict_do_update(index_elements=["project_id", "name"], set_=changed)
    row = connection.execute(either.returning(*suites.c, is_new)).one()
    record(connection, actor, "suite.set", row.id, project_id=project_id, name=name, benchmarks=list(benchmarks))
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


def suites_by_benchmarks(connection: Connection, project_id: uuid.UUID) -> dict[frozenset[str], str]:
    """The first suite by name that has exactly these benchmarks, each whole."""
    found: dict[frozenset[str], str] = {}
    for row in list_suites(connection, project_id, None, MOST_SUITES):
        members = read_members(row.benchmarks)
        if not any(one.levels for one in members):
            found.setdefault(frozenset(one.benchmark for one in members), row.name)
    return found


def members_of(connection: Connection, project_id: uuid.UUID, name: str) -> dict[str, Any]:
    """What the suite that a selection names brings to it: its benchmarks, and the levels of those that have their own;
    `Invalid` with what there is if the project has none of the name, and where aliases have made one benchmark of two
    members with other levels."""
    try:
        members = sorted(read_members(find_suite(connection, project_id, name).benchmarks), key=lambda one: one.text)
    except NotFound:
        known = connection.scalars(select(suites.c.name).where(suites.c.project_id == project_id)).all()
        detail = f'the project has no suite "{name}"; {known_names_text(known)}'
        raise Invalid([Fault("/suite", detail)]) from None
    joined, seen = joined_names(connection, project_id), dict[str, Member]()
    for one in members:
        same = seen.setdefault(joined.get(("benchmark", one.benchmark), one.benchmark), one)
        if same.levels != one.levels:
            detail = f'has "{same.text}" and "{one.text}", which aliases have made one benchmark with other levels'
            raise Invalid([Fault("/suite", detail)])
    return {
        "benchmark": tuple(sorted(one.benchmark for one in members)),
        "slices": tuple(sorted((one.benchmark, one.levels) for one in members if one.levels)),
    }


def delete_suite(connection: Connection, actor: Actor, project_id: uuid.UUID, name: str) -> None:
    """Delete a suite, which the audit log has; `NotFound` if the project has none of the name."""
    row = find_suite(connection, project_id, name)
    connection.execute(delete(suites).where(suites.c.id == row.id))
    told = {"name": row.name, "benchmarks": row.benchmarks}
    record(connection, actor, "suite.deleted", row.id, project_id=project_id, **told)
