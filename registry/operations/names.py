"""Names in use, and the aliases that join them. Similar names are never merged by guessing: new ones are warned of."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, delete, func, insert, select, true
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import IntegrityError

from registry.errors import Conflict, Fault, Invalid, NotFound
from registry.grids.intake import IntakeWarning, Names
from registry.grids.suspect_names import near_duplicates
from registry.operations.find_grids import Filters, conditions
from registry.operations.projects import lock_project
from registry.operations.search import KINDS, searchable
from registry.operations.stored_grids import GridSummary
from registry.selection import KINDS as CHOSEN
from registry.storage.keys import of_current
from registry.storage.rows import level_of
from registry.storage.tables import aliases, grids, invalidations, names, new_id, revisions

_ALL = Filters()
MOST_CACHED = 20_000
MOST_LEVELS = 1_000
"""Levels of an axis that are listed."""
MOST_COMPARED = 5_000
"""Names of one kind up to which those that look alike are looked for."""
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
        upsert(names).on_conflict_do_nothing().returning(names.c.kind, names.c.name),
        [{"project_id": project_id, "kind": kind, "name": name} for kind, name in wanted],
    ).all()
    # Only names that were there before: those added here are gone again if this transaction is rolled back.
    if len(committed) > MOST_CACHED:
        committed.clear()
    committed |= {(project_id, *name) for name in wanted} - {(project_id, row.kind, row.name) for row in added}
    warnings = {}
    for kind in sorted({row.kind for row in added}):
        new = {row.name for row in added if row.kind == kind and row.name}
        known = _known(connection, project_id, kind)
        joined = joined_of_kind(connection, project_id, kind)
        for name, twin in near_duplicates(new, known | joined.keys()).items():
            if joined.get(name, name) != joined.get(twin, twin):
                warnings[kind, name] = _near_duplicate(kind, name, twin)
    return warnings


def _known(connection: Connection, project_id: uuid.UUID, kind: str) -> set[str]:
    query = select(names.c.name).where(names.c.project_id == project_id, names.c.kind == kind)
    return set(connection.scalars(query))


def _near_duplicate(kind: str, name: str, twin: str) -> IntakeWarning:
    detail = f'"{name}" is new here and looks like "{twin}". They stay apart until an alias joins them.'
    return IntakeWarning("near_duplicate", detail, "/metric/name" if kind == "metric" else f"/{kind}")


def look_alikes(connection: Connection, project_id: uuid.UUID, kind: str) -> list[tuple[str, str]]:
    """Pairs of names in use that look alike and that no alias joins: the one with fewer grids, and the one with more.

    None where the project has more than `MOST_COMPARED` names of the kind.
    """
    counts = {one["name"]: one["grids"] for one in names_in_use(connection, project_id, kind, limit=MOST_COMPARED + 1)}
    if len(counts) > MOST_COMPARED:
        return []
    joined = joined_of_kind(connection, project_id, kind)
    found: dict[frozenset[str], tuple[str, str]] = {}
    for pair in near_duplicates(counts.keys(), counts.keys()).items():
        less, more = sorted((joined.get(name, name) for name in pair), key=lambda name: (counts.get(name, 0), name))
        if less != more:
            found[frozenset((less, more))] = (less, more)
    return sorted(found.values())


def names_in_use(
    connection: Connection,
    project_id: uuid.UUID,
    kind: str,
    after: str | None = None,
    limit: int | None = None,
    words: Sequence[str] = (),
    filters: Filters = _ALL,
) -> Sequence[dict[str, Any]]:
    """Names of a kind that grids carry which pass the filters, after `after`, each with the number of its grids and its
    alias; with `words` only those that hold every word."""
    column = grids.c[kind]
    query = (
        select(column.label("name"), func.count().label("grids"), func.max(grids.c.updated_at).label("updated_at"))
        .where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
        .where(*conditions(connection, project_id, filters))
        .group_by(column)
        .order_by(column)
        .limit(limit)
    )
    if words:
        query = query.where(column.in_(searchable(connection, project_id, [kind]).having(kind, words)))
    counted = connection.execute(query if after is None else query.where(column > after)).all()
    joined = joined_of_kind(connection, project_id, kind)
    return [
        {"name": row.name, "grids": row.grids, "alias_of": joined.get(row.name), "updated_at": row.updated_at}
        for row in counted
    ]


def names_together(
    connection: Connection, project_id: uuid.UUID, kind: str, after: str | None, limit: int, words: Sequence[str]
) -> tuple[list[dict[str, Any]], int]:
    """Names in use as `names_in_use` has them, but each once: with what it is also `called`, and the grids of all
    these; and how many there are."""
    total = count_names(connection, project_id, kind, words)
    targets = sorted({*joined_of_kind(connection, project_id, kind).values()})
    if not targets:
        rows = names_in_use(connection, project_id, kind, after, limit, words)
        return [{**row, "called": []} for row in rows], total
    of_targets: Any = {kind: targets}
    read = partial(names_in_use, connection, project_id, kind, filters=Filters(**of_targets))
    known, listed = _by_target(read()), _by_target(read(words=words))
    hidden = {row["name"] for each in listed.values() for row in each[1:]}
    rows = names_in_use(connection, project_id, kind, after, limit + len(hidden), words)
    shown = [row for row in rows if row["name"] not in hidden][:limit]
    return [_together(row, known.get(row["alias_of"] or row["name"], [row])) for row in shown], total - len(hidden)


def _by_target(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Names by the name that they stand for, which is the first of them if it is in use."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda one: (one["alias_of"] is not None, one["name"])):
        found.setdefault(row["alias_of"] or row["name"], []).append(row)
    return found


def _together(row: dict[str, Any], alike: Sequence[dict[str, Any]]) -> dict[str, Any]:
    names = {one["name"] for one in alike} | {row["alias_of"] or row["name"]}
    return row | {
        "called": sorted(names - {row["name"]}),
        "grids": sum(one["grids"] for one in alike),
        "updated_at": max(one["updated_at"] for one in alike),
    }


def axes_in_use(
    connection: Connection, project_id: uuid.UUID, after: str | None = None, limit: int | None = None,
    filters: Filters = _ALL,
) -> list[dict[str, Any]]:  # fmt: skip
    """Axes of the grids that pass the filters, at their current revisions, by name and after `after`, each with the
    number of its grids and of their measured cells, and its levels with the number of their grids."""
    axis = func.jsonb_array_elements(revisions.c.axes).table_valued("value").render_derived(name="axis")
    name = axis.c.value.op("->>")("name")
    levels_of = func.jsonb_array_elements(axis.c.value.op("->")("levels"))
    level = levels_of.table_valued("value", with_ordinality="place").render_derived(name="level")
    here = (
        grids.c.project_id == project_id,
        grids.c.deleted_at.is_(None),
        *conditions(connection, project_id, filters),
        *(() if after is None else (name > after,)),
    )
    of_grids = select(name.label("name")).select_from(grids).join(revisions, of_current(revisions)).join(axis, true())
    counts = of_grids.add_columns(func.count().label("grids"), func.sum(revisions.c.cell_count).label("cells"))
    found = connection.execute(counts.where(*here).group_by(name).order_by(name).limit(limit)).all()
    each = of_grids.join(level, true()).add_columns(
        level.c.value.label("level"), func.count().label("grids"), func.min(level.c.place).label("place")
    )
    levels: dict[str, list[Any]] = {row.name: [] for row in found}
    for row in connection.execute(each.where(*here, name.in_(levels)).group_by(name, level.c.value)):
        levels[row.name].append(row)
    return [_axis_in_use(row, levels[row.name]) for row in found]


def _axis_in_use(axis: Any, rows: Sequence[Any]) -> dict[str, Any]:
    known = [(level_of(row.level, numeric=not isinstance(row.level, str)), row) for row in rows]
    numeric = all(level.number is not None for level, _ in known)
    known.sort(key=lambda one: (one[0].number if numeric else one[1].place, one[0].label))
    levels = [{"level": level.label, "grids": row.grids} for level, row in known]
    left_out = max(0, len(levels) - MOST_LEVELS)
    return {
        "name": axis.name, "grids": axis.grids, "cells": int(axis.cells),
        "levels": levels[:MOST_LEVELS], "levels_left_out": left_out,
    }  # fmt: skip


def count_names(connection: Connection, project_id: uuid.UUID, kind: str, words: Sequence[str] = ()) -> int:
    """Number of the names of a kind that grids carry, with `words` of those that hold every word."""
    query = select(func.count(grids.c[kind].distinct())).where(
        grids.c.project_id == project_id, grids.c.deleted_at.is_(None)
    )
    if words:
        query = query.where(grids.c[kind].in_(searchable(connection, project_id, [kind]).having(kind, words)))
    return int(connection.scalar(query) or 0)


@dataclass(frozen=True, slots=True)
class Akin:
    """Other names of what a name stands for, and names that only look like it."""

    alias_of: str | None
    aliases: Sequence[str]
    near: Sequence[str]


def names_akin(connection: Connection, project_id: uuid.UUID, kind: str, name: str) -> Akin:
    """The name that this one is an alias of, the aliases joined to it, and known names one edit or a sign away."""
    joined = joined_of_kind(connection, project_id, kind)
    known = _known(connection, project_id, kind)
    target = joined.get(name, name)
    others = sorted(known - {one for one in known if joined.get(one, one) == target})
    near = [one for one in others if near_duplicates([one], [name])]
    return Akin(joined.get(name), sorted(one for one, of in joined.items() if of == name), near)


Joined = Mapping[tuple[str, str], str]
"""The names that aliases stand for, by kind and alias."""


def joined_names(connection: Connection, project_id: uuid.UUID) -> Joined:
    """All aliases of a project."""
    statement = select(aliases.c.kind, aliases.c.alias, aliases.c.name).where(aliases.c.project_id == project_id)
    return {(row.kind, row.alias): row.name for row in connection.execute(statement)}


G = TypeVar("G", bound=GridSummary)


def spelled(one: G, joined: Joined) -> G:
    """The grid with the names that its own stand for, as rankings and tables write them."""
    own = ((kind, getattr(one.names, kind)) for kind in CHOSEN)
    return replace(one, names=replace(one.names, **{kind: joined.get((kind, name), name) for kind, name in own}))


def joined_of_kind(connection: Connection, project_id: uuid.UUID, kind: str) -> dict[str, str]:
    """Names that aliases of a kind stand for, by the aliases."""
    return {alias: name for (of, alias), name in joined_names(connection, project_id).items() if of == kind}


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
    connection.execute(insert(invalidations).values(project_id=project_id))
