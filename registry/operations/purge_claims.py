"""Purge of claims: those that were removed long ago, and judgements that were made of purged grids."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, Connection, Text, any_, delete, func, literal, or_, select, text, update

from registry.operations.purge_events import Gone, forget_events
from registry.operations.stored_claims import MOST, request_parts
from registry.query import StoredClaimsQuery
from registry.results.judgement import MOST_INPUTS
from registry.storage.tables import cached_results, claims, judgements


def purge_claims(connection: Connection, *, older_than_days: int) -> int:
    """Remove claims that were removed more than `days` days ago, with their judgements; return how many."""
    old = func.now() - text(f"interval '{older_than_days:d} days'")
    connection.execute(text("SET LOCAL registry.purging = 'on'"))
    removed = remove_claims(connection, claims.c.archived_at < old)
    for project_id in sorted({row.project_id for row in removed}):
        gone = {str(row.id) for row in removed if row.project_id == project_id}
        forget_events(connection, project_id, Gone(gone))
    return len(removed)


def remove_claims(connection: Connection, condition: ColumnElement[bool]) -> Sequence[Any]:
    """Remove claims with their judgements; the transaction must be allowed to. Return their ids and projects."""
    rows = connection.execute(select(claims.c.id, claims.c.project_id).where(condition).with_for_update()).all()
    ids = [row.id for row in rows]
    connection.execute(delete(judgements).where(judgements.c.claim_id.in_(ids)))
    connection.execute(delete(claims).where(claims.c.id.in_(ids)))
    return rows


def purge_judgements(connection: Connection, project_id: uuid.UUID, grids: Sequence[uuid.UUID]) -> Sequence[Any]:
    """Remove the judgements that were made of these grids, and have every part of the project's claims judged again
    whose cached result is gone; return the claims and numbers of those that went.

    A claim whose latest judgement went has none until then; the next one has the next number.
    """
    mine = select(claims.c.id).where(claims.c.project_id == project_id).scalar_subquery()
    ids: Any = literal([str(one) for one in grids], ARRAY(Text))
    grid: Any = func.jsonb_array_elements(judgements.c.inputs).op("->>")("grid")
    read = select(grid.label("grid")).correlate(judgements).subquery()
    made = select(read.c.grid).where(read.c.grid == any_(ids)).exists()
    # A judgement names so many of its inputs at most.
    either = or_(made, func.jsonb_array_length(judgements.c.inputs) >= MOST_INPUTS)
    gone = delete(judgements).where(judgements.c.claim_id.in_(mine), either)
    removed = connection.execute(gone.returning(judgements.c.claim_id, judgements.c.number)).all()
    for row in removed:
        latest = (claims.c.id == row.claim_id, claims.c.judgement == row.number)
        connection.execute(update(claims).where(*latest).values(verdict=None))
    _request_lost(connection, project_id)
    return removed


def _request_lost(connection: Connection, project_id: uuid.UUID) -> None:
    """Request each part that has claims and no cached result."""
    here = (claims.c.project_id == project_id, claims.c.archived_at.is_(None))
    there = select(cached_results.c.query_key).where(cached_results.c.project_id == project_id)
    lost = select(claims.c.experiment, claims.c.metric, claims.c.query_key).where(
        *here, claims.c.query_key.not_in(there)
    )
    for row in connection.execute(lost.distinct()):
        parts = (StoredClaimsQuery(row.experiment, row.metric, part=part) for part in range(MOST))
        request_parts(connection, project_id, [next(one for one in parts if one.key == row.query_key)])
