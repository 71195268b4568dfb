"""Read the grids of one benchmark as matrices of values, one for each set of axes, for updating pair sums.

One statement reads them, takes them off the list of grids to count, and records which revisions are in the sums. All of
its parts see the same snapshot: a grid that changes meanwhile is listed again.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, TextClause, Uuid, bindparam, text

Floats = NDArray[np.float64]

_HEADER = 20
"""Bytes before the first element of a one-dimensional array that `array_send` wrote."""
_ID = 16


@dataclass(frozen=True)
class GridMatrix:
    """Grids of one benchmark and variant over equal axes, as a matrix of values."""

    benchmark: str
    variant: str
    axes: str
    """JSON of the axes."""
    unit: str | None
    direction: str | None
    lower: float | None
    upper: float | None
    models: Sequence[str]
    revisions: Sequence[int]
    order: Sequence[int]
    """Rank of each grid's update among all grids read together: where two cover the same cell, the later one counts."""
    ids: Sequence[uuid.UUID]
    """Empty for unchanged grids."""
    values: Floats
    """Grids x cells, NaN where nothing was measured."""


@dataclass(frozen=True)
class BenchmarkChange:
    """Grids of a benchmark: unchanged ones, and the changed ones as they are in the sums and as they are now."""

    unchanged: Sequence[GridMatrix]
    before: Sequence[GridMatrix]
    after: Sequence[GridMatrix]


# Written so that the planner has no bad plan to choose: its statistics know nothing of an experiment that began a
# minute ago, and it would then join whole tables instead of using an index. OFFSET 0 keeps a subquery from being merged
# into the query around it, and LATERAL looks each of its rows up by key.
_HERE = """
    SELECT id, benchmark, model, variant FROM grids
    WHERE project_id = :project AND experiment = ANY(:experiments) AND metric = :metric AND benchmark = ANY(:names)"""
_INPUTS = f"""
    SELECT here.id, was.revision AS number, was.updated_at, benchmark, model, variant
    FROM ({_HERE} OFFSET 0) AS here CROSS JOIN LATERAL (
        SELECT revision, updated_at FROM pair_sum_inputs WHERE scope_id = :scope AND grid_id = here.id OFFSET 0) AS was
    """  # noqa: S608 (a constant)
# Data-modifying CTEs see one snapshot. A change that commits meanwhile keeps its row in `pair_sum_queue` for the next
# time; in `listed`, a NULL grid stands for every grid of the benchmark.
_QUEUE_TAKEN = f"""
WITH listed AS (
    DELETE FROM pair_sum_queue WHERE scope_id = :scope AND benchmark = ANY(:names) RETURNING grid_id
), taken AS MATERIALIZED (
    SELECT grid_id FROM listed WHERE grid_id IS NOT NULL
    UNION
    SELECT id FROM ({_HERE} OFFSET 0) AS here WHERE EXISTS (SELECT FROM listed WHERE grid_id IS NULL)
), before AS ("""  # noqa: S608 (a constant)
# `part` 0: unchanged; 1: the changed grids as they are in the sums; 2: the same as they are now. A deleted grid, or one
# that an alias no longer brings here, has no part 2, and its row in `pair_sum_inputs` is deleted.
_RECORDED = """
), read AS MATERIALIZED (
    SELECT CASE WHEN before.id IN (SELECT grid_id FROM taken) THEN 1 ELSE 0 END AS part, before.* FROM before
    UNION ALL
    SELECT 2, grid_id, revision, updated_at, benchmark, model, variant
    FROM taken CROSS JOIN LATERAL (SELECT * FROM grids WHERE id = grid_id OFFSET 0) AS now
    WHERE deleted_at IS NULL AND experiment = ANY(:experiments)
), removed AS (
    DELETE FROM pair_sum_inputs WHERE scope_id = :scope AND grid_id = ANY(ARRAY(
        SELECT grid_id FROM taken WHERE grid_id NOT IN (SELECT id FROM read WHERE part = 2)))
), recorded AS (
    INSERT INTO pair_sum_inputs (scope_id, grid_id, revision, updated_at)
    SELECT :scope, id, number, updated_at FROM read WHERE part = 2
    ON CONFLICT (scope_id, grid_id) DO UPDATE SET revision = excluded.revision, updated_at = excluded.updated_at
)"""
# The values travel in PostgreSQL's binary form, which NumPy reads as one block. NaN for NULL, because an element that
# is NULL has no payload: the arrays of one shape would differ in length.
_MATRICES = """
    SELECT part, benchmark, variant, axes::text, metric->>'unit' AS unit, metric->>'direction' AS direction,
        (metric->>'lower')::float8 AS lower, (metric->>'upper')::float8 AS upper,
        array_agg(model) AS models, array_agg(read.number) AS revisions, array_agg(update_order) AS update_orders,
        string_agg(uuid_send(read.id), '') AS ids,
        string_agg(array_send(array_replace(values, NULL::float8, 'NaN'::float8)), '') AS values
    FROM (SELECT *, row_number() OVER (ORDER BY updated_at, id) AS update_order FROM read) AS read CROSS JOIN LATERAL (
        SELECT axes, metric, values FROM revisions
        WHERE grid_id = read.id AND number = read.number AND derived IS NULL OFFSET 0) AS content
    GROUP BY part, benchmark, variant, axes, unit, direction, lower, upper"""


