"""Results of a search with their counts: the names, labels and projects that hold words."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from registry.operations.auth import Caller
from registry.operations.projects import visible
from registry.operations.search import KINDS, folded, holds, labels_may_have, searchable
from registry.storage.keys import of_current
from registry.storage.tables import grids, names, projects, revisions


@dataclass(frozen=True, slots=True)
class Found:
    """The first results of a kind, and how many there are."""

    items: Sequence[Any]
    total: int


def found_names(connection: Connection, project_id: uuid.UUID, words: Sequence[str], most: int) -> dict[str, Found]:
    """By kind the names in use that hold every word, with their `grids`: at most `most`, those that begin with the
    first word first, then those of most grids."""
    known = searchable(connection, project_id)
    found = {}
    for kind in KINDS:
        having = known.having(kind, words)
        found[kind] = _counted(connection, project_id, kind, having, words[0], most) if having else Found((), 0)
    return found


def _counted(
    connection: Connection, project_id: uuid.UUID, kind: str, having: Sequence[str], first: str, most: int
) -> Found:
    column = grids.c[kind]
    query = (
        select(column.label("name"), func.count().label("grids"))
        .where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None), column.in_(having))
        .group_by(column)
    )
    rows = connection.execute(query).all()
    start = folded(first)
    rows = sorted(rows, key=lambda row: (not folded(row.name).startswith(start), -row.grids, row.name))
    return Found(rows[:most], len(rows))


def found_labels(connection: Connection, project_id: uuid.UUID, words: Sequence[str], most: int) -> Found:
    """The labels of current revisions that hold every word, with their `grids`, those of most grids first."""
    entry = func.jsonb_each_text(revisions.c.labels).table_valued("key", "value").render_derived().lateral()
    text = entry.c.key + "=" + entry.c.value
    query = (
        select(entry.c.key, entry.c.value, func.count().label("grids"), func.count().over().label("total"))
        .select_from(grids)
        .join(revisions, of_current(revisions))
        .join(entry, and_(*(holds(text, word) for word in words)))
        .where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None), *map(labels_may_have, words))
        .group_by(entry.c.key, entry.c.value)
        .order_by(func.count().desc(), entry.c.key, entry.c.value)
        .limit(most)
    )
    rows = connection.execute(query).all()
    return Found(rows, rows[0].total if rows else 0)


def found_projects(connection: Connection, caller: Caller, words: Sequence[str], most: int) -> Found:
    """The projects that the caller may see in which every word occurs, in the project's name or in one that was
    published there: each with the number of names of each kind that hold all words."""
    own = projects.c.slug + " " + projects.c.name

    def somewhere(word: str) -> ColumnElement[bool]:
        return func.bool_or(or_(holds(own, word), func.coalesce(holds(names.c.name, word), False)))

    whole = and_(*(holds(names.c.name, word) for word in words))
    query = (
        select(
            projects.c.id,
            projects.c.slug,
            projects.c.name,
            *(func.count().filter(names.c.kind == kind, whole).label(kind) for kind in KINDS),
            func.count().over().label("total"),
        )
        .select_from(projects)
        .outerjoin(names, and_(names.c.project_id == projects.c.id, names.c.name != ""))
        .where(projects.c.deleted_at.is_(None), visible(caller))
        .group_by(projects.c.id)
        .having(and_(*(somewhere(word) for word in words)))
        .order_by(projects.c.slug)
        .limit(most)
    )
    rows = connection.execute(query).all()
    return Found(rows, rows[0].total if rows else 0)
