"""Ask for a ranking: a stored answer, or a promise of one."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, exists, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from registry.question import Question
from registry.tables import aliases, grids, new_id, ranking_marks, rankings


def resolve(connection: Connection, project_id: uuid.UUID, question: Question) -> Question:
    """The question with every alias replaced by the name that it stands for."""
    query = select(aliases.c.kind, aliases.c.alias, aliases.c.name).where(aliases.c.project_id == project_id)
    joined = {(row.kind, row.alias): row.name for row in connection.execute(query)}
    return replace(
        question,
        experiment=joined.get(("experiment", question.experiment), question.experiment),
        benchmark=tuple(sorted({joined.get(("benchmark", name), name) for name in question.benchmark})),
        variant=tuple(sorted({joined.get(("variant", name), name) for name in question.variant})),
    )


def find_ranking(connection: Connection, project_id: uuid.UUID, question: Question) -> Any:
    """The stored answer to a resolved question, None if nobody asked before.

    Its `state` is `pending` also when an input has changed and nobody has taken note yet: an answer for old inputs
    is never given as current.
    """
    query = select(
        rankings.c.id,
        rankings.c.state,
        rankings.c.reason,
        rankings.c.attempts,
        rankings.c.document,
        rankings.c.etag,
        rankings.c.generation,
        marked(project_id, question.experiment, question.metric).label("marked"),
    ).where(rankings.c.project_id == project_id, rankings.c.question_key == question.key)
    return connection.execute(query).one_or_none()


def marked(project_id: uuid.UUID, experiment: str, metric: str) -> ColumnElement[bool]:
    """Whether a publication, an amendment or an alias has touched these rankings since the last fold."""
    joined = (
        select(aliases.c.name)
        .where(
            aliases.c.project_id == ranking_marks.c.project_id,
            aliases.c.kind == "experiment",
            aliases.c.alias == ranking_marks.c.experiment,
        )
        .scalar_subquery()
    )
    touched = and_(func.coalesce(joined, ranking_marks.c.experiment) == experiment, ranking_marks.c.metric == metric)
    return exists().where(ranking_marks.c.project_id == project_id, or_(ranking_marks.c.experiment.is_(None), touched))


def has_grids(connection: Connection, project_id: uuid.UUID, question: Question, experiments: list[str]) -> bool:
    """Whether any grid could be an input of the ranking."""
    query = select(grids.c.id).where(
        grids.c.project_id == project_id,
        grids.c.experiment.in_(experiments),
        grids.c.metric == question.metric,
        grids.c.deleted_at.is_(None),
    )
    return connection.execute(query.limit(1)).first() is not None


def promise_ranking(connection: Connection, project_id: uuid.UUID, question: Question) -> None:
    """Promise that the question will be answered; asked twice at once it is promised once."""
    values = {
        "id": new_id(),
        "project_id": project_id,
        "experiment": question.experiment,
        "metric": question.metric,
        "question": question.document(),
        "question_key": question.key,
    }
    connection.execute(insert(rankings).values(values).on_conflict_do_nothing())
