"""What `registry verify --sample` looks at: grids, answers and sets of pair sums, drawn at random."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from sqlalchemy import Column, ColumnElement, Connection, func, select

from registry.storage.tables import cached_results, grids, pair_sum_scopes
from workers.verify_checks import COMPUTED_AGAIN, SERVED


@dataclass(frozen=True, slots=True)
class Draw:
    """Some of `total` things, by their ids: every set of so many has the same chance. All of them, if there are few."""

    ids: list[uuid.UUID]
    total: int


def draw_grids(connection: Connection, project_id: uuid.UUID | None, size: int, seed: int) -> Draw:
    """Draw up to `size` grids; an id costs some hundred bytes of memory."""
    return _drawn(connection, grids.c.id, _of(grids.c.project_id, project_id), size, seed)


def draw_results(connection: Connection, project_id: uuid.UUID | None, size: int, seed: int) -> Draw:
    """Draw up to `size` of the cached results that are served as current."""
    conditions = [*_of(cached_results.c.project_id, project_id), COMPUTED_AGAIN, *SERVED]
    return _drawn(connection, cached_results.c.id, conditions, size, seed)


def draw_scopes(connection: Connection, project_id: uuid.UUID | None, size: int, seed: int) -> Draw:
    """Draw up to `size` of the scopes whose pair sums are complete."""
    conditions = [*_of(pair_sum_scopes.c.project_id, project_id), pair_sum_scopes.c.is_complete]
    return _drawn(connection, pair_sum_scopes.c.id, conditions, size, seed)


def _of(column: Column[uuid.UUID], project_id: uuid.UUID | None) -> list[ColumnElement[bool]]:
    return [] if project_id is None else [column == project_id]


def _drawn(
    connection: Connection, column: Column[uuid.UUID], conditions: list[ColumnElement[bool]], size: int, seed: int
) -> Draw:
    """The ids with the smallest hashes by a seed, in that order.

    The hash is that of PostgreSQL's hash partitions. It is of the id and not of the place in the table, as
    `TABLESAMPLE` is: a seed draws the same after a vacuum and from a restored backup.
    """
    total: int = connection.scalar(select(func.count()).select_from(column.table).where(*conditions)) or 0
    place = func.uuid_hash_extended(column, seed)
    return Draw(list(connection.scalars(select(column).where(*conditions).order_by(place, column).limit(size))), total)
