"""Names in use, and new ones that look like one of them. Two names are never merged by guessing."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.dialects.postgresql import insert

from registry.grids.intake import IntakeWarning, Names
from registry.grids.near_duplicates import near_duplicates
from registry.storage.tables import aliases, grids, names

KINDS = ("experiment", "benchmark", "model", "variant", "metric")
MOST_REMEMBERED = 20_000
_IN_USE: WeakKeyDictionary[Engine, set[tuple[uuid.UUID, str, str]]] = WeakKeyDictionary()
"""Names that this process saw in the table of a database, so that most publications need not ask."""


def note_names(
    connection: Connection, project_id: uuid.UUID, given: Iterable[Names]
) -> dict[tuple[str, str], IntakeWarning]:
    """Remember these names as in use; the doubts about those that are new and look like a known one."""
    wanted = sorted({(kind, getattr(name, kind)) for name in given for kind in KINDS})
    in_use = _IN_USE.setdefault(connection.engine, set())
    if in_use.issuperset((project_id, *name) for name in wanted):
        return {}
    added = connection.execute(
        insert(names).on_conflict_do_nothing().returning(names.c.kind, names.c.name),
        [{"project_id": project_id, "kind": kind, "name": name} for kind, name in wanted],
    ).all()
    _remember(in_use, {(project_id, *name) for name in wanted} - {(project_id, row.kind, row.name) for row in added})
    doubts = {}
    for kind in sorted({row.kind for row in added}):
        new = {row.name for row in added if row.kind == kind and row.name}
        known = set(
            connection.scalars(select(names.c.name).where(names.c.project_id == project_id, names.c.kind == kind))
        )
        joined = _joined(connection, project_id, kind)
        for name, twin in near_duplicates(new, known | joined.keys()).items():
            if joined.get(name, name) != joined.get(twin, twin):
                doubts[kind, name] = _doubt(kind, name, twin)
    return doubts


def _remember(in_use: set[tuple[uuid.UUID, str, str]], committed: set[tuple[uuid.UUID, str, str]]) -> None:
    """Names that were there before this transaction; names are never taken away."""
    if len(in_use) > MOST_REMEMBERED:
        in_use.clear()
    in_use.update(committed)


def _joined(connection: Connection, project_id: uuid.UUID, kind: str) -> dict[str, str]:
    query = select(aliases.c.alias, aliases.c.name).where(aliases.c.project_id == project_id, aliases.c.kind == kind)
    return {row.alias: row.name for row in connection.execute(query)}


def _doubt(kind: str, name: str, twin: str) -> IntakeWarning:
    detail = f'"{name}" is new here and looks like "{twin}". They stay apart until an alias joins them.'
    return IntakeWarning("near_duplicate", detail, "/metric/name" if kind == "metric" else f"/{kind}")


def names_in_use(
    connection: Connection, project_id: uuid.UUID, kind: str, after: str | None = None, limit: int | None = None
) -> Sequence[dict[str, Any]]:
    """The names of a kind that grids carry, those behind `after`, with how many carry each and its alias."""
    column = grids.c[kind]
    query = (
        select(column.label("name"), func.count().label("grids"), func.max(grids.c.updated_at).label("updated_at"))
        .where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
        .group_by(column)
        .order_by(column)
        .limit(limit)
    )
    counted = connection.execute(query if after is None else query.where(column > after)).all()
    joined = _joined(connection, project_id, kind)
    return [
        {"name": row.name, "grids": row.grids, "alias_of": joined.get(row.name), "updated_at": row.updated_at}
        for row in counted
    ]