def _statement(*parts: str) -> TextClause:
    return text("".join(parts)).bindparams(bindparam("project", type_=Uuid), bindparam("scope", type_=Uuid))


_READ_INPUTS = _statement("WITH before AS (", _INPUTS, "), read AS (SELECT 2 AS part, before.* FROM before)", _MATRICES)
_TAKE_CHANGES = _statement(_QUEUE_TAKEN, _INPUTS, _RECORDED, _MATRICES)


def take_changes(
    connection: Connection, scope: Any, experiments: Sequence[str], names: Sequence[str]
) -> BenchmarkChange:
    """Take the changes of a benchmark, known by `names`, off the list, and record its grids as counted.

    Changes listed under an alias that the experiment has lost are dropped: losing it has reset the scope.
    """
    found: tuple[list[GridMatrix], ...] = ([], [], [])
    for row in connection.execute(_TAKE_CHANGES, _parameters(scope, experiments, names)):
        found[row.part].append(_matrix(row))
    return BenchmarkChange(*found)


def read_inputs(
    connection: Connection, scope: Any, experiments: Sequence[str], names: Sequence[str]
) -> list[GridMatrix]:
    """The grids of a benchmark, known by `names`, at the revisions that are in the sums."""
    return [_matrix(row) for row in connection.execute(_READ_INPUTS, _parameters(scope, experiments, names))]


def _parameters(scope: Any, experiments: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    return {
        "scope": scope.id,
        "project": scope.project_id,
        "metric": scope.metric,
        "experiments": list(experiments),
        "names": list(names),
    }


def _matrix(row: Any) -> GridMatrix:
    ids = bytes(row.ids)
    return GridMatrix(
        benchmark=row.benchmark,
        variant=row.variant,
        axes=row.axes,
        unit=row.unit,
        direction=row.direction,
        lower=row.lower,
        upper=row.upper,
        models=row.models,
        revisions=row.revisions,
        order=row.update_orders,
        # The ids of unchanged grids are not needed.
        ids=[uuid.UUID(bytes=ids[at : at + _ID]) for at in range(0, len(ids), _ID)] if row.part else [],
        values=_values(row.values, len(row.models)),
    )


def _values(sent: bytes | memoryview, count: int) -> Floats:
    """Matrix of `count` rows from as many equally long arrays without NULL, concatenated as `array_send` writes
    them."""
    element = np.dtype([("length", ">i4"), ("value", ">f8")])
    cells = (len(sent) // count - _HEADER) // element.itemsize
    if cells <= 0:
        return np.empty((count, 0))
    rows = np.frombuffer(sent, dtype=[("header", f"V{_HEADER}"), ("elements", element, (cells,))])
    return rows["elements"]["value"].astype(np.float64)
