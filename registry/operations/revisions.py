"""Write revisions, whoever publishes or amends: shapes, rows, the jobs of their statistics, and what they invalidate.

A shape is a metric with axes, which revisions share. A grid that is posted alone is written with its first revision and
all that follows from it in one statement, which is planned once for each connection.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from sqlalchemy import (
    CTE,
    BindParameter,
    Connection,
    Select,
    bindparam,
    func,
    insert,
    literal_column,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, array, dialect
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.grids.grid import Grid
from registry.grids.intake import Submission
from registry.operations.stored_grids import GridSummary, grid_summaries, grid_summary
from registry.storage.arrivals import ANNOUNCE, Arrival, as_json, of_grid
from registry.storage.keys import commit_together
from registry.storage.rows import columns_of, shape_of
from registry.storage.statements import Prepared
from registry.storage.tables import arrivals, derivations, grids, invalidations, new_id, shapes, stored_revisions
from registry.storage.tables.columns import Numbers


def write_shapes(connection: Connection, project_id: uuid.UUID, grids_: Iterable[Grid]) -> None:
    """Insert the shapes of these grids that are missing. Sorted, so that two writers cannot deadlock."""
    rows = {shape["id"]: {"project_id": project_id, **shape} for shape in map(shape_of, grids_)}
    connection.execute(upsert(shapes).on_conflict_do_nothing(), [rows[key] for key in sorted(rows)])


def write_revisions(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Insert revisions, whose shapes are there, and, for each, the job that computes its statistics."""
    commit_together(connection)
    connection.execute(insert(stored_revisions), rows)
    jobs = [{"project_id": row["project_id"], "grid_id": row["grid_id"], "revision": row["number"]} for row in rows]
    connection.execute(insert(derivations), jobs)


_INVALIDATE = """
    INSERT INTO invalidations (project_id, experiment, metric, grid_ids)
    SELECT :project, one ->> 0, one ->> 1, ARRAY(SELECT CAST(jsonb_array_elements_text(one -> 2) AS uuid))
    FROM jsonb_array_elements(CAST(:scopes AS jsonb)) AS one
"""
_PROMISE = """
    INSERT INTO derivations (project_id, grid_id, revision)
    SELECT :project, CAST(one ->> 0 AS uuid), CAST(one ->> 1 AS integer)
    FROM jsonb_array_elements(CAST(:promised AS jsonb)) AS one
"""
_INVALIDATE_AND_ANNOUNCE = text(f"WITH told AS ({ANNOUNCE}), job AS ({_PROMISE}) {_INVALIDATE}")


def invalidate_scopes(
    connection: Connection,
    project_id: uuid.UUID,
    touched: Mapping[tuple[str, str], Sequence[uuid.UUID]],
    told: Sequence[Arrival] = (),
    promised: Sequence[tuple[uuid.UUID, int]] = (),
) -> None:
    """Insert an invalidation for each (experiment, metric) whose grids have changed, the events that tell of it, and
    jobs for revisions of grids that are there by then."""
    scopes = [[experiment, metric, list(grid_ids)] for (experiment, metric), grid_ids in touched.items()]
    values = {"scopes": orjson.dumps(scopes).decode(), "promised": orjson.dumps(promised).decode()}
    connection.execute(_INVALIDATE_AND_ANNOUNCE, values | {"project": project_id, "told": as_json(told)})


_CONTINUE = text("""
    INSERT INTO item_continuations (project_id, grid_id, revision, since)
    SELECT :project, :grid, :revision, coalesce(max(since), :revision - 1)
    FROM item_continuations WHERE project_id = :project AND grid_id = :grid AND revision = :revision - 1
""")
"""Outcomes of the revision before hold for this one too, also those that are posted later. `commit_together` too."""


def write_next_revision(
    connection: Connection,
    stored: GridSummary,
    grid: Grid,
    *,
    warnings: Sequence[dict[str, str]],
    source: Mapping[str, str] | None,
    token_id: uuid.UUID | None,
) -> GridSummary:
    """Give a grid, whose row is locked, its next revision with this content; return what it is now.

    It is an amendment: outcomes of items in cells that stay as they are hold for it too.
    """
    number = stored.revision + 1
    project_id = connection.execute(
        update(grids)
        .where(grids.c.id == stored.id)
        .values(revision=number, updated_at=func.now())
        .returning(grids.c.project_id)
    ).scalar_one()
    write_shapes(connection, project_id, [grid])
    row = {"project_id": project_id, "grid_id": stored.id, "number": number}
    row |= {"warnings": warnings, "source": source, "token_id": token_id}
    connection.execute(insert(stored_revisions), [row | columns_of(grid)])
    connection.execute(_CONTINUE, {"project": project_id, "grid": stored.id, "revision": number})
    told = [of_grid("grid.revised", stored.id, number, asdict(stored.names))]
    scope = {(stored.names.experiment, stored.names.metric): [stored.id]}
    invalidate_scopes(connection, project_id, scope, told, [(stored.id, number)])
    here = (grids.c.id == stored.id, grids.c.project_id == project_id)
    return grid_summary(connection.execute(grid_summaries().where(*here)).one())


