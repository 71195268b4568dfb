"""Scopes that keep pair sums: open, look up, lock and close them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.query import Query
from registry.storage.database import Database
from registry.storage.tables import grids, new_id, pair_sum_inputs, pair_sum_queue, pair_sum_scopes, pair_sums
from workers.scope import experiment_names

Aliases = Mapping[tuple[str, str], str]

_LOCK_SCOPE = (
    select(pair_sum_scopes)
    .where(
        pair_sum_scopes.c.project_id == bindparam("project"),
        pair_sum_scopes.c.experiment == bindparam("experiment"),
        pair_sum_scopes.c.metric == bindparam("metric"),
    )
    # FOR NO KEY UPDATE: two workers exclude each other, and neither waits for the FOR KEY SHARE of an invalidation,
    # which only keeps the scope from being deleted. SKIP LOCKED: a worker that does not get the scope leaves it to the
    # other.
    .with_for_update(skip_locked=True, key_share=True)
)


def open_scope(database: Database, project_id: uuid.UUID, query: Query) -> None:
    """Keep pair sums for the scope of a query from now on."""
    values = {"id": new_id(), "project_id": project_id, "experiment": query.experiment, "metric": query.metric}
    with database.transaction() as connection:
        connection.execute(upsert(pair_sum_scopes).values(values).on_conflict_do_nothing())


def close_scope(database: Database, project_id: uuid.UUID, query: Query) -> None:
    """Delete the pair sums of a scope and stop keeping them, unless another worker is updating them."""
    with database.transaction() as connection:
        scope = lock_scope(connection, project_id, query)
        # The scope last: the others refer to it.
        for table in (pair_sums, pair_sum_inputs, pair_sum_queue) if scope else ():
            connection.execute(delete(table).where(table.c.scope_id == scope.id))
        if scope:
            connection.execute(delete(pair_sum_scopes).where(pair_sum_scopes.c.id == scope.id))


def keeps_sums(connection: Connection, project_id: uuid.UUID, query: Query) -> bool:
    """Return whether pair sums are kept for the scope of a query."""
    return connection.execute(select(pair_sum_scopes.c.id).where(*scope_of(project_id, query))).first() is not None


def is_up_to_date(connection: Connection, project_id: uuid.UUID, query: Query) -> bool:
    """Return whether pair sums are kept for the scope of a query and contain every change."""
    scope = connection.execute(select(pair_sum_scopes).where(*scope_of(project_id, query))).one_or_none()
    if scope is None or not scope.is_complete:
        return False
    left = select(pair_sum_queue.c.id).where(pair_sum_queue.c.scope_id == scope.id).limit(1)
    return connection.execute(left).first() is None


def lock_scope(connection: Connection, project_id: uuid.UUID, query: Query) -> Any:
    """Row of the scope, locked by this transaction; None if another worker holds it."""
    parameters = {"project": project_id, "experiment": query.experiment, "metric": query.metric}
    return connection.execute(_LOCK_SCOPE, parameters).one_or_none()


def scope_of(project_id: uuid.UUID, query: Query) -> tuple[ColumnElement[bool], ...]:
    """Conditions for the row of `pair_sum_scopes` that belongs to a query."""
    same = (pair_sum_scopes.c.experiment == query.experiment, pair_sum_scopes.c.metric == query.metric)
    return (pair_sum_scopes.c.project_id == project_id, *same)


def grids_of(scope: Any, aliases: Aliases) -> tuple[Any, ...]:
    """Conditions for the rows of `grids` that belong to the scope, deleted ones included."""
    return (
        grids.c.project_id == scope.project_id,
        grids.c.experiment.in_(experiment_names(aliases, scope.experiment)),
        grids.c.metric == scope.metric,
    )


def is_of_old_sums(scope: Any) -> bool:
    """Return whether a release that knew only units and directions made the sums of a scope, which differ from
    today's."""
    return any(len(orjson.loads(kind)) == 2 for kind in scope.kinds)
