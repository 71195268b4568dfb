"""The grids that a question is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, select

from registry.query import Query
from registry.storage.tables import aliases, grids, revisions

_ALIASES = select(aliases.c.kind, aliases.c.alias, aliases.c.name).where(aliases.c.project_id == bindparam("project"))


def scope_rows(connection: Connection, project_id: Any, question: Query) -> Sequence[Any]:
    """The current revisions of the grids that the question is about, oldest update first."""
    joined = alias_map(connection, project_id)
    names = select(grids.c.id, grids.c.benchmark, grids.c.model, grids.c.variant, revisions)
    query = _current(names).where(*_asked(joined, project_id, question)).order_by(grids.c.updated_at, grids.c.id)
    return connection.execute(query).all()


def scope_size(connection: Connection, project_id: Any, question: Query) -> tuple[int, int]:
    """How many models and how many cells the question is about, before aliases join models."""
    joined = alias_map(connection, project_id)
    counts = select(func.count(grids.c.model.distinct()), func.coalesce(func.sum(revisions.c.cell_count), 0))
    models, cells = connection.execute(_current(counts).where(*_asked(joined, project_id, question))).one()
    return int(models), int(cells)


def _current(query: Any) -> Any:
    return query.join_from(
        grids, revisions, and_(revisions.c.grid_id == grids.c.id, revisions.c.number == grids.c.revision)
    )


def _asked(joined: Mapping[tuple[str, str], str], project_id: Any, question: Query) -> list[ColumnElement[bool]]:
    """Which rows of `grids` the question is about."""
    conditions = [
        grids.c.project_id == project_id,
        grids.c.experiment.in_(experiment_names(joined, question.experiment)),
        grids.c.metric == question.metric,
        grids.c.deleted_at.is_(None),
    ]
    for kind in ("benchmark", "model", "variant"):
        if asked := getattr(question, kind):
            conditions.append(grids.c[kind].in_([name for one in asked for name in names_of(joined, kind, one)]))
    return conditions


def names_of(joined: Mapping[tuple[str, str], str], kind: str, name: str) -> list[str]:
    """A name and its aliases."""
    return [name, *(alias for (of, alias), stands_for in joined.items() if of == kind and stands_for == name)]


def experiment_names(joined: Mapping[tuple[str, str], str], experiment: str) -> list[str]:
    """An experiment's name and its aliases."""
    return names_of(joined, "experiment", experiment)


def alias_map(connection: Connection, project_id: Any) -> dict[tuple[str, str], str]:
    """What each alias of a project stands for, by (kind, alias)."""
    return {(row.kind, row.alias): row.name for row in connection.execute(_ALIASES, {"project": project_id})}


def named(row: Any, joined: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """The benchmark, model and variant of a grid, with aliases replaced by the names that they stand for."""
    kinds = ("benchmark", "model", "variant")
    return {kind: joined.get((kind, getattr(row, kind)), getattr(row, kind)) for kind in kinds}


def is_asked_for(question: Query, names: Mapping[str, str]) -> bool:
    """Whether a question that names benchmarks, models or variants means a grid of these names."""
    return all(not getattr(question, kind) or name in getattr(question, kind) for kind, name in names.items())
