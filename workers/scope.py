"""The grids that a question is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, and_, or_, select

from registry.question import Question
from registry.tables import aliases, grids, revisions


def scope_rows(connection: Connection, project_id: Any, question: Question) -> Sequence[Any]:
    """The current revisions of the grids that the question is about, oldest update first."""
    names = select(aliases.c.alias).where(
        aliases.c.project_id == project_id, aliases.c.kind == "experiment", aliases.c.name == question.experiment
    )
    query = (
        select(
            grids.c.id,
            grids.c.benchmark,
            grids.c.model,
            grids.c.variant,
            revisions,
        )
        .join(revisions, and_(revisions.c.grid_id == grids.c.id, revisions.c.number == grids.c.revision))
        .where(
            grids.c.project_id == project_id,
            or_(grids.c.experiment == question.experiment, grids.c.experiment.in_(names)),
            grids.c.metric == question.metric,
            grids.c.deleted_at.is_(None),
        )
        .order_by(grids.c.updated_at, grids.c.id)
    )
    return connection.execute(query).all()


def alias_map(connection: Connection, project_id: Any) -> dict[tuple[str, str], str]:
    """What each alias of a project stands for, by (kind, alias)."""
    query = select(aliases.c.kind, aliases.c.alias, aliases.c.name).where(aliases.c.project_id == project_id)
    return {(row.kind, row.alias): row.name for row in connection.execute(query)}


def named(row: Any, joined: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """The benchmark, model and variant of a grid, with aliases replaced by the names that they stand for."""
    kinds = ("benchmark", "model", "variant")
    return {kind: joined.get((kind, getattr(row, kind)), getattr(row, kind)) for kind in kinds}


def is_asked_for(question: Question, names: Mapping[str, str]) -> bool:
    """Whether a question that names benchmarks, models or variants means a grid of these names."""
    return all(not getattr(question, kind) or name in getattr(question, kind) for kind, name in names.items())
