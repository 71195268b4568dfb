"""Ask a question about an experiment: a stored answer, or a promise of one."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Text,
    and_,
    any_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from registry.errors import TooManyRequests
from registry.query import Query, RankingQuery
from registry.storage.prepared_statements import Prepared
from registry.storage.tables import aliases, answers, marks, new_id, projects


def resolve(connection: Connection, project_id: uuid.UUID, question: Query) -> Query:
    """The question with every alias replaced by the name that it stands for."""
    query = select(aliases.c.kind, aliases.c.alias, aliases.c.name).where(aliases.c.project_id == project_id)
    joined = {(row.kind, row.alias): row.name for row in connection.execute(query)}

    def names(kind: str) -> tuple[str, ...]:
        return tuple(sorted({joined.get((kind, name), name) for name in getattr(question, kind)}))

    experiment = joined.get(("experiment", question.experiment), question.experiment)
    return replace(
        question, experiment=experiment, benchmark=names("benchmark"), model=names("model"), variant=names("variant")
    )


def find_result(connection: Connection, slug: str, question: Query, known: Sequence[str] = ()) -> Any:
    """The row of a project with the stored answer to a question; None if there is no project.

    `id` is None if nobody asked before. The document is for the inputs as they were at the generation `answered`.
    `unread`: nobody has asked for an hour, so tell `note_read`.
    `aliased`: a name in the question is an alias, so ask for the resolved
    question. `marked`: an input has changed and nobody has taken note yet; an answer for old inputs is never current.
    The document is left out when its etag is among the `known` ones.
    """
    named = (slug, question.experiment, *question.benchmark, *question.model, *question.variant)
    if any("\0" in name for name in named):
        return None  # PostgreSQL has no such text
    given = {
        "slug": slug,
        "key": str(question.key),
        "experiment": question.experiment,
        "metric": question.metric,
        "benchmarks": list(question.benchmark),
        "models": list(question.model),
        "variants": list(question.variant),
        "known": list(known),
    }
    return _ANSWER.one_or_none(connection, given)


def _marked() -> ColumnElement[bool]:
    """Whether a publication, an amendment or an alias has touched this scope since the last fold."""
    joined = (
        select(aliases.c.name)
        .where(
            aliases.c.project_id == marks.c.project_id,
            aliases.c.kind == "experiment",
            aliases.c.alias == marks.c.experiment,
        )
        .scalar_subquery()
    )
    experiment = func.coalesce(joined, marks.c.experiment)
    touched = and_(experiment == bindparam("experiment"), marks.c.metric == bindparam("metric"))
    here = marks.c.project_id == projects.c.id
    return exists().where(here, or_(marks.c.experiment.is_(None), touched))


def _aliased() -> ColumnElement[bool]:
    """Whether a name in the question is an alias."""
    texts = ARRAY(Text)
    return exists().where(
        aliases.c.project_id == projects.c.id,
        or_(
            and_(aliases.c.kind == "experiment", aliases.c.alias == bindparam("experiment")),
            and_(aliases.c.kind == "benchmark", aliases.c.alias == any_(bindparam("benchmarks", type_=texts))),
            and_(aliases.c.kind == "model", aliases.c.alias == any_(bindparam("models", type_=texts))),
            and_(aliases.c.kind == "variant", aliases.c.alias == any_(bindparam("variants", type_=texts))),
        ),
    )


_ANSWER = Prepared(
    "answer",
    select(
        projects.c.id.label("project_id"),
        projects.c.visibility,
        *(answers.c[name] for name in ("id", "state", "reason", "attempts", "etag", "generation", "answered")),
        (answers.c.asked_at < func.now() - text("interval '1 hour'")).label("unread"),
        case((answers.c.etag == any_(bindparam("known", type_=ARRAY(Text))), None), else_=answers.c.document).label(
            "document"
        ),
        _marked().label("marked"),
        _aliased().label("aliased"),
    )
    .outerjoin(answers, and_(answers.c.project_id == projects.c.id, answers.c.question_key == bindparam("key")))
    .where(projects.c.slug == bindparam("slug"), projects.c.deleted_at.is_(None)),
    {
        "slug": "text",
        "key": "uuid",
        "experiment": "text",
        "metric": "text",
        "benchmarks": "text[]",
        "models": "text[]",
        "variants": "text[]",
        "known": "text[]",
    },
)


def request_result(connection: Connection, project_id: uuid.UUID, question: Query, most: int) -> None:
    """Promise that the question will be answered; asked twice at once it is promised once.

    Raises `TooManyRequests` when `most` questions of the project wait already, the usual ones not counted.
    """
    if question.key != RankingQuery(question.experiment, question.metric).key:
        _check_room(connection, project_id, most)
    values = {
        "id": new_id(),
        "project_id": project_id,
        "experiment": question.experiment,
        "metric": question.metric,
        "question": question.document(),
        "question_key": question.key,
    }
    connection.execute(insert(answers).values(values).on_conflict_do_nothing())


def note_read(connection: Connection, project_id: uuid.UUID, answer_id: uuid.UUID, most: int) -> None:
    """Note that somebody read an answer just now; one that sleeps is promised again, as `request_result` does."""
    asleep = and_(answers.c.state == "ready", answers.c.answered < answers.c.generation)
    mine = answers.c.id == answer_id
    if connection.scalar(select(answers.c.id).where(mine, asleep, ~answers.c.usual)) is not None:
        _check_room(connection, project_id, most)
    awake = {"state": "pending", "due_at": func.now(), "attempts": 0}
    connection.execute(update(answers).where(mine, asleep).values(awake))
    connection.execute(update(answers).where(mine).values(asked_at=func.now()))


def _check_room(connection: Connection, project_id: uuid.UUID, most: int) -> None:
    waiting = (answers.c.project_id == project_id, answers.c.state == "pending", ~answers.c.usual)
    if (connection.scalar(select(func.count()).select_from(answers).where(*waiting)) or 0) >= most:
        raise TooManyRequests(f"{most} questions of this project wait for their answers already.", after=5)
