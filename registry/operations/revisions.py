"""Write revisions: their shapes, their rows, the jobs that compute their statistics, and what they invalidate."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import orjson
from sqlalchemy import Connection, func, insert, text, update
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.grids.grid import Grid
from registry.operations.stored_grids import GridSummary, grid_summaries, grid_summary
from registry.storage.arrivals import ANNOUNCE, Arrival, as_json, of_grid
from registry.storage.rows import columns_of, shape_of
from registry.storage.tables import derivations, grids, shapes, stored_revisions


def write_shapes(connection: Connection, grids_: Iterable[Grid]) -> None:
    """Insert the shapes of these grids that are missing. Sorted, so that two writers cannot deadlock."""
    rows = {shape["id"]: shape for shape in map(shape_of, grids_)}
    connection.execute(upsert(shapes).on_conflict_do_nothing(), [rows[key] for key in sorted(rows)])


def write_revisions(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Insert revisions, whose shapes are there, and, for each, the job that computes its statistics."""
    connection.execute(insert(stored_revisions), rows)
    jobs = [{"project_id": row["project_id"], "grid_id": row["grid_id"], "revision": row["number"]} for row in rows]
    connection.execute(insert(derivations), jobs)


_INVALIDATE = """
    INSERT INTO invalidations (project_id, experiment, metric, grid_ids)
    SELECT :project, one ->> 0, one ->> 1, ARRAY(SELECT CAST(jsonb_array_elements_text(one -> 2) AS uuid))
    FROM jsonb_array_elements(CAST(:scopes AS jsonb)) AS one
"""
_INVALIDATE_AND_ANNOUNCE = text(f"WITH told AS ({ANNOUNCE}) {_INVALIDATE}")


def invalidate_scopes(
    connection: Connection,
    project_id: uuid.UUID,
    touched: Mapping[tuple[str, str], Sequence[uuid.UUID]],
    told: Sequence[Arrival] = (),
) -> None:
    """Insert an invalidation for each (experiment, metric) whose grids have changed, and the events that tell of it."""
    scopes = [[experiment, metric, list(grid_ids)] for (experiment, metric), grid_ids in touched.items()]
    values = {"project": project_id, "scopes": orjson.dumps(scopes).decode(), "told": as_json(told)}
    connection.execute(_INVALIDATE_AND_ANNOUNCE, values)


_CONTINUE = text("""
    WITH continued AS (
        INSERT INTO item_continuations (project_id, grid_id, revision, since)
        SELECT :project, :grid, :revision, coalesce(
            (SELECT since FROM item_continuations WHERE grid_id = :grid AND revision = :revision - 1), :revision - 1)
    )
    INSERT INTO derivations (project_id, grid_id, revision) VALUES (:project, :grid, :revision)
""")
"""The job of a revision, and that outcomes of the one before hold for it too, also those that are posted later."""


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
    write_shapes(connection, [grid])
    row = {"project_id": project_id, "grid_id": stored.id, "number": number}
    row |= {"warnings": warnings, "source": source, "token_id": token_id}
    connection.execute(insert(stored_revisions), [row | columns_of(grid)])
    connection.execute(_CONTINUE, {"project": project_id, "grid": stored.id, "revision": number})
    told = [of_grid("grid.revised", stored.id, number, asdict(stored.names))]
    invalidate_scopes(connection, project_id, {(stored.names.experiment, stored.names.metric): [stored.id]}, told)
    return grid_summary(connection.execute(grid_summaries().where(grids.c.id == stored.id)).one())
