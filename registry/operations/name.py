"""Names in use, and new ones that look like one of them. Two names are never merged by guessing."""

from __future__ import annotations

import unicodedata
import uuid
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import insert

from registry.intake import Doubt, Names
from registry.tables import aliases, grids, names

KINDS = ("experiment", "benchmark", "model", "variant", "metric")
_FEWEST_CHARACTERS = 4


def note_names(connection: Connection, project_id: uuid.UUID, given: Iterable[Names]) -> dict[tuple[str, str], Doubt]:
    """Remember these names as in use; the doubts about those that are new and look like a known one."""
    wanted = sorted({(kind, getattr(name, kind)) for name in given for kind in KINDS})
    added = connection.execute(
        insert(names).on_conflict_do_nothing().returning(names.c.kind, names.c.name),
        [{"project_id": project_id, "kind": kind, "name": name} for kind, name in wanted],
    ).all()
    doubts = {}
    for kind in sorted({row.kind for row in added}):
        new = {row.name for row in added if row.kind == kind and row.name}
        known = set(
            connection.scalars(select(names.c.name).where(names.c.project_id == project_id, names.c.kind == kind))
        )
        joined = _joined(connection, project_id, kind)
        for name in sorted(new):
            twin = near_duplicate(name, (known | joined.keys()) - new)
            if twin is not None and joined.get(name, name) != joined.get(twin, twin):
                doubts[kind, name] = _doubt(kind, name, twin)
    return doubts


def _joined(connection: Connection, project_id: uuid.UUID, kind: str) -> dict[str, str]:
    query = select(aliases.c.alias, aliases.c.name).where(aliases.c.project_id == project_id, aliases.c.kind == kind)
    return {row.alias: row.name for row in connection.execute(query)}


def _doubt(kind: str, name: str, twin: str) -> Doubt:
    detail = f'"{name}" is new here and looks like "{twin}". They stay apart until an alias joins them.'
    return Doubt("near_duplicate", detail, "/metric/name" if kind == "metric" else f"/{kind}")


def near_duplicate(name: str, known: Collection[str]) -> str | None:
    """The first known name that differs only in case, spacing or punctuation, or by one edit that is not of a digit.

    Digits tell AIME24 from AIME25 and 3B from 7B, so names that differ in one are not alike.
    """
    folded = fold(name)
    for other in sorted(known):
        if other and other != name and (fold(other) == folded or _one_edit_apart(name, other)):
            return other
    return None


def fold(name: str) -> str:
    """Letters and digits only, compatibility forms and case folded."""
    return "".join(c for c in unicodedata.normalize("NFKC", name).casefold() if c.isalnum())


def _one_edit_apart(a: str, b: str) -> bool:
    short, long = sorted((a.casefold(), b.casefold()), key=len)
    if len(short) < _FEWEST_CHARACTERS or len(long) - len(short) > 1:
        return False
    start = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    if len(short) == len(long):
        changed, same = short[start : start + 1] + long[start : start + 1], short[start + 1 :] == long[start + 1 :]
    else:
        changed, same = long[start], short[start:] == long[start + 1 :]
    return same and not any(c.isdigit() for c in changed)


def names_in_use(connection: Connection, project_id: uuid.UUID, kind: str) -> Sequence[dict[str, Any]]:
    """Each name of a kind that a grid carries, with how many carry it and what it is an alias of."""
    column = grids.c[kind]
    counted = connection.execute(
        select(column.label("name"), func.count().label("grids"), func.max(grids.c.updated_at).label("updated_at"))
        .where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
        .group_by(column)
        .order_by(column)
    ).all()
    joined = _joined(connection, project_id, kind)
    return [
        {"name": row.name, "grids": row.grids, "alias_of": joined.get(row.name), "updated_at": row.updated_at}
        for row in counted
    ]
