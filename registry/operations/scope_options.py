"""What forms and pages offer to choose of the grids that filters find: names, axes, labels, scopes, grids."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select, true, tuple_

from registry.grids.grid import Axis
from registry.operations.find_grids import CALLED, Filters, conditions, with_called
from registry.operations.query_names import axes_in
from registry.operations.search import KINDS as ALL_KINDS
from registry.storage.keys import of_current
from registry.storage.tables import aliases, grids, revisions

_EVERYTHING = Filters()
_CURRENT = of_current(revisions)


def name_options(
    connection: Connection, project_id: uuid.UUID, kind: str, filters: Filters = _EVERYTHING, limit: int | None = None
) -> list[str]:
    """Distinct names of a kind that grids carry, sorted; at most `limit`."""
    query = _found(select(grids.c[kind]).distinct().order_by(grids.c[kind]), connection, project_id, filters)
    return list(connection.scalars(query.limit(limit)))


def name_counts(
    connection: Connection,
    project_id: uuid.UUID,
    kind: str,
    filters: Filters = _EVERYTHING,
    limit: int | None = None,
    first: Sequence[str] = (),
) -> tuple[list[tuple[str, int]], int]:
    """Names of a kind that grids carry with how many carry each, and how many names there are; the empty one is none,
    and an alias is the name that it stands for.

    At most `limit` names, those of `first` before the others, and then by name.
    """
    same = (aliases.c.project_id == project_id, aliases.c.kind == kind, aliases.c.alias == grids.c[kind])
    column = func.coalesce(aliases.c.name, grids.c[kind])
    query: Any = (
        select(column.label("name"), func.count().label("grids"), func.count().over().label("total"))
        .select_from(grids.outerjoin(aliases, and_(*same)))
        .where(column != "")
        .group_by(column)
        .order_by(column.in_(first).desc(), column)
        .limit(limit)
    )
    if filters.labels or filters.words:
        query = query.join(revisions, _CURRENT)
    rows = connection.execute(_found(query, connection, project_id, filters)).all()
    return [(row.name, row.grids) for row in rows], rows[0].total if rows else 0


def axis_options(connection: Connection, project_id: uuid.UUID, filters: Filters = _EVERYTHING) -> list[str]:
    """Names of the axes of these grids at their current revisions, sorted."""
    axis = func.jsonb_array_elements(revisions.c.axes)
    query = select(axis.op("->>")("name")).distinct().select_from(grids).join(revisions, _CURRENT)
    return sorted(connection.scalars(_found(query, connection, project_id, filters)))


def axes_with_levels(connection: Connection, project_id: uuid.UUID, filters: Filters = _EVERYTHING) -> list[Axis]:
    """The different axes of these grids at their current revisions; one name may come with several sets of levels."""
    return axes_in(connection, _conditions(connection, project_id, filters))


def number_labels(connection: Connection, project_id: uuid.UUID, by: str, filters: Filters) -> list[tuple[str, int]]:
    """Keys of labels that are numbers in some of these grids, each with how many different ones; at most 50.

    First are the keys that say something of a name, such as its size: one number for each name of the kind `by`, and
    more than two of them. A seed, or the number of a run, is further down. Each part is in the order of the keys.
    """
    label = func.jsonb_each_text(revisions.c.labels).table_valued("key", "value").render_derived()
    numbers = func.count(label.c.value.distinct())
    of_names, names = func.count(tuple_(grids.c[by], label.c.value).distinct()), func.count(grids.c[by].distinct())
    query = select(label.c.key, numbers.label("numbers")).select_from(grids).join(revisions, _CURRENT)
    numeric = label.c.value.regexp_match(r"^\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?\s*[kmbtKMBT]?\s*$")
    query = query.join(label, true()).where(numeric).group_by(label.c.key)
    order = (and_(of_names == names, numbers > 2).desc(), label.c.key)
    found = _found(query, connection, project_id, filters).order_by(*order).limit(50)
    return [(row.key, row.numbers) for row in connection.execute(found)]


def posted_metric(connection: Connection, project_id: uuid.UUID, experiment: str, metric: str) -> Mapping[str, Any]:
    """The metric as a grid of an experiment posted it, where there is one."""
    filters = Filters(experiment=[experiment], metric=[metric])
    query = select(revisions.c.metric).select_from(grids).join(revisions, _CURRENT).limit(1)
    return connection.scalar(_found(query, connection, project_id, filters)) or {}


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
    """Number of grids; with `upto`, of those up to a model and an id in the order `called`."""
    query = select(func.count()).select_from(grids).join(revisions, _CURRENT)
    if upto is not None:
        upto_it = or_(upto[0] > CALLED, and_(upto[0] == CALLED, grids.c.id <= upto[1]))
        query = with_called(query).where(upto_it)
    return int(connection.scalar(_found(query, connection, project_id, filters)) or 0)


def search_grids(
    connection: Connection, project_id: uuid.UUID, filters: Filters, limit: int, words: Sequence[str] = ()
) -> Sequence[Any]:
    """Ids and names of grids in the order of their names, with `words` only those whose names contain every word."""
    text = func.concat_ws(" ", *(grids.c[name] for name in ALL_KINDS))
    query = select(grids.c.id, *(grids.c[name] for name in ALL_KINDS)).join(revisions, _CURRENT)
    found = _found(query, connection, project_id, filters).where(
        *(text.icontains(word, autoescape=True) for word in words)
    )
    return connection.execute(found.order_by(*(grids.c[name] for name in ALL_KINDS), grids.c.id).limit(limit)).all()


def _found(query: Select[Any], connection: Connection, project_id: uuid.UUID, filters: Filters) -> Select[Any]:
    return query.where(*_conditions(connection, project_id, filters))


def _conditions(connection: Connection, project_id: uuid.UUID, filters: Filters) -> list[ColumnElement[bool]]:
    here = (grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
    return [*here, *conditions(connection, project_id, filters)]
