"""Claims as a page lists them: what its numbers contradict comes first."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, case, func, select, tuple_
from sqlalchemy.dialects.postgresql import JSONB

from registry.operations.find_claims import ClaimFilters, rows_of_claims
from registry.storage.tables import aliases, cached_results, claims, grids, judgements

ORDER = ("contradicted", "not_decidable", "supported", "ill_posed", "unjudged")
"""Verdicts in the order of lists."""
MOST_READ = 2_000
"""Claims whose judgements are read to find those of a grid: what comes after so many others is not found."""
Place = tuple[int, uuid.UUID]
"""Where a claim stands in a list: the number of its verdict in `ORDER`, and its id."""
_VERDICT: Any = func.coalesce(claims.c.verdict, "unjudged")
_RANK: Any = case({verdict: place for place, verdict in enumerate(ORDER)}, value=_VERDICT, else_=len(ORDER))


def claims_in_order(
    connection: Connection,
    project_id: uuid.UUID,
    filters: ClaimFilters,
    limit: int,
    *,
    grid: uuid.UUID | None = None,
    after: Place | None = None,
) -> Sequence[Any]:
    """Claims of a project, as `find_claim` has them, by `ORDER`, the oldest first; with `grid` those whose latest
    judgement read it, of the first `MOST_READ`. A verdict may also be `unjudged`; states filter nothing here."""
    chosen = _chosen(select(claims.c.id), project_id, filters, grid).order_by(_RANK, claims.c.id).limit(limit)
    if after is not None:
        chosen = chosen.where(tuple_(_RANK, claims.c.id) > tuple_(*after))
    # Only those that are shown are joined to their judgements and states.
    rows = rows_of_claims().where(claims.c.id.in_(chosen.scalar_subquery()))
    return connection.execute(rows.order_by(_RANK, claims.c.id)).all()


def place_of(row: Any) -> Place:
    """Where a claim stands in that order."""
    return ORDER.index(row.verdict or "unjudged"), row.id


def verdicts_in_order(
    connection: Connection, project_id: uuid.UUID, filters: ClaimFilters, grid: uuid.UUID | None = None
) -> Mapping[str, int]:
    """How many of these claims have each verdict, by `ORDER`, without those that none has."""
    query = _chosen(select(_VERDICT.label("verdict"), func.count().label("claims")), project_id, filters, grid)
    counted = query.group_by(_VERDICT)
    found = {row.verdict: row.claims for row in connection.execute(counted)}
    return {verdict: found[verdict] for verdict in ORDER if verdict in found}


def names_of_experiment(connection: Connection, project_id: uuid.UUID, experiment: str) -> tuple[str, ...]:
    """The names that claims about the grids of an experiment may use: its own, and those that aliases join with it."""
    here = (aliases.c.project_id == project_id, aliases.c.kind == "experiment")
    meant = select(aliases.c.name).where(*here, aliases.c.alias == experiment).scalar_subquery()
    name = func.coalesce(meant, experiment)
    joined = connection.execute(select(aliases.c.alias, aliases.c.name).where(*here, aliases.c.name == name))
    return tuple(dict.fromkeys([experiment, *(one for row in joined for one in (row.name, row.alias))]))


def experiment_of_grid(connection: Connection, project_id: uuid.UUID, grid: uuid.UUID) -> str | None:
    """The experiment of a grid of the project; None if it has no such grid."""
    here = (grids.c.id == grid, grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
    return connection.scalar(select(grids.c.experiment).where(*here))


def names_of_grids(connection: Connection, ids: Sequence[uuid.UUID]) -> dict[str, str]:
    """Benchmark, model and variant of these grids by their ids, as words."""
    columns = (grids.c.id, grids.c.benchmark, grids.c.model, grids.c.variant)
    rows = connection.execute(select(*columns).where(grids.c.id.in_(ids)))
    return {str(row.id): " · ".join(filter(None, (row.benchmark, row.model, row.variant))) for row in rows}


def sources_of_claims(connection: Connection, project_id: uuid.UUID, limit: int) -> Sequence[str]:
    """The addresses in `source.url`, in their order."""
    url: Any = claims.c.source["url"].astext
    here = (claims.c.project_id == project_id, claims.c.archived_at.is_(None), url != "")
    return connection.scalars(select(url).where(*here).distinct().order_by(url).limit(limit)).all()


def experiments_of_claims(connection: Connection, project_id: uuid.UUID, limit: int) -> Sequence[str]:
    """The experiments that claims name, in their order."""
    here = (claims.c.project_id == project_id, claims.c.archived_at.is_(None))
    named = select(claims.c.experiment).where(*here).distinct().order_by(claims.c.experiment)
    return connection.scalars(named.limit(limit)).all()


def _chosen(query: Select[Any], project_id: uuid.UUID, filters: ClaimFilters, grid: uuid.UUID | None) -> Select[Any]:
    """The query with what it is about."""
    query = query.where(claims.c.project_id == project_id, claims.c.archived_at.is_(None))
    if filters.verdict:
        query = query.where(_VERDICT.in_(filters.verdict))
    if filters.source:
        query = query.where(claims.c.source["url"].astext.in_(filters.source))
    if filters.experiment:
        # The parts in which they are judged are found by an index; those of other experiments are not read.
        mine = (cached_results.c.project_id == project_id, cached_results.c.experiment.in_(filters.experiment))
        parts = select(cached_results.c.query_key).where(*mine).scalar_subquery()
        query = query.where(claims.c.experiment.in_(filters.experiment), claims.c.query_key.in_(parts))
    if grid is not None:
        first = query.with_only_columns(claims.c.id).order_by(_RANK, claims.c.id).limit(MOST_READ)
        query = query.where(claims.c.id.in_(first.scalar_subquery()))
        latest = and_(judgements.c.claim_id == claims.c.id, judgements.c.number == claims.c.judgement)
        read = bindparam(None, [{"grid": str(grid)}], type_=JSONB)
        query = query.join(judgements, latest).where(judgements.c.inputs.op("@>")(read))
    return query
