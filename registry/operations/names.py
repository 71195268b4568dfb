"""Names in use, and warnings about new ones that look like one of them. Similar names are never merged by guessing."""

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
MOST_CACHED = 20_000
_COMMITTED: WeakKeyDictionary[Engine, set[tuple[uuid.UUID, str, str]]] = WeakKeyDictionary()
"""Names of each database that this process has read from its table, so that most publications need no statement."""


def note_names(
    connection: Connection, project_id: uuid.UUID, given: Iterable[Names]
) -> dict[tuple[str, str], IntakeWarning]:
    """Record these names as in use; return warnings about new ones that look like a known one, by kind and name."""
    wanted = sorted({(kind, getattr(name, kind)) for name in given for kind in KINDS})
    committed = _COMMITTED.setdefault(connection.engine, set())
    if committed.issuperset((project_id, *name) for name in wanted):
        return {}
    added = connection.execute(
        insert(names).on_conflict_do_nothing().returning(names.c.kind, names.c.name),
        [{"project_id": project_id, "kind": kind, "name": name} for kind, name in wanted],
    ).all()
    # Only names that were there before: those added here are gone again if this transaction is rolled back.
    if len(committed) > MOST_CACHED:
        committed.clear()
    committed |= {(project_id, *name) for name in wanted} - {(project_id, row.kind, row.name) for row in added}
    warnings = {}
    for kind in sorted({row.kind for row in added}):
        new = {row.name for row in added if row.kind == kind and row.name}
        known = set(
            connection.scalars(select(names.c.name).where(names.c.project_id == project_id, names.c.kind == kind))
        )
        joined = _joined(connection, project_id, kind)
        for name, twin in near_duplicates(new, known | joined.keys()).items():
            if joined.get(name, name) != joined.get(twin, twin):
                warnings[kind, name] = _near_duplicate(kind, name, twin)
    return warnings


def _joined(connection: Connection, project_id: uuid.UUID, kind: str) -> dict[str, str]:
    query = select(aliases.c.alias, aliases.c.name).where(aliases.c.project_id == project_id, aliases.c.kind == kind)
    return {row.alias: row.name for row in connection.execute(query)}


def _near_duplicate(kind: str, name: str, twin: str) -> IntakeWarning:
    detail = f'"{name}" is new here and looks like "{twin}". They stay apart until an alias joins them.'
    return IntakeWarning("near_duplicate", detail, "/metric/name" if kind == "metric" else f"/{kind}")


def names_in_use(
    connection: Connection, project_id: uuid.UUID, kind: str, after: str | None = None, limit: int | None = None
) -> Sequence[dict[str, Any]]:
    """Names of a kind that grids carry, after `after`, each with the number of its grids and its alias."""
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
