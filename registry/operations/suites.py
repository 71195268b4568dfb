"""Suites: lists of benchmarks of a project, each whole or at its own levels, by name, that are ranked together."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, literal_column, select
from sqlalchemy.dialects.postgresql import insert

from registry.errors import Fault, Invalid, NotFound
from registry.grids.slices import Member, read_members, slice_faults
from registry.operations.audit_log import Actor, record
from registry.operations.find import Filters
from registry.operations.names import joined_names
from registry.operations.query_names import axes_by_benchmark, known_names_text, unknown_names
from registry.results.terms import Warning
from registry.storage.tables import grids, new_id, suites

MOST = 1_000
"""Suites of a project."""


def set_suite(
    connection: Connection, actor: Actor, project_id: uuid.UUID, name: str, benchmarks: Sequence[str]
) -> tuple[Any, bool]:
    """Create the suite, or give it other benchmarks; its row, and whether it is new. The audit log has it.

    Raises `Invalid` for a text that is no member or that may be two, and when the project has too many suites.
    """
    members = read_members(benchmarks)
    _check_texts(connection, project_id, benchmarks, members)
    texts = [one.text for one in members]
    values = {"id": new_id(), "project_id": project_id, "name": name, "benchmarks": texts}
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
    record(connection, actor, "suite.set", row.id, project_id=project_id, name=name, benchmarks=list(benchmarks))
    return row, bool(row.is_new)


def _check_texts(
    connection: Connection, project_id: uuid.UUID, texts: Sequence[str], members: Sequence[Member]
) -> None:
    read = {one.text: one for one in members if one.levels}
    named = select(grids.c.benchmark).where(grids.c.project_id == project_id, grids.c.benchmark.in_(read)).distinct()
    faults = [
        Fault(
            f"/benchmarks/{texts.index(name)}",
            f'is the name of a benchmark, and reads as levels of "{read[name].benchmark}" too; '
            "join it by an alias to a name without such an @, and write that",
        )
        for name in (connection.scalars(named) if read else ())
    ]
    if faults:
        raise Invalid(faults)


def suite_doubts(connection: Connection, project_id: uuid.UUID, row: Any) -> Iterator[Warning]:
    """A warning for each name of a suite that no grid ever had, and for each axis and level that none has."""
    members = read_members(row.benchmarks)
    names = [one.benchmark for one in members]
    for _, detail in unknown_names(connection, project_id, Filters(benchmark=names)):
        yield Warning("unknown_name", detail)
    joined = joined_names(connection, project_id)
    own = {joined.get(("benchmark", one.benchmark), one.benchmark): one for one in members if one.levels}
    wanted = [*own, *(alias for (_, alias), name in joined.items() if name in own)]
    here = (grids.c.project_id == project_id, grids.c.deleted_at.is_(None), grids.c.benchmark.in_(wanted))
    for benchmark, axes in axes_by_benchmark(connection, here, joined).items() if own else ():
        one = own[benchmark]
        for fault in slice_faults(axes, one.levels, "no grid of it"):
            yield Warning("unknown_level", f"{one.text}: {fault.detail}")


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
