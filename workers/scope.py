"""Select the grids in a query's scope as rows, with the aliases that apply; answers about several grids begin here."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, Connection, Uuid, any_, bindparam, func, literal, select

from registry.query import Query
from registry.selection import KINDS
from registry.storage.keys import grids_at, of_current
from registry.storage.rows import sliced_row
from registry.storage.tables import aliases, grids, revisions

Aliases = Mapping[tuple[str, str], str]
"""Name behind each alias of a project, by (kind, alias)."""
_AT_ONCE = 500
"""Grids that are read at once."""

_ALIASES = select(aliases.c.kind, aliases.c.alias, aliases.c.name).where(aliases.c.project_id == bindparam("project"))


def scope_rows(connection: Connection, project_id: Any, query: Query) -> Sequence[Any]:
    """The grids in the scope at the revisions that are current, or were at the query's instant, cut to its slice and to
    the own one of their benchmark, oldest update first. Grids that have nothing of them are left out."""
    joined = alias_map(connection, project_id)
    rows: Sequence[Any] = connection.execute(_rows(joined, project_id, query)).all()
    return list(_cut(rows, query, joined)) if query.cuts else rows


def stream_rows(connection: Connection, project_id: Any, query: Query) -> Iterator[Any]:
    """The same rows, which are never all in memory. `connection` must be in a transaction."""
    joined = alias_map(connection, project_id)
    statement = _rows(joined, project_id, query)
    yield from _cut(connection.execute(statement, execution_options={"yield_per": _AT_ONCE}), query, joined)


def _cut(rows: Iterable[Any], query: Query, joined: Aliases) -> Iterator[Any]:
    for row in rows:
        wanted = query.levels_of(joined.get(("benchmark", row.benchmark), row.benchmark)) if query.cuts else ()
        if (cut := sliced_row(row, wanted)) is not None:
            yield cut


def _rows(joined: Aliases, project_id: Any, query: Query) -> Any:
    there = grids_at(project_id, query.as_of)
    names = select(there.c.id, there.c.benchmark, there.c.model, there.c.variant, revisions)
    here = conditions(joined, project_id, query, there)
    return _current(names, there).where(*here).order_by(there.c.updated_at, there.c.id)


def named_grids(connection: Connection, project_id: Any, query: Query) -> Sequence[Any]:
    """Ids and names of the grids in the scope, with number, digest and number of cells of their current revisions."""
    joined, there = alias_map(connection, project_id), grids_at(project_id, query.as_of)
    names = (there.c.id, there.c.benchmark, there.c.model, there.c.variant)
    told = _current(select(*names, revisions.c.number, revisions.c.digest, revisions.c.cell_count), there)
    here = conditions(joined, project_id, query, there)
    return connection.execute(told.where(*here).order_by(there.c.id)).all()


def current_rows(connection: Connection, ids: Sequence[Any]) -> Sequence[Any]:
    """Current revisions of these grids, without those that are deleted."""
    names = select(grids.c.id, grids.c.benchmark, grids.c.model, grids.c.variant, revisions)
    here = (grids.c.id == any_(literal(ids, ARRAY(Uuid))), grids.c.deleted_at.is_(None))
    return connection.execute(_current(names).where(*here).order_by(grids.c.id)).all()


def scope_size(connection: Connection, project_id: Any, query: Query) -> tuple[int, int]:
    """Numbers of models and cells in the scope, before aliases join models."""
    joined, there = alias_map(connection, project_id), grids_at(project_id, query.as_of)
    counts = select(func.count(there.c.model.distinct()), func.coalesce(func.sum(revisions.c.cell_count), 0))
    here = conditions(joined, project_id, query, there)
    models, cells = connection.execute(_current(counts, there).where(*here)).one()
    return int(models), int(cells)


def _current(statement: Any, there: Any = grids) -> Any:
    return statement.join_from(there, revisions, of_current(revisions, there))


def conditions(joined: Aliases, project_id: Any, query: Query, there: Any = grids) -> list[ColumnElement[bool]]:
    """Conditions for the rows of `grids`, or of what stands in its place, in the scope of a query."""
    conditions = [
        there.c.project_id == project_id,
        there.c.experiment.in_(names_of(joined, "experiment", query.experiment)),
        there.c.metric == query.metric,
        there.c.deleted_at.is_(None),
    ]
    for kind in KINDS:
        if wanted := getattr(query, kind):
            conditions.append(there.c[kind].in_([name for one in wanted for name in names_of(joined, kind, one)]))
    return conditions


def names_of(joined: Aliases, kind: str, name: str) -> list[str]:
    """A name and its aliases."""
    return [name, *(alias for (of, alias), stands_for in joined.items() if of == kind and stands_for == name)]


def alias_map(connection: Connection, project_id: Any) -> dict[tuple[str, str], str]:
    """Name behind each alias of a project, by (kind, alias)."""
    return {(row.kind, row.alias): row.name for row in connection.execute(_ALIASES, {"project": project_id})}


def canonical_names(row: Any, joined: Aliases) -> dict[str, str]:
    """Benchmark, model and variant of a grid, with aliases replaced by the names behind them."""
    return {kind: joined.get((kind, getattr(row, kind)), getattr(row, kind)) for kind in KINDS}


def matches(query: Query, names: Mapping[str, str]) -> bool:
    """Return whether the query's benchmarks, models and variants, if it names any, include these names."""
    return all(not getattr(query, kind) or name in getattr(query, kind) for kind, name in names.items())