_NAMES = ("experiment", "benchmark", "model", "variant", "metric")
_GRID = ("id", "project_id", "identity", *_NAMES, "description")
_CONTENT = {
    f"revision_{column.name}": column
    for column in stored_revisions.c
    if column.name not in ("project_id", "grid_id", "number", "created_at", "metric", "axes")
}
"""Columns of a revision by the names of their parameters."""
_SHAPE = {f"shape_{column.name}": column for column in shapes.c if column.name != "project_id"}


class FirstRevision(NamedTuple):
    """A grid that was written: its id, and when."""

    id: uuid.UUID
    created_at: datetime


def _statement() -> Select[Any]:
    shape = _shape()
    # The condition always holds: it makes the shape come first, as in every other transaction, so that none deadlock.
    row = select(*(bindparam(name, type_=grids.c[name].type) for name in _GRID), literal_column("1")).where(
        select(func.count()).select_from(shape).scalar_subquery() >= 0
    )
    new = upsert(grids).from_select([*_GRID, "revision"], row).on_conflict_do_nothing()
    grid = new.returning(grids.c.id, grids.c.created_at).cte("grid")
    return select(grid.c.id, grid.c.created_at).add_cte(
        _revision(grid), _job(grid), _invalidation(grid), _arrival(grid)
    )


def _shape() -> CTE:
    row = {"project_id": _project()}
    row |= {column.name: bindparam(name, type_=column.type) for name, column in _SHAPE.items()}
    return upsert(shapes).values(row).on_conflict_do_nothing().returning(shapes.c.id).cte("shape")


def _revision(grid: CTE) -> CTE:
    content = [bindparam(name, type_=column.type) for name, column in _CONTENT.items()]
    row = select(_project(), grid.c.id, literal_column("1"), *content)
    return (
        insert(stored_revisions)
        .from_select(["project_id", "grid_id", "number", *(c.name for c in _CONTENT.values())], row)
        .cte("revision")
    )


def _job(grid: CTE) -> CTE:
    row = select(_project(), grid.c.id, literal_column("1"))
    return insert(derivations).from_select(["project_id", "grid_id", "revision"], row).cte("job")


def _project() -> BindParameter[uuid.UUID]:
    return bindparam("project_id", type_=grids.c.project_id.type)


def _invalidation(grid: CTE) -> CTE:
    scope = [bindparam(name, type_=grids.c[name].type) for name in ("project_id", "experiment", "metric")]
    row = select(*scope, array([grid.c.id]))
    return (
        insert(invalidations).from_select(["project_id", "experiment", "metric", "grid_ids"], row).cte("invalidation")
    )


def _arrival(grid: CTE) -> CTE:
    """What `registry.storage.arrivals.of_grid` announces."""
    names: list[Any] = []
    for name in _NAMES:
        names += [literal_column(f"'{name}'"), bindparam(name, type_=grids.c[name].type)]
    identity = [literal_column("'grid'"), grid.c.id, literal_column("'revision'"), literal_column("1")]
    row = select(
        _project(),
        literal_column("'grid.published'"),
        func.concat(literal_column("'grids/'"), grid.c.id),
        func.jsonb_build_object(*identity, *names),
    )
    return insert(arrivals).from_select(["project_id", "type", "subject", "data"], row).cte("arrival")


_TYPES = {name: grids.c[name].type for name in _GRID} | {
    name: column.type for name, column in (_CONTENT | _SHAPE).items()
}
_DIALECT = dialect()  # type: ignore[no-untyped-call]
_WRITE = Prepared(
    "first_revision",
    _statement(),
    {name: kind.compile(dialect=_DIALECT) for name, kind in _TYPES.items()},
)


def write_first_revision(
    connection: Connection,
    project_id: uuid.UUID,
    submission: Submission,
    *,
    warnings: list[dict[str, str]],
    token_id: uuid.UUID | None,
) -> FirstRevision | None:
    """Write a grid that nobody had published; None, and nothing is written, if there is one of these
    names, also a deleted one."""
    names, grid = submission.names, submission.grid
    content = columns_of(grid) | {"warnings": warnings, "token_id": token_id, "source": submission.source}
    values = {"id": new_id(), "project_id": project_id, "identity": names.key}
    values |= {kind: getattr(names, kind) for kind in _NAMES} | {"description": submission.description or ""}
    values |= {name: content[column.name] for name, column in _CONTENT.items()}
    shape = shape_of(grid)
    values |= {name: shape[column.name] for name, column in _SHAPE.items()}
    row = _WRITE.one_or_none(connection, {name: _literal(value, _TYPES[name]) for name, value in values.items()})
    return None if row is None else FirstRevision(values["id"], row.created_at)


def _literal(value: Any, kind: Any) -> Any:
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(kind, Numbers):
        return kind.bind_processor(None)(value)
    if isinstance(kind, JSONB):
        return None if value is None and kind.none_as_null else orjson.dumps(value).decode()
    return value
