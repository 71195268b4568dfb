"""Cached results of queries: look one up, or request its computation."""

import uuid
from collections.abc import Sequence
from itertools import chain
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
    delete,
    exists,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from registry.errors import TooManyRequests
from registry.operations.names import joined_names
from registry.query import Query, RankingQuery
from registry.selection import KINDS
from registry.storage.statements import Prepared
from registry.storage.tables import aliases, cached_results, grids, invalidations, new_id, pair_sum_scopes, projects


def resolve(connection: Connection, project_id: uuid.UUID, query: Query) -> Query:
    """Query with every alias replaced by the name that it stands for."""
    return query.canonical(joined_names(connection, project_id))


def find_result(connection: Connection, slug: str, query: Query, known: Sequence[str] = ()) -> Any:
    """Row of a project with the cached result of a query; None if there is no project.

    `id` is None if the query was never requested. The document belongs to the inputs as they were at the generation
    `document_generation`. `unread`: the result was not read for an hour, so call `note_read`. `aliased`: a name in the
    query is an alias, so look up the resolved query. `invalidated`: an input has changed and the invalidation is not
    applied yet; a result for old inputs is never current. The document is left out when its etag is among the `known`
    ones.
    """
    named: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for kind, _, name in query.names():
        named[kind].append(name)
    if any("\0" in name for name in (slug, query.experiment, *chain.from_iterable(named.values()))):
        return None  # PostgreSQL has no such text
    parameters = {
        "slug": slug,
        "key": str(query.key),
        "experiment": query.experiment,
        "metric": query.metric,
        "known": list(known),
    }
    return _RESULT.one_or_none(connection, parameters | {f"{kind}s": names for kind, names in named.items()})


def invalidated(wanted: ColumnElement[str], metric: ColumnElement[str]) -> ColumnElement[bool]:
    """Condition on `projects` that a publication, an amendment or an alias has invalidated the scope of an experiment
    and a metric, and is not applied yet."""
    joined = (
        select(aliases.c.name)
        .where(
            aliases.c.project_id == invalidations.c.project_id,
            aliases.c.kind == "experiment",
            aliases.c.alias == invalidations.c.experiment,
        )
        .scalar_subquery()
    )
    experiment = func.coalesce(joined, invalidations.c.experiment)
    touched = and_(experiment == wanted, invalidations.c.metric == metric)
    here = invalidations.c.project_id == projects.c.id
    return exists().where(here, or_(invalidations.c.experiment.is_(None), touched))


def _aliased() -> ColumnElement[bool]:
    experiment = and_(aliases.c.kind == "experiment", aliases.c.alias == bindparam("experiment"))
    named = (
        and_(aliases.c.kind == kind, aliases.c.alias == any_(bindparam(f"{kind}s", type_=ARRAY(Text))))
        for kind in KINDS
    )
    return exists().where(aliases.c.project_id == projects.c.id, or_(experiment, *named))


_RESULT = Prepared(
    "cached_result",
    select(
        projects.c.id.label("project_id"),
        projects.c.visibility,
        *(
            cached_results.c[name]
            for name in ("id", "state", "reason", "attempts", "etag", "generation", "document_generation")
        ),
        (cached_results.c.read_at < func.now() - text("interval '1 hour'")).label("unread"),
        case(
            (cached_results.c.etag == any_(bindparam("known", type_=ARRAY(Text))), None),
            else_=cached_results.c.document,
        ).label("document"),
        invalidated(bindparam("experiment"), bindparam("metric")).label("invalidated"),
        _aliased().label("aliased"),
    )
    .outerjoin(
        cached_results,
        and_(cached_results.c.project_id == projects.c.id, cached_results.c.query_key == bindparam("key")),
    )
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


def is_usual(query: Query) -> bool:
    """Whether this is the usual ranking of an experiment and metric."""
    return query.key == RankingQuery(query.experiment, query.metric).key


def request_result(connection: Connection, project_id: uuid.UUID, query: Query, most: int) -> None:
    """Request the result of a query; requesting it twice at once makes one job.

    Raises `TooManyRequests` when `most` queries of the project are pending already, default ones not counted.
    """
    if not is_usual(query):
        _check_room(connection, project_id, most)
    values = {
        "id": new_id(),
        "project_id": project_id,
        "experiment": query.experiment,
        "metric": query.metric,
        "query": query.document(),
        "query_key": query.key,
    }
    connection.execute(insert(cached_results).values(values).on_conflict_do_nothing())


def forget_result(connection: Connection, result_id: uuid.UUID) -> None:
    """Delete a cached result that nobody will ask for again."""
    connection.execute(delete(cached_results).where(cached_results.c.id == result_id))


def note_read(connection: Connection, project_id: uuid.UUID, result_id: uuid.UUID, most: int) -> None:
    """Record that a result was read just now, and request a stale one again, as `request_result` does."""
    stale = and_(cached_results.c.state == "ready", cached_results.c.document_generation < cached_results.c.generation)
    mine = cached_results.c.id == result_id
    if connection.scalar(select(cached_results.c.id).where(mine, stale, ~cached_results.c.is_default)) is not None:
        _check_room(connection, project_id, most)
    requeued = {"state": "pending", "due_at": func.now(), "attempts": 0}
    connection.execute(update(cached_results).where(mine, stale).values(requeued))
    connection.execute(update(cached_results).where(mine).values(read_at=func.now()))


def progress_of(connection: Connection, project_id: uuid.UUID, query: Query) -> float | None:
    """Share, from 0 to 1, of the grids of a large ranking that are counted already; None for a query without any
    counting."""
    if not isinstance(query, RankingQuery) or query.as_of or query.since:
        return None
    scope = (
        pair_sum_scopes.c.project_id == project_id,
        pair_sum_scopes.c.experiment == query.experiment,
        pair_sum_scopes.c.metric == query.metric,
    )
    counted = connection.scalar(select(pair_sum_scopes.c.grids).where(*scope))
    if counted is None:
        return None
    here = (
        grids.c.project_id == project_id,
        grids.c.experiment == query.experiment,
        grids.c.metric == query.metric,
        grids.c.deleted_at.is_(None),
    )
    total = connection.scalar(select(func.count()).select_from(grids).where(*here)) or 0
    # Grids that an alias brings here are counted in the sums only.
    return round(min(1.0, counted / total), 3) if total else None


def _check_room(connection: Connection, project_id: uuid.UUID, most: int) -> None:
    waiting = (
        cached_results.c.project_id == project_id,
        cached_results.c.state == "pending",
        ~cached_results.c.is_default,
    )
    if (connection.scalar(select(func.count()).select_from(cached_results).where(*waiting)) or 0) >= most:
        raise TooManyRequests(f"{most} questions of this project wait for their answers already.", 5, "open_questions")
