"""Options of a form: the names, axes and grids that a scope holds."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, and_, func, or_, select

from registry.grids.grid import Axis
from registry.operations.find import Filters, conditions
from registry.storage.rows import axis_of
from registry.storage.tables import grids, revisions

_EVERYTHING = Filters()
_CURRENT = and_(revisions.c.grid_id == grids.c.id, revisions.c.number == grids.c.revision)
NAMED = ("experiment", "benchmark", "model", "variant", "metric")


def name_options(
    connection: Connection, project_id: uuid.UUID, kind: str, filters: Filters = _EVERYTHING, limit: int | None = None
) -> list[str]:
    """Distinct names of a kind that grids carry, sorted; at most `limit`."""
    query = _found(select(grids.c[kind]).distinct().order_by(grids.c[kind]), connection, project_id, filters)
    return list(connection.scalars(query.limit(limit)))


def axis_options(connection: Connection, project_id: uuid.UUID, filters: Filters = _EVERYTHING) -> list[str]:
    """Names of the axes of these grids at their current revisions, sorted."""
    axis = func.jsonb_array_elements(revisions.c.axes)
    query = select(axis.op("->>")("name")).distinct().select_from(grids).join(revisions, _CURRENT)
    return sorted(connection.scalars(_found(query, connection, project_id, filters)))


def axes_with_levels(connection: Connection, project_id: uuid.UUID, filters: Filters = _EVERYTHING) -> list[Axis]:
    """The different axes of these grids at their current revisions; one name may come with several sets of levels."""
    axis = func.jsonb_array_elements(revisions.c.axes)
    query = select(axis).distinct().select_from(grids).join(revisions, _CURRENT)
    return [axis_of(document) for document in connection.scalars(_found(query, connection, project_id, filters))]


def is_lower_better(connection: Connection, project_id: uuid.UUID, filters: Filters) -> bool:
    """Return whether lower values are better in any of these grids."""
    lower = revisions.c.metric["direction"].astext == "lower"
    query = select(grids.c.id).join(revisions, _CURRENT).where(lower).limit(1)
    return connection.execute(_found(query, connection, project_id, filters)).first() is not None


def scope_options(connection: Connection, project_id: uuid.UUID, limit: int) -> Sequence[Any]:
    """Pairs of `experiment` and `metric` that have grids, with the number of `grids` in each."""
    pair = (grids.c.experiment, grids.c.metric)
    query = select(*pair, func.count().label("grids")).group_by(*pair).order_by(*pair).limit(limit)
    return connection.execute(_found(query, connection, project_id, _EVERYTHING)).all()


def count_grids(
    connection: Connection,
    project_id: uuid.UUID,
    filters: Filters = _EVERYTHING,
    upto: tuple[str, uuid.UUID] | None = None,
) -> int:
    """Number of grids; with `upto`, of those up to a model and an id in the order of their models."""
    query = select(func.count()).select_from(grids).join(revisions, _CURRENT)
    if upto is not None:
        query = query.where(or_(grids.c.model < upto[0], and_(grids.c.model == upto[0], grids.c.id <= upto[1])))
    return int(connection.scalar(_found(query, connection, project_id, filters)) or 0)


def search_grids(
    connection: Connection, project_id: uuid.UUID, filters: Filters, limit: int, words: Sequence[str] = ()
) -> Sequence[Any]:
    """Ids and names of grids in the order of their names, with `words` only those whose names contain every word."""
    text = func.concat_ws(" ", *(grids.c[name] for name in NAMED))
    query = select(grids.c.id, *(grids.c[name] for name in NAMED)).join(revisions, _CURRENT)
    found = _found(query, connection, project_id, filters).where(
        *(text.icontains(word, autoescape=True) for word in words)
    )
    return connection.execute(found.order_by(*(grids.c[name] for name in NAMED), grids.c.id).limit(limit)).all()


def _found(query: Select[Any], connection: Connection, project_id: uuid.UUID, filters: Filters) -> Select[Any]:
    here = (grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
    return query.where(*here, *conditions(connection, project_id, filters))
